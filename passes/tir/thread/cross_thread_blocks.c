// The blocks that a reduction over threads becomes: each thread reduces on its own, then all of them
// together, and one writes the result.
#include "passes/tir/thread/cross_thread_blocks.h"

#include "ir/fold_ops.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "schedule/storage_scope.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  tvms_unit *unit;
  tvms_memory *memory;
  tvms_node_vec *scratchpads;
} builder;

static const char *TVMS_NULLABLE tag_of(const builder *l, const tvms_for *loop) {
  return tvms_cross_thread_tag(l->unit->context, loop);
}

const char *TVMS_NULLABLE tvms_cross_thread_tag(const tvms_context *context,
                                                const tvms_for *loop) {
  if (loop->for_kind != TVMS_FOR_THREAD_BINDING || !loop->thread) return NULL;
  return tvms_symbol_text(context, tvms_as_iter_var(loop->thread)->thread_tag);
}

// ---- New blocks ----

static tvms_sym joined(builder *l, const char *before, const char *text) {
  size_t len = strlen(before) + strlen(text);
  char *name = tvms_arena_array(&l->unit->arena, char, len + 1);
  snprintf(name, len + 1, "%s%s", before, text);
  return tvms_symbol_intern(l->unit->context, name, len);
}

static tvms_node *zero(builder *l) {
  return tvms_int_imm_new(l->unit, TVMS_DTYPE(INT, 32), 0, TVMS_NO_SPAN);
}

static tvms_node *one(builder *l) {
  return tvms_int_imm_new(l->unit, TVMS_DTYPE(INT, 32), 1, TVMS_NO_SPAN);
}

// A local buffer of one element for each buffer of the reduction, which the block around is to allocate.
static void make_scratchpads(builder *l, const tvms_reduction *reduction,
                             const char *prefix, tvms_node **made) {
  for (uint32_t i = 0; i < reduction->count; i++) {
    const tvms_buffer *old = tvms_as_buffer(reduction->buffers[i]);
    tvms_buffer *buffer = tvms_node_make(l->unit, BUFFER, TVMS_NO_SPAN);
    tvms_node *size = one(l), *stride = one(l);
    buffer->name = joined(l, prefix, tvms_symbol_text(l->unit->context, old->name));
    buffer->element = old->element;
    buffer->data = tvms_pointer_var_new(
        l->unit, buffer->name, old->element,
        tvms_symbol_intern(l->unit->context, "local", 5), TVMS_NO_SPAN);
    buffer->shape = tvms_list_copy(l->unit, &size, 1);
    buffer->strides = tvms_list_copy(l->unit, &stride, 1);
    buffer->elem_offset = zero(l);
    buffer->align = 64;
    buffer->offset_factor = 1;
    made[i] = &buffer->head;
    tvms_vec_push(l->memory, l->scratchpads, made[i]);
  }
}

static tvms_list regions_of(builder *l, tvms_node *const *buffers, uint32_t count) {
  tvms_node *regions[TVMS_MOST_REDUCED];
  for (uint32_t i = 0; i < count; i++) {
    tvms_node *range = tvms_range_new(l->unit, zero(l), one(l), TVMS_NO_SPAN);
    regions[i] = tvms_buffer_region_new(l->unit, buffers[i], &range, 1, TVMS_NO_SPAN);
  }
  return tvms_list_copy(l->unit, regions, count);
}

static tvms_node *element(builder *l, tvms_node *buffer) {
  tvms_node *place = zero(l);
  return tvms_buffer_load_new(l->unit, buffer, &place, 1, NULL, TVMS_NO_SPAN);
}

static tvms_node *store(builder *l, tvms_node *buffer, tvms_node *value,
                        tvms_node *const *indices, uint32_t count) {
  tvms_store *made = tvms_node_make(l->unit, STORE, TVMS_NO_SPAN);
  made->buffer = buffer;
  made->value = value;
  made->indices = tvms_list_copy(l->unit, indices, count);
  return &made->head;
}

static tvms_block *new_block(builder *l, const tvms_block *old, const char *suffix) {
  tvms_block *block = tvms_node_make(l->unit, BLOCK, TVMS_NO_SPAN);
  tvms_sym name = joined(l, old->name.text ? old->name.text : "", suffix);
  const char *text = tvms_symbol_text(l->unit->context, name);
  block->name = tvms_bytes_copy(l->unit, text, strlen(text));
  return block;
}

static tvms_node *realized(builder *l, tvms_block *block, tvms_list values,
                           tvms_node *TVMS_NULLABLE predicate) {
  tvms_block_realize *realize = tvms_node_make(l->unit, BLOCK_REALIZE, TVMS_NO_SPAN);
  realize->block = &block->head;
  realize->iter_values = values;
  realize->predicate =
      predicate ? predicate : tvms_bool_imm_new(l->unit, true, TVMS_NO_SPAN);
  return &realize->head;
}

// A reduction at work.
typedef struct {
  builder *l;
  const tvms_block_realize *realize;
  const tvms_block *block;
  const tvms_for *const *over;
  uint32_t over_len;
  tvms_reduction reduction;
  bool in_thread;
  tvms_node *cross[TVMS_MOST_REDUCED];
  tvms_node *own[TVMS_MOST_REDUCED];  // of each thread
} lowered;

static tvms_node *init_block(lowered *w) {
  builder *l = w->l;
  const tvms_comm_reducer *reducer = tvms_as_comm_reducer(w->reduction.reducer);
  tvms_block *block = new_block(l, w->block, "_in_thread_init");
  tvms_node *stmts[TVMS_MOST_REDUCED];
  for (uint32_t i = 0; i < w->reduction.count; i++) {
    tvms_node *place = zero(l);
    stmts[i] = store(l, w->own[i], reducer->identity.items[i], &place, 1);
  }
  block->writes = regions_of(l, w->own, w->reduction.count);
  block->body = w->reduction.count > 1
                    ? tvms_seq_new(l->unit, stmts, w->reduction.count, TVMS_NO_SPAN)
                    : stmts[0];
  return realized(l, block, (tvms_list){0}, NULL);
}

static uint32_t number_of(const lowered *w, const tvms_node *buffer) {
  uint32_t i = 0;
  while (i < w->reduction.count && w->reduction.buffers[i] != buffer)
    i++;
  return i;
}

static tvms_node *own_load(tvms_rewriter *r, tvms_node *node) {
  lowered *w = r->self;
  uint32_t i = number_of(w, tvms_as_buffer_load(node)->buffer);
  return i < w->reduction.count ? element(w->l, w->own[i]) : node;
}

static tvms_node *own_store(tvms_rewriter *r, tvms_node *node) {
  lowered *w = r->self;
  const tvms_store *old = tvms_as_store(node);
  uint32_t i = number_of(w, old->buffer);
  tvms_node *place = zero(w->l);
  return i < w->reduction.count ? store(w->l, w->own[i], old->value, &place, 1) : node;
}

// The old block, writing what each thread has for itself.
static tvms_node *own_block(lowered *w) {
  builder *l = w->l;
  tvms_rewriter r;
  tvms_rewriter_init(&r, l->unit, w);
  r.roles = TVMS_IN(USE) | TVMS_IN(BODY);
  r.leave[TVMS_NODE_BUFFER_LOAD] = own_load;
  r.leave[TVMS_NODE_STORE] = own_store;
  tvms_node *body = tvms_rewrite(&r, w->block->body);
  tvms_rewriter_fini(&r);
  tvms_node *copy = tvms_node_copy(l->unit, &w->block->head);
  tvms_block *block = tvms_as_block(copy);
  block->name = new_block(l, w->block, "_in_thread")->name;
  block->writes = regions_of(l, w->own, w->reduction.count);
  block->init = NULL;
  block->body = body;
  tvms_node *realize = tvms_node_copy(l->unit, &w->realize->head);
  tvms_as_block_realize(realize)->block = copy;
  return realize;
}

static tvms_walk_step find_reducing(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  if (node->kind == TVMS_NODE_ITER_VAR
      && tvms_as_iter_var(node)->iter_type == TVMS_ITER_COMM_REDUCE)
    return TVMS_WALK_STOP;
  return TVMS_WALK_ON;
}

// The loops of the reduction with the block of each thread in them; those that are bound stand
// around all new blocks. NULL: nothing is left.
static tvms_node *TVMS_NULLABLE own_loops(lowered *w, tvms_node *node) {
  builder *l = w->l;
  if (node == &w->realize->head) return w->in_thread ? own_block(w) : NULL;
  if (node->kind == TVMS_NODE_SEQ) {
    tvms_list old = tvms_as_seq(node)->stmts;
    tvms_node_vec stmts = {0};
    for (uint32_t i = 0; i < old.len; i++) {
      tvms_node *made = own_loops(w, old.items[i]);
      if (made) tvms_stmt_push(l->unit, &stmts, made);
    }
    return stmts.len ? tvms_stmt_seq(l->unit, &stmts, node->span) : NULL;
  }
  if (node->kind != TVMS_NODE_FOR) return node;
  tvms_node *body = own_loops(w, tvms_as_for(node)->body);
  if (!body) return NULL;
  tvms_visitor visitor = {.enter = find_reducing};
  if (tag_of(l, tvms_as_for(node)) && !tvms_walk(l->memory, body, &visitor))
    return body;
  if (body == tvms_as_for(node)->body) return node;
  tvms_node *copy = tvms_node_copy(l->unit, node);
  tvms_as_for(copy)->body = body;
  return copy;
}

static tvms_node *cross_block(lowered *w) {
  builder *l = w->l;
  tvms_block *block = new_block(l, w->block, "_cross_thread");
  tvms_node_vec args = {0};
  uint32_t count = w->reduction.count;
  tvms_vec_push(l->memory, &args,
                tvms_int_imm_new(l->unit, TVMS_DTYPE(UINT, 32), count, TVMS_NO_SPAN));
  for (uint32_t i = 0; i < count; i++) {
    tvms_vec_push(l->memory, &args,
                  w->in_thread ? element(l, w->own[i]) : w->reduction.values[i]);
  }
  tvms_vec_push(l->memory, &args, tvms_bool_imm_new(l->unit, true, TVMS_NO_SPAN));
  for (uint32_t i = 0; i < count; i++)
    tvms_vec_push(l->memory, &args, element(l, w->cross[i]));
  for (uint32_t i = 0; i < w->over_len; i++) {
    if (tag_of(l, w->over[i])) tvms_vec_push(l->memory, &args, w->over[i]->var);
  }
  tvms_node *call =
      tvms_call_new_of(l->unit, (tvms_dtype){0}, TVMS_TIR_tvm_thread_allreduce,
                       args.items, args.len, TVMS_NO_SPAN);
  tvms_vec_fini(l->memory, &args);
  tvms_attr_stmt *attr = tvms_node_make(l->unit, ATTR_STMT, TVMS_NO_SPAN);
  attr->node = w->reduction.reducer;
  attr->key = tvms_bytes_copy(l->unit, "reduce_scope", strlen("reduce_scope"));
  attr->value = zero(l);
  tvms_node *body[] = {&attr->head, tvms_evaluate_new(l->unit, call, TVMS_NO_SPAN)};
  block->body = tvms_seq_new(l->unit, body, 2, TVMS_NO_SPAN);
  block->writes = regions_of(l, w->cross, count);
  if (w->in_thread) {
    block->reads = regions_of(l, w->own, count);
    return realized(l, block, (tvms_list){0}, NULL);
  }
  block->reads = w->block->reads;
  block->iter_vars = w->block->iter_vars;
  return realized(l, block, w->realize->iter_values, NULL);
}

static bool depends_on(lowered *w, tvms_node *node) {
  for (uint32_t i = 0; i < w->over_len; i++) {
    if (tvms_walk_contains(w->l->memory, node, w->over[i]->var)) return true;
  }
  return false;
}

// The parts of a conjunction that no loop of the reduction is in; TVM drops a condition alone.
static tvms_node *kept_parts(lowered *w, tvms_node *condition, tvms_node *kept) {
  if (condition->kind != TVMS_NODE_AND) return kept;
  tvms_node *parts[] = {tvms_as_binary(condition)->a, tvms_as_binary(condition)->b};
  for (int i = 0; i < 2; i++)
    kept = kept_parts(w, parts[i], kept);
  for (int i = 0; i < 2; i++) {
    if (parts[i]->kind == TVMS_NODE_AND || depends_on(w, parts[i])) continue;
    kept = tvms_build_binary(w->l->unit, TVMS_NODE_AND, kept, parts[i], TVMS_NO_SPAN);
  }
  return kept;
}

static tvms_node *write_predicate(lowered *w) {
  builder *l = w->l;
  tvms_node *made = kept_parts(w, w->realize->predicate,
                               tvms_bool_imm_new(l->unit, true, TVMS_NO_SPAN));
  const char *scope = tvms_storage_scope_of(l->unit->context, w->reduction.buffers[0]);
  if (strcmp(scope, "local") == 0) return made;
  for (uint32_t i = 0; i < w->over_len; i++) {
    tvms_node *var = w->over[i]->var;
    if (!tag_of(l, w->over[i])) continue;
    tvms_node *none = tvms_int_imm_new(l->unit, var->dtype, 0, TVMS_NO_SPAN);
    tvms_node *first =
        tvms_build_binary(l->unit, TVMS_NODE_EQ, var, none, TVMS_NO_SPAN);
    made = tvms_build_binary(l->unit, TVMS_NODE_AND, made, first, TVMS_NO_SPAN);
  }
  return made;
}

// The result into the buffers of the reduction, with variables of its own.
static tvms_node *write_block(lowered *w) {
  builder *l = w->l;
  tvms_block *block = new_block(l, w->block, "_write_back");
  tvms_node_map vars;
  tvms_node_map_init(&vars, l->memory);
  tvms_node_vec iters = {0}, values = {0}, stmts = {0};
  for (uint32_t i = 0; i < w->block->iter_vars.len; i++) {
    const tvms_iter_var *old = tvms_as_iter_var(w->block->iter_vars.items[i]);
    if (old->iter_type == TVMS_ITER_COMM_REDUCE) continue;
    tvms_node *iter = tvms_node_copy(l->unit, &old->head);
    tvms_as_iter_var(iter)->var = tvms_var_like(l->unit, old->var);
    tvms_node_map_put(&vars, old->var, tvms_as_iter_var(iter)->var);
    tvms_vec_push(l->memory, &iters, iter);
    tvms_vec_push(l->memory, &values, w->realize->iter_values.items[i]);
  }
  block->iter_vars = tvms_list_copy(l->unit, iters.items, iters.len);
  tvms_list places =
      tvms_list_copy(l->unit, w->reduction.indices.items, w->reduction.indices.len);
  for (uint32_t i = 0; i < places.len; i++)
    places.items[i] = tvms_substitute(l->unit, places.items[i], &vars);
  tvms_node *written = tvms_substitute(l->unit, w->block->writes.items[0], &vars);
  tvms_node *regions[TVMS_MOST_REDUCED];
  for (uint32_t i = 0; i < w->reduction.count; i++) {
    tvms_vec_push(l->memory, &stmts,
                  store(l, w->reduction.buffers[i], element(l, w->cross[i]),
                        places.items, places.len));
    regions[i] = tvms_node_copy(l->unit, written);
    tvms_as_buffer_region(regions[i])->buffer = w->reduction.buffers[i];
  }
  block->reads = regions_of(l, w->cross, w->reduction.count);
  block->writes = tvms_list_copy(l->unit, regions, w->reduction.count);
  block->body = tvms_stmt_seq(l->unit, &stmts, TVMS_NO_SPAN);
  tvms_node *made = realized(
      l, block, tvms_list_copy(l->unit, values.items, values.len), write_predicate(w));
  tvms_vec_fini(l->memory, &iters);
  tvms_vec_fini(l->memory, &values);
  tvms_node_map_fini(&vars);
  return made;
}

tvms_node *tvms_cross_thread_blocks(tvms_unit *unit, const tvms_block_realize *realize,
                                    const tvms_for *const *over, uint32_t over_len,
                                    const tvms_reduction *reduction,
                                    tvms_node_vec *scratchpads) {
  builder l = {unit, &unit->context->memory, scratchpads};
  lowered w = {.l = &l,
               .realize = realize,
               .block = tvms_as_block(realize->block),
               .over = over,
               .over_len = over_len,
               .reduction = *reduction};
  w.in_thread = !tvms_node_is_int(realize->predicate, 1);
  for (uint32_t i = 0; i < over_len; i++)
    w.in_thread = w.in_thread || !tag_of(&l, over[i]);
  make_scratchpads(&l, reduction, "cross_thread_", w.cross);
  if (w.in_thread) make_scratchpads(&l, reduction, "in_thread_", w.own);
  tvms_node_vec stmts = {0};
  if (w.in_thread) tvms_vec_push(l.memory, &stmts, init_block(&w));
  tvms_node *own = own_loops(&w, (tvms_node *)(uintptr_t)&over[0]->head);
  if (own) tvms_stmt_push(l.unit, &stmts, own);
  tvms_vec_push(l.memory, &stmts, cross_block(&w));
  tvms_vec_push(l.memory, &stmts, write_block(&w));
  tvms_node *made = tvms_stmt_seq(unit, &stmts, TVMS_NO_SPAN);
  for (uint32_t i = over_len; i-- > 0;) {
    if (!tag_of(&l, over[i])) continue;
    tvms_node *copy = tvms_node_copy(unit, &over[i]->head);
    tvms_as_for(copy)->body = made;
    made = copy;
  }
  return made;
}
