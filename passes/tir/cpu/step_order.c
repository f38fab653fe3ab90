// The order of steps of loops around one store.
#include "passes/tir/cpu/step_order.h"

#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/stage.h"

static tvms_walk_step find_other_place(void *self, tvms_node *node,
                                       tvms_field_role role) {
  (void)role;
  const tvms_store *store = self;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  bool own = tvms_as_buffer(tvms_as_buffer_load(node)->buffer)->data
             == tvms_as_buffer(store->buffer)->data;
  return own && !tvms_stage_loads_place(store, node) ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

bool tvms_cpu_steps_are_apart(tvms_unit *unit, const tvms_store *store) {
  tvms_visitor visitor = {.self = (void *)(uintptr_t)store, .enter = find_other_place};
  tvms_memory *memory = &unit->context->memory;
  for (uint32_t i = 0; i < store->indices.len; i++)
    if (!tvms_walk(memory, store->indices.items[i], &visitor)) return false;
  return tvms_walk(memory, store->value, &visitor);
}

bool tvms_cpu_steps_add_up(tvms_unit *unit, const tvms_store *store, bool reorders) {
  static const tvms_node_kind folds[] = {TVMS_NODE_ADD, TVMS_NODE_MUL, TVMS_NODE_MAX,
                                         TVMS_NODE_MIN};
  const tvms_stage stage = {.store = store};
  bool exact = !tvms_dtype_is_real(store->value->dtype);
  for (uint32_t i = 0; i < (reorders ? 4u : exact ? 1u : 0u); i++) {
    tvms_node *term = tvms_stage_term(&stage, folds[i]);
    if (term) return !tvms_cpu_mentions(unit, term, store->buffer);
  }
  return false;
}

// ---- In place ----

typedef struct {
  const tvms_store *store;
  tvms_list allocated;
} place_search;

static bool is_allocated(tvms_list allocated, const tvms_node *buffer) {
  for (uint32_t i = 0; i < allocated.len; i++)
    if (allocated.items[i] == buffer) return true;
  return false;
}

static tvms_walk_step find_place(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const place_search *s = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  bool there = !is_allocated(s->allocated, load->buffer)
               && tvms_dtype_same(node->dtype, s->store->value->dtype)
               && tvms_node_same_exprs(load->indices, s->store->indices);
  return there ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

bool tvms_cpu_loads_there(tvms_unit *unit, const tvms_store *store,
                          tvms_list allocated) {
  place_search s = {store, allocated};
  tvms_visitor visitor = {.self = &s, .enter = find_place};
  return !tvms_walk(&unit->context->memory, store->value, &visitor);
}

bool tvms_cpu_may_be_in_place(tvms_unit *unit, const tvms_store *store,
                              tvms_list allocated) {
  return !is_allocated(allocated, store->buffer)
         && tvms_cpu_loads_there(unit, store, allocated);
}
