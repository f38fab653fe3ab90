// Finding the lines that the steps of a window share.
#include "passes/tir/cpu/shared_lines.h"

#include "ir/walk.h"
#include "passes/tir/cpu/places.h"

// The only dimension whose index depends on `var`, by a constant step of at least 1; false: there is none.
static bool moves_in_one(tvms_unit *unit, const tvms_buffer_load *load,
                         const tvms_node *var, uint32_t *dimension, int64_t *step) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < load->indices.len; i++) {
    tvms_node *index = load->indices.items[i];
    if (!tvms_walk_contains(&unit->context->memory, index, var)) continue;
    *dimension = i;
    if (count++ || !tvms_cpu_index_step(unit, index, var, step) || *step < 1)
      return false;
  }
  return count == 1;
}

bool tvms_cpu_shared_lines_find(tvms_unit *unit, const tvms_contraction *c,
                                tvms_shared_lines *found) {
  if (c->column_count != 2 || !c->moving || c->moving->kind != TVMS_NODE_BUFFER_LOAD)
    return false;
  const tvms_buffer_load *load = tvms_as_buffer_load(c->moving);
  const tvms_stage_axis *lines = &c->stage.axes[c->columns[0]];
  *found = (tvms_shared_lines){.axis = TVMS_MOST_STAGE_AXES};
  if (!moves_in_one(unit, load, lines->var, &found->dimension, &found->stride))
    return false;
  for (uint32_t i = 0; i < c->stage.count; i++) {
    const tvms_stage_axis *axis = &c->stage.axes[i];
    if (c->roles[i] != TVMS_AXIS_SUM || tvms_stage_axis_is_single(axis)) continue;
    uint32_t dimension;
    int64_t apart;
    tvms_node *index = load->indices.items[found->dimension];
    if (!tvms_walk_contains(&unit->context->memory, index, axis->var)) continue;
    if (found->axis < TVMS_MOST_STAGE_AXES
        || !moves_in_one(unit, load, axis->var, &dimension, &apart))
      return false;
    found->axis = i;
    found->apart = apart;
    found->steps = tvms_cpu_number(axis->extent);
  }
  enum { MOST = 1 << 20 };
  return found->axis < TVMS_MOST_STAGE_AXES && found->steps > 0 && found->steps < MOST
         && found->apart < MOST
         && tvms_cpu_shared_lines_phases(found) <= TVMS_MOST_PHASES;
}

static int64_t farthest(const tvms_shared_lines *shared) {
  return shared->apart * (shared->steps - 1);
}

int64_t tvms_cpu_shared_lines_phases(const tvms_shared_lines *shared) {
  int64_t reached = farthest(shared) + 1;
  return reached < shared->stride ? reached : shared->stride;
}

int64_t tvms_cpu_shared_lines_of_phase(const tvms_shared_lines *shared, int64_t lines,
                                       int64_t phase) {
  return lines + (farthest(shared) - phase) / shared->stride;
}

int64_t tvms_cpu_shared_lines_count(const tvms_shared_lines *shared, int64_t lines) {
  int64_t count = 0;
  for (int64_t phase = 0; phase < tvms_cpu_shared_lines_phases(shared); phase++)
    count += tvms_cpu_shared_lines_of_phase(shared, lines, phase);
  return count;
}
