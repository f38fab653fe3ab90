// Taking windows apart, one axis after the other.
//
// Before: Y[i, j] = max over k, l of X[2 * i + k, 2 * j + l]
// After:  columns[i, x] = max over k of X[2 * i + k, x];  Y[i, j] = max over l of columns[i, 2 * j + l]
//
// Where windows overlap, a column is reduced once for all of them; where they go along a line in steps, it is
// the columns only of which every so many elements are loaded. The elements of a window must not depend on its place but
// by where they lie, as in pooling (not in convolutions, whose weights differ).
#include "passes/tir/cpu/windows.h"

#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"

typedef struct {
  tvms_unit *unit;
  const tvms_stage *stage;
  tvms_node *term;
  uint32_t along, tap;  // axes: of the results, and of the window
  uint32_t dim;         // the index of the store that is `along`
  int64_t step;         // of windows along the axis
  bool fits, loads;
  bool line;  // neighbours along the axis are loaded
} window;

// What is combined with the result, by an operation whose initial value may be combined twice.
static tvms_node *TVMS_NULLABLE term_of(const tvms_stage *stage, bool reorders) {
  const tvms_node *value = stage->store->value, *init = stage->init;
  bool adds = value->kind == TVMS_NODE_ADD;
  if (!init || (!adds && value->kind != TVMS_NODE_MAX && value->kind != TVMS_NODE_MIN))
    return NULL;
  bool zero = init->kind == TVMS_NODE_FLOAT_IMM && tvms_as_float_imm(init)->value == 0;
  if (adds && !zero && !tvms_node_is_int(init, 0)) return NULL;
  if (adds && tvms_dtype_is_real(value->dtype) && !reorders) return NULL;
  return tvms_stage_term(stage, (tvms_node_kind)value->kind);
}

// Each index moves by `step` times as much along the axis of the results as along that of the window.
static tvms_walk_step check_place(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  window *w = self;
  const tvms_stage_axis *along = &w->stage->axes[w->along];
  const tvms_stage_axis *tap = &w->stage->axes[w->tap];
  if (node == along->var || node == tap->var) w->fits = false;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  if (load->buffer == w->stage->store->buffer) w->fits = false;
  for (uint32_t i = 0; i < load->indices.len; i++) {
    int64_t far, near;
    tvms_node *index = load->indices.items[i];
    bool known = tvms_cpu_index_step(w->unit, index, along->var, &far)
                 && tvms_cpu_index_step(w->unit, index, tap->var, &near);
    if (known && !far && !near) continue;
    bool whole = known && near == 1 && far > 0 && (!w->step || far == w->step);
    w->fits &= whole;
    w->step = whole ? far : w->step;
    w->loads = true;
    w->line |= i + 1 == load->indices.len;
  }
  return TVMS_WALK_SKIP;
}

// Loads, and what picks elements of them where windows go along a line in steps, must become half as many: what
// stands between is stored and loaded once more. Loads of every second element are shared by neighbours.
static bool is_worth(const window *w) {
  int64_t others = 1, taps = tvms_cpu_number(w->stage->axes[w->tap].extent);
  for (uint32_t i = 0; i < w->stage->count; i++) {
    const tvms_stage_axis *axis = &w->stage->axes[i];
    int64_t extent = axis->sums && i != w->tap ? tvms_cpu_number(axis->extent) : 1;
    if (extent < 1 || __builtin_mul_overflow(others, extent, &others)) return false;
  }
  if (others == 1 || taps < 2 || taps > INT16_MAX || others > INT16_MAX
      || w->step > INT16_MAX)
    return false;
  bool picks = w->line && w->dim + 1 == w->stage->store->indices.len;
  int64_t each = !picks ? 1 : w->step <= 2 ? w->step : 2 * w->step - 1;
  int64_t now = others * taps * each, then = others * w->step + taps * each + 1;
  return 2 * then <= now;
}

static bool fits(window *w) {
  const tvms_stage *stage = w->stage;
  if (!stage->axes[w->tap].sums || stage->axes[w->along].sums) return false;
  if (tvms_cpu_number(stage->axes[w->along].extent) < 1) return false;
  w->step = 0;
  w->fits = true;
  w->loads = w->line = false;
  tvms_visitor visitor = {.self = w, .enter = check_place};
  tvms_walk(&w->unit->context->memory, w->term, &visitor);
  return w->fits && w->loads && is_worth(w);
}

// Is the axis the index of the store at `dim`, and in no other one?
static bool is_own_index(const window *w) {
  tvms_list indices = w->stage->store->indices;
  for (uint32_t i = 0; i < indices.len; i++) {
    if (i != w->dim
        && tvms_walk_contains(&w->unit->context->memory, indices.items[i],
                              w->stage->axes[w->along].var))
      return false;
  }
  return true;
}

// The axes for the two: the last index of the store that has a window.
static bool find_axes(window *w) {
  tvms_list indices = w->stage->store->indices;
  for (w->dim = indices.len; w->dim-- > 0;) {
    w->along = tvms_stage_axis_of(w->stage, indices.items[w->dim]);
    if (w->along == TVMS_MOST_STAGE_AXES || !is_own_index(w)) continue;
    for (w->tap = 0; w->tap < w->stage->count; w->tap++) {
      if (fits(w)) return true;
    }
  }
  return false;
}

static tvms_node *combined(const window *w, tvms_node *buffer, tvms_list indices,
                           tvms_node *term) {
  tvms_node *place = tvms_buffer_load_new(w->unit, buffer, indices.items, indices.len,
                                          NULL, TVMS_NO_SPAN);
  tvms_node_kind kind = (tvms_node_kind)w->stage->store->value->kind;
  return tvms_build_binary(w->unit, kind, place, term, TVMS_NO_SPAN);
}

static tvms_list with_index(const window *w, tvms_node *index) {
  tvms_list old = w->stage->store->indices;
  tvms_list made = tvms_list_copy(w->unit, old.items, old.len);
  made.items[w->dim] = index;
  return made;
}

// columns[…, x, …] = the reduction along all axes of the window but its tap
static tvms_node *write_columns(const window *w, tvms_node *columns, int64_t length) {
  tvms_stage stage = *w->stage;
  tvms_stage_axis *axis = &stage.axes[w->along];
  const tvms_node *tap = stage.axes[w->tap].var;
  tvms_node *x = tvms_cpu_variable(w->unit, "x", axis->var);
  tvms_node *zero = tvms_int_imm_new(w->unit, axis->var->dtype, 0, TVMS_NO_SPAN);
  tvms_node *term = tvms_substitute_one(w->unit, w->term, axis->var, zero);
  term = tvms_arith_simplify(w->unit, tvms_substitute_one(w->unit, term, tap, x));
  axis->var = x;
  axis->extent = tvms_int_imm_new(w->unit, x->dtype, length, TVMS_NO_SPAN);
  stage.axes[w->tap] = stage.axes[--stage.count];
  tvms_list indices = with_index(w, x);
  return tvms_stage_write(
      w->unit, &stage, stage.name,
      tvms_cpu_store(w->unit, columns, indices, combined(w, columns, indices, term)),
      tvms_cpu_store(w->unit, columns, indices, stage.init));
}

// result[…, j, …] = the reduction of the columns of each window
static tvms_node *write_windows(const window *w, tvms_node *columns) {
  tvms_stage stage = *w->stage;
  const tvms_store *out = stage.store;
  tvms_node *j = stage.axes[w->along].var, *tap = stage.axes[w->tap].var;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < stage.count; i++) {
    if (i == w->tap || !stage.axes[i].sums) stage.axes[kept++] = stage.axes[i];
  }
  stage.count = kept;
  tvms_node *step = tvms_int_imm_new(w->unit, j->dtype, w->step, TVMS_NO_SPAN);
  tvms_node *x = tvms_build_binary(w->unit, TVMS_NODE_MUL, j, step, TVMS_NO_SPAN);
  x = tvms_build_binary(w->unit, TVMS_NODE_ADD, x, tap, TVMS_NO_SPAN);
  tvms_list at = with_index(w, x);
  tvms_node *term =
      tvms_buffer_load_new(w->unit, columns, at.items, at.len, NULL, TVMS_NO_SPAN);
  return tvms_stage_write(
      w->unit, &stage, "windows",
      tvms_cpu_store(w->unit, out->buffer, out->indices,
                     combined(w, out->buffer, out->indices, term)),
      tvms_cpu_store(w->unit, out->buffer, out->indices, stage.init));
}

bool tvms_cpu_take_window_apart(tvms_unit *unit, const tvms_stage *stage, bool reorders,
                                tvms_node *stmts[2], tvms_node **buffer) {
  window w = {.unit = unit, .stage = stage};
  w.term = term_of(stage, reorders);
  if (!w.term || !find_axes(&w)) return false;
  int64_t windows = tvms_cpu_number(stage->axes[w.along].extent), length;
  if (__builtin_mul_overflow(windows - 1, w.step, &length)
      || __builtin_add_overflow(length, tvms_cpu_number(stage->axes[w.tap].extent),
                                &length))
    return false;
  const tvms_buffer *result = tvms_as_buffer(stage->store->buffer);
  tvms_list shape = tvms_list_copy(unit, result->shape.items, result->shape.len);
  shape.items[w.dim] =
      tvms_int_imm_new(unit, shape.items[w.dim]->dtype, length, TVMS_NO_SPAN);
  *buffer = tvms_cpu_buffer(unit, "columns", result->element, "global", shape.items,
                            shape.len);
  stmts[0] = write_columns(&w, *buffer, length);
  stmts[1] = write_windows(&w, *buffer);
  return true;
}
