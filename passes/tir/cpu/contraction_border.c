// Steps of a window that read nothing but padding: what the padded copy says of its lines, and the loops without them.
#include "passes/tir/cpu/contraction_border.h"

#include "ir/build.h"
#include "ir/fold.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/padded_operands.h"
#include "passes/tir/cpu/places.h"

typedef tvms_contraction_writer writer;
typedef tvms_contraction_border border;

// ---- The padded copy ----

// Lines `low` up to `high` may hold something else than 0.
typedef struct {
  int64_t low, high;
} lines;

static bool read_number(const tvms_node *node, int64_t *value) {
  *value = tvms_cpu_number(node);
  return *value >= 0;
}

// Narrows the lines by one comparison of their variable with a number; any other says nothing of them.
static void narrow(lines *l, const tvms_node *comparison, const tvms_node *var) {
  const tvms_binary *sides = tvms_as_binary(comparison);
  int64_t n;
  bool left = sides->a == var && read_number(sides->b, &n);
  if (!left && !(sides->b == var && read_number(sides->a, &n))) return;
  int64_t low = 0, high = INT64_MAX;
  switch ((int)comparison->kind) {
  case TVMS_NODE_LT: *(left ? &high : &low) = left ? n : n + 1; break;
  case TVMS_NODE_LE: *(left ? &high : &low) = left ? n + 1 : n; break;
  case TVMS_NODE_GT: *(left ? &low : &high) = left ? n + 1 : n; break;
  case TVMS_NODE_GE: *(left ? &low : &high) = left ? n : n + 1; break;
  default: return;
  }
  if (low > l->low) l->low = low;
  if (high < l->high) l->high = high;
}

static void narrow_all(lines *l, tvms_node *condition, const tvms_node *var) {
  switch ((int)condition->kind) {
  case TVMS_NODE_AND:
    narrow_all(l, tvms_as_binary(condition)->a, var);
    narrow_all(l, tvms_as_binary(condition)->b, var);
    return;
  case TVMS_NODE_LT:
  case TVMS_NODE_LE:
  case TVMS_NODE_GT:
  case TVMS_NODE_GE: narrow(l, condition, var); return;
  default: return;
  }
}

// The statement that stores a buffer, the last one in front of number `at`.
static bool find_copy(tvms_unit *unit, tvms_list stmts, uint32_t at,
                      const tvms_node *buffer, tvms_stage *copy) {
  while (at-- > 0) {
    if (!tvms_cpu_mentions(unit, stmts.items[at], buffer)) continue;
    return !tvms_stage_read(unit, stmts.items[at], copy)
           && copy->store->buffer == buffer;
  }
  return false;
}

// ---- The window ----

// An operand of the product, and the role of the axes around a tile that it moves with.
typedef struct {
  const tvms_buffer_load *load;
  tvms_axis_role around;
} operand;

// The only axis of a role along which an index moves, and by how much; TVMS_MOST_STAGE_AXES: none, or several.
static uint32_t axis_along(tvms_unit *unit, const tvms_contraction *c,
                           const operand *of, tvms_node *index, tvms_axis_role role,
                           int64_t *step) {
  uint32_t found = TVMS_MOST_STAGE_AXES;
  for (uint32_t i = 0; i < c->stage.count; i++) {
    int64_t by;
    if (tvms_stage_axis_is_single(&c->stage.axes[i])) continue;
    if (!tvms_cpu_index_step(unit, index, c->stage.axes[i].var, &by))
      return TVMS_MOST_STAGE_AXES;
    if (!by) continue;
    bool known = tvms_cpu_number(c->stage.axes[i].extent) > 0;
    bool other = c->roles[i] == (role == TVMS_AXIS_SUM ? of->around : TVMS_AXIS_SUM);
    if (other && by > 0) continue;
    if (c->roles[i] != role || !known || by < 0 || found < TVMS_MOST_STAGE_AXES)
      return TVMS_MOST_STAGE_AXES;
    found = i;
    *step = by;
  }
  return found;
}

static int64_t steps_until(const border *b, int64_t line, int64_t outer) {
  int64_t left = line - b->outer_step * outer;
  return left <= 0 ? 0 : (left + b->sum_step - 1) / b->sum_step;
}

// Does each line of the result add up something, and some not all?
static bool is_worth_it(const border *b, int64_t outer, int64_t sum) {
  enum { MOST_LINES = 4096 };
  bool some = false;
  for (int64_t o = 0; o < outer && outer <= MOST_LINES; o++) {
    int64_t first = steps_until(b, b->low, o), end = steps_until(b, b->high, o);
    if (end > sum) end = sum;
    if (first >= end) return false;
    some |= end - first < sum;
  }
  return some;
}

// Is the term a product with `factor`, which is loaded, so that it is 0 where the factor is?
static bool multiplies(const tvms_contraction *c, const tvms_node *factor) {
  if (c->term->kind != TVMS_NODE_MUL || !factor
      || factor->kind != TVMS_NODE_BUFFER_LOAD)
    return false;
  const tvms_binary *product = tvms_as_binary(c->term);
  return product->a == factor || product->b == factor;
}

// Along one dimension of the padded copy.
static bool find_along(tvms_unit *unit, tvms_contraction *c, const operand *of,
                       const tvms_stage *copy, tvms_node *condition,
                       uint32_t dimension) {
  tvms_node *index = of->load->indices.items[dimension];
  border b = {0};
  b.outer = axis_along(unit, c, of, index, of->around, &b.outer_step);
  b.sum = axis_along(unit, c, of, index, TVMS_AXIS_SUM, &b.sum_step);
  uint32_t axis = tvms_stage_axis_of(copy, copy->store->indices.items[dimension]);
  if (b.outer == TVMS_MOST_STAGE_AXES || b.sum == TVMS_MOST_STAGE_AXES
      || axis == TVMS_MOST_STAGE_AXES)
    return false;
  for (uint32_t i = b.sum + 1; i < c->stage.count; i++)
    b.found |=
        c->roles[i] == TVMS_AXIS_SUM && !tvms_stage_axis_is_single(&c->stage.axes[i]);
  lines l = {0, INT64_MAX};
  narrow_all(&l, condition, copy->axes[axis].var);
  b.low = l.low;
  int64_t extent = tvms_cpu_number(copy->axes[axis].extent);
  b.high = l.high < extent ? l.high : extent;
  if (!b.found || extent < 0
      || !is_worth_it(&b, tvms_cpu_number(c->stage.axes[b.outer].extent),
                      tvms_cpu_number(c->stage.axes[b.sum].extent)))
    return false;
  c->border = b;
  return true;
}

static bool find_of(tvms_unit *unit, tvms_list stmts, uint32_t at, const operand *of,
                    tvms_contraction *c) {
  tvms_stage copy;
  tvms_zero_choice choice;
  if (!find_copy(unit, stmts, at, of->load->buffer, &copy)
      || !tvms_cpu_read_zero_choice(copy.store->value, &choice) || choice.holds_not)
    return false;
  for (uint32_t d = 0; d < of->load->indices.len; d++) {
    if (find_along(unit, c, of, &copy, choice.condition, d)) return true;
  }
  return false;
}

void tvms_contraction_find_border(tvms_unit *unit, tvms_list stmts, uint32_t at,
                                  const tvms_tile *tile, tvms_contraction *c) {
  if (tile->packs || tile->flat_sum || tile->rests || tile->spares || tile->sum_words)
    return;
  const struct {
    tvms_node *TVMS_NULLABLE factor;
    tvms_axis_role around;
  } factors[] = {{c->resting, TVMS_AXIS_OUTER}, {c->moving, TVMS_AXIS_BATCH}};
  for (uint32_t i = 0; i < 2; i++) {
    if (!multiplies(c, factors[i].factor)) continue;
    operand of = {tvms_as_buffer_load(factors[i].factor), factors[i].around};
    if (find_of(unit, stmts, at, &of, c)) return;
  }
}

// ---- Loops ----

static tvms_node *compare(writer *w, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(w->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *times(writer *w, tvms_node *at, int64_t step) {
  tvms_node *by = tvms_int_imm_new(w->unit, at->dtype, step, TVMS_NO_SPAN);
  return tvms_build_binary(w->unit, TVMS_NODE_MUL, at, by, TVMS_NO_SPAN);
}

tvms_node *tvms_contraction_inside_border(writer *w, tvms_node *step, tvms_node *body) {
  const border *b = &w->c->border;
  const tvms_stage_axis *outer = &w->c->stage.axes[b->outer];
  int64_t last = b->outer_step * (tvms_cpu_number(outer->extent) - 1)
                 + b->sum_step * (tvms_cpu_number(w->c->stage.axes[b->sum].extent) - 1);
  tvms_node *line =
      tvms_build_binary(w->unit, TVMS_NODE_ADD,
                        times(w, tvms_node_map_get(&w->now, outer->var), b->outer_step),
                        times(w, step, b->sum_step), TVMS_NO_SPAN);
  tvms_node *low = tvms_int_imm_new(w->unit, line->dtype, b->low, TVMS_NO_SPAN);
  tvms_node *high = tvms_int_imm_new(w->unit, line->dtype, b->high, TVMS_NO_SPAN);
  tvms_node *begun = compare(w, TVMS_NODE_LE, low, line);
  tvms_node *inside = compare(w, TVMS_NODE_LT, line, high);
  if (b->low <= 0) return tvms_cpu_choice(w->unit, inside, body, NULL);
  if (last >= b->high) begun = compare(w, TVMS_NODE_AND, begun, inside);
  return tvms_cpu_choice(w->unit, begun, body, NULL);
}
