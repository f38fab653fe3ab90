// Rerolling tiled loops: the values that axes of a block are bound to as digits of numbers.
#include "passes/tir/cpu/reroll.h"

#include "ir/build.h"
#include "ir/rewrite.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/pieces.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/step_order.h"

#define NO_AXIS UINT32_MAX

typedef struct {
  const tvms_piece *piece;
  const tvms_block_realize *realize;
  const tvms_block *block;
  uint32_t axis_of[TVMS_MOST_PIECE_LOOPS];  // that a loop is a digit of
  int64_t step_of[TVMS_MOST_PIECE_LOOPS];
  bool backwards[TVMS_MOST_PIECE_LOOPS];  // the digit becomes less with each step
} rolled;

static int64_t extent_of(const rolled *r, uint32_t loop) {
  return tvms_cpu_number(tvms_as_for(r->piece->loops[loop])->extent);
}

// The loop that is the digit of an axis with that step; NO_AXIS: there is none.
static uint32_t digit_with(const rolled *r, uint32_t axis, int64_t step) {
  for (uint32_t i = 0; i < r->piece->depth; i++) {
    if (r->axis_of[i] == axis && r->step_of[i] == step && extent_of(r, i) > 1) return i;
  }
  return NO_AXIS;
}

// Do the digits of an axis make up each of its steps once?
static bool is_number(rolled *r, uint32_t axis) {
  const tvms_iter_var *iter = tvms_as_iter_var(r->block->iter_vars.items[axis]);
  const tvms_range *domain = tvms_as_range(iter->dom);
  tvms_piece_index form =
      tvms_cpu_pieces_index(r->piece, r->realize->iter_values.items[axis]);
  bool known =
      iter->iter_type == TVMS_ITER_DATA_PAR || iter->iter_type == TVMS_ITER_COMM_REDUCE;
  if (!known || !tvms_node_is_int(domain->min, 0) || !form.linear) return false;
  int64_t first = form.base;  // the least value
  uint32_t digits = 0;
  for (uint32_t i = 0; i < r->piece->depth; i++) {
    if (!form.coefficients[i] || extent_of(r, i) == 1) continue;
    if (r->axis_of[i] != NO_AXIS) return false;
    r->axis_of[i] = axis;
    r->step_of[i] = form.coefficients[i];
    r->backwards[i] = form.coefficients[i] < 0;
    if (r->backwards[i]) {
      r->step_of[i] = -form.coefficients[i];
      first -= r->step_of[i] * (extent_of(r, i) - 1);
    }
    digits++;
  }
  if (first != 0) return false;
  int64_t steps = 1;
  for (; digits > 0; digits--) {
    uint32_t loop = digit_with(r, axis, steps);
    if (loop == NO_AXIS || __builtin_mul_overflow(steps, extent_of(r, loop), &steps))
      return false;
  }
  return tvms_node_is_int(domain->extent, steps);
}

// Must steps that differ in an axis stay in their order? Not if they store at different places and load nothing of other ones.
static bool is_ordered(const rolled *r, bool apart, uint32_t axis) {
  const tvms_store *store = tvms_as_store(r->block->body);
  const tvms_node *var = tvms_as_iter_var(r->block->iter_vars.items[axis])->var;
  for (uint32_t i = 0; i < store->indices.len && apart; i++)
    if (store->indices.items[i] == var) return false;
  return true;
}

// Are steps that must stay in their order in that of the axes, whose digits stand in order?
static bool is_in_order(tvms_unit *unit, const rolled *r) {
  bool apart = tvms_cpu_steps_are_apart(unit, tvms_as_store(r->block->body));
  uint32_t last = NO_AXIS;
  bool ended[TVMS_MOST_PIECE_LOOPS] = {false};
  int64_t step = INT64_MAX;
  for (uint32_t i = 0; i < r->piece->depth; i++) {
    uint32_t axis = r->axis_of[i];
    if (axis == NO_AXIS || !is_ordered(r, apart, axis)) continue;
    if (axis != last) step = INT64_MAX;
    if (axis >= TVMS_MOST_PIECE_LOOPS || ended[axis] || r->step_of[i] >= step
        || r->backwards[i])
      return false;
    if (last != NO_AXIS && axis != last) ended[last] = true;
    last = axis;
    step = r->step_of[i];
  }
  return true;
}

// Does the block begin with something in what would be the last step of a loop that runs backwards?
static bool begins_late(const rolled *r) {
  bool late = false;
  for (uint32_t i = 0; i < r->piece->depth; i++) {
    uint32_t axis = r->axis_of[i];
    late |= axis != NO_AXIS && r->backwards[i]
            && tvms_as_iter_var(r->block->iter_vars.items[axis])->iter_type
                   == TVMS_ITER_COMM_REDUCE;
  }
  return late && r->block->init;
}

// Is each axis a number of which loops are the digits?
static bool is_rolled(rolled *r) {
  bool tiled = false;
  for (uint32_t i = 0; i < r->piece->depth; i++)
    r->axis_of[i] = NO_AXIS;
  for (uint32_t i = 0; i < r->block->iter_vars.len; i++) {
    if (!is_number(r, i)) return false;
    tvms_node_kind kind = r->realize->iter_values.items[i]->kind;
    tiled |= kind != TVMS_NODE_VAR && kind != TVMS_NODE_INT_IMM;
  }
  for (uint32_t i = 0; i < r->piece->depth; i++) {
    if (r->axis_of[i] == NO_AXIS && extent_of(r, i) != 1) return false;
  }
  return tiled;
}

static bool can_roll(tvms_unit *unit, rolled *r, bool reorders) {
  if (r->block->iter_vars.len > TVMS_MOST_PIECE_LOOPS || !is_rolled(r)
      || begins_late(r))
    return false;
  return tvms_cpu_steps_add_up(unit, tvms_as_store(r->block->body), reorders)
         || is_in_order(unit, r);
}

// One loop for each axis, in the order in which the first digits of the axes stand.
static tvms_node *write(tvms_unit *unit, const rolled *r) {
  tvms_node *values[TVMS_MOST_PIECE_LOOPS], *vars[TVMS_MOST_PIECE_LOOPS];
  tvms_node *extents[TVMS_MOST_PIECE_LOOPS];
  uint32_t count = 0;
  for (uint32_t i = 0; i < r->block->iter_vars.len; i++) {
    const tvms_iter_var *iter = tvms_as_iter_var(r->block->iter_vars.items[i]);
    values[i] = tvms_int_imm_new(unit, iter->var->dtype, 0, TVMS_NO_SPAN);
  }
  for (uint32_t i = 0; i < r->piece->depth; i++) {
    uint32_t axis = r->axis_of[i];
    if (axis == NO_AXIS || values[axis]->kind == TVMS_NODE_VAR) continue;
    const tvms_iter_var *iter = tvms_as_iter_var(r->block->iter_vars.items[axis]);
    const tvms_node *like = tvms_as_for(r->piece->loops[i])->var;
    values[axis] = vars[count] =
        tvms_var_new(unit, tvms_as_var(like)->name, iter->var->dtype, TVMS_NO_SPAN);
    extents[count++] = tvms_as_range(iter->dom)->extent;
  }
  tvms_node *made = tvms_node_copy(unit, r->piece->stmt);
  tvms_as_block_realize(made)->iter_values =
      tvms_list_copy(unit, values, r->block->iter_vars.len);
  for (uint32_t i = count; i-- > 0;)
    made = tvms_cpu_loop(unit, vars[i], extents[i], TVMS_FOR_SERIAL, made);
  return made;
}

tvms_node *tvms_cpu_reroll(tvms_unit *unit, tvms_node *stmt, bool reorders) {
  tvms_pieces pieces;
  bool one = tvms_cpu_pieces_read(unit, stmt, reorders, &pieces) && pieces.count == 1
             && !pieces.parallel
             && pieces.pieces[0].stmt->kind == TVMS_NODE_BLOCK_REALIZE;
  if (one) {
    rolled r = {.piece = &pieces.pieces[0]};
    r.realize = tvms_as_block_realize(r.piece->stmt);
    r.block = tvms_as_block(r.realize->block);
    if (can_roll(unit, &r, reorders)) {
      tvms_span span = stmt->span;
      stmt = write(unit, &r);
      stmt->span = span;
    }
  }
  tvms_cpu_pieces_fini(&pieces);
  return stmt;
}
