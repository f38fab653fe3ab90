// Stages whose results are a few elements side by side, each from elsewhere.
#include "passes/tir/cpu/short_axis.h"

#include "ir/build.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"

enum { NONE = TVMS_MOST_STAGE_AXES };

typedef struct {
  tvms_unit *unit;
  const tvms_node *shortest, *line;
  bool far;   // something does not lie side by side along the short axis
  bool fits;  // all does along the line, or is the same
} load_check;

static tvms_walk_step check_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  load_check *l = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  int64_t step, across;
  bool known =
      tvms_cpu_step_of(l->unit, load->buffer, load->indices, l->line, &step)
      && tvms_cpu_step_of(l->unit, load->buffer, load->indices, l->shortest, &across);
  l->fits &= known && (step == 0 || step == 1);
  l->far |= known && across != 0 && across != 1;
  return TVMS_WALK_SKIP;
}

// The axis along which the stage stores with a step; NONE: there is none.
static uint32_t axis_of_step(tvms_unit *unit, const tvms_stage *stage, int64_t wanted) {
  const tvms_store *store = stage->store;
  for (uint32_t i = 0; i < stage->count; i++) {
    int64_t step;
    if (tvms_cpu_step_of(unit, store->buffer, store->indices, stage->axes[i].var, &step)
        && step == wanted)
      return i;
  }
  return NONE;
}

// The stage in one step of an axis.
static tvms_stage in_step(tvms_unit *unit, const tvms_stage *stage, uint32_t axis,
                          int64_t step) {
  tvms_stage made = *stage;
  const tvms_store *store = stage->store;
  tvms_node *var = stage->axes[axis].var;
  tvms_node *now = tvms_int_imm_new(unit, var->dtype, step, TVMS_NO_SPAN);
  tvms_list indices = tvms_list_copy(unit, store->indices.items, store->indices.len);
  for (uint32_t i = 0; i < indices.len; i++)
    indices.items[i] = tvms_substitute_one(unit, indices.items[i], var, now);
  made.store = tvms_as_store(tvms_cpu_store(
      unit, store->buffer, indices, tvms_substitute_one(unit, store->value, var, now)));
  made.count--;
  for (uint32_t i = axis; i < made.count; i++)
    made.axes[i] = made.axes[i + 1];
  return made;
}

uint32_t tvms_cpu_split_short_axis(tvms_unit *unit, const tvms_stage *stage,
                                   tvms_stage made[TVMS_MOST_TURNS]) {
  if (stage->init || stage->store->predicate || tvms_stage_has_sums(stage)) return 0;
  uint32_t axis = axis_of_step(unit, stage, 1);
  int64_t turns = axis == NONE ? 0 : tvms_cpu_number(stage->axes[axis].extent);
  if (turns < 2 || turns >= TVMS_MOST_TURNS) return 0;
  uint32_t line = axis_of_step(unit, stage, turns);
  if (line == NONE) return 0;
  load_check l = {unit, stage->axes[axis].var, stage->axes[line].var, false, true};
  tvms_visitor visitor = {.self = &l, .enter = check_load};
  tvms_walk(&unit->context->memory, stage->store->value, &visitor);
  if (!l.far || !l.fits) return 0;
  for (int64_t i = 0; i < turns; i++)
    made[i] = in_step(unit, stage, axis, i);
  return (uint32_t)turns;
}
