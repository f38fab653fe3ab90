// Giving sums that load their result's buffer elsewhere a buffer of their own.
#include "passes/tir/cpu/own_sums.h"

#include "ir/build.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"

typedef struct {
  tvms_unit *unit;
  const tvms_stage *stage;
  bool elsewhere, fits;
} load_search;

static tvms_walk_step see_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  load_search *s = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind == TVMS_NODE_VAR && tvms_dtype_is_handle(node->dtype)) s->fits = false;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  const tvms_node *stored = s->stage->store->buffer;
  if (tvms_as_buffer(load->buffer)->data != tvms_as_buffer(stored)->data)
    return TVMS_WALK_ON;
  s->elsewhere = true;
  s->fits &= !load->predicate && load->buffer == stored
             && tvms_cpu_load_apart(s->unit, s->stage, load);
  return TVMS_WALK_ON;
}

// What each step combines with the result; NULL: it is no such reduction.
static tvms_node *TVMS_NULLABLE term_of(const tvms_stage *stage) {
  tvms_node_kind kind = (tvms_node_kind)stage->store->value->kind;
  bool combines =
      kind == TVMS_NODE_ADD || kind == TVMS_NODE_MAX || kind == TVMS_NODE_MIN;
  return combines && tvms_stage_has_sums(stage) ? tvms_stage_term(stage, kind) : NULL;
}

bool tvms_cpu_loads_elsewhere(tvms_unit *unit, const tvms_stage *stage) {
  tvms_node *term = term_of(stage);
  load_search s = {unit, stage, false, true};
  tvms_visitor visitor = {.self = &s, .enter = see_load};
  if (!term || !tvms_cpu_is_injective(unit, stage)) return false;
  tvms_walk(&unit->context->memory, term, &visitor);
  for (uint32_t i = 0; i < stage->store->indices.len; i++)
    s.fits &=
        !tvms_cpu_mentions(unit, stage->store->indices.items[i], stage->store->buffer);
  return s.elsewhere && s.fits;
}

bool tvms_cpu_own_sum(tvms_unit *unit, const tvms_stage *stage,
                      tvms_replacement *made) {
  const tvms_store *out = stage->store;
  tvms_node *shape[TVMS_MOST_STAGE_AXES], *at[TVMS_MOST_STAGE_AXES];
  uint32_t dims = 0;
  if (!stage->init || !tvms_cpu_loads_elsewhere(unit, stage)) return false;
  for (uint32_t i = 0; i < stage->count; i++) {
    if (stage->axes[i].sums) continue;
    shape[dims] = stage->axes[i].extent;
    at[dims++] = stage->axes[i].var;
  }
  if (!dims) return false;
  tvms_node *buffer =
      tvms_cpu_buffer(unit, "own", out->value->dtype, "global", shape, dims);
  tvms_list places = tvms_list_copy(unit, at, dims);
  tvms_node *result = tvms_buffer_load_new(unit, buffer, at, dims, NULL, TVMS_NO_SPAN);
  const tvms_binary *both = tvms_as_binary(out->value);
  bool first = tvms_stage_is_result(stage, both->a);
  tvms_node *value =
      tvms_binary_new(unit, (tvms_node_kind)out->value->kind, first ? result : both->a,
                      first ? both->b : result, out->value->span);
  tvms_node *stmts[] = {
      tvms_stage_write(unit, stage, stage->name,
                       tvms_cpu_store(unit, buffer, places, value),
                       tvms_cpu_store(unit, buffer, places, stage->init)),
      tvms_stage_write_each(unit, stage, stage->name,
                            tvms_cpu_store(unit, out->buffer, out->indices, result))};
  made->stmts = tvms_list_copy(unit, stmts, 2);
  made->buffers = tvms_list_copy(unit, &buffer, 1);
  return true;
}
