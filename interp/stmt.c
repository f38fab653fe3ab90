// Statements of TIR.
//
// What a statement of a SEQ defines holds to the end of that SEQ, memory included. A
// block's init runs in the iterations where all its reduction axes are at their first
// value, as TVM lowers it.
#include "interp/stmt.h"

#include "interp/buffer.h"
#include "interp/expr.h"
#include "interp/frame.h"
#include "interp/meaning.h"
#include "interp/prim.h"
#include "ir/build.h"
#include "support/diag_ids.h"
#include "support/strbuf.h"

static tvms_interp_flow exec_rest(tvms_interp_frame *f, tvms_list stmts, uint32_t from);

// Room for the lanes of one store, kept for the next one.
static void make_lanes(tvms_interp_frame *f, uint32_t lanes) {
  if (lanes <= f->lane_room) return;
  f->lanes = tvms_arena_array(&f->context->scratch, tvms_scalar, lanes);
  f->places = tvms_arena_array(&f->context->scratch, char *, lanes);
  f->lane_room = lanes;
}

static void exec_store(tvms_interp_frame *f, const tvms_node *node) {
  const tvms_store *store = tvms_as_store(node);
  tvms_interp_view *v = tvms_interp_use_buffer(f, store->buffer, node->span);
  uint32_t lanes =
      store->value->dtype.lanes > 1 ? (uint32_t)store->value->dtype.lanes : 1;
  if (lanes == 1 && !store->predicate) {
    tvms_scalar value = tvms_interp_eval(f, store->value, 0);
    char *at =
        tvms_interp_element_at(f, v, store->buffer, store->indices, 0, node->span);
    tvms_dl_element_set(at, v->type, value);
    return;
  }
  // All lanes are read before the first is written.
  make_lanes(f, lanes);
  for (uint32_t i = 0; i < lanes; i++) {
    f->places[i] = NULL;
    if (store->predicate && !tvms_interp_eval(f, store->predicate, i).i) continue;
    f->lanes[i] = tvms_interp_eval(f, store->value, i);
    f->places[i] =
        tvms_interp_element_at(f, v, store->buffer, store->indices, i, node->span);
  }
  for (uint32_t i = 0; i < lanes; i++) {
    if (f->places[i]) tvms_dl_element_set(f->places[i], v->type, f->lanes[i]);
  }
}

static tvms_interp_flow exec_for(tvms_interp_frame *f, const tvms_node *node) {
  const tvms_for *loop = tvms_as_for(node);
  int64_t min = tvms_interp_eval_int(f, loop->min);
  int64_t extent = tvms_interp_eval_int(f, loop->extent);
  int64_t step = loop->step ? tvms_interp_eval_int(f, loop->step) : 1;
  if (step <= 0) fault(f, TVMS_D_step_not_positive, node->span, (long long)step);
  tvms_dl_type type = tvms_interp_dl_type_of(loop->var->dtype);
  for (int64_t i = 0; i < extent; i += step) {
    tvms_interp_count_step(f, node->span);
    tvms_scalar value = {.i = (int64_t)((uint64_t)min + (uint64_t)i)};
    tvms_interp_bind_var(f, loop->var, tvms_scalar_fit(value, type));
    tvms_interp_flow went = tvms_interp_exec(f, loop->body);
    if (went == FLOW_BREAK) break;
    if (went == FLOW_RETURN) return went;
    if (extent - i <= step) break;  // i + step may not fit
  }
  return FLOW_NEXT;
}

static tvms_interp_flow exec_while(tvms_interp_frame *f, const tvms_node *node) {
  const tvms_while *loop = tvms_as_while(node);
  while (tvms_interp_eval(f, loop->condition, 0).i) {
    tvms_interp_count_step(f, node->span);
    tvms_interp_flow went = tvms_interp_exec(f, loop->body);
    if (went == FLOW_BREAK) break;
    if (went == FLOW_RETURN) return went;
  }
  return FLOW_NEXT;
}

// True if every reduction axis stands at the first value of its domain.
static bool begins(tvms_interp_frame *f, const tvms_block *block) {
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(block->iter_vars.items[i]);
    if (!tvms_meaning_is_reduced(axis)) continue;
    int64_t first = tvms_interp_eval_int(f, tvms_as_range(axis->dom)->min);
    if (f->vars[axis->var->id].i != first) return false;
  }
  return true;
}

void tvms_interp_match_region(tvms_interp_frame *f, const tvms_node *node) {
  const tvms_node *whole =
      tvms_as_buffer_region(tvms_as_match_buffer_region(node)->source)->buffer;
  tvms_interp_view *source = tvms_interp_use_buffer(f, whole, node->span);
  tvms_meaning_match match = tvms_meaning_of_match(node, source->ndim);
  const tvms_buffer *buffer = match.buffer;
  const char *name = tvms_symbol_text(f->context, buffer->name);
  tvms_node *const *region = match.part->region.items;
  int64_t offset = source->offset;
  for (uint32_t i = 0; i < match.offsets; i++) {
    offset +=
        tvms_interp_eval_int(f, tvms_as_range(region[i])->min) * source->strides[i];
  }
  for (uint32_t i = 0; i < match.extents; i++) {
    const tvms_range *range = tvms_as_range(region[i + match.skipped]);
    int64_t extent = tvms_interp_eval_int(f, range->extent);
    tvms_interp_match_size(f, buffer->shape.items[i], extent, name, i, node->span);
  }
  for (uint32_t i = 0; i < match.strides; i++) {
    int64_t stride = source->strides[i + match.skipped];
    tvms_interp_match_size(f, buffer->strides.items[i], stride, name, i, node->span);
  }
  if (buffer->elem_offset && buffer->elem_offset->kind == TVMS_NODE_VAR) {
    tvms_interp_bind_var(f, buffer->elem_offset, (tvms_scalar){.i = offset});
  }
  tvms_interp_view *v = tvms_interp_define_buffer(f, &buffer->head, source->data);
  v->offset = offset;
  for (uint32_t i = 0; i < v->ndim && i + match.skipped < source->ndim; i++) {
    v->strides[i] = source->strides[i + match.skipped];
  }
  tvms_interp_settle_view(v);
}

static tvms_interp_flow exec_block(tvms_interp_frame *f, const tvms_block *block) {
  uint32_t memory = tvms_interp_begin_memory(f);
  for (uint32_t i = 0; i < block->alloc_buffers.len; i++) {
    tvms_interp_allocate_buffer(f, block->alloc_buffers.items[i]);
  }
  for (uint32_t i = 0; i < block->match_buffers.len; i++) {
    tvms_interp_match_region(f, block->match_buffers.items[i]);
  }
  tvms_interp_flow went = FLOW_NEXT;
  if (block->init && begins(f, block)) went = tvms_interp_exec(f, block->init);
  if (went == FLOW_NEXT) went = tvms_interp_exec(f, block->body);
  tvms_interp_end_memory(f, memory);
  return went;
}

static tvms_interp_flow exec_realize(tvms_interp_frame *f, const tvms_node *node) {
  const tvms_block_realize *realize = tvms_as_block_realize(node);
  const tvms_block *block = tvms_as_block(realize->block);
  if (realize->predicate && !tvms_interp_eval(f, realize->predicate, 0).i)
    return FLOW_NEXT;
  for (uint32_t i = 0; i < block->iter_vars.len && i < realize->iter_values.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(block->iter_vars.items[i]);
    tvms_interp_bind_expr(f, axis->var, realize->iter_values.items[i]);
  }
  return exec_block(f, block);
}

void tvms_interp_fail_assertion(tvms_interp_frame *f, const tvms_node *node) {
  const tvms_assert *assertion = tvms_as_assert(node);
  tvms_strbuf text;
  tvms_strbuf_init(&text, &f->context->memory);
  tvms_meaning_assertion(assertion, &text);
  const tvms_node *sides[2];
  if (tvms_meaning_sides(assertion, tvms_strbuf_text(&text), sides)) {
    int64_t left = tvms_interp_eval_int(f, sides[0]),
            right = tvms_interp_eval_int(f, sides[1]);
    tvms_strbuf said;
    tvms_strbuf_init(&said, &f->context->memory);
    tvms_meaning_put_numbers(&said, tvms_strbuf_text(&text), left, right);
    fault(f, TVMS_D_assertion_failed, node->span, tvms_strbuf_text(&said));
  }
  fault(f, TVMS_D_assertion_failed, node->span, tvms_strbuf_text(&text));
}

static void exec_assert(tvms_interp_frame *f, const tvms_node *node) {
  if (!tvms_interp_eval(f, tvms_as_assert(node)->condition, 0).i)
    tvms_interp_fail_assertion(f, node);
}

static void give_back(tvms_interp_frame *f, const tvms_node *value) {
  f->returned = tvms_interp_eval(f, value, 0);
  f->returns = true;
}

static tvms_interp_flow exec_evaluate(tvms_interp_frame *f, const tvms_node *node) {
  const tvms_node *result;
  switch (tvms_meaning_of_evaluate(node, &result)) {
  case TVMS_MEANING_RETURN:
    if (result) give_back(f, result);
    return FLOW_RETURN;
  case TVMS_MEANING_BREAK: return FLOW_BREAK;
  case TVMS_MEANING_CONTINUE: return FLOW_CONTINUE;
  case TVMS_MEANING_CALL: break;
  }
  tvms_interp_eval(f, tvms_as_evaluate(node)->value, 0);
  return FLOW_NEXT;
}

static void exec_allocate(tvms_interp_frame *f, const tvms_node *node) {
  const tvms_allocate *allocation = tvms_as_allocate(node);
  void *base =
      tvms_interp_allocate(f, allocation->element, allocation->extents, node->span);
  tvms_interp_bind_var(f, allocation->var, (tvms_scalar){.p = base});
}

static void exec_allocate_const(tvms_interp_frame *f, const tvms_node *node) {
  const tvms_allocate_const *constant = tvms_as_allocate_const(node);
  char *base =
      tvms_interp_allocate(f, constant->element, constant->extents, node->span);
  uint64_t room = f->regions.items[f->regions.len - 1].bytes;
  uint64_t len = constant->data.len < room ? constant->data.len : room;
  for (uint64_t i = 0; i < len; i++) {
    base[i] = constant->data.text[i];
  }
  tvms_interp_bind_var(f, constant->var, (tvms_scalar){.p = base});
}

// Classic producers: memory for the buffer's own shape, for the rest of the SEQ.
static tvms_interp_flow exec_buffer_realize(tvms_interp_frame *f,
                                            const tvms_node *node) {
  tvms_interp_allocate_buffer(f, tvms_as_buffer_realize(node)->buffer);
  return FLOW_NEXT;
}

// A thread axis holds for the rest of the SEQ: run it once per thread.
static tvms_interp_flow exec_threads(tvms_interp_frame *f, const tvms_attr_stmt *attr,
                                     tvms_list stmts, uint32_t from) {
  const tvms_node *var = tvms_attr_stmt_threads(&attr->head)->var;
  int64_t extent = tvms_interp_eval_int(f, attr->value);
  for (int64_t i = 0; i < extent; i++) {
    tvms_interp_count_step(f, attr->head.span);
    tvms_interp_bind_var(f, var, (tvms_scalar){.i = i});
    if (exec_rest(f, stmts, from) == FLOW_RETURN) return FLOW_RETURN;
  }
  return FLOW_NEXT;
}

static tvms_interp_flow exec_rest(tvms_interp_frame *f, tvms_list stmts,
                                  uint32_t from) {
  for (uint32_t i = from; i < stmts.len; i++) {
    const tvms_node *stmt = stmts.items[i];
    if (tvms_attr_stmt_threads(stmt)) {
      return exec_threads(f, tvms_as_attr_stmt(stmt), stmts, i + 1);
    }
    tvms_interp_flow went = tvms_interp_exec(f, stmt);
    if (went != FLOW_NEXT) return went;
  }
  return FLOW_NEXT;
}

static tvms_interp_flow exec_seq(tvms_interp_frame *f, const tvms_node *node) {
  uint32_t memory = tvms_interp_begin_memory(f);
  tvms_interp_flow went = exec_rest(f, tvms_as_seq(node)->stmts, 0);
  tvms_interp_end_memory(f, memory);
  return went;
}

static tvms_interp_flow exec_if(tvms_interp_frame *f, const tvms_node *node) {
  const tvms_if_then_else *choice = tvms_as_if_then_else(node);
  if (tvms_interp_eval(f, choice->condition, 0).i)
    return tvms_interp_exec(f, choice->then_case);
  return choice->else_case ? tvms_interp_exec(f, choice->else_case) : FLOW_NEXT;
}

static tvms_interp_flow exec_kind(tvms_interp_frame *f, const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_SEQ: return exec_seq(f, node);
  case TVMS_NODE_FOR: return exec_for(f, node);
  case TVMS_NODE_WHILE: return exec_while(f, node);
  case TVMS_NODE_IF_THEN_ELSE: return exec_if(f, node);
  case TVMS_NODE_BLOCK_REALIZE: return exec_realize(f, node);
  case TVMS_NODE_BLOCK: return exec_block(f, tvms_as_block(node));
  case TVMS_NODE_EVALUATE: return exec_evaluate(f, node);
  case TVMS_NODE_BUFFER_REALIZE: return exec_buffer_realize(f, node);
  case TVMS_NODE_RETURN: {
    const tvms_node *value = tvms_as_return(node)->value;
    if (value) give_back(f, value);
    return FLOW_RETURN;
  }
  case TVMS_NODE_STORE: exec_store(f, node); break;
  case TVMS_NODE_BIND:
    tvms_interp_bind_expr(f, tvms_as_bind(node)->var, tvms_as_bind(node)->value);
    break;
  case TVMS_NODE_ASSERT: exec_assert(f, node); break;
  case TVMS_NODE_ALLOCATE: exec_allocate(f, node); break;
  case TVMS_NODE_ALLOCATE_CONST: exec_allocate_const(f, node); break;
  case TVMS_NODE_ALLOC_BUFFER:
    tvms_interp_allocate_buffer(f, tvms_as_alloc_buffer(node)->buffer);
    break;
  case TVMS_NODE_DECL_BUFFER: {
    const tvms_decl_buffer *declare = tvms_as_decl_buffer(node);
    const tvms_node *data = tvms_as_buffer(declare->buffer)->data;
    if (declare->source) tvms_interp_bind_expr(f, data, declare->source);
    tvms_interp_define_buffer(f, declare->buffer, NULL);
    break;
  }
  case TVMS_NODE_ATTR_STMT: break;  // hints of the compiler
  default:
    fault(f, TVMS_D_not_interpreted, node->span,
          tvms_node_schema_of((tvms_node_kind)node->kind)->name);
  }
  return FLOW_NEXT;
}

tvms_interp_flow tvms_interp_exec(tvms_interp_frame *f, const tvms_node *node) {
  if (!tvms_memory_enter(&f->context->memory)) {
    fault(f, TVMS_D_too_deep, node->span, f->context->memory.depth_limit);
  }
  tvms_interp_flow went = exec_kind(f, node);
  tvms_memory_leave(&f->context->memory);
  return went;
}
