// From sets of integers to regions: an allocation must not depend on a loop inside of it, and
// with `inside` it stays in the shape that is written.
#include "passes/tir/analysis/touched_settle.h"

#include "arith/bound.h"
#include "ir/build.h"
#include "ir/fold.h"
#include "ir/walk.h"

// Is lhs <= rhs, also by the ends of what the difference can be?
static bool proves_at_most(tvms_touched_collector *c, tvms_node *lhs, tvms_node *rhs) {
  tvms_node *fits = tvms_build_binary(c->unit, TVMS_NODE_LE, lhs, rhs, TVMS_NO_SPAN);
  if (!fits) return false;
  if (tvms_analyzer_can_prove(c->analyzer, fits)) return true;
  tvms_node *rest = tvms_build_binary(c->unit, TVMS_NODE_SUB, rhs, lhs, TVMS_NO_SPAN);
  rest = tvms_analyzer_simplify(c->analyzer, rest);
  tvms_int_set set = tvms_int_set_of_expr(&c->ever, rest);
  if (!set.min || set.empty) return false;
  tvms_node *least = tvms_analyzer_simplify(c->analyzer, set.min);
  return tvms_analyzer_const_int_bound(c->analyzer, least).min >= 0;
}

static int64_t constant_factor(const tvms_node *shape) {
  if (shape->kind == TVMS_NODE_MUL) {
    const tvms_binary *product = tvms_as_binary(shape);
    return constant_factor(product->a) * constant_factor(product->b);
  }
  return shape->kind == TVMS_NODE_INT_IMM ? tvms_as_int_imm(shape)->value : 1;
}

// Symbols of shapes are at least 1, so 32 * n is at least 32. TVM:
// CanProveLessEqualThanSymbolicShapeValue.
static bool fits_shape(tvms_touched_collector *c, tvms_node *extent, tvms_node *shape) {
  if (proves_at_most(c, extent, shape)) return true;
  if (shape->kind == TVMS_NODE_INT_IMM) return false;
  int64_t factor = constant_factor(shape);
  tvms_node *least = tvms_int_imm_new(c->unit, shape->dtype,
                                      factor < 0 ? -factor : factor, TVMS_NO_SPAN);
  return proves_at_most(c, extent, least);
}

static tvms_walk_step find_axis(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const tvms_touched_collector *c = self;
  for (uint32_t i = 0; i < c->axes.len && node->kind == TVMS_NODE_VAR; i++) {
    if (c->axes.items[i].var == node) return TVMS_WALK_STOP;
  }
  return TVMS_WALK_ON;
}

// An extent that what is allocated can have: no loop around changes it. NULL: none.
static tvms_node *TVMS_NULLABLE settled(tvms_touched_collector *c, tvms_node *extent) {
  if (tvms_arith_effect_of(c->memory, extent) > TVMS_EFFECT_PURE) return NULL;
  tvms_visitor visitor = {.self = c, .enter = find_axis};
  if (tvms_walk(c->memory, extent, &visitor)) return extent;
  int64_t most = tvms_analyzer_const_int_bound(c->analyzer, extent).max;
  if (most == TVMS_POS_INF) return NULL;
  return tvms_int_imm_new(c->unit, extent->dtype, most, TVMS_NO_SPAN);
}

static tvms_node *range_of(tvms_touched_collector *c, tvms_int_set set,
                           tvms_node *shape) {
  tvms_unit *unit = c->unit;
  tvms_node *zero = tvms_int_imm_new(unit, shape->dtype, 0, TVMS_NO_SPAN);
  tvms_node *min = zero, *extent = shape;
  if (!tvms_int_set_cover(unit, set, &min, &extent)) {
    min = zero;
    extent = shape;
  }
  if (c->inside) {
    tvms_node *none = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), 0, TVMS_NO_SPAN);
    min = tvms_touched_build(c, TVMS_NODE_MAX, none, min);
    if (!fits_shape(c, extent, shape))
      extent = tvms_touched_build(c, TVMS_NODE_MIN, shape, extent);
  }
  min = tvms_analyzer_simplify(c->analyzer, min);
  extent = settled(c, tvms_analyzer_simplify(c->analyzer, extent));
  return extent ? tvms_range_new(unit, min, extent, TVMS_NO_SPAN)
                : tvms_range_new(unit, zero, shape, TVMS_NO_SPAN);
}

void tvms_touched_settle(tvms_touched_collector *c, tvms_touched_buffer *t) {
  tvms_list shape = tvms_as_buffer(t->buffer)->shape;
  tvms_node **ranges = tvms_arena_array(&c->unit->arena, tvms_node *, shape.len);
  for (uint32_t i = 0; i < shape.len; i++) {
    ranges[i] = range_of(c, t->sets[i], shape.items[i]);
  }
  tvms_node *region =
      tvms_buffer_region_new(c->unit, t->buffer, ranges, shape.len, TVMS_NO_SPAN);
  tvms_node_map_put(c->regions, t->buffer, region);
}

// The buffers that statements of a scope allocate, where the scope ends.
void tvms_touched_settle_flat(tvms_touched_collector *c, uint32_t from) {
  for (uint32_t i = from; i < c->flat.len; i++) {
    tvms_touched_buffer *t = &c->buffers.items[c->flat.items[i]];
    if (t->sets) tvms_touched_settle(c, t);
  }
  if (c->flat.len > from) c->flat.len = from;
}
