// Lanes that are left out: where lines are shorter than a vector.
#include "passes/tir/cpu/rows_mask.h"

#include "arith/analyzer.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/places.h"

#define number tvms_line_number

enum { FEWEST = 3 };

typedef struct {
  tvms_unit *unit;
  const tvms_node *line;
  bool near;
  int64_t most;  // of the steps of loads
} load_steps;

// Lanes can be left out of loads of neighbours and of every second element; others would go lane by lane.
static tvms_walk_step check_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  load_steps *s = self;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  int64_t step;
  s->near &= tvms_cpu_step_of(s->unit, load->buffer, load->indices, s->line, &step)
             && step >= 0 && step <= 2;
  if (s->near && step > s->most) s->most = step;
  return s->near ? TVMS_WALK_SKIP : TVMS_WALK_STOP;
}

static load_steps steps_of(tvms_unit *unit, const tvms_stage *stage, uint32_t axis) {
  load_steps s = {unit, stage->axes[axis].var, true, 0};
  tvms_visitor visitor = {.self = &s, .enter = check_load};
  tvms_walk(&unit->context->memory, stage->store->value, &visitor);
  return s;
}

int64_t tvms_line_masked_lanes(tvms_unit *unit, uint32_t bits, const tvms_stage *stage,
                               uint32_t axis) {
  if (!bits || stage->store->value->dtype.bits != 32) return 0;
  int64_t length = tvms_cpu_number(stage->axes[axis].extent), lanes = 1;
  if (length < FEWEST || length > bits / 32) return 0;
  while (lanes < length)
    lanes *= 2;
  return !steps_of(unit, stage, axis).near || tvms_line_taps(stage) < 0 ? 0 : lanes;
}

bool tvms_line_masked_along(tvms_unit *unit, uint32_t bits, const tvms_stage *stage,
                            uint32_t axis, int64_t lanes) {
  enum { LARGE = 16 };
  int64_t step = steps_of(unit, stage, axis).most;
  return step == 1 || (step * lanes <= bits / 32 && tvms_line_taps(stage) > LARGE);
}

typedef struct {
  tvms_line_writer *w;
  const tvms_line_member *member;
  tvms_node *line;
  tvms_node *TVMS_NULLABLE condition;
  int64_t lanes, active;
} masking;

static tvms_analyzer *know_lanes(const masking *m) {
  tvms_analyzer *analyzer = tvms_analyzer_new(m->w->unit);
  const tvms_stage *stage = &m->member->stage;
  for (uint32_t i = 0; i < stage->count; i++) {
    const tvms_stage_axis *axis = &stage->axes[i];
    tvms_node *extent = axis->var == m->line ? number(m->w, m->lanes) : axis->extent;
    tvms_analyzer_bind_range(analyzer, axis->var, number(m->w, 0), extent);
  }
  return analyzer;
}

static tvms_node *both(const masking *m, tvms_node *TVMS_NULLABLE first,
                       tvms_node *second) {
  return first ? tvms_line_build(m->w, TVMS_NODE_AND, first, second) : second;
}

// When a load stays inside of its buffer in a lane of the vector: NULL if it does where the condition holds.
// An element that another lane loads, too, is loaded: so windows beside each other load the same.
static tvms_node *TVMS_NULLABLE bounds_of(const masking *m,
                                          const tvms_buffer_load *load) {
  tvms_analyzer *analyzer = know_lanes(m);
  tvms_scope_mark mark = tvms_analyzer_mark(analyzer);
  if (m->condition) mark = tvms_analyzer_enter(analyzer, m->condition);
  tvms_node *made = NULL;
  bool known = true;
  for (uint32_t i = 0; i < load->indices.len && known; i++) {
    tvms_node *index = load->indices.items[i];
    if (!tvms_walk_contains(&m->w->unit->context->memory, index, m->line)) continue;
    tvms_node *size = tvms_as_buffer(load->buffer)->shape.items[i];
    int64_t extent = tvms_cpu_number(size);
    known = extent > 0 && tvms_analyzer_can_prove_ge(analyzer, index, 0);
    if (known && !tvms_analyzer_can_prove_lt(analyzer, index, extent))
      made = both(m, made, tvms_line_build(m->w, TVMS_NODE_LT, index, size));
  }
  tvms_analyzer_leave(analyzer, mark);
  tvms_analyzer_free(analyzer);
  if (known) return made;
  return tvms_line_build(m->w, TVMS_NODE_LT, m->line, number(m->w, m->active));
}

// What is in registers has all lanes of the vector.
static bool is_in_chunk(const tvms_line_writer *w, const tvms_node *buffer) {
  for (uint32_t i = 0; i < w->g->count; i++) {
    if (w->g->members[i].stage.store->buffer == buffer)
      return w->plan->places[i].how == TVMS_LINE_OF_CHUNK;
  }
  return false;
}

static tvms_node *mask_load(tvms_rewriter *r, tvms_node *node) {
  const masking *m = r->self;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  bool moves = false;
  for (uint32_t i = 0; i < load->indices.len; i++)
    moves |=
        tvms_walk_contains(&r->unit->context->memory, load->indices.items[i], m->line);
  if (!moves || is_in_chunk(m->w, load->buffer)) return node;
  tvms_node *inside = bounds_of(m, load);
  if (!inside) return node;
  tvms_node *zero = tvms_build_float(r->unit, node->dtype, 0, TVMS_NO_SPAN);
  tvms_node *args[] = {inside, node, zero};
  return tvms_call_new_of(r->unit, node->dtype, TVMS_TIR_if_then_else, args, 3,
                          node->span);
}

tvms_node *tvms_line_mask_loads(tvms_line_writer *w, uint32_t at, tvms_node *expr,
                                tvms_node *TVMS_NULLABLE condition) {
  const tvms_line_pass_plan *p = &w->plan->passes[w->pass];
  const tvms_line_member *member = &w->g->members[at];
  masking m = {
      w,         member,   member->stage.axes[member->own[member->own_count - 1]].var,
      condition, p->lanes, p->active};
  if (!m.active) return expr;
  tvms_rewriter r;
  tvms_rewriter_init(&r, w->unit, &m);
  r.leave[TVMS_NODE_BUFFER_LOAD] = mask_load;
  tvms_node *made = tvms_rewrite(&r, expr);
  tvms_rewriter_fini(&r);
  return made;
}

tvms_node *tvms_line_mask_store(tvms_line_writer *w, tvms_node *stmt) {
  const tvms_line_pass_plan *p = &w->plan->passes[w->pass];
  if (!p->active || p->active == p->lanes) return stmt;
  tvms_node *active = tvms_line_build(w, TVMS_NODE_LT, w->lane, number(w, p->active));
  return tvms_cpu_choice(w->unit, active, stmt, NULL);
}
