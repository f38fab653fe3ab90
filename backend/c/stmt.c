// Statements of TIR as statements of C. Loops of all kinds run one after another: what a
// schedule wants of them was done before (the pipeline native). Blocks are gone.
#include "backend/c/stmt.h"

#include "backend/c/expr.h"
#include "backend/c/memory.h"
#include "backend/c/past.h"
#include "backend/c/short_loops.h"
#include "backend/core/place.h"
#include "interp/meaning.h"
#include "ir/build.h"
#include "ir/nontemporal.h"
#include "ir/walk.h"
#include "support/diag_ids.h"

static void open_loop(c_emitter *e, c_loop *loop) {
  *loop = (c_loop){e->loop, e->memory.len};
  e->loop = loop;
}

// A loop that counts by other steps than 1: the sum might not fit.
static const char *open_strides(c_emitter *e, const tvms_for *loop,
                                const char *extent) {
  const char *type = tvms_c_type(e, loop->var->dtype, loop->var->span);
  const char *step = tvms_c_index(e, loop->step);
  if (!tvms_node_is_int_imm(loop->step))
    tvms_c_check(e, tvms_c_text(e, "%s > 0", step), "ValueError",
                 "the step of a loop is not positive", loop->head.span);
  const char *i = tvms_c_text(e, "l%u", e->next++);
  tvms_c_open(e, "for (%s %s = 0; %s < %s; %s = %s - %s > %s ? %s + %s : %s)", type, i,
              i, extent, i, extent, i, step, i, step, extent);
  return i;
}

// for (i = 0; i < extent; i += step) with the variable at min + i.
static void emit_for(c_emitter *e, const tvms_node *node) {
  const tvms_for *source = tvms_as_for(node);
  const char *min = tvms_c_index(e, source->min);
  const char *extent = tvms_c_index(e, source->extent);
  uint32_t depth = 1;
  const char *i = source->step ? open_strides(e, source, extent)
                               : tvms_c_open_steps(e, source, extent, &depth);
  e->vars[source->var->id] = i;
  if (!tvms_node_is_int(source->min, 0)) {
    bool before = e->in_index;
    e->in_index = true;
    e->vars[source->var->id] = tvms_c_value(e, source->var->dtype, node->span,
                                            tvms_c_text(e, "%s + %s", min, i));
    e->in_index = before;
  }
  c_loop loop;
  open_loop(e, &loop);
  tvms_c_stmt(e, source->body);
  e->loop = loop.outer;
  for (uint32_t k = 0; k < depth; k++)
    tvms_c_close(e);
}

static void emit_while(c_emitter *e, const tvms_node *node) {
  const tvms_while *source = tvms_as_while(node);
  tvms_c_open(e, "for (;;)");
  tvms_c_line(e, "if (!(%s)) break;", tvms_c_condition(e, source->condition));
  c_loop loop;
  open_loop(e, &loop);
  tvms_c_stmt(e, source->body);
  e->loop = loop.outer;
  tvms_c_close(e);
}

static bool emit_branch(c_emitter *e, const tvms_if_then_else *branch) {
  tvms_c_open(e, "if (%s)", tvms_c_condition(e, branch->condition));
  bool open = tvms_c_stmt(e, branch->then_case);
  if (!branch->else_case) {
    tvms_c_close(e);
    return true;
  }
  e->depth--;
  tvms_c_open(e, "} else");
  open |= tvms_c_stmt(e, branch->else_case);
  tvms_c_close(e);
  return open;
}

static bool emit_return(c_emitter *e, const tvms_node *TVMS_NULLABLE source) {
  const char *value = source ? tvms_c_expr(e, source) : NULL;
  if (source && !tvms_dtype_is_void(e->result_dtype)) {
    const char *type = tvms_c_memory_type(e, e->result_dtype, source->span);
    value = tvms_c_convert(e, source->dtype, e->result_dtype, value);
    tvms_c_line(e, "*(%s *)result = %s;", type,
                tvms_c_to_memory(e, e->result_dtype, value));
  }
  tvms_c_free_from(e, 0);
  tvms_c_order_stores(e);
  tvms_c_line(e, "return 0;");
  return false;
}

static bool emit_jump(c_emitter *e, const tvms_node *node, const char *word) {
  if (!e->loop) tvms_c_refuse(e, node->span, "a jump outside a loop");
  tvms_c_free_from(e, e->loop->memory);
  tvms_c_line(e, "%s;", word);
  return false;
}

static bool emit_evaluate(c_emitter *e, const tvms_node *node) {
  const tvms_node *result;
  switch (tvms_meaning_of_evaluate(node, &result)) {
  case TVMS_MEANING_RETURN: return emit_return(e, result);
  case TVMS_MEANING_BREAK: return emit_jump(e, node, "break");
  case TVMS_MEANING_CONTINUE: return emit_jump(e, node, "continue");
  case TVMS_MEANING_CALL: tvms_c_expr(e, tvms_as_evaluate(node)->value);
  }
  return true;
}

// Two numbers are equal, or both are said.
static void check_sides(c_emitter *e, const tvms_node *sides[2], const char *kind,
                        const char *text, tvms_span span) {
  const char *left = tvms_c_index(e, sides[0]), *right = tvms_c_index(e, sides[1]);
  text = tvms_place_text(e->context, e->member, span, text, true);
  tvms_c_open(e, "if ((i64)%s != (i64)%s)", left, right);
  tvms_c_free_from(e, 0);
  tvms_c_line(e, "return hold_numbers(held, \"%s\", %s, (i64)%s, (i64)%s);", kind,
              tvms_c_literal(e, text), left, right);
  tvms_c_close(e);
}

static void emit_assert(c_emitter *e, const tvms_node *node) {
  const tvms_assert *assertion = tvms_as_assert(node);
  tvms_strbuf text;
  tvms_strbuf_init(&text, &e->context->memory);
  tvms_meaning_assertion(assertion, &text);
  const char *kind =
      assertion->error_kind.len ? assertion->error_kind.text : "RuntimeError";
  const tvms_node *sides[2];
  if (e->room == C_RELAX
      && tvms_meaning_sides(assertion, tvms_strbuf_text(&text), sides))
    check_sides(e, sides, kind, tvms_strbuf_text(&text), node->span);
  else
    tvms_c_check(e, tvms_c_condition(e, assertion->condition), kind,
                 tvms_strbuf_text(&text), node->span);
  tvms_strbuf_fini(&text);
}

static void emit_allocate_const(c_emitter *e, const tvms_node *node) {
  const tvms_allocate_const *source = tvms_as_allocate_const(node);
  const char *name = tvms_c_text(e, "constant_%u", e->constants++);
  tvms_strbuf_printf(&e->head, "static const _Alignas(64) u8 %s[] = {", name);
  for (uint32_t i = 0; i < source->data.len; i++) {
    tvms_strbuf_printf(&e->head, "%s%u",
                       i % 32 ? ","
                       : i    ? ",\n"
                              : "\n",
                       (unsigned char)source->data.text[i]);
  }
  tvms_strbuf_puts(&e->head, "};\n");
  e->vars[source->var->id] = tvms_c_text(e, "((ptr)%s)", name);
}

static bool emit_rest(c_emitter *e, tvms_list stmts, uint32_t from);

// A thread axis holds for the rest of the SEQ, which is run once per thread.
static void emit_threads(c_emitter *e, const tvms_attr_stmt *attr, tvms_list stmts,
                         uint32_t from) {
  const tvms_node *var = tvms_attr_stmt_threads(&attr->head)->var;
  const char *extent = tvms_c_index(e, attr->value);
  const char *i = tvms_c_text(e, "l%u", e->next++);
  tvms_c_open(e, "for (%s %s = 0; %s < %s; %s++)",
              tvms_c_type(e, var->dtype, var->span), i, i, extent, i);
  e->vars[var->id] = i;
  c_loop loop;
  open_loop(e, &loop);
  emit_rest(e, stmts, from);
  e->loop = loop.outer;
  tvms_c_close(e);
}

static bool emit_rest(c_emitter *e, tvms_list stmts, uint32_t from) {
  uint32_t memory = e->memory.len;
  bool open = true;
  for (uint32_t i = from; i < stmts.len && open; i++) {
    const tvms_node *stmt = stmts.items[i];
    if (tvms_attr_stmt_threads(stmt)) {
      emit_threads(e, tvms_as_attr_stmt(stmt), stmts, i + 1);
      break;
    }
    open = tvms_c_stmt(e, stmt);
  }
  tvms_c_end_memory(e, memory, open);
  return open;
}

static bool emit_block(c_emitter *e, tvms_list stmts) {
  tvms_c_open(e, "%s", "");
  bool open = emit_rest(e, stmts, 0);
  tvms_c_close(e);
  return open;
}

static void emit_declaration(c_emitter *e, const tvms_decl_buffer *declare) {
  const tvms_node *data = tvms_as_buffer(declare->buffer)->data;
  if (declare->source) e->vars[data->id] = tvms_c_expr(e, declare->source);
  tvms_c_define_buffer(e, declare->buffer, NULL);
}

static bool stmt_kind(c_emitter *e, const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_SEQ: return emit_block(e, tvms_as_seq(node)->stmts);
  case TVMS_NODE_FOR:
    e->past += tvms_stmt_is_nontemporal(tvms_as_for(node));
    emit_for(e, node);
    e->past -= tvms_stmt_is_nontemporal(tvms_as_for(node));
    return true;
  case TVMS_NODE_WHILE: emit_while(e, node); return true;
  case TVMS_NODE_IF_THEN_ELSE: return emit_branch(e, tvms_as_if_then_else(node));
  case TVMS_NODE_EVALUATE: return emit_evaluate(e, node);
  case TVMS_NODE_STORE: tvms_c_store(e, node); return true;
  case TVMS_NODE_BIND: {
    const tvms_bind *bind = tvms_as_bind(node);
    e->vars[bind->var->id] = tvms_c_expr(e, bind->value);
    return true;
  }
  case TVMS_NODE_ASSERT: emit_assert(e, node); return true;
  case TVMS_NODE_ALLOCATE: {
    const tvms_allocate *source = tvms_as_allocate(node);
    e->vars[source->var->id] =
        tvms_c_allocate(e, source->var, source->element, source->extents, node->span);
    return true;
  }
  case TVMS_NODE_ALLOCATE_CONST: emit_allocate_const(e, node); return true;
  case TVMS_NODE_ALLOC_BUFFER:
    tvms_c_allocate_buffer(e, tvms_as_alloc_buffer(node)->buffer);
    return true;
  case TVMS_NODE_BUFFER_REALIZE:
    tvms_c_allocate_buffer(e, tvms_as_buffer_realize(node)->buffer);
    return true;
  case TVMS_NODE_DECL_BUFFER:
    emit_declaration(e, tvms_as_decl_buffer(node));
    return true;
  case TVMS_NODE_RETURN: return emit_return(e, tvms_as_return(node)->value);
  case TVMS_NODE_ATTR_STMT: return true;  // a hint
  default:
    tvms_c_refuse(e, node->span, tvms_node_schema_of((tvms_node_kind)node->kind)->name);
  }
}

bool tvms_c_stmt(c_emitter *e, const tvms_node *node) {
  if (!tvms_memory_enter(&e->context->memory)) {
    tvms_diag_report(&e->context->diags, TVMS_D_too_deep, node->span,
                     e->context->memory.depth_limit);
    tvms_c_give_up(e);
  }
  uint32_t line = e->line;
  if (node->kind != TVMS_NODE_SEQ) tvms_c_at(e, node->span);
  bool open = stmt_kind(e, node);
  e->line = line;
  tvms_memory_leave(&e->context->memory);
  return open;
}
