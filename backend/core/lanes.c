// Reading vectors of indices, lane by lane.
//
//   T.Broadcast(j * 8, 16) + T.Ramp(0, 1, 16) // T.Broadcast(2, 16)      j * 8 and 0, 0, 1, 1, 2, 2, …
//
// Such vectors are what repeats or leaves out elements of a line, or takes them in the order of a formula, as
// images of another size do. Every operation is computed as the interpreter does; what may overflow is not known.
#include "backend/core/lanes.h"

#include "ir/build.h"
#include "ir/tir_op.h"

#include <math.h>

typedef union {
  int64_t whole;
  double real;  // rounded as the dtype of its node is
} number;

static bool is_whole(const tvms_node *node) {
  return node->dtype.code == TVMS_INT && node->dtype.bits >= 32;
}

static bool is_real(const tvms_node *node) {
  return node->dtype.code == TVMS_FLOAT && node->dtype.bits >= 32;
}

static double rounded(const tvms_node *node, double value) {
  return node->dtype.bits == 32 ? (double)(float)value : value;
}

static bool fits(const tvms_node *node, int64_t value) {
  return node->dtype.bits == 64 || (value >= INT32_MIN && value <= INT32_MAX);
}

static bool divide(tvms_node_kind kind, int64_t a, int64_t b, int64_t *value) {
  if (b <= 0) return false;
  bool below = a % b < 0;
  switch ((int)kind) {
  case TVMS_NODE_DIV: *value = a / b; return true;
  case TVMS_NODE_MOD: *value = a % b; return true;
  case TVMS_NODE_FLOOR_DIV: *value = a / b - below; return true;
  default: *value = a % b + (below ? b : 0); return true;
  }
}

static bool of_whole(const tvms_node *node, int64_t a, int64_t b, int64_t *value) {
  switch ((int)node->kind) {
  case TVMS_NODE_ADD: return !__builtin_add_overflow(a, b, value) && fits(node, *value);
  case TVMS_NODE_SUB: return !__builtin_sub_overflow(a, b, value) && fits(node, *value);
  case TVMS_NODE_MUL: return !__builtin_mul_overflow(a, b, value) && fits(node, *value);
  case TVMS_NODE_MIN: *value = a < b ? a : b; return true;
  case TVMS_NODE_MAX: *value = a > b ? a : b; return true;
  case TVMS_NODE_DIV:
  case TVMS_NODE_MOD:
  case TVMS_NODE_FLOOR_DIV:
  case TVMS_NODE_FLOOR_MOD: return divide((tvms_node_kind)node->kind, a, b, value);
  default: return false;
  }
}

static bool of_reals(const tvms_node *node, double a, double b, double *value) {
  switch ((int)node->kind) {
  case TVMS_NODE_ADD: *value = rounded(node, a + b); return true;
  case TVMS_NODE_SUB: *value = rounded(node, a - b); return true;
  case TVMS_NODE_MUL: *value = rounded(node, a * b); return true;
  case TVMS_NODE_DIV: *value = rounded(node, a / b); return true;
  case TVMS_NODE_MIN: *value = a < b ? a : b; return true;
  case TVMS_NODE_MAX: *value = a > b ? a : b; return true;
  default: return false;
  }
}

static bool compute(const tvms_node *node, uint32_t lane, number *value);

static bool of_call(const tvms_node *node, uint32_t lane, number *value) {
  tvms_tir_opcode op = tvms_call_opcode(node);
  const tvms_call *call = tvms_as_call(node);
  if (!is_real(node) || call->args.len != 1
      || !compute(call->args.items[0], lane, value))
    return false;
  switch ((uint32_t)op) {
  case TVMS_TIR_floor: value->real = floor(value->real); return true;
  case TVMS_TIR_ceil: value->real = ceil(value->real); return true;
  case TVMS_TIR_trunc: value->real = trunc(value->real); return true;
  default: return false;
  }
}

static bool of_cast(const tvms_node *node, uint32_t lane, number *value) {
  const tvms_node *from = tvms_as_cast(node)->value;
  if (!compute(from, lane, value)) return false;
  bool was_whole = !is_real(from);  // a number or a truth
  if (was_whole && is_whole(node)) return fits(node, value->whole);
  if (was_whole) {
    // Exact as a double, so that it is rounded once.
    const int64_t most = INT64_C(1) << 53;
    if (value->whole > most || value->whole < -most) return false;
    value->real = rounded(node, (double)value->whole);
    return true;
  }
  if (is_real(node)) {
    value->real = rounded(node, value->real);
    return true;
  }
  if (!(fabs(value->real) < INT32_MAX)) return false;
  value->whole = (int64_t)value->real;
  return true;
}

static bool of_ramp(const tvms_node *node, uint32_t lane, number *value) {
  const tvms_ramp *ramp = tvms_as_ramp(node);
  number step;
  return compute(ramp->base, 0, value) && compute(ramp->stride, 0, &step)
         && !__builtin_mul_overflow(step.whole, (int64_t)lane, &step.whole)
         && !__builtin_add_overflow(value->whole, step.whole, &value->whole)
         && fits(node, value->whole);
}

// ---- Truths, 0 or 1 as whole numbers ----

static bool compared(tvms_node_kind kind, bool less, bool equal, int64_t *value) {
  switch ((int)kind) {
  case TVMS_NODE_EQ: *value = equal; return true;
  case TVMS_NODE_NE: *value = !equal; return true;
  case TVMS_NODE_LT: *value = less; return true;
  case TVMS_NODE_LE: *value = less || equal; return true;
  case TVMS_NODE_GT: *value = !less && !equal; return true;
  case TVMS_NODE_GE: *value = !less; return true;
  default: return false;
  }
}

static bool of_comparison(const tvms_node *node, uint32_t lane, int64_t *value) {
  const tvms_binary *both = tvms_as_binary(node);
  number a, b;
  if (!compute(both->a, lane, &a) || !compute(both->b, lane, &b)) return false;
  if (!is_real(both->a))
    return compared((tvms_node_kind)node->kind, a.whole < b.whole, a.whole == b.whole,
                    value);
  bool ordered = !isnan(a.real) && !isnan(b.real);
  return ordered
         && compared((tvms_node_kind)node->kind, a.real < b.real, a.real == b.real,
                     value);
}

static bool of_both(const tvms_node *one, const tvms_node *other, bool both,
                    uint32_t lane, int64_t *value) {
  number a, b;
  if (!compute(one, lane, &a) || !compute(other, lane, &b)) return false;
  *value = both ? a.whole && b.whole : a.whole || b.whole;
  return true;
}

// Truths that are combined by bits.
static bool of_bits(const tvms_node *node, uint32_t lane, int64_t *value) {
  tvms_list args = tvms_as_call(node)->args;
  int opcode = (int)tvms_call_opcode(node);
  bool both = opcode == TVMS_TIR_bitwise_and;
  return (both || opcode == TVMS_TIR_bitwise_or) && args.len == 2
         && of_both(args.items[0], args.items[1], both, lane, value);
}

static bool of_truth(const tvms_node *node, uint32_t lane, int64_t *value) {
  number a;
  switch ((int)node->kind) {
  case TVMS_NODE_INT_IMM: *value = tvms_as_int_imm(node)->value; return true;
  case TVMS_NODE_BROADCAST:
    if (!compute(tvms_as_broadcast(node)->value, 0, &a)) return false;
    *value = a.whole;
    return true;
  case TVMS_NODE_NOT:
    if (!compute(tvms_as_not(node)->a, lane, &a)) return false;
    *value = !a.whole;
    return true;
  case TVMS_NODE_AND:
  case TVMS_NODE_OR: {
    const tvms_binary *pair = tvms_as_binary(node);
    return of_both(pair->a, pair->b, node->kind == TVMS_NODE_AND, lane, value);
  }
  case TVMS_NODE_CALL: return of_bits(node, lane, value);
  default: return tvms_node_is_binary(node) && of_comparison(node, lane, value);
  }
}

bool tvms_lanes_truths(const tvms_node *predicate, uint64_t *bits) {
  uint32_t lanes = (uint32_t)predicate->dtype.lanes;
  if (!tvms_dtype_is_bool(predicate->dtype) || lanes < 2 || lanes > TVMS_MOST_LANES)
    return false;
  *bits = 0;
  for (uint32_t k = 0; k < lanes; k++) {
    int64_t truth;
    if (!of_truth(predicate, k, &truth)) return false;
    if (truth) *bits |= UINT64_C(1) << k;
  }
  return true;
}

// ---- Numbers ----

// The lane of what is made of numbers alone.
static bool compute(const tvms_node *node, uint32_t lane, number *value) {
  if (tvms_dtype_is_bool(node->dtype)) return of_truth(node, lane, &value->whole);
  bool whole = is_whole(node);
  if (!whole && !is_real(node)) return false;
  switch ((int)node->kind) {
  case TVMS_NODE_INT_IMM: value->whole = tvms_as_int_imm(node)->value; return whole;
  case TVMS_NODE_FLOAT_IMM:
    value->real = rounded(node, tvms_as_float_imm(node)->value);
    return !whole;
  case TVMS_NODE_BROADCAST: return compute(tvms_as_broadcast(node)->value, 0, value);
  case TVMS_NODE_RAMP: return of_ramp(node, lane, value);
  case TVMS_NODE_CAST: return of_cast(node, lane, value);
  case TVMS_NODE_CALL: return of_call(node, lane, value);
  default: break;
  }
  if (node->kind < TVMS_NODE_ADD || node->kind > TVMS_NODE_MAX) return false;
  const tvms_binary *both = tvms_as_binary(node);
  number a, b;
  if (!compute(both->a, lane, &a) || !compute(both->b, lane, &b)) return false;
  return whole ? of_whole(node, a.whole, b.whole, &value->whole)
               : of_reals(node, a.real, b.real, &value->real);
}

static bool add_base(tvms_lanes *lanes, const tvms_node *base) {
  if (lanes->base_count == TVMS_MOST_LANE_BASES) return false;
  lanes->bases[lanes->base_count++] = base;
  return true;
}

static bool add_numbers(tvms_lanes *lanes, const tvms_node *node) {
  for (uint32_t i = 0; i < lanes->count; i++) {
    number value;
    if (!compute(node, i, &value)
        || __builtin_add_overflow(lanes->offsets[i], value.whole, &lanes->offsets[i]))
      return false;
  }
  return true;
}

// Adds a part of the sum, of which the lanes are numbers, or the same scalar, or a scalar and steps.
static bool add_part(tvms_lanes *lanes, const tvms_node *node) {
  number first;
  if (compute(node, 0, &first)) return add_numbers(lanes, node);
  if (node->kind == TVMS_NODE_BROADCAST)
    return add_base(lanes, tvms_as_broadcast(node)->value);
  if (node->kind == TVMS_NODE_ADD)
    return add_part(lanes, tvms_as_binary(node)->a)
           && add_part(lanes, tvms_as_binary(node)->b);
  if (node->kind != TVMS_NODE_RAMP) return false;
  const tvms_ramp *ramp = tvms_as_ramp(node);
  number step;
  if (!compute(ramp->stride, 0, &step)) return false;
  for (uint32_t i = 0; i < lanes->count; i++) {
    int64_t more;
    if (__builtin_mul_overflow(step.whole, (int64_t)i, &more)
        || __builtin_add_overflow(lanes->offsets[i], more, &lanes->offsets[i]))
      return false;
  }
  return add_base(lanes, ramp->base);
}

bool tvms_lanes_read(const tvms_node *index, tvms_lanes *lanes) {
  *lanes = (tvms_lanes){.count = (uint32_t)index->dtype.lanes};
  if (index->dtype.lanes < 1 || index->dtype.lanes > TVMS_MOST_LANES || !is_whole(index)
      || !add_part(lanes, index))
    return false;
  int64_t least = lanes->offsets[0], most = least;
  for (uint32_t i = 1; i < lanes->count; i++) {
    least = lanes->offsets[i] < least ? lanes->offsets[i] : least;
    most = lanes->offsets[i] > most ? lanes->offsets[i] : most;
  }
  lanes->least = least;
  return !__builtin_sub_overflow(most, least, &lanes->span)
         && !__builtin_add_overflow(lanes->span, 1, &lanes->span);
}
