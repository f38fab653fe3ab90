#include "schedule/early.h"

#include "arith/analyzer.h"
#include "ir/node_map.h"
#include "ir/walk.h"

// The buffers to which nothing has been done yet, by themselves, by what matches a part of them and by the variables of their data.
typedef struct {
  tvms_node_map fresh;
  uint32_t early;
} reading;

static void name(reading *r, tvms_node *buffer, tvms_node *whole) {
  tvms_node_map_put(&r->fresh, buffer, whole);
  tvms_node_map_put(&r->fresh, tvms_as_buffer(buffer)->data, whole);
}

static void allocate(reading *r, const tvms_block *block) {
  for (uint32_t i = 0; i < block->alloc_buffers.len; i++)
    name(r, block->alloc_buffers.items[i], block->alloc_buffers.items[i]);
}

static void match(reading *r, const tvms_match_buffer_region *match) {
  tvms_node *source = tvms_as_buffer_region(match->source)->buffer;
  tvms_node *whole = tvms_node_map_get(&r->fresh, source);
  if (whole) name(r, match->buffer, whole);
}

// Returns whether nothing had been done to the buffer before.
static bool touch(reading *r, const tvms_node *key) {
  tvms_node *whole = tvms_node_map_get(&r->fresh, key);
  if (!whole || !tvms_node_map_get(&r->fresh, whole)) return false;
  tvms_node_map_put(&r->fresh, whole, NULL);
  return true;
}

static tvms_walk_step enter(void *self, tvms_node *node, tvms_field_role role) {
  reading *r = self;
  if (role == TVMS_ROLE_ACCESS || role == TVMS_ROLE_NOTE || role == TVMS_ROLE_TYPE)
    return TVMS_WALK_SKIP;
  switch ((int)node->kind) {
  case TVMS_NODE_BLOCK: allocate(r, tvms_as_block(node)); return TVMS_WALK_ON;
  case TVMS_NODE_BUFFER_LOAD:
    if (touch(r, tvms_as_buffer_load(node)->buffer)) r->early++;
    return TVMS_WALK_ON;
  case TVMS_NODE_MATCH_BUFFER_REGION:
    match(r, tvms_as_match_buffer_region(node));
    return TVMS_WALK_SKIP;
  case TVMS_NODE_CALL: {
    if (tvms_arith_opcode(node) != TVMS_TIR_address_of) return TVMS_WALK_ON;
    const tvms_node *place = tvms_as_call(node)->args.items[0];
    if (place->kind == TVMS_NODE_BUFFER_LOAD)
      touch(r, tvms_as_buffer_load(place)->buffer);
    return TVMS_WALK_SKIP;
  }
  case TVMS_NODE_VAR: touch(r, node); return TVMS_WALK_ON;
  case TVMS_NODE_BUFFER: return TVMS_WALK_SKIP;
  default: return TVMS_WALK_ON;
  }
}

static void leave(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  if (node->kind == TVMS_NODE_STORE) touch(self, tvms_as_store(node)->buffer);
}

uint32_t tvms_sched_early_reads(const tvms_sched *sched, tvms_node *function) {
  reading r = {0};
  tvms_node_map_init(&r.fresh, &sched->context->memory);
  tvms_visitor visitor = {.self = &r, .enter = enter, .leave = leave};
  (void)tvms_walk(&sched->context->memory, tvms_as_prim_func(function)->body, &visitor);
  tvms_node_map_fini(&r.fresh);
  return r.early;
}
