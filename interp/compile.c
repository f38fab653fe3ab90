// Code of statements.
//
// A loop is laid out so; with nothing ahead, FOR goes to the body:
//
//          FOR → end, or ahead
//   body:  …; NEXT → body; JUMP → end
//   ahead: hoisted variables; streams; JUMP → body
//   end:
#include "interp/compile.h"

#include "interp/assemble.h"
#include "interp/compile_access.h"
#include "interp/compile_expr.h"
#include "interp/compile_stream.h"
#include "interp/meaning.h"
#include "ir/build.h"

typedef tvms_interp_maker maker;
typedef tvms_interp_around around;

static void make(maker *m, const tvms_node *node);
static void make_rest(maker *m, tvms_list stmts, uint32_t from);

// ---- Scopes of memory ----

static bool begin_scope(maker *m, const tvms_node *node) {
  if (!m->facts[node->id].allocates) return false;
  uint32_t slot = tvms_interp_new_slots(m, 1);
  tvms_interp_emit(m, TVMS_CODE_MARK, node, slot, 0, 0);
  tvms_vec_push(m->memory, &m->marks, slot);
  return true;
}

static void end_scope(maker *m) {
  uint32_t slot = m->marks.items[--m->marks.len];
  tvms_interp_emit(m, TVMS_CODE_RELEASE, NULL, 0, slot, 0);
}

// ---- Loops ----

static void land_all(maker *m, const uint32_t *jumps, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    tvms_interp_land(m, jumps[i]);
}

static void end_around(maker *m) {
  around *loop = m->around;
  m->around = loop->outer;
  tvms_vec_fini(m->memory, &loop->nexts);
  tvms_vec_fini(m->memory, &loop->ends);
  tvms_vec_fini(m->memory, &loop->opened);
  tvms_vec_fini(m->memory, &loop->passed);
  tvms_vec_fini(m->memory, &loop->hoisted);
  tvms_vec_fini(m->memory, &loop->meanings);
}

// Ends the scopes of memory inside of the loop and leaves to its end or its next iteration.
static void make_jump_out(maker *m, bool ends) {
  around *loop = m->around;
  if (!loop) {  // of nothing: the function ends
    tvms_interp_emit(m, TVMS_CODE_HALT, NULL, 0, 0, 0);
    return;
  }
  if (m->marks.len > loop->marks)
    tvms_interp_emit(m, TVMS_CODE_RELEASE, NULL, 0, m->marks.items[loop->marks], 0);
  uint32_t at = tvms_interp_emit(m, TVMS_CODE_JUMP, NULL, 0, 0, 0);
  if (ends)
    tvms_vec_push(m->memory, &loop->ends, at);
  else
    tvms_vec_push(m->memory, &loop->nexts, at);
}

// A loop over integers.
typedef struct {
  const tvms_node *node;
  const tvms_node *var;
  const tvms_node *TVMS_NULLABLE body;  // NULL: the statements of `rest` from `from` on
  tvms_list rest;
  uint32_t from;
  const tvms_node *TVMS_NULLABLE min;  // of a loop that goes on by one
  const tvms_node *TVMS_NULLABLE extent;
  uint32_t bounds[TVMS_FOR_LEN];  // slots of the first value, the extent and the step
  bool narrow;                    // the variable has 32 bits
  bool fits;                      // it has another type: bring it into it
} counted;

// The body once, to the jump to its next turn; `begin` is where it begins.
static void make_turn(maker *m, const counted *c, uint32_t begin) {
  around *loop = m->around;
  if (c->fits) tvms_interp_make_fit(m, c->var, c->var->id);
  if (c->body) {
    make(m, c->body);
  } else {
    make_rest(m, c->rest, c->from);
    // Threads: what leaves one of them goes on with the next.
    land_all(m, loop->ends.items, loop->ends.len);
    loop->ends.len = 0;
  }
  land_all(m, loop->nexts.items, loop->nexts.len);
  uint32_t at = tvms_interp_emit(m, c->narrow ? TVMS_CODE_NEXT_I32 : TVMS_CODE_NEXT_I64,
                                 c->node, c->var->id, loop->loop, 0);
  m->insns.items[at].b = tvms_interp_distance(at, begin);
}

static around around_of(const maker *m, const counted *c) {
  bool plain = c->min && c->min->kind == TVMS_NODE_INT_IMM;
  return (around){.outer = m->around,
                  .var = c->var->id,
                  .begin = m->now,
                  .marks = m->marks.len,
                  .streams = !c->fits && c->body && m->facts[c->var->id].sites == 1,
                  .plain = plain,
                  .narrow = c->narrow,
                  .min = plain ? tvms_as_int_imm(c->min)->value : 0,
                  .extent = c->extent};
}

static void make_counted(maker *m, const counted *c) {
  uint32_t bound = m->bound.len, var = c->var->id;
  uint32_t list = tvms_interp_new_list(m, c->bounds, TVMS_FOR_LEN);
  uint32_t state = tvms_interp_new_slots(m, TVMS_LOOP_SLOTS);
  uint32_t head =
      tvms_interp_emit_n(m, TVMS_CODE_FOR, c->node, c->narrow, var, state, list);
  tvms_interp_make_definite(m, var, false);
  around loop = around_of(m, c);
  loop.loop = state;
  m->around = &loop;
  m->facts[var].counts = true;
  m->facts[var].means = loop.plain ? c->min : NULL;
  uint32_t begin = m->insns.len;
  make_turn(m, c, begin);
  uint32_t over = tvms_interp_emit(m, TVMS_CODE_JUMP, c->node, 0, 0, 0);
  uint32_t ahead = m->insns.len;
  if (tvms_interp_make_ahead(m)) {
    uint32_t at = tvms_interp_emit(m, TVMS_CODE_JUMP, c->node, 0, 0, 0);
    m->insns.items[at].d = tvms_interp_distance(at, begin);
  } else {
    ahead = begin;
  }
  land_all(m, loop.ends.items, loop.ends.len);
  tvms_interp_land(m, over);
  m->lists.items[list + TVMS_FOR_END] = tvms_interp_distance(head, m->insns.len);
  m->lists.items[list + TVMS_FOR_AHEAD] = tvms_interp_distance(head, ahead);
  end_around(m);
  tvms_interp_forget(m, bound);
}

static void make_for(maker *m, const tvms_node *node) {
  const tvms_for *loop = tvms_as_for(node);
  tvms_dtype type = loop->var->dtype;
  // A loop over bools counts where its variable does not.
  bool counts = tvms_dtype_is_scalar(type) && !tvms_dtype_is_real(type)
                && !tvms_dtype_is_bool(type) && !tvms_dtype_is_handle(type);
  if (!counts || m->facts[loop->var->id].sites != 1) m->failed = true;
  counted c = {.node = node,
               .var = loop->var,
               .body = loop->body,
               .min = loop->step ? NULL : loop->min,
               .extent = loop->extent,
               .narrow = tvms_dtype_is_index(type) && type.bits == 32,
               .fits = !tvms_dtype_is_index(type)};
  tvms_scalar one = {.i = 1};
  c.bounds[TVMS_FOR_MIN] = tvms_interp_make_value(m, loop->min);
  c.bounds[TVMS_FOR_EXTENT] = tvms_interp_make_value(m, loop->extent);
  c.bounds[TVMS_FOR_STEP] = loop->step ? tvms_interp_make_value(m, loop->step)
                                       : tvms_interp_new_constant(m, one);
  make_counted(m, &c);
}

// A thread axis holds for the rest of the SEQ, which is run once per thread. There is no loop
// to leave: the next thread follows.
static void make_threads(maker *m, const tvms_attr_stmt *attr, tvms_list stmts,
                         uint32_t from) {
  const tvms_node *var = tvms_attr_stmt_threads(&attr->head)->var;
  counted c = {.node = &attr->head, .var = var, .rest = stmts, .from = from};
  if (!tvms_dtype_is_index(var->dtype)) m->failed = true;
  c.bounds[TVMS_FOR_MIN] = tvms_interp_new_constant(m, (tvms_scalar){.i = 0});
  c.bounds[TVMS_FOR_EXTENT] = tvms_interp_make_value(m, attr->value);
  c.bounds[TVMS_FOR_STEP] = tvms_interp_new_constant(m, (tvms_scalar){.i = 1});
  make_counted(m, &c);
}

static void make_while(maker *m, const tvms_node *node) {
  const tvms_while *statement = tvms_as_while(node);
  uint32_t bound = m->bound.len, begin = m->insns.len;
  uint32_t condition = tvms_interp_make_value(m, statement->condition);
  m->used = 0;
  uint32_t over = tvms_interp_emit(m, TVMS_CODE_JUMP_IF_NOT, node, 0, condition, 0);
  tvms_interp_emit(m, TVMS_CODE_STEP, node, 0, 0, 0);
  around loop = {.outer = m->around, .begin = m->now, .marks = m->marks.len};
  m->around = &loop;
  make(m, statement->body);
  land_all(m, loop.nexts.items, loop.nexts.len);
  uint32_t at = tvms_interp_emit(m, TVMS_CODE_JUMP, node, 0, 0, 0);
  m->insns.items[at].d = tvms_interp_distance(at, begin);
  tvms_interp_land(m, over);
  land_all(m, loop.ends.items, loop.ends.len);
  end_around(m);
  tvms_interp_forget(m, bound);
}

// ---- Blocks ----

// Jumps over the init unless every reduction axis stands at its first value.
static void make_init(maker *m, const tvms_block *block) {
  uint32_t over[64], count = 0, bound = m->bound.len;
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(block->iter_vars.items[i]);
    if (!tvms_meaning_is_reduced(axis)) continue;
    if (count == 64 || tvms_dtype_is_real(axis->var->dtype)) {
      m->failed = true;
      return;
    }
    uint32_t first = tvms_interp_make_value(m, tvms_as_range(axis->dom)->min);
    uint32_t value = tvms_interp_make_value(m, axis->var);
    over[count++] =
        tvms_interp_emit(m, TVMS_CODE_JUMP_NE, &block->head, 0, value, first);
    m->used = 0;
  }
  make(m, block->init);
  land_all(m, over, count);
  tvms_interp_forget(m, bound);
}

static void define_buffer(maker *m, const tvms_node *node, bool data) {
  tvms_interp_make_definite(m, node->id, true);
  if (data) tvms_interp_make_definite(m, tvms_as_buffer(node)->data->id, true);
}

// Sizes that stand alone get their values from the part.
static void define_sizes(maker *m, tvms_list sizes, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const tvms_node *size = sizes.items[i];
    if (size->kind == TVMS_NODE_VAR) tvms_interp_make_definite(m, size->id, true);
  }
}

static void make_match(maker *m, const tvms_node *node) {
  const tvms_node *whole =
      tvms_as_buffer_region(tvms_as_match_buffer_region(node)->source)->buffer;
  uint32_t ndim = tvms_as_buffer(whole)->shape.len;
  tvms_meaning_match match = tvms_meaning_of_match(node, ndim);
  const tvms_node *offset = match.buffer->elem_offset;
  tvms_interp_make_tree(m, TVMS_CODE_MATCH, node, m->depth, 0, 0);
  define_sizes(m, match.buffer->shape, match.extents);
  define_sizes(m, match.buffer->strides, match.strides);
  if (offset && offset->kind == TVMS_NODE_VAR)
    tvms_interp_make_definite(m, offset->id, true);
  define_buffer(m, &match.buffer->head, true);
}

static void make_block(maker *m, const tvms_node *node) {
  const tvms_block *block = tvms_as_block(node);
  bool scope = begin_scope(m, node);
  for (uint32_t i = 0; i < block->alloc_buffers.len; i++) {
    const tvms_node *buffer = block->alloc_buffers.items[i];
    tvms_interp_make_tree(m, TVMS_CODE_ALLOCATE, buffer, m->depth, 0, 0);
    define_buffer(m, buffer, true);
  }
  for (uint32_t i = 0; i < block->match_buffers.len; i++)
    make_match(m, block->match_buffers.items[i]);
  if (block->init) make_init(m, block);
  make(m, block->body);
  if (scope) end_scope(m);
}

static void make_realize(maker *m, const tvms_node *node) {
  const tvms_block_realize *realize = tvms_as_block_realize(node);
  const tvms_block *block = tvms_as_block(realize->block);
  uint32_t bound = m->bound.len, over = 0;
  bool always = !realize->predicate || tvms_node_is_true(realize->predicate);
  if (!always) {
    uint32_t holds = tvms_interp_make_value(m, realize->predicate);
    over = tvms_interp_emit(m, TVMS_CODE_JUMP_IF_NOT, node, 0, holds, 0);
    m->used = 0;
  }
  for (uint32_t i = 0; i < block->iter_vars.len && i < realize->iter_values.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(block->iter_vars.items[i]);
    tvms_interp_make_binding(m, axis->var, realize->iter_values.items[i]);
  }
  make_block(m, realize->block);
  if (always) return;
  tvms_interp_land(m, over);
  tvms_interp_forget(m, bound);
}

// ---- Other statements ----

static void make_return(maker *m, const tvms_node *value) {
  if (value) {
    uint32_t slot = tvms_interp_make_value(m, value);
    if (tvms_interp_is_f32(value->dtype)) {
      uint32_t wide = tvms_interp_new_temporary(m);
      tvms_interp_emit(m, TVMS_CODE_WIDEN, value, wide, slot, 0);
      slot = wide;
    }
    tvms_interp_emit(m, TVMS_CODE_RETURN, value, 0, slot, 0);
  } else {
    tvms_interp_emit(m, TVMS_CODE_HALT, NULL, 0, 0, 0);
  }
}

static void make_evaluate(maker *m, const tvms_node *node) {
  const tvms_node *result;
  switch (tvms_meaning_of_evaluate(node, &result)) {
  case TVMS_MEANING_RETURN: make_return(m, result); return;
  case TVMS_MEANING_BREAK: make_jump_out(m, true); return;
  case TVMS_MEANING_CONTINUE: make_jump_out(m, false); return;
  case TVMS_MEANING_CALL: break;
  }
  tvms_interp_make_value(m, tvms_as_evaluate(node)->value);
}

static void make_assert(maker *m, const tvms_node *node) {
  const tvms_node *condition = tvms_as_assert(node)->condition;
  uint32_t slot = tvms_interp_make_value(m, condition);
  tvms_interp_emit(m, TVMS_CODE_ASSERT, node, 0, slot, 0);
}

static void make_if(maker *m, const tvms_node *node) {
  const tvms_if_then_else *choice = tvms_as_if_then_else(node);
  uint32_t slot = tvms_interp_make_value(m, choice->condition);
  uint32_t over = tvms_interp_emit(m, TVMS_CODE_JUMP_IF_NOT, node, 0, slot, 0);
  uint32_t bound = m->bound.len;
  m->used = 0;
  make(m, choice->then_case);
  tvms_interp_forget(m, bound);
  if (!choice->else_case) {
    tvms_interp_land(m, over);
    return;
  }
  uint32_t end = tvms_interp_emit(m, TVMS_CODE_JUMP, node, 0, 0, 0);
  tvms_interp_land(m, over);
  make(m, choice->else_case);
  tvms_interp_forget(m, bound);
  tvms_interp_land(m, end);
}

static void make_rest(maker *m, tvms_list stmts, uint32_t from) {
  for (uint32_t i = from; i < stmts.len; i++) {
    const tvms_node *stmt = stmts.items[i];
    if (tvms_attr_stmt_threads(stmt)) {
      make_threads(m, tvms_as_attr_stmt(stmt), stmts, i + 1);
      return;
    }
    make(m, stmt);
  }
}

static void make_seq(maker *m, const tvms_node *node) {
  bool scope = begin_scope(m, node);
  make_rest(m, tvms_as_seq(node)->stmts, 0);
  if (scope) end_scope(m);
}

// A statement without statements that the tree executes, and what it defines.
static void make_leaf(maker *m, const tvms_node *node) {
  tvms_interp_make_tree(m, TVMS_CODE_EXEC, node, m->depth - 1, 0, 0);
  switch ((int)node->kind) {
  case TVMS_NODE_BIND:
    tvms_interp_make_definite(m, tvms_as_bind(node)->var->id, true);
    break;
  case TVMS_NODE_ALLOCATE:
    tvms_interp_make_definite(m, tvms_as_allocate(node)->var->id, true);
    break;
  case TVMS_NODE_ALLOCATE_CONST:
    tvms_interp_make_definite(m, tvms_as_allocate_const(node)->var->id, true);
    break;
  case TVMS_NODE_ALLOC_BUFFER:
    define_buffer(m, tvms_as_alloc_buffer(node)->buffer, true);
    break;
  case TVMS_NODE_BUFFER_REALIZE:
    define_buffer(m, tvms_as_buffer_realize(node)->buffer, true);
    break;
  case TVMS_NODE_DECL_BUFFER: {
    const tvms_decl_buffer *declare = tvms_as_decl_buffer(node);
    define_buffer(m, declare->buffer, declare->source != NULL);
    break;
  }
  default: break;
  }
}

static void make_kind(maker *m, const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_SEQ: make_seq(m, node); return;
  case TVMS_NODE_FOR: make_for(m, node); return;
  case TVMS_NODE_WHILE: make_while(m, node); return;
  case TVMS_NODE_IF_THEN_ELSE: make_if(m, node); return;
  case TVMS_NODE_BLOCK_REALIZE: make_realize(m, node); return;
  case TVMS_NODE_BLOCK: make_block(m, node); return;
  case TVMS_NODE_EVALUATE: make_evaluate(m, node); return;
  case TVMS_NODE_RETURN: make_return(m, tvms_as_return(node)->value); return;
  case TVMS_NODE_ASSERT: make_assert(m, node); return;
  case TVMS_NODE_STORE:
    if (tvms_interp_make_store(m, node)) return;
    break;
  case TVMS_NODE_BIND: {
    const tvms_bind *bind = tvms_as_bind(node);
    if (bind->var->dtype.lanes > 1) break;
    tvms_interp_make_binding(m, bind->var, bind->value);
    return;
  }
  case TVMS_NODE_ATTR_STMT: return;  // hints of the compiler
  default: break;
  }
  make_leaf(m, node);
}

static void make(maker *m, const tvms_node *node) {
  if (m->failed) return;
  if (!tvms_memory_enter(&m->context->memory)) {
    m->failed = true;
  } else {
    if (++m->depth > m->deepest) m->deepest = m->depth;
    m->used = 0;
    make_kind(m, node);
    m->depth--;
  }
  tvms_memory_leave(&m->context->memory);
}

const tvms_interp_code *tvms_interp_compile(const tvms_interp_frame *f,
                                            tvms_arena *arena) {
  maker m;
  tvms_mark mark = tvms_arena_mark(&f->context->scratch);
  tvms_interp_make_begin(&m, f, arena);
  make(&m, tvms_as_prim_func(f->member->function)->body);
  tvms_interp_emit(&m, TVMS_CODE_HALT, NULL, 0, 0, 0);
  const tvms_interp_code *code = tvms_interp_make_end(&m);
  tvms_arena_reset(&f->context->scratch, mark);
  return code;
}
