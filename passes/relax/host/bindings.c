// Expressions and bindings of a Relax function that becomes a PrimFunc.
//
// A branch is an `if`: what both sides give is written to the same memory, and numbers are
// loaded from there behind it.
#include "passes/relax/host/bindings.h"

#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/op.h"
#include "ir/stmt.h"
#include "passes/relax/analysis/symbols.h"
#include "passes/relax/host/calls.h"
#include "passes/relax/host/choices.h"
#include "passes/relax/host/functions.h"
#include "passes/relax/host/leaves.h"
#include "passes/relax/host/objects.h"
#include "passes/relax/host/values.h"
#include "structinfo/make.h"

#include <string.h>

static tvms_host_value *TVMS_NULLABLE variable(tvms_host *h, tvms_node *node) {
  tvms_host_value *value = h->values[node->id];
  if (value) return value;
  if (tvms_dtype_is_void(node->dtype))
    return tvms_host_refuse(h, node->span, "a value is used that has none here");
  tvms_node *number = tvms_host_expr(h, node, node->span);
  return number ? tvms_host_number(h, number) : NULL;
}

static tvms_host_value *TVMS_NULLABLE tuple(tvms_host *h, const tvms_node *node) {
  tvms_list fields = tvms_as_tuple(node)->fields;
  tvms_host_value *value = tvms_host_value_of(h, TVMS_HOST_TUPLE, fields.len);
  for (uint32_t i = 0; i < fields.len && !h->failed; i++)
    value->fields[i] = tvms_host_eval(h, fields.items[i]);
  return h->failed ? NULL : value;
}

static tvms_host_value *TVMS_NULLABLE item(tvms_host *h, const tvms_node *node) {
  const tvms_tuple_get_item *get = tvms_as_tuple_get_item(node);
  tvms_host_value *value = tvms_host_eval(h, get->tuple);
  if (!value) return NULL;
  if (value->kind == TVMS_HOST_OBJECT) {
    const tvms_host_value *field =
        tvms_host_object_field(h, value, get->index, node->span);
    if (!node->sinfo) return (tvms_host_value *)(uintptr_t)field;
    return tvms_host_unboxed(h, node->sinfo, field, "a field of a tuple: ", node->span);
  }
  bool inside =
      value->kind == TVMS_HOST_TUPLE && get->index >= 0 && get->index < value->count;
  if (!inside)
    return tvms_host_refuse(h, node->span,
                            "a tuple is made where nothing tells of what");
  return value->fields[get->index];
}

// ---- Branches ----

static tvms_node *TVMS_NULLABLE condition_of(tvms_host *h, tvms_node *node) {
  tvms_host_value *value = tvms_host_eval(h, node);
  if (!value) return NULL;
  tvms_node *condition = value->number;
  if (value->kind == TVMS_HOST_TENSOR) {
    tvms_list at = tvms_list_copy(h->unit, value->dims.items, value->dims.len);
    for (uint32_t i = 0; i < at.len; i++)
      at.items[i] = tvms_host_int(h, 0);
    condition = tvms_buffer_load_new(h->unit, tvms_host_buffer_of(h, value), at.items,
                                     at.len, NULL, node->span);
  }
  if (!condition) return tvms_host_refuse(h, node->span, "this is not a condition");
  if (tvms_dtype_is_bool(condition->dtype)) return condition;
  return tvms_cast_new(h->unit, TVMS_DTYPE(BOOL, 8), condition, node->span);
}

static tvms_dtype number_type(const tvms_node *type) {
  return tvms_dtype_is_void(type->dtype) ? TVMS_DTYPE(INT, 64) : type->dtype;
}

tvms_host_value *tvms_host_merged_leaf(tvms_host *h, const tvms_node *node,
                                       uint32_t at) {
  const tvms_node *type = tvms_host_leaf_type(node->sinfo, at);
  tvms_list dims = {NULL, 0}, made;
  tvms_dtype dtype = number_type(type);
  switch ((int)type->kind) {
  case TVMS_NODE_SINFO_TENSOR:
    // Each branch may give another size then.
    if (!tvms_sinfo_dims(type, &dims) || tvms_dtype_is_void(type->dtype))
      return tvms_host_slot(h);
    if (!tvms_host_exprs(h, dims, node->span, &made)) return NULL;
    if (tvms_host_is_late(h, made))
      return tvms_host_late_tensor(h, "merged", dtype, made);
    break;
  case TVMS_NODE_SINFO_PRIM: made = (tvms_list){NULL, 0}; break;
  case TVMS_NODE_SINFO_SHAPE: {
    int64_t ndim = tvms_as_sinfo_shape(type)->ndim;
    if (ndim < 0) return tvms_host_slot(h);
    tvms_node *count = tvms_host_int(h, ndim);
    made = tvms_list_copy(h->unit, &count, 1);
    break;
  }
  default:
    return tvms_host_gives_function(h, node) ? tvms_host_choice(h) : tvms_host_slot(h);
  }
  tvms_host_value *tensor =
      tvms_host_tensor(h, "merged", dtype, made, tvms_host_sent(h, node, at));
  // Numbers are stored in both branches, and loaded behind them.
  bool numbers = tensor && type->kind != TVMS_NODE_SINFO_TENSOR;
  if (numbers) tensor->buffer = tvms_host_buffer_of(h, tensor);
  return tensor;
}

static tvms_node *side(tvms_host *h, tvms_node *seq, tvms_host_value *const *merged,
                       uint32_t count) {
  tvms_node_vec around = h->stmts;
  h->stmts = (tvms_node_vec){0};
  for (uint32_t i = 0; i < count; i++)
    if (merged[i]->kind == TVMS_HOST_TENSOR)
      tvms_host_send(h, tvms_as_seq_expr(seq)->body, i, merged[i]->data);
  h->branches++;
  tvms_host_value *value = tvms_host_eval(h, seq);
  for (uint32_t i = 0; i < count && value && !h->failed; i++) {
    tvms_host_value *leaf = tvms_host_leaf(value, i);
    if (merged[i]->kind == TVMS_HOST_CHOICE)
      tvms_host_choose(h, leaf, merged[i], &around);
    else
      tvms_host_deliver(h, leaf, merged[i]);
  }
  h->branches--;
  tvms_node *made = tvms_stmt_seq(h->unit, &h->stmts, seq->span);
  tvms_vec_fini(tvms_host_memory(h), &h->stmts);
  h->stmts = around;
  return made;
}

static tvms_host_value *TVMS_NULLABLE branch(tvms_host *h, tvms_node *node) {
  const tvms_if *choice = tvms_as_if(node);
  if (!node->sinfo)
    return tvms_host_refuse(h, node->span, "the branches give something of no type");
  tvms_node *condition = condition_of(h, choice->condition);
  uint32_t count = tvms_host_leaves(node->sinfo), next = 0;
  tvms_arena *scratch = &h->run->context->scratch;
  tvms_host_value **merged = tvms_arena_array(scratch, tvms_host_value *, count);
  tvms_host_value **leaves = tvms_arena_array(scratch, tvms_host_value *, count);
  for (uint32_t i = 0; i < count && !h->failed; i++)
    merged[i] = tvms_host_merged_leaf(h, node, i);
  if (h->failed) return NULL;
  tvms_if_then_else *made = tvms_node_make(h->unit, IF_THEN_ELSE, node->span);
  made->condition = condition;
  made->then_case = side(h, choice->true_branch, merged, count);
  if (h->failed) return NULL;
  made->else_case = side(h, choice->false_branch, merged, count);
  if (h->failed) return NULL;
  tvms_host_push(h, &made->head);
  for (uint32_t i = 0; i < count && !h->failed; i++)
    leaves[i] = tvms_host_read(h, tvms_host_leaf_type(node->sinfo, i), merged[i]);
  return h->failed ? NULL : tvms_host_of_leaves(h, node->sinfo, leaves, &next);
}

// ---- Bindings ----

// Asserts that a size, or with `at` -1 a number, is what the type says; `who` is said in front.
static void check_size(tvms_host *h, tvms_node *given, tvms_node *known,
                       const char *who, int64_t at) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, tvms_host_memory(h));
  tvms_strbuf_puts(&text, who);
  if (at >= 0) tvms_strbuf_printf(&text, "dimension %lld", (long long)at);
  if (at >= 0 && h->binds) tvms_strbuf_puts(&text, " of ");
  if (h->binds) tvms_strbuf_printf(&text, "'%s'", h->binds);
  if (at < 0 && !h->binds) tvms_strbuf_puts(&text, "it");
  tvms_strbuf_puts(&text, " is {left}, but must be {right}");
  tvms_host_assert(h,
                   tvms_binary_new(h->unit, TVMS_NODE_EQ, given, known, TVMS_NO_SPAN),
                   "ValueError", tvms_strbuf_text(&text));
  tvms_strbuf_fini(&text);
}

// Sizes of a value are what the type says: what is not known yet is learnt, the rest must be so.
static void match_sizes(tvms_host *h, tvms_list wanted, tvms_list given,
                        const char *who, bool numbered, tvms_span span) {
  if (wanted.len != given.len) {
    tvms_host_refuse(h, span, "match_cast asks for another rank than the value has");
    return;
  }
  for (int second = 0; second < 2; second++) {
    for (uint32_t i = 0; i < wanted.len && !h->failed; i++) {
      tvms_node *size = wanted.items[i];
      bool learns = tvms_relax_is_symbol(size) && !tvms_node_map_get(&h->known, size);
      if (learns) tvms_node_map_put(&h->known, size, given.items[i]);
      if (learns || !second) continue;
      tvms_node *known = tvms_host_expr(h, size, span);
      if (!known || tvms_arith_prove_equal(h->unit, known, given.items[i])) continue;
      check_size(h, given.items[i], known, who, numbered ? (int64_t)i : -1);
    }
  }
}

static tvms_host_value *TVMS_NULLABLE match_fields(tvms_host *h, tvms_list types,
                                                   const tvms_host_value *value,
                                                   const char *who, tvms_span span) {
  if (types.len != value->count)
    return tvms_host_refuse(h, span,
                            "match_cast asks for other fields than the value has");
  tvms_host_value *made = tvms_host_value_of(h, TVMS_HOST_TUPLE, types.len);
  for (uint32_t i = 0; i < types.len && !h->failed; i++)
    made->fields[i] = tvms_host_match(h, types.items[i], value->fields[i], who, span);
  return h->failed ? NULL : made;
}

// The variable that gets it is named in front of all that is said.
static tvms_host_value *TVMS_NULLABLE match_object(tvms_host *h, const tvms_node *type,
                                                   const tvms_host_value *value,
                                                   const char *who, tvms_span span) {
  if (!h->binds) return tvms_host_unboxed(h, type, value, who, span);
  const char *name = h->binds;
  tvms_strbuf text;
  tvms_strbuf_init(&text, tvms_host_memory(h));
  tvms_strbuf_printf(&text, "%s'%s': ", who, name);
  h->binds = NULL;
  tvms_host_value *made =
      tvms_host_unboxed(h, type, value, tvms_strbuf_text(&text), span);
  h->binds = name;
  tvms_strbuf_fini(&text);
  return made;
}

tvms_host_value *tvms_host_match(tvms_host *h, const tvms_node *type,
                                 tvms_host_value *value, const char *who,
                                 tvms_span span) {
  tvms_list dims;
  if (value->kind == TVMS_HOST_OBJECT) return match_object(h, type, value, who, span);
  if (type->kind == TVMS_NODE_SINFO_TUPLE && value->kind == TVMS_HOST_TUPLE)
    return match_fields(h, tvms_as_sinfo_tuple(type)->fields, value, who, span);
  if (type->kind == TVMS_NODE_SINFO_PRIM && value->kind == TVMS_HOST_NUMBER) {
    tvms_node *number = tvms_as_sinfo_prim(type)->value;
    if (number)
      match_sizes(h, (tvms_list){&number, 1}, (tvms_list){&value->number, 1}, who,
                  false, span);
  }
  bool sized = value->kind == TVMS_HOST_TENSOR || value->kind == TVMS_HOST_SHAPE;
  if (!sized || !tvms_sinfo_dims(type, &dims)) return h->failed ? NULL : value;
  if (value->kind == TVMS_HOST_TENSOR) tvms_prover_assume_dims(&h->prover, value->dims);
  match_sizes(h, dims, value->dims, who, true, span);
  tvms_host_value *made = tvms_host_value_new(h, value->kind);
  *made = *value;
  made->buffer = NULL;
  if (h->failed || !tvms_host_exprs(h, dims, span, &made->dims)) return NULL;
  return made;
}

static void run_binding(tvms_host *h, tvms_node *node) {
  tvms_node *var = tvms_relax_binding_var(node);
  tvms_node *source = tvms_relax_binding_value(node);
  tvms_host_value *value = NULL;
  const char *outer_name = h->binds;
  h->binds = tvms_symbol_text(h->run->context, tvms_as_var(var)->name);
  tvms_span outer = h->unit->origin;
  bool placed = source->span.end && node->kind != TVMS_NODE_MATCH_CAST;
  h->unit->origin = placed ? source->span : node->span;
  h->unused = node->kind != TVMS_NODE_MATCH_CAST && h->uses[var->id] < 2;
  if (source->kind == TVMS_NODE_CALL)
    value = tvms_host_call(h, source, h->binds);
  else
    value = tvms_host_eval(h, source);
  h->unused = false;
  if (value && node->kind == TVMS_NODE_MATCH_CAST)
    value = tvms_host_match(h, tvms_as_match_cast(node)->type, value,
                            "match_cast: ", node->span);
  h->unit->origin = outer;
  h->binds = outer_name;
  if (!value) return;
  h->values[var->id] = value;
  // Sizes may speak of a number.
  if (value && value->kind == TVMS_HOST_NUMBER && !tvms_dtype_is_void(var->dtype))
    tvms_node_map_put(&h->known, var, value->number);
}

static tvms_host_value *TVMS_NULLABLE sequence(tvms_host *h, const tvms_node *node) {
  const tvms_seq_expr *seq = tvms_as_seq_expr(node);
  for (uint32_t i = 0; i < seq->blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(seq->blocks.items[i])->bindings;
    for (uint32_t j = 0; j < bindings.len && !h->failed; j++)
      run_binding(h, bindings.items[j]);
  }
  return h->failed ? NULL : tvms_host_eval(h, seq->body);
}

static tvms_host_value *text(tvms_host *h, const tvms_node *node) {
  tvms_host_value *value = tvms_host_value_new(h, TVMS_HOST_TEXT);
  char name[TVMS_DTYPE_TEXT];
  if (node->kind == TVMS_NODE_DTYPE_IMM) {
    value->dtype = tvms_as_dtype_imm(node)->value;
    tvms_dtype_text(value->dtype, name);
    value->data = tvms_string_imm_new(h->unit, name, strlen(name), node->span);
  } else {
    tvms_bytes said = tvms_as_string_imm(node)->value;
    value->data = tvms_string_imm_new(h->unit, said.text, said.len, node->span);
  }
  return value;
}

static tvms_host_value *TVMS_NULLABLE eval_kind(tvms_host *h, tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_VAR: return variable(h, node);
  case TVMS_NODE_CONSTANT: return tvms_host_constant(h, node);
  case TVMS_NODE_TUPLE: return tuple(h, node);
  case TVMS_NODE_TUPLE_GET_ITEM: return item(h, node);
  case TVMS_NODE_SEQ_EXPR: return sequence(h, node);
  case TVMS_NODE_IF: return branch(h, node);
  case TVMS_NODE_GLOBAL_VAR:
  case TVMS_NODE_EXTERN_FUNC: return tvms_host_function_value(h, node);
  case TVMS_NODE_SHAPE_EXPR: {
    tvms_host_value *shape = tvms_host_value_new(h, TVMS_HOST_SHAPE);
    bool known =
        tvms_host_exprs(h, tvms_as_shape_expr(node)->values, node->span, &shape->dims);
    return known ? shape : NULL;
  }
  case TVMS_NODE_PRIM_VALUE: {
    tvms_node *number = tvms_host_expr(h, tvms_as_prim_value(node)->value, node->span);
    return number ? tvms_host_number(h, number) : NULL;
  }
  case TVMS_NODE_STRING_IMM:
  case TVMS_NODE_DTYPE_IMM: return text(h, node);
  default: break;
  }
  bool relax_call = node->kind == TVMS_NODE_CALL && tvms_dtype_is_void(node->dtype);
  if (relax_call) return tvms_host_call(h, node, "made");
  if (tvms_dtype_is_void(node->dtype))
    return tvms_host_refuse(h, node->span, "functions are not values of native code");
  tvms_node *number = tvms_host_expr(h, node, node->span);
  return number ? tvms_host_number(h, number) : NULL;
}

tvms_host_value *tvms_host_eval(tvms_host *h, tvms_node *expr) {
  if (!tvms_memory_enter(tvms_host_memory(h)))
    return tvms_host_refuse(h, expr->span, "it nests too deeply");
  tvms_host_value *value = eval_kind(h, expr);
  tvms_memory_leave(tvms_host_memory(h));
  return value;
}
