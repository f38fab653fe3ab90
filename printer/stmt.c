// Statements, and sequences of them: what is flat in tvms may be nested in the text.
//
// A statement that opens a scope (attributes; in the classic dialect also let, allocation,
// assertion …) has the rest of its sequence as its body. TVM writes it flat if nothing
// follows the body, otherwise with `with`.
#include "printer/stmt.h"

#include "ir/stmt.h"
#include "ir/walk.h"
#include "printer/access.h"
#include "printer/alias.h"
#include "printer/block.h"
#include "printer/buffer.h"
#include "printer/call.h"
#include "printer/expr.h"
#include "printer/loop.h"
#include "printer/names.h"
#include "printer/object.h"
#include "printer/plan.h"
#include "printer/scope.h"
#include "printer/state.h"
#include "printer/text.h"
#include "printer/tile.h"

bool tvms_print_opens(const tvms_printer *p, const tvms_node *stmt) {
  return tvms_stmt_holds_body(stmt, p->dialect);
}

const tvms_node *tvms_print_only(const tvms_printer *p, const tvms_node *stmt) {
  while (stmt->kind == TVMS_NODE_SEQ) {
    const tvms_seq *seq = tvms_as_seq(stmt);
    if (seq->stmts.len == 0) return stmt;
    const tvms_node *first = seq->stmts.items[0];
    if (seq->stmts.len > 1 && !tvms_print_opens(p, first)) return stmt;
    stmt = first;
  }
  return stmt;
}

// A part of a sequence. `last`: nothing follows it in TVM's sequence; `sole`: nothing
// stands before it either.
typedef struct {
  tvms_node *const *stmts;
  uint32_t count;
  bool last;
  bool sole;
} part;

static void print_part(tvms_printer *p, part part);

static void print_with_scope(tvms_printer *p, part rest) {
  tvms_print_note(p, rest.stmts[0]);
  tvms_print_begin(p);
  PUT(p, "with ");
  print_opening opening = tvms_print_opening(p, rest.stmts, rest.count, false);
  uint32_t frame = tvms_print_push(p, FRAME_TIR, opening.node);
  if (opening.defines) {
    PUT(p, " as ");
    tvms_print_sym(p, tvms_print_define(p, opening.defines, frame));
  }
  PUT(p, ":");
  tvms_print_end(p);
  tvms_print_top(p)->indent = ++p->indent;
  part body = {rest.stmts + opening.taken, rest.count - opening.taken, true, true};
  print_part(p, body);
  p->indent--;
  tvms_print_pop(p);
}

// Writes the line of a flat scope and leaves its frame open.
static uint32_t print_flat_scope(tvms_printer *p, part rest) {
  tvms_print_note(p, rest.stmts[0]);
  tvms_print_begin(p);
  size_t from = p->out->len;
  print_opening opening = tvms_print_opening(p, rest.stmts, rest.count, true);
  uint32_t frame = tvms_print_push(p, FRAME_TIR, opening.node);
  if (opening.defines) {
    size_t end = p->out->len;
    tvms_print_sym(p, tvms_print_define(p, opening.defines, frame));
    if (opening.annotate && !tvms_dtype_is_void(opening.defines->dtype)) {
      PUT(p, ": ");
      tvms_print_type_of_var(p, opening.defines);
    }
    PUT(p, " = ");
    tvms_print_move(p, from, end);
  }
  tvms_print_end(p);
  tvms_print_top(p)->at = p->main.len;
  return opening.taken;
}

// `x: T.int32` together with the store that follows it.
static bool is_initialised(tvms_printer *p, const tvms_node *alloc,
                           const tvms_node *next) {
  if (next->kind != TVMS_NODE_STORE) return false;
  const tvms_store *store = tvms_as_store(next);
  const tvms_node *buffer = tvms_as_alloc_buffer(alloc)->buffer;
  return store->buffer == buffer && !store->predicate && store->indices.len == 1
         && tvms_node_is_int(store->indices.items[0], 0)
         && !tvms_walk_contains(p->memory, store->value, buffer);
}

// A scalar buffer declared by its type. Returns the number of statements written.
static uint32_t print_scalar(tvms_printer *p, part rest) {
  tvms_print_note(p, rest.stmts[0]);
  const tvms_alloc_buffer *alloc = tvms_as_alloc_buffer(rest.stmts[0]);
  const tvms_buffer *buffer = tvms_as_buffer(alloc->buffer);
  bool fused = rest.count > 1 && is_initialised(p, rest.stmts[0], rest.stmts[1]);
  tvms_print_begin(p);
  uint32_t frame = tvms_print_top_index(p);
  tvms_sym name = tvms_print_define(p, alloc->buffer, frame);
  tvms_print_define_part(p, buffer->data, frame, NAMED_DATA, alloc->buffer, 0);
  tvms_print_sym(p, name);
  PUT(p, ": ");
  tvms_print_t(p, "");
  tvms_print_dtype(p, buffer->element);
  if (fused) {
    PUT(p, " = ");
    tvms_print_any(p, tvms_as_store(rest.stmts[1])->value);
  }
  tvms_print_end(p);
  return fused ? 2 : 1;
}

static bool is_scalar_alloc(const tvms_printer *p, const tvms_node *stmt) {
  return tvms_release_has(p->dialect, TVMS_FACT_assignments_make_scalars)
         && stmt->kind == TVMS_NODE_ALLOC_BUFFER
         && tvms_print_is_scalar(p, tvms_as_alloc_buffer(stmt)->buffer, true);
}

// `A = T.alloc_buffer(…)` and its relatives.
static void print_allocation(tvms_printer *p, const tvms_node *buffer,
                             const tvms_node *TVMS_NULLABLE annotations) {
  uint32_t frame = tvms_print_top_index(p);
  size_t from = p->out->len;
  tvms_print_buffer_decl(p, buffer, "alloc_buffer", NULL, frame, DEFINES_DATA);
  if (annotations && tvms_as_object_map(annotations)->keys.len) {
    p->out->len--;
    PUT(p, ", annotations=");
    tvms_print_object(p, annotations);
    PUT(p, ")");
  }
  size_t end = p->out->len;
  tvms_print_sym(p, tvms_print_define(p, buffer, frame));
  PUT(p, " = ");
  tvms_print_move(p, from, end);
}

// From 0.24 on a classic allocation with the declaration of a buffer over all of it is one
// statement.
static bool is_allocated_buffer(const tvms_printer *p, const part *rest) {
  return tvms_release_has(p->dialect, TVMS_FACT_alloc_buffer_is_a_statement)
         && rest->count > 1 && rest->stmts[0]->kind == TVMS_NODE_ALLOCATE
         && tvms_print_declares_all(rest->stmts[0], rest->stmts[1]);
}

// A statement that TVM leaves out of a sequence: the evaluation of 0.
static bool is_nothing(const tvms_node *stmt) {
  return stmt->kind == TVMS_NODE_EVALUATE
         && tvms_node_is_int(tvms_as_evaluate(stmt)->value, 0);
}

// A sequence inside a sequence: the scope that its first statement opens, or just more
// statements.
static void print_nested(tvms_printer *p, const tvms_node *stmt, bool last, bool sole) {
  const tvms_seq *seq = tvms_as_seq(stmt);
  part inner = {seq->stmts.items, seq->stmts.len, last, sole};
  print_part(p, inner);
}

// A let of a variable that is known already: it is never flat.
static bool rebinds(tvms_printer *p, const tvms_node *stmt) {
  return stmt->kind == TVMS_NODE_BIND && tvms_print_defined(p, tvms_as_bind(stmt)->var);
}

static void print_part(tvms_printer *p, part rest) {
  if (rest.count == 0 && rest.sole) {
    tvms_print_begin(p);
    tvms_print_t(p, "evaluate");
    PUT(p, "(0)");
    tvms_print_end(p);
    return;
  }
  uint32_t open = 0;
  bool flat_last = tvms_release_has(p->dialect, TVMS_FACT_last_scopes_are_flat);
  bool drops = tvms_release_has(p->dialect, TVMS_FACT_sequences_drop_no_ops);
  for (uint32_t i = 0; i < rest.count;) {
    part now = {rest.stmts + i, rest.count - i, rest.last, rest.sole && i == 0};
    const tvms_node *stmt = now.stmts[0];
    if (stmt->kind == TVMS_NODE_SEQ) {
      bool last = rest.last && i + 1 == rest.count;
      print_nested(p, stmt, last, now.sole && last);
      i++;
    } else if (tvms_print_opens(p, stmt)) {
      bool flat = (flat_last || now.sole) && rest.last && !rebinds(p, stmt);
      if (!flat) {
        print_with_scope(p, now);
        break;
      }
      i += print_flat_scope(p, now);
      open++;
      // What follows is alone in a scope of its own.
      rest = (part){rest.stmts + i, rest.count - i, true, true};
      i = 0;
      if (rest.count == 0) print_part(p, rest);
    } else if (drops && rest.count > 1 && is_nothing(stmt)) {
      i++;
    } else if (is_scalar_alloc(p, stmt)) {
      i += print_scalar(p, now);
    } else if (is_allocated_buffer(p, &now)) {
      tvms_print_begin(p);
      print_allocation(p, tvms_as_decl_buffer(now.stmts[1])->buffer,
                       tvms_as_allocate(stmt)->annotations);
      tvms_print_end(p);
      i += 2;
    } else {
      tvms_print_stmt(p, stmt);
      i++;
    }
  }
  while (open--) {
    tvms_print_pop(p);
  }
}

void tvms_print_body(tvms_printer *p, const tvms_node *stmt) {
  if (!tvms_memory_enter(p->memory)) {
    tvms_memory_leave(p->memory);
    tvms_print_too_deep(p, stmt);
    return;
  }
  tvms_node *only = (tvms_node *)(uintptr_t)stmt;
  part all = {&only, 1, true, true};
  if (stmt->kind == TVMS_NODE_SEQ) {
    all.stmts = tvms_as_seq(stmt)->stmts.items;
    all.count = tvms_as_seq(stmt)->stmts.len;
  }
  print_part(p, all);
  tvms_memory_leave(p->memory);
}

// ---- Statements without a scope ----

static void print_branch(tvms_printer *p, const tvms_node *branch) {
  p->indent++;
  tvms_print_push(p, FRAME_TIR, tvms_print_only(p, branch));
  tvms_print_body(p, branch);
  tvms_print_pop(p);
  p->indent--;
}

static void print_if(tvms_printer *p, const tvms_node *stmt) {
  const tvms_if_then_else *node = tvms_as_if_then_else(stmt);
  PUT(p, "if ");
  tvms_print_any(p, node->condition);
  PUT(p, ":");
  tvms_print_end(p);
  print_branch(p, node->then_case);
  if (!node->else_case) return;
  if (p->blank) p->blank = false;
  tvms_strbuf_fill(p->out, ' ', (size_t)p->indent * 4);
  PUT(p, "else:");
  tvms_print_end(p);
  print_branch(p, node->else_case);
}

static void print_while(tvms_printer *p, const tvms_node *stmt) {
  const tvms_while *node = tvms_as_while(stmt);
  PUT(p, "while ");
  tvms_print_any(p, node->condition);
  PUT(p, ":");
  tvms_print_end(p);
  p->indent++;
  tvms_print_push(p, FRAME_TIR, stmt);
  tvms_print_body(p, node->body);
  tvms_print_pop(p);
  p->indent--;
}

// The value that T.ret returns, or NULL.
static const tvms_node *returned(const tvms_printer *p, const tvms_node *value) {
  if (value->kind != TVMS_NODE_CALL) return NULL;
  const tvms_call *call = tvms_as_call(value);
  if (call->callee->kind != TVMS_NODE_OPERATOR || call->args.len != 1) return NULL;
  const char *name = tvms_symbol_text(p->context, tvms_as_operator(call->callee)->name);
  return strcmp(name, "ret") == 0 ? call->args.items[0] : NULL;
}

// Whether `value` is a call of TVM that stands as a statement.
static bool is_called(tvms_printer *p, const tvms_node *value) {
  // A parameter that is a buffer by now is written as a call (expr.c).
  if (value->kind == TVMS_NODE_VAR
      && tvms_release_has(p->dialect, TVMS_FACT_signatures_hold_buffers)
      && tvms_print_name_of(p, value)->how == NAMED_DEAD)
    return true;
  if (value->kind == TVMS_NODE_BUFFER_LOAD) {
    return tvms_as_buffer_load(value)->predicate
           && tvms_release_has(p->dialect, TVMS_FACT_masked_access_is_intrinsic);
  }
  return value->kind == TVMS_NODE_CALL && !tvms_print_is_bit_operator(p, value)
         && !tvms_print_buffer_of_data(p, value);
}

static void print_evaluate(tvms_printer *p, const tvms_node *stmt) {
  const tvms_node *value = tvms_as_evaluate(stmt)->value;
  const tvms_node *result = returned(p, value);
  if (result) {
    PUT(p, "return ");
    tvms_print_any(p, result);
  } else if (is_called(p, value)) {
    tvms_print_any(p, value);
  } else {
    tvms_print_t(p, "evaluate");
    PUT(p, "(");
    tvms_print_object(p, value);
    PUT(p, ")");
  }
}

static bool is_text(const tvms_node *node, const char *text) {
  if (node->kind != TVMS_NODE_STRING_IMM) return false;
  tvms_bytes value = tvms_as_string_imm(node)->value;
  return value.len == strlen(text) && memcmp(value.text, text, value.len) == 0;
}

// The calls whose pointer points to `element` from 0.26 on, without saying so.
static bool implies_element(const tvms_node *value, tvms_dtype element) {
  tvms_tir_opcode opcode = tvms_call_opcode(value);
  const tvms_call *call = tvms_as_call(value);
  if (!call->args.len) return false;
  const tvms_node *first = call->args.items[0];
  if (opcode == TVMS_TIR_address_of) {
    return first->kind == TVMS_NODE_BUFFER_LOAD
           && tvms_dtype_same(first->dtype, element);
  }
  if (opcode != TVMS_TIR_tvm_stack_alloca || element.code != TVMS_INT) return false;
  return (element.bits == 64 && is_text(first, "shape"))
         || (element.bits == 32 && is_text(first, "arg_tcode"));
}

// From 0.24 on a let is a statement like any other.
// Up to 0.25 a typed pointer could be any handle; later the call must say its type, where
// it is written.
static bool is_untyped(const tvms_printer *p, const tvms_bind *bind) {
  const tvms_node *type = bind->var->sinfo, *value = bind->value;
  bool typed =
      type && type->kind == TVMS_NODE_SINFO_POINTER && !tvms_dtype_is_void(type->dtype);
  if (!typed || !tvms_release_has(p->dialect, TVMS_FACT_expressions_have_types)
      || value->sinfo)
    return false;
  tvms_tir_opcode opcode = tvms_call_opcode(value);
  return opcode && tvms_tir_op_row_of(opcode)->location == TVMS_LOCATION_NONE
         && !implies_element(value, type->dtype);
}

// From 0.27 on a function of the module that returns nothing gives an empty tuple, which
// has no name as a type.
static bool gives_nothing(const tvms_printer *p, const tvms_node *value) {
  return tvms_release_has(p->dialect, TVMS_FACT_calls_return_empty_tuples)
         && value->kind == TVMS_NODE_CALL && tvms_dtype_is_void(value->dtype)
         && tvms_as_call(value)->callee->kind == TVMS_NODE_GLOBAL_VAR;
}

static void print_let_type(tvms_printer *p, const tvms_bind *bind) {
  tvms_print_t(p, "let[");
  // 0.26 gives texts the type void, and wants to read that again.
  if (bind->value->kind == TVMS_NODE_STRING_IMM
      && tvms_release_has(p->dialect, TVMS_FACT_texts_are_void))
    tvms_print_t(p, "void");
  else
    tvms_print_type_of_var(p, bind->var);
  PUT(p, "]");
}

static void print_bind(tvms_printer *p, const tvms_node *stmt) {
  const tvms_bind *bind = tvms_as_bind(stmt);
  if (is_untyped(p, bind)) {
    tvms_print_cannot(p, stmt,
                      "a typed pointer to the result of a call without a type");
  }
  bool known = tvms_print_defined(p, bind->var);
  size_t from = p->out->len;
  // The type of a pointer that a classic call does not say is that of its variable.
  bool is_call = bind->value->kind == TVMS_NODE_CALL;
  p->expected = is_call ? bind->var->sinfo : NULL;
  tvms_print_any(p, bind->value);
  p->expected = NULL;
  size_t end = p->out->len;
  if (known) {
    tvms_print_var(p, bind->var);
  } else {
    tvms_print_sym(p, tvms_print_define(p, bind->var, tvms_print_top_index(p)));
    PUT(p, ": ");
    if (gives_nothing(p, bind->value)) {
      tvms_print_t(p, "let");
    } else {
      print_let_type(p, bind);
    }
  }
  PUT(p, " = ");
  tvms_print_move(p, from, end);
}

static void print_assert(tvms_printer *p, const tvms_node *stmt) {
  const tvms_assert *node = tvms_as_assert(stmt);
  PUT(p, "assert ");
  tvms_print_any(p, node->condition);
  PUT(p, ", (");
  tvms_print_quoted(p, node->error_kind.text, node->error_kind.len);
  PUT(p, ", [");
  tvms_print_list(p, node->message);
  PUT(p, "])");
}

// A classic declaration over memory that comes from nowhere: later releases allocate it.
static bool owns_data(tvms_printer *p, const tvms_node *stmt) {
  bool was_classic =
      p->module
      && tvms_release_has(p->module->dialect, TVMS_FACT_buffers_need_no_declaration);
  const tvms_decl_buffer *node = tvms_as_decl_buffer(stmt);
  const tvms_node *data = tvms_as_buffer(node->buffer)->data;
  return was_classic && !node->source && data && data->kind == TVMS_NODE_VAR
         && !tvms_print_defined(p, data);
}

void tvms_print_bind_data(tvms_printer *p, const tvms_node *stmt) {
  const tvms_node *source = tvms_as_decl_buffer(stmt)->source;
  const tvms_node *data = tvms_as_buffer(tvms_as_decl_buffer(stmt)->buffer)->data;
  bool needed = source && !tvms_release_has(p->dialect, TVMS_FACT_buffers_are_variables)
                && source->kind != TVMS_NODE_VAR
                && !tvms_print_buffer_of_data(p, source) && data->sinfo;
  if (!needed) return;
  uint32_t frame = tvms_print_top_index(p);
  print_added line;
  tvms_print_begin_line(p, &line, frame);
  tvms_print_sym(p, tvms_print_define(p, data, frame));
  PUT(p, ": ");
  if (tvms_release_has(p->dialect, TVMS_FACT_bindings_say_let)) tvms_print_t(p, "let[");
  tvms_print_type_of_var(p, data);
  tvms_print_put(p, !tvms_release_has(p->dialect, TVMS_FACT_bindings_say_let) ? " = "
                                                                              : "] = ");
  tvms_print_any(p, source);
  tvms_print_end_line(p, &line);
}

static void print_declare(tvms_printer *p, const tvms_node *stmt) {
  const tvms_node *buffer = tvms_as_decl_buffer(stmt)->buffer;
  bool converted =
      p->module
      && tvms_release_has(p->module->dialect, TVMS_FACT_regions_name_inner_buffers);
  if (converted && tvms_print_defined(p, buffer)) {
    tvms_print_cannot(p, stmt, "a region of a buffer that its block declares");
  }
  if (owns_data(p, stmt)) {
    print_allocation(p, buffer, NULL);
    return;
  }
  uint32_t frame = tvms_print_top_index(p);
  tvms_print_bind_data(p, stmt);
  size_t from = p->out->len;
  // An attribute in front may have named the pointer; where a buffer has one of its own, it
  // still comes from here.
  bool own = tvms_release_has(p->dialect, TVMS_FACT_buffers_are_variables);
  p->source = !own && tvms_print_defined(p, tvms_as_buffer(buffer)->data)
                  ? NULL
                  : tvms_as_decl_buffer(stmt)->source;
  if (!tvms_print_alias(p, buffer, p->source)) {
    tvms_print_buffer_decl(p, buffer, "decl_buffer", NULL, frame, DEFINES_NOTHING);
  }
  p->source = NULL;
  size_t end = p->out->len;
  tvms_print_sym(p, tvms_print_define(p, buffer, frame));
  PUT(p, " = ");
  tvms_print_move(p, from, end);
}

// A classic allocation from 0.24 on: a buffer whose data is the pointer.
static void print_allocate(tvms_printer *p, const tvms_node *stmt) {
  const tvms_allocate *node = tvms_as_allocate(stmt);
  if (!tvms_node_is_true(node->condition)) {
    tvms_print_cannot(p, stmt, "a condition of T.allocate");
  }
  const tvms_node *whole = tvms_print_buffer_over_all(p, stmt);
  if (whole) {
    print_allocation(p, whole, NULL);
    return;
  }
  tvms_buffer *buffer = tvms_node_make(&p->scratch, BUFFER, stmt->span);
  buffer->name = tvms_print_hint(p, node->var);
  buffer->data = node->var;
  buffer->element = node->element;
  buffer->shape = node->extents;
  tvms_dtype index =
      node->extents.len ? node->extents.items[0]->dtype : TVMS_DTYPE(INT, 64);
  buffer->elem_offset = tvms_int_imm_new(&p->scratch, index, 0, stmt->span);
  buffer->align = 64;
  buffer->offset_factor = 1;
  print_allocation(p, &buffer->head, node->annotations);
}

static void print_returned(tvms_printer *p, const tvms_node *value) {
  if (value->kind != TVMS_NODE_BUFFER) {
    tvms_print_any(p, value);
    return;
  }
  if (!tvms_release_has(p->dialect, TVMS_FACT_buffers_are_variables)) {
    tvms_print_cannot(p, value, "a buffer that a function returns");
  }
  tvms_print_buffer(p, value);
}

static void print_simple(tvms_printer *p, const tvms_node *stmt) {
  switch (stmt->kind) {
  case TVMS_NODE_STORE: tvms_print_store(p, tvms_as_store(stmt)); return;
  case TVMS_NODE_EVALUATE: print_evaluate(p, stmt); return;
  case TVMS_NODE_BIND: print_bind(p, stmt); return;
  case TVMS_NODE_ASSERT: print_assert(p, stmt); return;
  case TVMS_NODE_ALLOC_BUFFER:
    print_allocation(p, tvms_as_alloc_buffer(stmt)->buffer,
                     tvms_as_alloc_buffer(stmt)->annotations);
    return;
  case TVMS_NODE_DECL_BUFFER: print_declare(p, stmt); return;
  case TVMS_NODE_ALLOCATE: print_allocate(p, stmt); return;
  case TVMS_NODE_ALLOCATE_CONST: tvms_print_cannot(p, stmt, "T.allocate_const"); return;
  case TVMS_NODE_BUFFER_REALIZE: tvms_print_cannot(p, stmt, "T.realize"); return;
  case TVMS_NODE_RETURN:
    PUT(p, "return ");
    print_returned(p, tvms_as_return(stmt)->value);
    return;
  case TVMS_NODE_SCOPE_ID: tvms_print_scope_id(p, stmt); return;
  default: tvms_print_object(p, stmt); return;
  }
}

void tvms_print_stmt(tvms_printer *p, const tvms_node *stmt) {
  tvms_print_note(p, stmt);
  tvms_print_begin(p);
  switch (stmt->kind) {
  case TVMS_NODE_FOR: tvms_print_for(p, stmt); return;
  case TVMS_NODE_WHILE: print_while(p, stmt); return;
  case TVMS_NODE_IF_THEN_ELSE: print_if(p, stmt); return;
  case TVMS_NODE_BLOCK: tvms_print_block(p, stmt, NULL); return;
  case TVMS_NODE_BLOCK_REALIZE:
    tvms_print_block(p, tvms_as_block_realize(stmt)->block, stmt);
    return;
  case TVMS_NODE_TILE_CALL: tvms_print_tile_call(p, stmt); return;
  default: print_simple(p, stmt); tvms_print_end(p);
  }
}
