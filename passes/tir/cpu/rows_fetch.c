// Choosing what a pass fetches for the next row.
#include "passes/tir/cpu/rows_fetch.h"

#include "ir/walk.h"
#include "passes/tir/cpu/places.h"

enum { LEAST = 1024, MOST = 128 * 1024 };  // bytes of rows

typedef struct {
  tvms_unit *unit;
  const tvms_node *line, *row;  // variables
  const tvms_buffer_load *TVMS_NULLABLE found;
  int64_t bytes;  // from one row to the next
} row_search;

static tvms_walk_step find_row(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  row_search *s = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  int64_t along, step;
  bool rows = tvms_cpu_step_of(s->unit, load->buffer, load->indices, s->line, &along)
              && along == 1
              && tvms_cpu_step_of(s->unit, load->buffer, load->indices, s->row, &step)
              && !__builtin_mul_overflow(step, node->dtype.bits / 8, &s->bytes);
  if (!rows || s->bytes < LEAST || s->bytes > MOST) return TVMS_WALK_ON;
  s->found = load;
  return TVMS_WALK_STOP;
}

static const tvms_line_member *TVMS_NULLABLE member_of(const tvms_line_group *g,
                                                       uint32_t pass) {
  for (uint32_t i = 0; i < g->count; i++) {
    if (g->members[i].pass == pass && g->members[i].own_count) return &g->members[i];
  }
  return NULL;
}

void tvms_line_plan_fetch(tvms_unit *unit, const tvms_line_group *g, uint32_t pass,
                          tvms_line_plan *plan) {
  tvms_line_pass_plan *p = &plan->passes[pass];
  const tvms_line_member *first = member_of(g, 0), *last = member_of(g, pass);
  if (!p->past || pass == 0 || g->row_count == 0 || !first || !last || !first->term
      || first->own_count != 1 || last->own_count != 1 || p->fused != 1)
    return;
  row_search s = {unit, first->stage.axes[first->own[0]].var,
                  first->stage.axes[first->rows[g->row_count - 1]].var, NULL, 0};
  tvms_visitor visitor = {.self = &s, .enter = find_row};
  tvms_walk(&unit->context->memory, first->term, &visitor);
  p->fetched = s.found;
  p->fetched_bytes = s.bytes;
}
