// Indices of images in another size, of what is repeated, and the like.
#include "passes/tir/cpu/rows_index.h"

#include "arith/analyzer.h"
#include "ir/walk.h"
#include "passes/tir/cpu/places.h"

static bool divides(const tvms_node *node) {
  return node->kind >= TVMS_NODE_DIV && node->kind <= TVMS_NODE_FLOOR_MOD
         && !tvms_dtype_is_real(node->dtype);
}

static tvms_walk_step find_division(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  return divides(node) ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool holds_division(tvms_line_writer *w, tvms_node *index) {
  tvms_visitor visitor = {.enter = find_division};
  return !tvms_walk(&w->unit->context->memory, index, &visitor);
}

// Loops begin at 0.
static tvms_walk_step note_variable(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  if (node->kind == TVMS_NODE_VAR) tvms_analyzer_mark_nonnegative(self, node);
  return TVMS_WALK_ON;
}

static tvms_node *settled(tvms_line_writer *w, tvms_node *index) {
  tvms_analyzer *analyzer = tvms_analyzer_new(w->unit);
  tvms_visitor visitor = {.self = analyzer, .enter = note_variable};
  tvms_memory *memory = &w->unit->context->memory;
  uint32_t own = tvms_line_first(w)->own_count;
  for (uint32_t k = 0; k < own; k++)
    tvms_walk(memory, w->own_now[k], &visitor);
  for (uint32_t r = 0; r < w->g->row_count; r++)
    tvms_walk(memory, w->row_now[r], &visitor);
  tvms_analyzer_bind_range(analyzer, w->lane, tvms_line_number(w, 0),
                           tvms_line_number(w, w->chunk.lanes));
  index = tvms_analyzer_simplify(analyzer, index);
  tvms_analyzer_free(analyzer);
  return index;
}

tvms_node *tvms_line_settle_load(tvms_line_writer *w, const tvms_node *old,
                                 tvms_node *now) {
  tvms_list before = tvms_as_buffer_load(old)->indices;
  const tvms_buffer_load *load = tvms_as_buffer_load(now);
  if (!w->lane || before.len != load->indices.len) return now;
  tvms_list indices = load->indices;
  for (uint32_t i = 0; i < before.len; i++) {
    tvms_node *index = load->indices.items[i];
    if (!holds_division(w, before.items[i])
        || !tvms_walk_contains(&w->unit->context->memory, index, w->lane))
      continue;
    if (indices.items == load->indices.items)
      indices = tvms_list_copy(w->unit, indices.items, indices.len);
    indices.items[i] = settled(w, index);
  }
  if (indices.items == load->indices.items) return now;
  return tvms_buffer_load_new(w->unit, load->buffer, indices.items, indices.len, NULL,
                              now->span);
}

// ---- Formulas ----

typedef struct {
  tvms_unit *unit;
  const tvms_node *line;
  bool found;
} formula;

// Is what is not the axis of the line a number?
static tvms_walk_step find_other(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const formula *f = self;
  bool other = node->kind == TVMS_NODE_BUFFER_LOAD
               || (node->kind == TVMS_NODE_VAR && node != f->line);
  return other ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static tvms_walk_step find_formula(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  formula *f = self;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  tvms_list indices = tvms_as_buffer_load(node)->indices;
  if (!indices.len) return TVMS_WALK_SKIP;
  int64_t step;
  tvms_node *last = indices.items[indices.len - 1];
  if (tvms_cpu_index_step(f->unit, last, f->line, &step)) return TVMS_WALK_SKIP;
  tvms_visitor visitor = {.self = f, .enter = find_other};
  f->found = tvms_walk(&f->unit->context->memory, last, &visitor);
  return f->found ? TVMS_WALK_STOP : TVMS_WALK_SKIP;
}

bool tvms_line_follows_formula(const tvms_line_writer *w) {
  enum { MOST_VECTORS = 64 };
  const tvms_line_pass_plan *p = &w->plan->passes[w->pass];
  if (p->fused != 1 || p->lanes < 2) return false;
  for (uint32_t i = 0; i < w->g->count; i++) {
    const tvms_line_member *m = &w->g->members[i];
    if (m->pass != w->pass || m->kind != TVMS_LINE_MAP || !m->own_count) continue;
    const tvms_stage_axis *axis = &m->stage.axes[m->own[m->own_count - 1]];
    formula f = {w->unit, axis->var, false};
    tvms_visitor visitor = {.self = &f, .enter = find_formula};
    tvms_walk(&w->unit->context->memory, m->stage.store->value, &visitor);
    if (f.found) return tvms_cpu_number(axis->extent) <= MOST_VECTORS * p->lanes;
  }
  return false;
}

// ---- Periods ----

typedef struct {
  tvms_unit *unit;
  const tvms_node *line;
  int64_t steps, most;
  bool loads;  // inside of an index of a load
} period;

static int64_t common_divisor(int64_t a, int64_t b) {
  return b ? common_divisor(b, a % b) : a;
}

static tvms_walk_step note_period(void *self, tvms_node *node, tvms_field_role role);

static void note_indices(period *p, const tvms_node *load) {
  tvms_list indices = tvms_as_buffer_load(load)->indices;
  period inner = *p;
  inner.loads = true;
  tvms_visitor visitor = {.self = &inner, .enter = note_period};
  for (uint32_t i = 0; i < indices.len; i++)
    tvms_walk(&p->unit->context->memory, indices.items[i], &visitor);
  p->steps = inner.steps;
}

static tvms_walk_step note_period(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  period *p = self;
  if (node->kind == TVMS_NODE_BUFFER_LOAD) note_indices(p, node);
  if (node->kind == TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_SKIP;
  if (!p->loads || !divides(node)) return TVMS_WALK_ON;
  const tvms_binary *quotient = tvms_as_binary(node);
  int64_t step, by = tvms_cpu_number(quotient->b);
  if (by < 1 || !tvms_cpu_index_step(p->unit, quotient->a, p->line, &step) || step < 1)
    return TVMS_WALK_ON;
  int64_t own = by / common_divisor(by, step);
  if (own > p->most) return TVMS_WALK_ON;
  int64_t both = p->steps / common_divisor(p->steps, own) * own;
  if (both <= p->most) p->steps = both;
  return TVMS_WALK_ON;
}

int64_t tvms_line_period(tvms_unit *unit, const tvms_stage *stage,
                         const tvms_node *line, int64_t most) {
  period p = {unit, line, 1, most, false};
  tvms_visitor visitor = {.self = &p, .enter = note_period};
  tvms_walk(&unit->context->memory, stage->store->value, &visitor);
  return p.steps;
}
