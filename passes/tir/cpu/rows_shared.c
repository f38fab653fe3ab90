// Long sums of several rows that share what a line loads: products whose columns are not known in number.
#include "passes/tir/cpu/rows_shared.h"

#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"

enum {
  NONE = TVMS_MOST_STAGE_AXES,
  FEWEST_STEPS = 4,  // of the shared axis
  MOST_STEPS = 8,
  FEWEST_SUMMED = 16,  // steps of a sum, from which on its registers pay
};

// Looks for a load that moves with a line and stays along another axis.
typedef struct {
  tvms_memory *memory;
  const tvms_node *line, *axis;
} shared_search;

static tvms_walk_step find_shared(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const shared_search *s = self;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  bool moves = tvms_walk_contains(s->memory, node, s->line);
  bool stays = !tvms_walk_contains(s->memory, node, s->axis);
  return moves && stays ? TVMS_WALK_STOP : TVMS_WALK_SKIP;
}

static bool shares(tvms_unit *unit, const tvms_line_member *m, const tvms_node *axis) {
  shared_search s = {&unit->context->memory,
                     m->stage.axes[m->own[m->own_count - 1]].var, axis};
  tvms_visitor visitor = {.self = &s, .enter = find_shared};
  return !tvms_walk(s.memory, m->term, &visitor);
}

// Steps of the member's sum that are known; a size that is not counts as many.
static bool is_long(const tvms_line_member *m) {
  int64_t steps = 1;
  for (uint32_t i = 0; i < m->stage.count && steps < FEWEST_SUMMED; i++) {
    if (!m->stage.axes[i].sums) continue;
    int64_t extent = tvms_cpu_number(m->stage.axes[i].extent);
    steps *= extent < 0 ? FEWEST_SUMMED : extent;
  }
  return steps >= FEWEST_SUMMED && tvms_line_taps(&m->stage) < 0;
}

// The place in `own` of the axis that long sums of a pass share; NONE: there is none.
static uint32_t shared_place(tvms_unit *unit, const tvms_line_group *g, uint32_t pass,
                             uint32_t fused) {
  const tvms_line_member *sums = NULL;
  uint32_t own_count = 0;
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *m = &g->members[i];
    if (m->pass != pass) continue;
    bool fits = m->kind == TVMS_LINE_MAP || (m->kind == TVMS_LINE_COLUMN && is_long(m));
    if (!fits || (own_count && m->own_count != own_count)) return NONE;
    own_count = m->own_count;
    if (m->kind == TVMS_LINE_COLUMN && sums) return NONE;
    if (m->kind == TVMS_LINE_COLUMN) sums = m;
  }
  for (uint32_t i = sums ? own_count - fused : 0; i-- > 0;) {
    const tvms_stage_axis *axis = &sums->stage.axes[sums->own[i]];
    if (tvms_cpu_number(axis->extent) >= FEWEST_STEPS && shares(unit, sums, axis->var))
      return i;
  }
  return NONE;
}

// Moves the axis at a place of `own` next to the line.
static void move_next_to_line(tvms_line_member *m, uint32_t place, uint32_t fused) {
  uint32_t axis = m->own[place];
  for (; place + fused + 1 < m->own_count; place++)
    m->own[place] = m->own[place + 1];
  m->own[place] = axis;
}

// Steps that are done together: what registers allow, and a part of the axis if that is not much less.
static int64_t steps_together(int64_t extent, int64_t most) {
  if (most > MOST_STEPS) most = MOST_STEPS;
  if (extent <= most) return extent;
  for (int64_t steps = most; steps >= FEWEST_STEPS; steps--) {
    if (extent % steps == 0) return steps;
  }
  return most;
}

void tvms_line_plan_shared(tvms_unit *unit, tvms_line_group *g, uint32_t pass,
                           const tvms_target *target, tvms_line_pass_plan *plan) {
  if (plan->lanes == 1 || plan->tile > 1 || plan->active) return;
  uint32_t place = shared_place(unit, g, pass, plan->fused);
  if (place == NONE) return;
  int64_t extent = 0;
  for (uint32_t i = 0; i < g->count; i++) {
    tvms_line_member *m = &g->members[i];
    if (m->pass != pass) continue;
    extent = tvms_cpu_number(m->stage.axes[m->own[place]].extent);
    move_next_to_line(m, place, plan->fused);
  }
  // A quarter of the registers holds what is loaded.
  int64_t registers = target->vector_registers ? target->vector_registers : 16;
  int64_t sums = registers - registers / 4;
  while (plan->vectors > 1 && sums / plan->vectors < FEWEST_STEPS)
    plan->vectors--;
  plan->tile = steps_together(extent, sums / plan->vectors);
  plan->sums = plan->vectors;
}
