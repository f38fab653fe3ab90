// LowerCrossThreadReduction: a reduction over threads becomes T.tvm_thread_allreduce.
//
// Before: for t bound to threadIdx.x: with T.sblock("B"): init B[i] = 0; B[i] = B[i] + A[i, t]
// After:  for t bound to threadIdx.x: with T.sblock("B_cross_thread"): allreduce of A[i, t] into a
//         local buffer; with T.sblock("B_write_back"): where t == 0: B[i] = that
//
// If some loops of the reduction are not bound, or the block has a predicate, each thread reduces
// on its own first. A block that reads the result where the threads of the reduction are not
// bound runs in one of them. The loops of the reduction must be the innermost around the block,
// which is the last in them, and bound to threadIdx. TVM:
// s_tir.transform.LowerCrossThreadReduction.
#include "arith/iter_map.h"
#include "ir/fold_ops.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/tir/thread/cross_thread_blocks.h"
#include "schedule/storage_scope.h"
#include "support/diag_ids.h"

#include <string.h>

typedef TVMS_VEC(const tvms_for *) loops;

// An axis of threads over which a buffer was reduced.
typedef struct {
  const tvms_node *buffer;
  const char *tag;
  tvms_node *min, *extent;
} reduced_over;

// What is allocated for a reduction, in which block.
typedef struct {
  const tvms_node *block;
  tvms_node *buffer;
} scratchpad;

typedef struct {
  tvms_unit *unit;
  tvms_memory *memory;
  tvms_analyzer *analyzer;
  loops around;             // open loops
  uint32_t first;           // of them, inside the innermost block
  tvms_node_vec blocks;     // open blocks
  tvms_node_vec stmts;      // open statements
  tvms_node_map new_loops;  // outermost loop of a reduction -> what it becomes
  TVMS_VEC(scratchpad) scratchpads;
  TVMS_VEC(reduced_over) reduced;
  uint32_t block_depth, thread_depth;
  bool failed;
} lowering;

static bool fail(lowering *l, const tvms_block *block, const char *why) {
  if (!l->failed) {
    tvms_diag_report(&l->unit->context->diags, TVMS_D_cross_thread, block->head.span,
                     block->name.text ? block->name.text : "", why);
  }
  l->failed = true;
  return false;
}

static const char *TVMS_NULLABLE tag_of(const lowering *l, const tvms_for *loop) {
  return tvms_cross_thread_tag(l->unit->context, loop);
}

static bool is_thread_index(const char *TVMS_NULLABLE tag) {
  return tag && strncmp(tag, "threadIdx.", 10) == 0;
}

// ---- Is it a reduction? ----

// The values of the block's variables are independent iterators of the loops inside the block
// around it.
static bool is_affine(lowering *l, const tvms_block_realize *realize) {
  uint32_t count = l->around.len - l->first, values = realize->iter_values.len;
  if (count == 0) return true;
  if (values == 0) return false;
  tvms_iter_domain *domains =
      tvms_arena_array(&l->unit->arena, tvms_iter_domain, count);
  tvms_iter_image *images = tvms_arena_array(&l->unit->arena, tvms_iter_image, values);
  for (uint32_t i = 0; i < count; i++) {
    const tvms_for *loop = l->around.items[l->first + i];
    domains[i] = (tvms_iter_domain){loop->var, loop->min, loop->extent};
  }
  if (!tvms_iter_map_detect(l->unit, l->analyzer, domains, count,
                            realize->iter_values.items, values, realize->predicate,
                            false, images))
    return false;
  for (uint32_t i = 0; i < values; i++) {
    if (images[i].scale && !tvms_node_is_int(images[i].scale, 1)) return false;
  }
  return true;
}

// How many blocks directly in the block around write a buffer.
typedef struct {
  const tvms_node *buffer;
  uint32_t count;
} writers;

static tvms_walk_step count_writer(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  writers *w = self;
  if (tvms_node_class_of(node) != TVMS_CLASS_STMT) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_BLOCK) return TVMS_WALK_ON;
  const tvms_block *block = tvms_as_block(node);
  for (uint32_t i = 0; i < block->writes.len; i++) {
    if (tvms_as_buffer_region(block->writes.items[i])->buffer == w->buffer) w->count++;
  }
  return TVMS_WALK_SKIP;
}

static bool is_only_writer(lowering *l, const tvms_block *block) {
  const tvms_block *outer = tvms_as_block(l->blocks.items[l->blocks.len - 1]);
  for (uint32_t i = 0; i < block->writes.len; i++) {
    writers w = {tvms_as_buffer_region(block->writes.items[i])->buffer, 0};
    tvms_visitor visitor = {.self = &w, .enter = count_writer};
    tvms_walk(l->memory, outer->body, &visitor);
    if (w.count != 1) return false;
  }
  return true;
}

static bool uses(lowering *l, tvms_node *node, const tvms_node *var) {
  return tvms_walk_contains(l->memory, node, var);
}

// Stores whose place depends on a variable of a reduction.
typedef struct {
  lowering *l;
  const tvms_block *block;
  bool found;
} reduced_places;

static tvms_walk_step find_reduced_place(void *self, tvms_node *node,
                                         tvms_field_role role) {
  (void)role;
  reduced_places *p = self;
  if (node->kind != TVMS_NODE_STORE) return TVMS_WALK_ON;
  const tvms_store *store = tvms_as_store(node);
  for (uint32_t i = 0; i < p->block->iter_vars.len; i++) {
    const tvms_iter_var *iter = tvms_as_iter_var(p->block->iter_vars.items[i]);
    if (iter->iter_type != TVMS_ITER_COMM_REDUCE) continue;
    for (uint32_t k = 0; k < store->indices.len; k++)
      p->found = p->found || uses(p->l, store->indices.items[k], iter->var);
  }
  return TVMS_WALK_SKIP;
}

static bool is_reduction(lowering *l, const tvms_block_realize *realize) {
  const tvms_block *block = tvms_as_block(realize->block);
  if (!block->init || !is_affine(l, realize)) return false;
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    uint32_t type = tvms_as_iter_var(block->iter_vars.items[i])->iter_type;
    if (type != TVMS_ITER_DATA_PAR && type != TVMS_ITER_COMM_REDUCE) return false;
  }
  if (!is_only_writer(l, block)) return false;
  reduced_places p = {l, block, false};
  tvms_visitor visitor = {.self = &p, .enter = find_reduced_place};
  tvms_walk(l->memory, block->body, &visitor);
  return !p.found;
}

// The loops that the reduction runs over, if one of them is bound to threads.
static bool find_loops(lowering *l, const tvms_block_realize *realize, loops *found) {
  const tvms_block *block = tvms_as_block(realize->block);
  if (l->blocks.len == 0 || !is_reduction(l, realize)) return false;
  bool bound = false;
  for (uint32_t i = 0; i < l->around.len; i++) {
    const tvms_for *loop = l->around.items[i];
    bool related = false;
    for (uint32_t k = 0; k < block->iter_vars.len && !related; k++) {
      const tvms_iter_var *iter = tvms_as_iter_var(block->iter_vars.items[k]);
      related = iter->iter_type == TVMS_ITER_COMM_REDUCE
                && uses(l, realize->iter_values.items[k], loop->var);
    }
    if (!related) continue;
    tvms_vec_push(l->memory, found, loop);
    bound |= tag_of(l, loop) != NULL;
  }
  return bound;
}

// ---- Can it be lowered? ----

static bool is_in(const loops *list, const tvms_node *node) {
  for (uint32_t i = 0; i < list->len; i++) {
    if (&list->items[i]->head == node) return true;
  }
  return false;
}

// The first block below the outermost loop must be the last, too.
static tvms_walk_step count_block(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const tvms_node **state = self;  // the block that is looked for; NULL: it was found
  if (tvms_node_class_of(node) != TVMS_CLASS_STMT) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_BLOCK_REALIZE) return TVMS_WALK_ON;
  if (!*state) return TVMS_WALK_STOP;
  if (tvms_as_block_realize(node)->block == *state) *state = NULL;
  return TVMS_WALK_SKIP;
}

static bool check(lowering *l, const tvms_block *block, const loops *over) {
  uint32_t innermost = 0;
  for (uint32_t i = l->stmts.len; i-- > 0;) {
    const tvms_node *stmt = l->stmts.items[i];
    if (stmt->kind == TVMS_NODE_SEQ) continue;
    if (!is_in(over, stmt)) break;
    innermost++;
  }
  if (innermost != over->len)
    return fail(l, block, "the loops of its reduction are not the innermost around it");
  for (uint32_t i = 0; i < over->len; i++) {
    const char *tag = tag_of(l, over->items[i]);
    if (tag && !is_thread_index(tag))
      return fail(l, block, "a loop of its reduction is bound to other than threadIdx");
  }
  return true;
}

static bool check_buffers(lowering *l, const tvms_block *block, const loops *over,
                          const tvms_reduction *reduction) {
  uint32_t local = 0;
  for (uint32_t i = 0; i < reduction->count; i++) {
    const char *scope = tvms_storage_scope_of(l->unit->context, reduction->buffers[i]);
    local += strcmp(scope, "local") == 0;
  }
  if (local != 0 && local != reduction->count)
    return fail(l, block, "some of its buffers are local and some are not");
  const tvms_node *state = &block->head;
  tvms_visitor visitor = {.self = &state, .enter = count_block};
  if (!tvms_walk(l->memory, (tvms_node *)(uintptr_t)&over->items[0]->head, &visitor))
    return fail(l, block, "it is not the last block in the loops of its reduction");
  return true;
}

static tvms_sym symbol(lowering *l, const char *text) {
  return tvms_symbol_intern(l->unit->context, text, strlen(text));
}

static void note_threads(lowering *l, const loops *over,
                         const tvms_reduction *reduction) {
  for (uint32_t i = 0; i < reduction->count; i++) {
    for (uint32_t k = 0; k < over->len; k++) {
      const tvms_for *loop = over->items[k];
      reduced_over made = {reduction->buffers[i], tag_of(l, loop), loop->min,
                           loop->extent};
      if (made.tag) tvms_vec_push(l->memory, &l->reduced, made);
    }
  }
}

// What the outermost loop of the reduction becomes.
static void lower(lowering *l, const tvms_block_realize *realize, const loops *over) {
  const tvms_block *block = tvms_as_block(realize->block);
  if (!check(l, block, over)) return;
  tvms_reduction reduction;
  const char *why = tvms_reducer_find(l->unit, block, &reduction);
  if (why) {
    fail(l, block, why);
    return;
  }
  if (!check_buffers(l, block, over, &reduction)) return;
  tvms_node_vec buffers = {0};
  tvms_node *made = tvms_cross_thread_blocks(l->unit, realize, over->items, over->len,
                                             &reduction, &buffers);
  for (uint32_t i = 0; i < buffers.len; i++) {
    scratchpad pad = {l->blocks.items[l->blocks.len - 1], buffers.items[i]};
    tvms_vec_push(l->memory, &l->scratchpads, pad);
  }
  tvms_vec_fini(l->memory, &buffers);
  tvms_node_map_put(&l->new_loops, &over->items[0]->head, made);
  note_threads(l, over, &reduction);
}

// ---- Readers of the result ----

static bool is_bound_here(const lowering *l, const char *tag) {
  for (uint32_t i = 0; i < l->around.len; i++) {
    const char *own = tag_of(l, l->around.items[i]);
    if (own && strcmp(own, tag) == 0) return true;
  }
  return false;
}

// The last axis `tag` over which something that the block reads was reduced.
static const reduced_over *TVMS_NULLABLE find_reduced(const lowering *l,
                                                      const tvms_block *block,
                                                      const char *tag) {
  const reduced_over *found = NULL;
  for (uint32_t i = 0; i < block->reads.len; i++) {
    const tvms_node *buffer = tvms_as_buffer_region(block->reads.items[i])->buffer;
    for (uint32_t k = 0; k < l->reduced.len; k++) {
      const reduced_over *r = &l->reduced.items[k];
      if (r->buffer == buffer && strcmp(r->tag, tag) == 0) found = r;
    }
  }
  return found;
}

static tvms_for *thread_loop(lowering *l, const reduced_over *over, tvms_span span) {
  tvms_for *loop = tvms_node_make(l->unit, FOR, span);
  tvms_iter_var *thread = tvms_node_make(l->unit, ITER_VAR, span);
  tvms_dtype dtype = over->min->dtype;
  const char name[] = {'t', over->tag[strlen("threadIdx.")], 0};
  loop->var = tvms_var_new(l->unit, symbol(l, name), dtype, span);
  thread->var = tvms_var_new(l->unit, symbol(l, ""), dtype, span);
  thread->iter_type = TVMS_ITER_THREAD_INDEX;
  thread->thread_tag = symbol(l, over->tag);
  loop->min = over->min;
  loop->extent = over->extent;
  loop->for_kind = TVMS_FOR_THREAD_BINDING;
  loop->thread = &thread->head;
  return loop;
}

static bool writes_local(const lowering *l, const tvms_block *block) {
  for (uint32_t i = 0; i < block->writes.len; i++) {
    const tvms_node *buffer = tvms_as_buffer_region(block->writes.items[i])->buffer;
    if (strcmp(tvms_storage_scope_of(l->unit->context, buffer), "local") == 0)
      return true;
  }
  return false;
}

// A block that reads what threads reduced, and writes what they share, runs in the first of those
// that are not bound around it.
static tvms_node *TVMS_NULLABLE in_one_thread(lowering *l, tvms_node *node) {
  static const char *const tags[] = {"threadIdx.x", "threadIdx.y", "threadIdx.z"};
  const tvms_block_realize *old = tvms_as_block_realize(node);
  const tvms_block *block = tvms_as_block(old->block);
  tvms_node *predicate = old->predicate;
  tvms_for *inner = NULL, *outer = NULL;
  if (writes_local(l, block)) return NULL;
  for (int t = 0; t < 3; t++) {
    const reduced_over *over = find_reduced(l, block, tags[t]);
    if (!over || is_bound_here(l, tags[t])) continue;
    tvms_for *loop = thread_loop(l, over, node->span);
    tvms_node *first =
        tvms_build_binary(l->unit, TVMS_NODE_EQ, loop->var, over->min, TVMS_NO_SPAN);
    predicate =
        tvms_build_binary(l->unit, TVMS_NODE_AND, first, predicate, TVMS_NO_SPAN);
    if (outer) loop->body = &outer->head;
    if (!inner) inner = loop;
    outer = loop;
  }
  if (!outer) return NULL;
  tvms_node *copy = tvms_node_copy(l->unit, node);
  tvms_as_block_realize(copy)->predicate = predicate;
  inner->body = copy;
  return &outer->head;
}

// ---- The walk ----

static tvms_node *enter_realize(tvms_rewriter *r, tvms_node *node) {
  lowering *l = r->self;
  const tvms_block_realize *realize = tvms_as_block_realize(node);
  loops over = {0};
  bool found = find_loops(l, realize, &over);
  if (found) lower(l, realize, &over);
  tvms_vec_fini(l->memory, &over);
  // The outermost loop of the reduction becomes what was made.
  if (found) return node;
  tvms_node *made = l->reduced.len ? in_one_thread(l, node) : NULL;
  return made ? made : tvms_rewrite_below(r, node);
}

static tvms_node *enter_loop(tvms_rewriter *r, tvms_node *node) {
  lowering *l = r->self;
  const tvms_for *loop = tvms_as_for(node);
  const char *tag = tag_of(l, loop);
  bool thread = is_thread_index(tag);
  bool block = tag && strncmp(tag, "blockIdx.", 9) == 0;
  l->thread_depth += thread;
  l->block_depth += block;
  tvms_vec_push(l->memory, &l->around, loop);
  tvms_node *made = tvms_rewrite_below(r, node);
  l->around.len--;
  l->thread_depth -= thread;
  l->block_depth -= block;
  if (block || (thread && l->thread_depth == 0 && l->block_depth == 0))
    l->reduced.len = 0;
  tvms_node *new = tvms_node_map_get(&l->new_loops, node);
  return new ? new : made;
}

static tvms_node *enter_block(tvms_rewriter *r, tvms_node *node) {
  lowering *l = r->self;
  uint32_t first = l->first;
  l->first = l->around.len;
  tvms_vec_push(l->memory, &l->blocks, node);
  tvms_node *made = tvms_rewrite_below(r, node);
  l->blocks.len--;
  l->first = first;
  tvms_node_vec buffers = {0};
  tvms_list old = tvms_as_block(made)->alloc_buffers;
  for (uint32_t i = 0; i < old.len; i++)
    tvms_vec_push(l->memory, &buffers, old.items[i]);
  for (uint32_t i = 0; i < l->scratchpads.len; i++) {
    if (l->scratchpads.items[i].block == node)
      tvms_vec_push(l->memory, &buffers, l->scratchpads.items[i].buffer);
  }
  if (buffers.len != old.len) {
    made = tvms_node_copy(l->unit, made);
    tvms_as_block(made)->alloc_buffers =
        tvms_list_copy(l->unit, buffers.items, buffers.len);
  }
  tvms_vec_fini(l->memory, &buffers);
  return made;
}

static tvms_node *enter_stmt(tvms_rewriter *r, tvms_node *node) {
  lowering *l = r->self;
  tvms_node *made;
  if (node->kind == TVMS_NODE_BLOCK_REALIZE && !l->failed) {
    uint32_t depth = l->stmts.len;
    made = enter_realize(r, node);
    l->stmts.len = depth;
    return made;
  }
  tvms_vec_push(l->memory, &l->stmts, node);
  switch ((int)node->kind) {
  case TVMS_NODE_FOR: made = enter_loop(r, node); break;
  case TVMS_NODE_BLOCK: made = enter_block(r, node); break;
  default: made = tvms_rewrite_below(r, node); break;
  }
  l->stmts.len--;
  return made;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  lowering l = {.unit = unit,
                .memory = &run->context->memory,
                .analyzer = tvms_analyzer_new(unit)};
  tvms_node_map_init(&l.new_loops, l.memory);
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &l);
  r.roles = TVMS_IN(BODY);
  tvms_rewriter_enter_class(&r, TVMS_CLASS_STMT, enter_stmt);
  tvms_node *changed = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  tvms_vec_fini(l.memory, &l.around);
  tvms_vec_fini(l.memory, &l.blocks);
  tvms_vec_fini(l.memory, &l.stmts);
  tvms_vec_fini(l.memory, &l.scratchpads);
  tvms_vec_fini(l.memory, &l.reduced);
  tvms_node_map_fini(&l.new_loops);
  tvms_analyzer_free(l.analyzer);
  return changed;
}

void tvms_pass_lower_cross_thread_reduction(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
