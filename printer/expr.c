// Values of TIR: operators with as few parentheses as Python needs, constants, variables.
//
// TVM prints an operator with sugar (`a + b`) only where its reader builds the same node
// from it: an operator of constants, which would be folded, is written by its name,
// T.Add(1, 2). So every operator is folded once more here to see whether it survives
// (src/tirx/script/printer/expr.cc). Chains of any length are written without recursion
// along their left side.
#include "printer/expr.h"

#include "ir/omitted.h"
#include "printer/access.h"
#include "printer/buffer.h"
#include "printer/call.h"
#include "printer/hints.h"
#include "printer/metadata.h"
#include "printer/names.h"
#include "printer/object.h"
#include "printer/plan.h"
#include "printer/relax.h"
#include "printer/sinfo.h"
#include "printer/state.h"
#include "printer/text.h"
#include "support/trial.h"

// What a binary operator is called: with sugar, and as a constructor under T.
typedef struct {
  const char *sugar;  // NULL: none
  const char *name;
  print_level level;
} operator_text;

static const operator_text operators[TVMS_NODE_COUNT] = {
    [TVMS_NODE_ADD] = {" + ", "Add", LEVEL_ADD},
    [TVMS_NODE_SUB] = {" - ", "Sub", LEVEL_ADD},
    [TVMS_NODE_MUL] = {" * ", "Mul", LEVEL_MUL},
    [TVMS_NODE_DIV] = {" / ", "Div", LEVEL_MUL},
    [TVMS_NODE_MOD] = {NULL, "truncmod", LEVEL_ATOM},
    [TVMS_NODE_FLOOR_DIV] = {" // ", "FloorDiv", LEVEL_MUL},
    [TVMS_NODE_FLOOR_MOD] = {" % ", "FloorMod", LEVEL_MUL},
    [TVMS_NODE_MIN] = {NULL, "min", LEVEL_ATOM},
    [TVMS_NODE_MAX] = {NULL, "max", LEVEL_ATOM},
    [TVMS_NODE_EQ] = {" == ", "EQ", LEVEL_COMPARE},
    [TVMS_NODE_NE] = {" != ", "NE", LEVEL_COMPARE},
    [TVMS_NODE_LT] = {" < ", "LT", LEVEL_COMPARE},
    [TVMS_NODE_LE] = {" <= ", "LE", LEVEL_COMPARE},
    [TVMS_NODE_GT] = {" > ", "GT", LEVEL_COMPARE},
    [TVMS_NODE_GE] = {" >= ", "GE", LEVEL_COMPARE},
    [TVMS_NODE_AND] = {" and ", "And", LEVEL_AND},
    [TVMS_NODE_OR] = {" or ", "Or", LEVEL_OR},
};

static bool is_constant(const tvms_node *node) {
  return node->kind == TVMS_NODE_INT_IMM || node->kind == TVMS_NODE_FLOAT_IMM;
}

static bool is_integer(const tvms_printer *p, tvms_dtype d) {
  return tvms_dtype_is_int(d) || tvms_dtype_is_uint(d)
         || (tvms_dtype_is_bool(d)
             && tvms_release_has(p->dialect, TVMS_FACT_bools_are_uint1));
}

// True if no rule of folding looks at operands like these: at most one is a constant, and
// that one is not 0 or 1.
static bool cannot_fold(uint8_t kind, const tvms_node *a, const tvms_node *b) {
  bool a_constant = is_constant(a);
  if (!a_constant && !is_constant(b)) return true;
  if (a_constant && is_constant(b)) return false;
  const tvms_node *constant = a_constant ? a : b;
  if (kind >= TVMS_NODE_EQ && kind <= TVMS_NODE_GE) return true;
  if (kind == TVMS_NODE_AND || kind == TVMS_NODE_OR) return false;
  if (constant->kind != TVMS_NODE_INT_IMM) return false;
  int64_t value = tvms_as_int_imm(constant)->value;
  return value != 0 && value != 1;
}

// True if the operator builds this very node again from its operands.
static bool has_sugar(tvms_printer *p, const tvms_binary *node) {
  const tvms_node *a = node->a;
  const tvms_node *b = node->b;
  if (node->head.kind == TVMS_NODE_DIV && is_integer(p, a->dtype)
      && is_integer(p, b->dtype)) {
    return false;
  }
  bool same = tvms_dtype_same(a->dtype, b->dtype) && a->kind != TVMS_NODE_BUFFER_REGION;
  if (same && cannot_fold(node->head.kind, a, b)) return true;
  tvms_trial_mute(&p->context->diags);
  tvms_mark mark = tvms_arena_mark(&p->scratch.arena);
  bool rebuildable = tvms_build_is_possible(&p->scratch, &node->head);
  tvms_arena_reset(&p->scratch.arena, mark);
  tvms_trial_unmute(&p->context->diags);
  return rebuildable;
}

static bool is_sugared(tvms_printer *p, const tvms_node *node) {
  return tvms_node_is_binary(node) && operators[node->kind].sugar
         && has_sugar(p, tvms_as_binary(node));
}

tvms_node *tvms_print_fold(tvms_printer *p, tvms_node_kind kind, tvms_node *a,
                           tvms_node *b) {
  tvms_trial_mute(&p->context->diags);
  tvms_node *folded = tvms_build_binary(&p->scratch, kind, a, b, TVMS_NO_SPAN);
  tvms_trial_unmute(&p->context->diags);
  return folded ? folded : tvms_binary_new(&p->scratch, kind, a, b, TVMS_NO_SPAN);
}

// ---- Constants ----

static void print_bool(tvms_printer *p, int64_t value) {
  tvms_print_put(p, value ? "True" : "False");
}

static void print_int_value(tvms_printer *p, const tvms_node *node) {
  int64_t value = tvms_as_int_imm(node)->value;
  if (node->flags & TVMS_FLAG_LARGE)
    tvms_strbuf_printf(p->out, "%llu", (unsigned long long)value);
  else
    tvms_print_int(p, value);
}

static void print_typed(tvms_printer *p, tvms_dtype dtype) {
  if (!tvms_dtype_has_name(dtype)) {
    tvms_print_cannot(p, NULL, "a constant of a type without a name");
  }
  char buffer[TVMS_DTYPE_TEXT];
  tvms_print_t(p, tvms_dtype_text(dtype, buffer));
  PUT(p, "(");
}

static bool is_int32(tvms_dtype d) {
  return d.code == TVMS_INT && d.bits == 32 && d.lanes == 1;
}

static void print_int_imm(tvms_printer *p, const tvms_node *node) {
  int64_t value = tvms_as_int_imm(node)->value;
  bool is_bool = tvms_dtype_is_bool(node->dtype);
  if (p->token == PRINT_RELAX) {
    if (is_bool)
      print_bool(p, value);
    else
      print_int_value(p, node);
    return;
  }
  if (is_int32(node->dtype)) {
    tvms_print_int(p, value);
    return;
  }
  print_typed(p, node->dtype);
  if (is_bool)
    print_bool(p, value);
  else
    print_int_value(p, node);
  PUT(p, ")");
}

static void print_string_imm(tvms_printer *p, const tvms_node *node) {
  tvms_bytes text = tvms_as_string_imm(node)->value;
  bool relax = p->token == PRINT_RELAX;
  bool lines = !relax && text.len && memchr(text.text, '\n', text.len);
  if (lines || tvms_node_omitted(node)) {
    tvms_print_metadata_ref(p, node);
    return;
  }
  if (relax) {
    tvms_print_r(p, "str");
    PUT(p, "(");
  }
  tvms_print_quoted(p, text.text, text.len);
  if (relax) PUT(p, ")");
}

// ---- Variables ----

// A parameter that the signature says as its buffer, by itself: its pointer as the type
// that the parameter had.
static void print_handle_of(tvms_printer *p, const tvms_node *var,
                            const tvms_node *buffer) {
  tvms_print_t(p, "reinterpret(");
  tvms_print_pointer_type(p, var->sinfo, true);
  PUT(p, ".ty, ");
  tvms_print_buffer(p, buffer);
  PUT(p, ".data)");
}

static void print_named(tvms_printer *p, const tvms_node *object) {
  print_name name = *tvms_print_name_of(p, object);
  switch ((print_naming)name.how) {
  case NAMED_TEXT: tvms_print_sym(p, name.name); return;
  case NAMED_DATA:
    tvms_print_buffer(p, name.owner);
    PUT(p, ".data");
    return;
  case NAMED_STRIDE:
    tvms_print_buffer(p, name.owner);
    tvms_strbuf_printf(p->out, ".strides[%u]", name.index);
    return;
  case NAMED_OFFSET:
    tvms_print_buffer(p, name.owner);
    PUT(p, ".elem_offset");
    return;
  case NAMED_DEAD:
    if (tvms_release_has(p->dialect, TVMS_FACT_signatures_hold_buffers)
        && object->kind == TVMS_NODE_VAR) {
      print_handle_of(p, object, name.owner);
      return;
    }
    p->again = true;
    tvms_vec_push(p->memory, &p->used_params, object->id);
    break;
  case NAMED_NOT: break;
  }
  tvms_sym hint = object->kind == TVMS_NODE_VAR ? tvms_as_var(object)->name
                                                : tvms_as_buffer(object)->name;
  if (hint)
    tvms_print_sym(p, hint);
  else
    PUT(p, "v");
}

void tvms_print_var_creation(tvms_printer *p, const tvms_node *var) {
  if (tvms_dtype_is_handle(var->dtype)) {
    tvms_print_pointer_type(p, var->sinfo, true);
    return;
  }
  char buffer[TVMS_DTYPE_TEXT];
  tvms_print_t(p, tvms_dtype_text(var->dtype, buffer));
  PUT(p, "(");
  bool size_var = (var->flags & TVMS_FLAG_SIZE_VAR)
                  && tvms_release_has(p->dialect, TVMS_FACT_size_vars_exist);
  if (size_var) PUT(p, "is_size_var=True");
  PUT(p, ")");
}

void tvms_print_type_of_var(tvms_printer *p, const tvms_node *var) {
  if (tvms_dtype_is_handle(var->dtype)) {
    tvms_print_pointer_type(p, var->sinfo, false);
    return;
  }
  char buffer[TVMS_DTYPE_TEXT];
  tvms_print_t(p, tvms_dtype_text(var->dtype, buffer));
}

// Adds `x = T.int32()` where TVM would put it.
static void define_here(tvms_printer *p, const tvms_node *var) {
  uint32_t frame = tvms_print_lowest_frame(p, var);
  if (frame == UINT32_MAX) return;
  tvms_sym name = tvms_print_define(p, var, frame);
  print_added line;
  tvms_print_begin_line(p, &line, frame);
  tvms_print_sym(p, name);
  PUT(p, " = ");
  tvms_print_var_creation(p, var);
  tvms_print_end_line(p, &line);
}

void tvms_print_var(tvms_printer *p, const tvms_node *var) {
  var = tvms_print_root(p, var);
  bool is_tir = !tvms_dtype_is_void(var->dtype);
  if (tvms_print_name_of(p, var)->how == NAMED_NOT && !p->quiet) {
    if (p->token != PRINT_RELAX)
      define_here(p, var);
    else if (is_tir)
      tvms_print_tir_var_in_relax(p, var);
    else
      tvms_print_relax_var(p, var);
  }
  print_named(p, var);
}

// ---- Operators ----

void tvms_print_list(tvms_printer *p, tvms_list list) {
  for (uint32_t i = 0; i < list.len; i++) {
    if (i) PUT(p, ", ");
    tvms_print_object(p, list.items[i]);
  }
}

print_level tvms_print_level_of(tvms_printer *p, const tvms_node *node) {
  if (tvms_node_is_binary(node)) {
    return is_sugared(p, node) ? operators[node->kind].level : LEVEL_ATOM;
  }
  if (node->kind == TVMS_NODE_NOT) {
    const tvms_node *a = tvms_as_not(node)->a;
    bool literal = a->kind == TVMS_NODE_STRING_IMM
                   || (a->kind == TVMS_NODE_INT_IMM
                       && (p->token == PRINT_RELAX || is_int32(a->dtype)));
    return literal ? LEVEL_ATOM : LEVEL_NOT;
  }
  if (node->kind == TVMS_NODE_CALL) return tvms_print_call_level(p, node);
  return LEVEL_ATOM;
}

// Writes the operators along the left side of a tree without recursion, so that chains
// of any length work: a + b + c is ((a + b) + c).
static void print_sugared(tvms_printer *p, const tvms_node *node) {
  TVMS_VEC(const tvms_binary *) spine = {0};
  print_level outer = LEVEL_ANY;
  while (is_sugared(p, node)) {
    print_level level = operators[node->kind].level;
    if (level < outer) PUT(p, "(");
    tvms_vec_push(p->memory, &spine, tvms_as_binary(node));
    outer = level;
    node = tvms_as_binary(node)->a;
  }
  tvms_print_expr(p, node, outer);
  for (uint32_t i = spine.len; i > 0; i--) {
    const tvms_binary *now = spine.items[i - 1];
    print_level level = operators[now->head.kind].level;
    tvms_print_put(p, operators[now->head.kind].sugar);
    tvms_print_expr(p, now->b, level + 1);
    if (i > 1 && level < operators[spine.items[i - 2]->head.kind].level) PUT(p, ")");
  }
  tvms_vec_fini(p->memory, &spine);
}

// TVM writes T.min for a Min of constants, too, which its own reader folds.
static const char *name_of_operator(tvms_printer *p, const tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  bool functions = node->kind == TVMS_NODE_MIN || node->kind == TVMS_NODE_MAX
                   || node->kind == TVMS_NODE_MOD;
  if (!functions || cannot_fold(node->kind, op->a, op->b)
      || tvms_build_is_possible(&p->scratch, node)) {
    return operators[node->kind].name;
  }
  if (node->kind == TVMS_NODE_MOD) return "Mod";
  return node->kind == TVMS_NODE_MIN ? "Min" : "Max";
}

static void print_binary(tvms_printer *p, const tvms_node *node) {
  if (is_sugared(p, node)) {
    print_sugared(p, node);
    return;
  }
  tvms_print_t(p, name_of_operator(p, node));
  PUT(p, "(");
  tvms_print_any(p, tvms_as_binary(node)->a);
  PUT(p, ", ");
  tvms_print_any(p, tvms_as_binary(node)->b);
  PUT(p, ")");
}

static void print_not(tvms_printer *p, const tvms_node *node) {
  if (tvms_print_level_of(p, node) == LEVEL_ATOM) {
    tvms_print_t(p, "Not");
    PUT(p, "(");
    tvms_print_any(p, tvms_as_not(node)->a);
    PUT(p, ")");
    return;
  }
  PUT(p, "not ");
  tvms_print_expr(p, tvms_as_not(node)->a, LEVEL_NOT);
}

static void print_call_of(tvms_printer *p, const char *name, const tvms_node *a,
                          const tvms_node *b, const tvms_node *TVMS_NULLABLE c) {
  tvms_print_t(p, name);
  PUT(p, "(");
  tvms_print_any(p, a);
  PUT(p, ", ");
  tvms_print_any(p, b);
  if (c) {
    PUT(p, ", ");
    tvms_print_any(p, c);
  }
  PUT(p, ")");
}

static void print_cast(tvms_printer *p, const tvms_node *node) {
  tvms_print_t(p, "Cast");
  PUT(p, "(");
  tvms_print_quoted_dtype(p, node->dtype);
  PUT(p, ", ");
  tvms_print_any(p, tvms_as_cast(node)->value);
  PUT(p, ")");
}

// TVM names the variables of the value first, and those of the body last.
static void print_let(tvms_printer *p, const tvms_node *node) {
  const tvms_let *let = tvms_as_let(node);
  size_t start = p->out->len;
  tvms_print_any(p, let->value);
  size_t value_end = p->out->len;
  if (!tvms_print_defined(p, let->var) && !p->quiet && p->token != PRINT_RELAX) {
    define_here(p, let->var);
  }
  tvms_print_t(p, "Let");
  PUT(p, "(");
  tvms_print_any(p, let->body);
  PUT(p, ", where={");
  tvms_print_var(p, let->var);
  PUT(p, ": ");
  tvms_print_move(p, start, value_end);
  PUT(p, "})");
}

static void print_shuffle(tvms_printer *p, const tvms_node *node) {
  tvms_print_t(p, "Shuffle");
  PUT(p, "([");
  tvms_print_list(p, tvms_as_shuffle(node)->vectors);
  PUT(p, "], [");
  tvms_print_list(p, tvms_as_shuffle(node)->indices);
  PUT(p, "])");
}

static void print_reduce(tvms_printer *p, const tvms_node *node) {
  const tvms_reduce *reduce = tvms_as_reduce(node);
  tvms_print_t(p, "reduce");
  PUT(p, "(");
  tvms_print_object(p, reduce->combiner);
  PUT(p, ", source=[");
  tvms_print_list(p, reduce->source);
  PUT(p, "], init=[");
  tvms_print_list(p, reduce->init);
  PUT(p, "], axis=[");
  tvms_print_list(p, reduce->axis);
  PUT(p, "], condition=");
  tvms_print_any(p, reduce->condition);
  PUT(p, ", value_index=");
  tvms_print_int(p, reduce->value_index);
  PUT(p, ")");
}

static void print_float_imm(tvms_printer *p, const tvms_node *node) {
  print_typed(p, node->dtype);
  tvms_print_float(p, tvms_as_float_imm(node)->value);
  PUT(p, ")");
}

static void print_value(tvms_printer *p, const tvms_node *node) {
  if (tvms_node_is_binary(node)) {
    print_binary(p, node);
    return;
  }
  switch (node->kind) {
  case TVMS_NODE_VAR: tvms_print_var(p, node); return;
  case TVMS_NODE_INT_IMM: print_int_imm(p, node); return;
  case TVMS_NODE_FLOAT_IMM: print_float_imm(p, node); return;
  case TVMS_NODE_STRING_IMM: print_string_imm(p, node); return;
  case TVMS_NODE_NOT: print_not(p, node); return;
  case TVMS_NODE_SELECT:
    if (!tvms_release_has(p->dialect, TVMS_FACT_pointers_are_numbers)
        && tvms_dtype_is_handle(node->dtype)) {
      tvms_print_cannot(p, node, "a choice of pointers");
    }
    print_call_of(p, "Select", tvms_as_select(node)->condition,
                  tvms_as_select(node)->true_value, tvms_as_select(node)->false_value);
    return;
  case TVMS_NODE_CAST: print_cast(p, node); return;
  case TVMS_NODE_LET: print_let(p, node); return;
  case TVMS_NODE_RAMP:
    print_call_of(p, "Ramp", tvms_as_ramp(node)->base, tvms_as_ramp(node)->stride,
                  tvms_as_ramp(node)->lanes);
    return;
  case TVMS_NODE_BROADCAST:
    print_call_of(p, "Broadcast", tvms_as_broadcast(node)->value,
                  tvms_as_broadcast(node)->lanes, NULL);
    return;
  case TVMS_NODE_SHUFFLE: print_shuffle(p, node); return;
  case TVMS_NODE_BUFFER_LOAD: tvms_print_load(p, tvms_as_buffer_load(node)); return;
  case TVMS_NODE_REDUCE: print_reduce(p, node); return;
  case TVMS_NODE_CALL: tvms_print_call(p, node, LEVEL_ANY); return;
  default: tvms_print_relax_value(p, node); return;
  }
}

void tvms_print_expr(tvms_printer *p, const tvms_node *node, print_level level) {
  if (!tvms_memory_enter(p->memory)) {
    tvms_memory_leave(p->memory);
    tvms_print_too_deep(p, node);
    return;
  }
  bool inside = level > LEVEL_LAMBDA && tvms_print_level_of(p, node) < level;
  if (inside) PUT(p, "(");
  print_value(p, node);
  if (inside) PUT(p, ")");
  tvms_memory_leave(p->memory);
}
