// PlanAndUpdateBufferAllocationLocation: buffers are allocated in the innermost loop or block
// that holds all their accesses.
//
// Before: root: B = T.sblock_alloc_buffer((16, 16)); for i: B[i, …] of A; C[i, …] of B
// After:  for i: with T.sblock(""): B = T.sblock_alloc_buffer((16, 16)); …
//
// A loop gets a block for them, whose regions are those of its body. Blocks no longer declare
// what is allocated inside of them. Only what blocks allocate moves; a buffer that is never
// accessed goes. TVM: s_tir.transform.PlanAndUpdateBufferAllocationLocation.
#include "ir/build.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/tir/analysis/access_scopes.h"
#include "structinfo/regions.h"

// The buffers of one loop or block, in order of their old allocation or first access.
typedef struct {
  tvms_node_vec buffers;
} place;

typedef struct {
  tvms_unit *unit;
  tvms_memory *memory;
  tvms_node_map scopes;   // BUFFER -> FOR, BLOCK or PRIM_FUNC
  tvms_node_map managed;  // buffers that blocks allocate or match, to themselves
  tvms_node_map fixed;  // parameters, and buffers that have their place, to themselves
  TVMS_VEC(place) places;
  tvms_node_map place_of;  // FOR or BLOCK -> number in `places`, one up
  // Buffers that blocks at hand may declare, by tvms_regions_put_buffer.
  tvms_node_map known;
} planning;

// ---- Places ----

static void give_place(planning *p, tvms_node *buffer) {
  if (tvms_node_map_get(&p->fixed, buffer)) return;
  tvms_node_map_put(&p->fixed, buffer, buffer);
  tvms_node *scope = tvms_node_map_get(&p->scopes, buffer);
  if (!scope) return;
  if (tvms_node_map_get(&p->managed, buffer)) {
    uintptr_t number = (uintptr_t)tvms_node_map_get(&p->place_of, scope);
    if (!number) {
      place made = {0};
      tvms_vec_push(p->memory, &p->places, made);
      number = p->places.len;
      tvms_node_map_put(&p->place_of, scope, (tvms_node *)number);
    }
    tvms_vec_push(p->memory, &p->places.items[number - 1].buffers, buffer);
  }
  tvms_regions_put_buffer(&p->known, p->unit, buffer, buffer);
}

static tvms_walk_step note_managed(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  planning *p = self;
  if (tvms_node_class_of(node) != TVMS_CLASS_STMT) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_BLOCK) return TVMS_WALK_ON;
  const tvms_block *block = tvms_as_block(node);
  for (uint32_t i = 0; i < block->alloc_buffers.len; i++) {
    tvms_node *buffer = block->alloc_buffers.items[i];
    tvms_node_map_put(&p->managed, buffer, buffer);
  }
  for (uint32_t i = 0; i < block->match_buffers.len; i++) {
    tvms_node *buffer =
        tvms_as_match_buffer_region(block->match_buffers.items[i])->buffer;
    tvms_node_map_put(&p->managed, buffer, buffer);
  }
  return TVMS_WALK_ON;
}

static tvms_walk_step note_order(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  planning *p = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind == TVMS_NODE_BUFFER_LOAD || node->kind == TVMS_NODE_STORE)
    give_place(p, *tvms_node_element(node).buffer);
  if (node->kind != TVMS_NODE_BLOCK) return TVMS_WALK_ON;
  const tvms_block *block = tvms_as_block(node);
  for (uint32_t i = 0; i < block->alloc_buffers.len; i++) {
    give_place(p, block->alloc_buffers.items[i]);
  }
  for (uint32_t i = 0; i < block->match_buffers.len; i++) {
    const tvms_match_buffer_region *match =
        tvms_as_match_buffer_region(block->match_buffers.items[i]);
    give_place(p, tvms_as_buffer_region(match->source)->buffer);
  }
  return TVMS_WALK_ON;
}

static const place *TVMS_NULLABLE place_of(const planning *p, const tvms_node *scope) {
  uintptr_t number = (uintptr_t)tvms_node_map_get(&p->place_of, scope);
  return number ? &p->places.items[number - 1] : NULL;
}

// ---- Rewriting ----

static void know_all(planning *p, const place *at, bool known) {
  for (uint32_t i = 0; i < at->buffers.len; i++) {
    tvms_node *buffer = at->buffers.items[i];
    tvms_regions_put_buffer(&p->known, p->unit, buffer, known ? buffer : NULL);
  }
}

// `body` in a block that allocates the buffers.
static tvms_node *allocating_block(planning *p, const place *at, tvms_node *body) {
  tvms_block *block = tvms_node_make(p->unit, BLOCK, TVMS_NO_SPAN);
  tvms_block_realize *realize = tvms_node_make(p->unit, BLOCK_REALIZE, TVMS_NO_SPAN);
  block->name = tvms_bytes_copy(p->unit, "", 0);
  block->alloc_buffers = tvms_list_copy(p->unit, at->buffers.items, at->buffers.len);
  block->body = body;
  tvms_regions_infer_all(p->unit, &p->known, block);
  realize->predicate = tvms_bool_imm_new(p->unit, true, TVMS_NO_SPAN);
  realize->block = &block->head;
  return &realize->head;
}

static tvms_node *enter_loop(tvms_rewriter *r, tvms_node *node) {
  planning *p = r->self;
  const place *at = place_of(p, node);
  if (!at) return TVMS_REWRITE_BELOW;
  know_all(p, at, true);
  tvms_node *loop = tvms_rewrite_below(r, node);
  know_all(p, at, false);
  tvms_node *copy = tvms_node_copy(p->unit, loop);
  tvms_as_for(copy)->body = allocating_block(p, at, tvms_as_for(loop)->body);
  return copy;
}

static tvms_list known_regions(const planning *p, tvms_list regions) {
  tvms_list kept = {tvms_arena_array(&p->unit->arena, tvms_node *, regions.len), 0};
  for (uint32_t i = 0; i < regions.len; i++) {
    const tvms_node *buffer = tvms_as_buffer_region(regions.items[i])->buffer;
    const tvms_node *key = tvms_regions_buffer_key(p->unit, buffer);
    if (tvms_node_map_get(&p->known, key)) kept.items[kept.len++] = regions.items[i];
  }
  return kept.len == regions.len ? regions : kept;
}

static bool same_items(tvms_list a, tvms_list b) {
  if (a.len != b.len) return false;
  for (uint32_t i = 0; i < a.len; i++) {
    if (a.items[i] != b.items[i]) return false;
  }
  return true;
}

static void know_matches(planning *p, const tvms_block *block, bool known) {
  for (uint32_t i = 0; i < block->match_buffers.len; i++) {
    tvms_node *buffer =
        tvms_as_match_buffer_region(block->match_buffers.items[i])->buffer;
    tvms_regions_put_buffer(&p->known, p->unit, buffer, known ? buffer : NULL);
  }
}

static tvms_node *enter_block(tvms_rewriter *r, tvms_node *node) {
  planning *p = r->self;
  const place *at = place_of(p, node);
  if (at) know_all(p, at, true);
  know_matches(p, tvms_as_block(node), true);
  tvms_node *block = tvms_rewrite_below(r, node);
  know_matches(p, tvms_as_block(node), false);
  if (at) know_all(p, at, false);
  const tvms_block *old = tvms_as_block(block);
  tvms_list buffers = {0};
  if (at) buffers = (tvms_list){at->buffers.items, at->buffers.len};
  tvms_list reads = known_regions(p, old->reads);
  tvms_list writes = known_regions(p, old->writes);
  bool same = reads.items == old->reads.items && writes.items == old->writes.items
              && same_items(buffers, old->alloc_buffers);
  if (same) return block;
  tvms_node *copy = tvms_node_copy(p->unit, block);
  tvms_as_block(copy)->reads = reads;
  tvms_as_block(copy)->writes = writes;
  tvms_as_block(copy)->alloc_buffers =
      tvms_list_copy(p->unit, buffers.items, buffers.len);
  return copy;
}

static void find_places(planning *p, tvms_node *function) {
  tvms_access_scopes_find(p->unit, function, &p->scopes);
  const tvms_prim_func *whole = tvms_as_prim_func(function);
  for (uint32_t i = 0; i < whole->buffers.len; i++) {
    tvms_node *buffer = whole->buffers.items[i];
    if (!buffer) continue;
    tvms_node_map_put(&p->fixed, buffer, buffer);
    tvms_regions_put_buffer(&p->known, p->unit, buffer, buffer);
  }
  tvms_visitor managed = {.self = p, .enter = note_managed};
  tvms_walk(p->memory, whole->body, &managed);
  tvms_visitor order = {.self = p, .enter = note_order};
  tvms_walk(p->memory, whole->body, &order);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  planning p = {.unit = unit, .memory = &run->context->memory};
  tvms_node_map *maps[] = {&p.scopes, &p.managed, &p.fixed, &p.place_of, &p.known};
  for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
    tvms_node_map_init(maps[i], p.memory);
  find_places(&p, function);
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &p);
  r.roles = TVMS_IN(BODY);
  r.enter[TVMS_NODE_FOR] = enter_loop;
  r.enter[TVMS_NODE_BLOCK] = enter_block;
  tvms_node *changed = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  for (uint32_t i = 0; i < p.places.len; i++)
    tvms_vec_fini(p.memory, &p.places.items[i].buffers);
  tvms_vec_fini(p.memory, &p.places);
  for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
    tvms_node_map_fini(maps[i]);
  return changed;
}

void tvms_pass_plan_and_update_buffer_allocation_location(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
