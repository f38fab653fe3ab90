#include "schedule/declared.h"

#include "ir/equal.h"
#include "ir/node_map.h"
#include "ir/walk.h"
#include "schedule/bindings.h"
#include "schedule/buffers.h"

// ---- What is stored always ----

typedef struct {
  tvms_memory *memory;
  const tvms_node *buffer;
  bool skips;  // a branch stores to it where the other one does not
} storing;

static tvms_walk_step find_store(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  bool found = node->kind == TVMS_NODE_STORE && tvms_as_store(node)->buffer == self;
  return found ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool stores(const storing *w, tvms_node *TVMS_NULLABLE stmt) {
  tvms_visitor visitor = {.self = (void *)(uintptr_t)w->buffer, .enter = find_store};
  return stmt && !tvms_walk(w->memory, stmt, &visitor);
}

static tvms_walk_step see_choice(void *self, tvms_node *node, tvms_field_role role) {
  storing *w = self;
  (void)role;
  if (node->kind != TVMS_NODE_IF_THEN_ELSE) return TVMS_WALK_ON;
  const tvms_if_then_else *choice = tvms_as_if_then_else(node);
  w->skips = stores(w, choice->then_case) != stores(w, choice->else_case);
  return w->skips ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

bool tvms_sched_check_stores(tvms_sched *sched, int32_t block,
                             const tvms_node *buffer) {
  storing w = {.memory = &sched->context->memory, .buffer = buffer};
  tvms_visitor visitor = {.self = &w, .enter = see_choice};
  (void)tvms_walk(w.memory, tvms_sched_block(sched, block)->body, &visitor);
  return !w.skips
         || tvms_sched_refuse(sched, "block '%s' does not store to '%s' in every step",
                              tvms_sched_block_name(sched, block),
                              tvms_sched_buffer_name(sched, buffer));
}

// ---- What is stored where ----

typedef struct {
  const tvms_node *buffer;
  tvms_node_map inner;  // variables that begin in the block
  const tvms_store *TVMS_NULLABLE first;
  bool known;  // all stores are at the place of the first
} placing;

static tvms_walk_step see_place(void *self, tvms_node *node, tvms_field_role role) {
  placing *p = self;
  if (node->kind == TVMS_NODE_VAR && role == TVMS_ROLE_DEFINE)
    tvms_node_map_put(&p->inner, node, node);
  if (node->kind == TVMS_NODE_BLOCK
      || (node->kind == TVMS_NODE_VAR && node == tvms_as_buffer(p->buffer)->data))
    p->known = false;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind == TVMS_NODE_STORE && tvms_as_store(node)->buffer == p->buffer) {
    const tvms_store *store = tvms_as_store(node);
    if (!p->first) p->first = store;
    for (uint32_t d = 0; d < store->indices.len; d++)
      p->known =
          p->known
          && tvms_node_same_expr(store->indices.items[d], p->first->indices.items[d]);
  }
  return p->known ? TVMS_WALK_ON : TVMS_WALK_STOP;
}

static tvms_walk_step see_inner(void *self, tvms_node *node, tvms_field_role role) {
  placing *p = self;
  (void)role;
  p->known = p->known && !tvms_node_map_get(&p->inner, node);
  return TVMS_WALK_ON;
}

// The store that tells where the body of a block stores to a buffer, in terms of what is around it; NULL: it is not that simple.
static const tvms_store *TVMS_NULLABLE only_place(tvms_sched *sched,
                                                  const tvms_block *block,
                                                  const tvms_node *buffer) {
  tvms_memory *memory = &sched->context->memory;
  placing p = {.buffer = buffer, .known = true};
  tvms_node_map_init(&p.inner, memory);
  tvms_visitor stores = {.self = &p, .enter = see_place};
  (void)tvms_walk(memory, block->body, &stores);
  tvms_visitor variables = {.self = &p, .enter = see_inner};
  for (uint32_t d = 0; p.first && d < p.first->indices.len; d++)
    (void)tvms_walk(memory, p.first->indices.items[d], &variables);
  tvms_node_map_fini(&p.inner);
  return p.known ? p.first : NULL;
}

tvms_node *tvms_sched_stored_region(tvms_sched *sched, const tvms_block *block,
                                    tvms_node *region) {
  const tvms_store *store =
      only_place(sched, block, tvms_as_buffer_region(region)->buffer);
  if (!store) return region;
  tvms_list at = tvms_list_copy(sched->unit, store->indices.items, store->indices.len);
  for (uint32_t d = 0; d < at.len; d++)
    at.items[d] =
        tvms_range_new(sched->unit, at.items[d],
                       tvms_sched_int(sched, at.items[d]->dtype, 1), TVMS_NO_SPAN);
  return tvms_buffer_region_new(sched->unit, store->buffer, at.items, at.len,
                                TVMS_NO_SPAN);
}

// ---- What blocks leave out ----

typedef struct {
  const tvms_block *block;
  const tvms_node *TVMS_NULLABLE only;  // the buffer that is asked for
  tvms_node_map own;                    // buffers that begin in the block
  tvms_node_map stored;                 // those that the function stores to
  tvms_node *TVMS_NULLABLE found;
} declaring;

static tvms_node *matched_source(const tvms_node *match) {
  return tvms_as_buffer_region(tvms_as_match_buffer_region(match)->source)->buffer;
}

// What a block matches and declares to write is stored to under another name.
static tvms_walk_step see_stored(void *self, tvms_node *node, tvms_field_role role) {
  declaring *d = self;
  (void)role;
  if (node->kind == TVMS_NODE_STORE)
    tvms_node_map_put(&d->stored, tvms_as_store(node)->buffer, node);
  if (node->kind != TVMS_NODE_BLOCK) return TVMS_WALK_ON;
  const tvms_block *block = tvms_as_block(node);
  for (uint32_t i = 0; i < block->match_buffers.len; i++) {
    tvms_node *source = matched_source(block->match_buffers.items[i]);
    if (tvms_sched_touches(block->writes, source))
      tvms_node_map_put(&d->stored, source, node);
  }
  return TVMS_WALK_ON;
}

static tvms_walk_step see_undeclared(void *self, tvms_node *node,
                                     tvms_field_role role) {
  declaring *d = self;
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind == TVMS_NODE_BLOCK) {
    const tvms_block *block = tvms_as_block(node);
    for (uint32_t i = 0; i < block->alloc_buffers.len; i++)
      tvms_node_map_put(&d->own, block->alloc_buffers.items[i], node);
    for (uint32_t i = 0; i < block->match_buffers.len; i++) {
      const tvms_node *match = block->match_buffers.items[i];
      tvms_node_map_put(&d->own, tvms_as_match_buffer_region(match)->buffer, node);
    }
  }
  bool store = node->kind == TVMS_NODE_STORE,
       match = node->kind == TVMS_NODE_MATCH_BUFFER_REGION;
  if (!store && !match && node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  tvms_node *buffer = match ? matched_source(node) : *tvms_node_element(node).buffer;
  if (d->only && buffer != d->only) return TVMS_WALK_ON;
  if (!tvms_node_map_get(&d->stored, buffer)) return TVMS_WALK_ON;
  bool declared = tvms_sched_touches(d->block->writes, buffer)
                  || (!store && tvms_sched_touches(d->block->reads, buffer));
  if (declared || tvms_node_map_get(&d->own, buffer)) return TVMS_WALK_ON;
  d->found = buffer;
  return TVMS_WALK_STOP;
}

static tvms_node *TVMS_NULLABLE undeclared(const tvms_sched *sched, int32_t block,
                                           const tvms_node *TVMS_NULLABLE only) {
  tvms_memory *memory = &sched->context->memory;
  declaring d = {.block = tvms_sched_block(sched, block), .only = only};
  tvms_node_map_init(&d.own, memory);
  tvms_node_map_init(&d.stored, memory);
  tvms_visitor visitor = {.self = &d, .enter = see_stored};
  (void)tvms_walk(memory, tvms_as_prim_func(sched->function)->body, &visitor);
  visitor.enter = see_undeclared;
  (void)tvms_walk(memory, tvms_sched_at(sched, block)->node, &visitor);
  tvms_node_map_fini(&d.stored);
  tvms_node_map_fini(&d.own);
  return d.found;
}

bool tvms_sched_check_declared(tvms_sched *sched, int32_t scope,
                               const tvms_node *only) {
  tvms_site_vec blocks = {0};
  tvms_sched_children(sched, scope, &blocks);
  bool fine = true;
  for (uint32_t i = 0; fine && i < blocks.len; i++) {
    tvms_node *buffer = undeclared(sched, blocks.items[i], only);
    fine = !buffer
           || tvms_sched_refuse(sched, "block '%s' uses '%s', and does not declare it",
                                tvms_sched_block_name(sched, blocks.items[i]),
                                tvms_sched_buffer_name(sched, buffer));
  }
  tvms_vec_fini(&sched->context->memory, &blocks);
  return fine;
}
