// Rows or columns of a contraction that are several axes, taken as one.
//
// Tiles of 6 rows leave one over of a line of 7, which takes as long as four; of 49 rows, which are 7 lines, tiles of 5 leave
// 4 over once.
#include "passes/tir/cpu/contraction_join.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"

// The axes that are to be one, in the variables of the stage at hand.
typedef struct {
  tvms_unit *unit;
  const tvms_node *outer, *row;
  tvms_node *length;                    // steps of the row
  const tvms_node *TVMS_NULLABLE from;  // buffer of what is in registers
  bool goes_on;
} check;

// The same where the length of a row is not known: the axes are two dimensions, but for some of one element between them.
static bool is_of_dimensions(const check *c, const tvms_node *buffer,
                             tvms_list indices) {
  const tvms_buffer *b = tvms_as_buffer(buffer);
  uint32_t at = 0, i;
  if (b->strides.len || b->layout || indices.len != b->shape.len) return false;
  while (at < indices.len && indices.items[at] != c->row)
    at++;
  for (i = at; i > 0 && tvms_node_is_int(b->shape.items[i - 1], 1); i--)
    continue;
  if (at == indices.len || i == 0 || indices.items[i - 1] != c->outer
      || !tvms_node_same_expr(b->shape.items[at], c->length))
    return false;
  tvms_list before = {indices.items, i - 1},
            behind = {indices.items + at + 1, indices.len - at - 1};
  return !tvms_cpu_depends(c->unit, before, c->outer)
         && !tvms_cpu_depends(c->unit, before, c->row)
         && !tvms_cpu_depends(c->unit, behind, c->outer)
         && !tvms_cpu_depends(c->unit, behind, c->row);
}

static bool goes_on(const check *c, const tvms_node *buffer, tvms_list indices) {
  int64_t outer, row, length = tvms_cpu_number(c->length);
  if (!tvms_cpu_depends(c->unit, indices, c->outer)
      && !tvms_cpu_depends(c->unit, indices, c->row))
    return true;
  if (length < 0) return is_of_dimensions(c, buffer, indices);
  return tvms_cpu_step_of(c->unit, buffer, indices, c->outer, &outer)
         && tvms_cpu_step_of(c->unit, buffer, indices, c->row, &row)
         && outer == length * row;
}

static tvms_walk_step check_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  check *c = self;
  // What is computed of the number of a row is none of the rows of an operand.
  if (node == c->outer || node == c->row) c->goes_on = false;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  if (load->buffer != c->from) c->goes_on &= goes_on(c, load->buffer, load->indices);
  return TVMS_WALK_SKIP;
}

static bool check_stage(check *c, tvms_node *value, const tvms_store *store) {
  c->goes_on = goes_on(c, store->buffer, store->indices);
  tvms_visitor visitor = {.self = c, .enter = check_load};
  tvms_walk(&c->unit->context->memory, value, &visitor);
  return c->goes_on;
}

static const tvms_node *TVMS_NULLABLE axis_in(const tvms_epilogue *e, uint32_t axis) {
  for (uint32_t i = 0; i < e->stage.count; i++) {
    if (e->axis_of[i] == axis) return e->stage.axes[i].var;
  }
  return NULL;
}

static bool can_join(tvms_unit *unit, const tvms_contraction *c,
                     const tvms_epilogue *epilogues, uint32_t count, uint32_t outer) {
  const tvms_stage_axis *axes = c->stage.axes;
  check own = {.unit = unit,
               .outer = axes[outer].var,
               .row = axes[c->row].var,
               .length = axes[c->row].extent};
  if (!check_stage(&own, c->term, c->stage.store)) return false;
  for (uint32_t i = 0; i < count; i++) {
    const tvms_epilogue *e = &epilogues[i];
    own.outer = axis_in(e, outer), own.row = axis_in(e, c->row), own.from = e->from;
    if (!own.outer || !own.row
        || !check_stage(&own, e->stage.store->value, e->stage.store))
      return false;
  }
  return true;
}

// Can the steps of both axes be counted as one? A row whose length is known has tiles of its own if their number is not.
static bool can_count(const tvms_stage_axis *row, const tvms_stage_axis *outer) {
  int64_t rows = tvms_cpu_number(row->extent), lines = tvms_cpu_number(outer->extent);
  if (!tvms_dtype_same(row->var->dtype, outer->var->dtype) && rows < 0) return false;
  return rows < 0 ? lines != 1 : lines >= 2 && rows <= INT32_MAX / lines;
}

// The steps of a loop: none where a formula says less. A variable is the size of a tensor.
static tvms_node *steps_of(tvms_unit *unit, tvms_node *extent) {
  if (extent->kind == TVMS_NODE_VAR || tvms_node_is_int_imm(extent)) return extent;
  tvms_node *none = tvms_int_imm_new(unit, extent->dtype, 0, TVMS_NO_SPAN);
  return tvms_build_binary(unit, TVMS_NODE_MAX, extent, none, TVMS_NO_SPAN);
}

bool tvms_contraction_join_rows(tvms_unit *unit, const tvms_contraction *c,
                                const tvms_epilogue *epilogues, uint32_t count,
                                tvms_contraction *joined) {
  if (c->row == TVMS_MOST_STAGE_AXES || c->joins || c->border.found) return false;
  tvms_node *rows = c->stage.axes[c->row].extent;
  for (uint32_t i = 0; i < c->stage.count; i++) {
    const tvms_stage_axis *axis = &c->stage.axes[i];
    if (c->roles[i] != TVMS_AXIS_OUTER || !can_count(&c->stage.axes[c->row], axis)
        || !can_join(unit, c, epilogues, count, i))
      continue;
    *joined = *c;
    joined->joins = true;
    joined->joined = i;
    joined->line = rows;
    tvms_stage_axis *row = &joined->stage.axes[c->row], *outer = &joined->stage.axes[i];
    tvms_node *lines = steps_of(unit, axis->extent);
    lines = tvms_build_cast(unit, rows->dtype, lines, TVMS_NO_SPAN);
    row->extent = tvms_build_binary(unit, TVMS_NODE_MUL, lines, steps_of(unit, rows),
                                    TVMS_NO_SPAN);
    outer->extent = tvms_int_imm_new(unit, outer->extent->dtype, 1, TVMS_NO_SPAN);
    return true;
  }
  return false;
}

// Of an epilogue: where the columns of the contraction are among its own axes.
typedef struct {
  tvms_memory *memory;
  const tvms_epilogue *e;
  uint32_t columns[TVMS_MOST_STAGE_AXES], count;
  bool keeps;
} column_check;

static bool has_column(const column_check *c, tvms_node *node) {
  return tvms_cpu_mentions_axes(c->memory, &c->e->stage, node, c->columns, c->count);
}

static bool keeps(const column_check *c, const tvms_node *buffer, tvms_list indices) {
  bool along = false;
  for (uint32_t i = 0; i < indices.len; i++)
    along |= has_column(c, indices.items[i]);
  return !along
         || tvms_cpu_goes_through(c->memory, &c->e->stage, buffer, indices, c->columns,
                                  c->count);
}

static tvms_walk_step check_columns(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  column_check *c = self;
  if (node->kind == TVMS_NODE_VAR && has_column(c, node)) c->keeps = false;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  if (load->buffer != c->e->from) c->keeps &= keeps(c, load->buffer, load->indices);
  return TVMS_WALK_SKIP;
}

static uint32_t own_axis(const tvms_epilogue *e, uint32_t axis) {
  uint32_t i = 0;
  while (i < e->stage.count && e->axis_of[i] != axis)
    i++;
  return i;
}

bool tvms_contraction_keeps_columns(tvms_unit *unit, const tvms_contraction *c,
                                    const tvms_epilogue *epilogues, uint32_t count) {
  column_check found = {.memory = &unit->context->memory, .keeps = true};
  tvms_visitor visitor = {.self = &found, .enter = check_columns};
  for (uint32_t i = 0; i < count && found.keeps; i++) {
    found.e = &epilogues[i];
    found.count = c->column_count;
    for (uint32_t n = 0; n < c->column_count; n++) {
      found.columns[n] = own_axis(found.e, c->columns[n]);
      if (found.columns[n] == found.e->stage.count) return false;
    }
    const tvms_store *store = found.e->stage.store;
    found.keeps = keeps(&found, store->buffer, store->indices);
    tvms_walk(found.memory, store->value, &visitor);
  }
  return found.keeps;
}
