// One walk with the chain of open loops and blocks; of each buffer the lowest common ancestor
// of its accesses so far.
#include "passes/tir/analysis/access_scopes.h"

#include "ir/build.h"
#include "ir/walk.h"
#include "schedule/storage_scope.h"
#include "support/vec.h"

#include <string.h>

#define NONE UINT32_MAX

typedef struct {
  uint32_t parent;  // NONE: the function
  uint32_t depth;
  tvms_node *stmt;
} scope;

// A buffer and the scope of its accesses.
typedef struct {
  tvms_node *buffer;
  uint32_t scope;  // NONE: not accessed yet
} found;

typedef struct {
  tvms_unit *unit;
  tvms_memory *memory;
  TVMS_VEC(scope) scopes;  // 0 is the function
  uint32_t here;
  TVMS_VEC(found) buffers;
  tvms_node_map places;         // BUFFER or its pointer -> place in `buffers`, one up
  tvms_node_map matched;        // buffers of match_buffers, to themselves
  tvms_node_map loops;          // loop variable -> scope, one up
  TVMS_VEC(uint32_t) launches;  // scopes that launch blocks of threads
} finder;

static void visit(finder *f, tvms_node *node);

// ---- Ancestors ----

static uint32_t common(const finder *f, uint32_t a, uint32_t b) {
  if (a == NONE || b == NONE) return a == NONE ? b : a;
  while (a != b) {
    uint32_t of_a = f->scopes.items[a].depth, of_b = f->scopes.items[b].depth;
    if (of_a >= of_b) a = f->scopes.items[a].parent;
    if (of_b >= of_a) b = f->scopes.items[b].parent;
  }
  return a;
}

static found *know(finder *f, tvms_node *buffer) {
  uintptr_t place = (uintptr_t)tvms_node_map_get(&f->places, buffer);
  if (!place) {
    found made = {buffer, NONE};
    tvms_vec_push(f->memory, &f->buffers, made);
    place = f->buffers.len;
    tvms_node_map_put(&f->places, buffer, (tvms_node *)place);
    tvms_node_map_put(&f->places, tvms_as_buffer(buffer)->data, (tvms_node *)place);
  }
  return &f->buffers.items[place - 1];
}

static void access(finder *f, tvms_node *buffer, uint32_t in) {
  found *entry = know(f, buffer);
  if (!tvms_node_map_get(&f->matched, buffer))
    entry->scope = common(f, entry->scope, in);
}

static uint32_t open_scope(finder *f, tvms_node *stmt) {
  uint32_t outer = f->here;
  scope made = {outer, f->scopes.items[outer].depth + 1, stmt};
  tvms_vec_push(f->memory, &f->scopes, made);
  f->here = f->scopes.len - 1;
  return outer;
}

// ---- Loops that carry values ----

// The highest scope that the variables of an expression lead to, by `above`: variable -> scope,
// one up.
typedef struct {
  const finder *f;
  const tvms_node_map *above;
  bool parents;  // the scope around it is meant
  uint32_t highest;
} climb;

static tvms_walk_step climb_at(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  climb *c = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_VAR) return TVMS_WALK_ON;
  uintptr_t place = (uintptr_t)tvms_node_map_get(c->above, node);
  if (!place) return TVMS_WALK_ON;
  const scope *scopes = c->f->scopes.items;
  uint32_t at = (uint32_t)place - 1;
  if (c->parents) at = scopes[at].parent;
  if (c->highest == NONE || scopes[at].depth < scopes[c->highest].depth)
    c->highest = at;
  return TVMS_WALK_ON;
}

static uint32_t climb_from(finder *f, const tvms_node_map *above, bool parents,
                           tvms_node *node, uint32_t start) {
  climb c = {f, above, parents, start};
  tvms_visitor visitor = {.self = &c, .enter = climb_at};
  tvms_walk(f->memory, node, &visitor);
  return c.highest;
}

// What a region that depends on non-parallel axes is accessed in.
static void access_region(finder *f, const tvms_node *node, const tvms_node_map *opaque,
                          uint32_t reduction) {
  const tvms_buffer_region *region = tvms_as_buffer_region(node);
  uint32_t at = f->here;
  for (uint32_t i = 0; i < region->region.len; i++) {
    at = climb_from(f, opaque, false, region->region.items[i], at);
  }
  const scope *scopes = f->scopes.items;
  if (reduction != NONE && scopes[at].depth > scopes[reduction].depth) at = reduction;
  access(f, region->buffer, at);
}

// Axes of a block that are not parallel keep what depends on them outside of their loops.
static void access_carried(finder *f, const tvms_block_realize *realize,
                           const tvms_block *block) {
  tvms_node_map opaque;
  tvms_node_map_init(&opaque, f->memory);
  uint32_t reduction = NONE;
  for (uint32_t i = 0; i < realize->iter_values.len; i++) {
    const tvms_iter_var *iter = tvms_as_iter_var(block->iter_vars.items[i]);
    if (iter->iter_type == TVMS_ITER_DATA_PAR) continue;
    uint32_t above =
        climb_from(f, &f->loops, true, realize->iter_values.items[i], NONE);
    if (above == NONE) continue;
    if (iter->iter_type == TVMS_ITER_COMM_REDUCE) {
      bool higher = reduction == NONE
                    || f->scopes.items[above].depth < f->scopes.items[reduction].depth;
      if (higher) reduction = above;
      continue;
    }
    tvms_node_map_put(&opaque, iter->var, (tvms_node *)(uintptr_t)(above + 1));
    for (uint32_t k = 0; k < block->writes.len; k++) {
      access(f, tvms_as_buffer_region(block->writes.items[k])->buffer, above);
    }
  }
  for (uint32_t i = 0; opaque.count && i < block->reads.len; i++) {
    access_region(f, block->reads.items[i], &opaque, NONE);
  }
  bool writes = opaque.count || reduction != NONE;
  for (uint32_t i = 0; writes && i < block->writes.len; i++) {
    access_region(f, block->writes.items[i], &opaque, reduction);
  }
  tvms_node_map_fini(&opaque);
}

// ---- The walk ----

static void visit_below(finder *f, tvms_node *node) {
  tvms_node *child;
  for (tvms_child_at at = {0}; (child = tvms_walk_next_child(node, &at));) {
    if (child->kind != TVMS_NODE_BUFFER && at.role != TVMS_ROLE_NOTE
        && at.role != TVMS_ROLE_DEFINE)
      visit(f, child);
  }
}

static bool launches_blocks(const finder *f, const tvms_iter_var *threads) {
  const char *tag = tvms_symbol_text(f->unit->context, threads->thread_tag);
  return strncmp(tag, "blockIdx.", 9) == 0;
}

static void visit_loop(finder *f, tvms_node *node) {
  const tvms_for *loop = tvms_as_for(node);
  uint32_t outer = open_scope(f, node);
  if (loop->thread && launches_blocks(f, tvms_as_iter_var(loop->thread)))
    tvms_vec_push(f->memory, &f->launches, f->here);
  tvms_node_map_put(&f->loops, loop->var, (tvms_node *)(uintptr_t)(f->here + 1));
  visit(f, loop->min);
  visit(f, loop->extent);
  visit(f, loop->body);
  tvms_node_map_put(&f->loops, loop->var, NULL);
  f->here = outer;
}

static void visit_realize(finder *f, const tvms_block_realize *realize) {
  tvms_block *block = tvms_as_block(realize->block);
  for (uint32_t i = 0; i < block->alloc_buffers.len; i++) {
    know(f, block->alloc_buffers.items[i]);
  }
  uint32_t outer = open_scope(f, &block->head);
  access_carried(f, realize, block);
  for (uint32_t i = 0; i < block->match_buffers.len; i++) {
    const tvms_match_buffer_region *match =
        tvms_as_match_buffer_region(block->match_buffers.items[i]);
    access(f, tvms_as_buffer_region(match->source)->buffer, f->here);
    tvms_node_map_put(&f->matched, match->buffer, match->buffer);
  }
  for (uint32_t i = 0; i < realize->iter_values.len; i++)
    visit(f, realize->iter_values.items[i]);
  visit(f, realize->predicate);
  visit_below(f, &block->head);
  f->here = outer;
}

static void visit_inner(finder *f, tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_FOR: visit_loop(f, node); return;
  case TVMS_NODE_BLOCK_REALIZE: visit_realize(f, tvms_as_block_realize(node)); return;
  case TVMS_NODE_ATTR_STMT: {
    const tvms_iter_var *threads = tvms_attr_stmt_threads(node);
    if (threads && launches_blocks(f, threads))
      tvms_vec_push(f->memory, &f->launches, f->here);
    visit(f, tvms_as_attr_stmt(node)->value);
    return;
  }
  case TVMS_NODE_BUFFER_LOAD:
  case TVMS_NODE_STORE:
    access(f, *tvms_node_element(node).buffer, f->here);
    visit_below(f, node);
    return;
  case TVMS_NODE_VAR:
  case TVMS_NODE_BUFFER: {
    uintptr_t place = (uintptr_t)tvms_node_map_get(&f->places, node);
    if (place) access(f, f->buffers.items[place - 1].buffer, f->here);
    return;
  }
  case TVMS_NODE_CALL: {
    tvms_list args = tvms_as_call(node)->args;
    for (uint32_t i = 0; i < args.len; i++)
      visit(f, args.items[i]);
    return;
  }
  default: visit_below(f, node); return;
  }
}

static void visit(finder *f, tvms_node *node) {
  if (!tvms_memory_enter(f->memory)) tvms_memory_unwind(f->memory, TVMS_OVER_LIMIT);
  visit_inner(f, node);
  tvms_memory_leave(f->memory);
}

// All blocks of threads see one global memory.
static void leave_launches(finder *f, found *entry) {
  const char *name = tvms_storage_scope_of(f->unit->context, entry->buffer);
  if (tvms_storage_rank_of(name) != TVMS_STORAGE_GLOBAL) return;
  for (uint32_t i = 0; i < f->launches.len; i++) {
    entry->scope = common(f, entry->scope, f->launches.items[i]);
  }
}

void tvms_access_scopes_find(tvms_unit *unit, tvms_node *function,
                             tvms_node_map *scopes) {
  finder f = {.unit = unit, .memory = &unit->context->memory};
  tvms_node_map_init(&f.places, f.memory);
  tvms_node_map_init(&f.matched, f.memory);
  tvms_node_map_init(&f.loops, f.memory);
  scope root = {NONE, 0, function};
  tvms_vec_push(f.memory, &f.scopes, root);
  const tvms_prim_func *whole = tvms_as_prim_func(function);
  for (uint32_t i = 0; i < whole->buffers.len; i++) {
    if (whole->buffers.items[i]) know(&f, whole->buffers.items[i]);
  }
  visit(&f, whole->body);
  for (uint32_t i = 0; i < f.buffers.len; i++) {
    found *entry = &f.buffers.items[i];
    if (entry->scope == NONE) continue;
    leave_launches(&f, entry);
    tvms_node_map_put(scopes, entry->buffer, f.scopes.items[entry->scope].stmt);
  }
  tvms_vec_fini(f.memory, &f.scopes);
  tvms_vec_fini(f.memory, &f.buffers);
  tvms_vec_fini(f.memory, &f.launches);
  tvms_node_map_fini(&f.loops);
  tvms_node_map_fini(&f.matched);
  tvms_node_map_fini(&f.places);
}
