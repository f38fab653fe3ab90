// Which neighbouring axes make one line, and loads whose places are loaded.
#include "passes/tir/cpu/rows_fused.h"

#include "ir/build.h"
#include "ir/walk.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/segments.h"

typedef struct {
  tvms_unit *unit;
  const tvms_line_member *member;
  uint32_t most;  // axes that can be one line
} fusing;

// The steps of neighbouring axes must be those of one axis.
static uint32_t fusable(tvms_unit *unit, const tvms_line_member *m,
                        const tvms_node *buffer, tvms_list indices, uint32_t most) {
  uint32_t fused = 1;
  int64_t next;
  const tvms_stage_axis *line = &m->stage.axes[m->own[m->own_count - 1]];
  if (!tvms_cpu_step_of(unit, buffer, indices, line->var, &next)) return 1;
  while (fused < most) {
    const tvms_stage_axis *inner = &m->stage.axes[m->own[m->own_count - fused]];
    const tvms_stage_axis *outer = tvms_line_axis_around(m, fused);
    int64_t step, extent = tvms_cpu_number(inner->extent);
    if (extent < 1 || !tvms_cpu_step_of(unit, buffer, indices, outer->var, &step)
        || step != next * extent)
      break;
    next = step;
    fused++;
  }
  return fused;
}

static tvms_walk_step find_outside(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_SKIP;
  return node == self ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// Does an expression use a variable otherwise than to load what is there?
static bool uses_itself(tvms_unit *unit, tvms_node *expr, tvms_node *var) {
  tvms_visitor visitor = {.self = var, .enter = find_outside};
  return !tvms_walk(&unit->context->memory, expr, &visitor);
}

// A line is cut where a condition changes along its outermost axis.
static void limit_by_condition(fusing *f, tvms_node *choice) {
  const tvms_line_member *m = f->member;
  tvms_node *condition = tvms_as_call(choice)->args.items[0];
  for (uint32_t i = 1; i <= f->most; i++) {
    const tvms_stage_axis *axis = &m->stage.axes[m->own[m->own_count - i]];
    if (!uses_itself(f->unit, condition, axis->var)) continue;
    bool cut =
        m->kind == TVMS_LINE_MAP && tvms_line_cuts_suffice(f->unit, choice, axis);
    f->most = cut ? i : i > 1 ? i - 1 : 1;
  }
}

static bool index_uses(const fusing *f, const tvms_buffer_load *load, uint32_t back) {
  tvms_node *var =
      f->member->stage.axes[f->member->own[f->member->own_count - back]].var;
  for (uint32_t d = 0; d < load->indices.len; d++) {
    if (uses_itself(f->unit, load->indices.items[d], var)) return true;
  }
  return false;
}

static tvms_walk_step limit_fused(void *self, tvms_node *node, tvms_field_role role);

static tvms_walk_step limit_by_place(void *self, tvms_node *node,
                                     tvms_field_role role) {
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  return node->kind == TVMS_NODE_BUFFER_LOAD ? limit_fused(self, node, role)
                                             : TVMS_WALK_ON;
}

// A load that moves along the line by what is loaded as its indices only: axes that move it so, too, can be one
// with the line if those loads allow it.
static bool limit_by_gather(fusing *f, const tvms_buffer_load *load) {
  const tvms_line_member *m = f->member;
  const tvms_node *line = m->stage.axes[m->own[m->own_count - 1]].var;
  if (index_uses(f, load, 1) || !tvms_cpu_depends(f->unit, load->indices, line))
    return false;
  for (uint32_t i = 2; i <= f->most; i++) {
    if (index_uses(f, load, i)) f->most = i - 1;
  }
  tvms_visitor visitor = {.self = f, .enter = limit_by_place};
  for (uint32_t d = 0; d < load->indices.len; d++)
    tvms_walk(&f->unit->context->memory, load->indices.items[d], &visitor);
  return true;
}

static tvms_walk_step limit_fused(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  fusing *f = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  const tvms_line_member *m = f->member;
  if (node->kind == TVMS_NODE_BUFFER_LOAD) {
    const tvms_buffer_load *load = tvms_as_buffer_load(node);
    if (limit_by_gather(f, load)) return TVMS_WALK_SKIP;
    f->most = fusable(f->unit, m, load->buffer, load->indices, f->most);
    return TVMS_WALK_SKIP;
  }
  if (tvms_call_opcode(node) == TVMS_TIR_if_then_else) {
    limit_by_condition(f, node);
    tvms_visitor visitor = {.self = f, .enter = limit_fused};
    // Axes that the condition itself uses are dealt with.
    bool loaded = true;
    for (uint32_t i = 0; i < m->own_count; i++)
      loaded &= !uses_itself(f->unit, tvms_as_call(node)->args.items[0],
                             m->stage.axes[m->own[i]].var);
    for (uint32_t i = loaded ? 0 : 1; i < 3; i++)
      tvms_walk(&f->unit->context->memory, tvms_as_call(node)->args.items[i], &visitor);
    return TVMS_WALK_SKIP;
  }
  // Elsewhere an axis is worth more than the place that it leads to.
  for (uint32_t i = 0; i < m->own_count; i++) {
    if (node == m->stage.axes[m->own[i]].var) f->most = 1;
  }
  return TVMS_WALK_ON;
}

uint32_t tvms_line_fused_axes(tvms_unit *unit, const tvms_line_group *g,
                              const tvms_line_plan *p, uint32_t pass) {
  uint32_t most = TVMS_MOST_STAGE_AXES;
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *m = &g->members[i];
    if (m->pass != pass) continue;
    fusing f = {unit, m, most < m->own_count ? most : m->own_count};
    tvms_visitor visitor = {.self = &f, .enter = limit_fused};
    tvms_walk(&unit->context->memory, m->term ? m->term : m->stage.store->value,
              &visitor);
    if (m->kind != TVMS_LINE_FOLD && p->places[i].how != TVMS_LINE_OF_CHUNK)
      f.most =
          fusable(unit, m, m->stage.store->buffer, m->stage.store->indices, f.most);
    if (f.most < most) most = f.most;
  }
  return most;
}

typedef struct {
  tvms_memory *memory;
  bool found;
} gathers;

static tvms_walk_step find_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  return node->kind == TVMS_NODE_BUFFER_LOAD ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static tvms_walk_step find_gather(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  gathers *g = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  tvms_list indices = tvms_as_buffer_load(node)->indices;
  tvms_visitor visitor = {.enter = find_load};
  for (uint32_t i = 0; i < indices.len; i++)
    g->found |= !tvms_walk(g->memory, indices.items[i], &visitor);
  return g->found ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

bool tvms_line_gathers(tvms_unit *unit, tvms_node *expr) {
  gathers all = {&unit->context->memory, false};
  tvms_visitor visitor = {.self = &all, .enter = find_gather};
  tvms_walk(all.memory, expr, &visitor);
  return all.found;
}
