// What numbers the text of an expression can give, from the bounds of the loops around it.
#include "backend/c/ranges.h"

#include "ir/build.h"
#include "ir/tir_op.h"
#include "ir/walk.h"

#include <math.h>

enum { DEEPEST = 24 };

// ---- Loops ----

static tvms_walk_step see_loop(void *self, tvms_node *node, tvms_field_role role) {
  c_interval *ranges = self;
  (void)role;
  if (node->kind != TVMS_NODE_FOR) return TVMS_WALK_ON;
  const tvms_for *loop = tvms_as_for(node);
  if (!tvms_node_is_int_imm(loop->min) || !tvms_node_is_int_imm(loop->extent))
    return TVMS_WALK_ON;
  double min = (double)tvms_as_int_imm(loop->min)->value;
  double extent = (double)tvms_as_int_imm(loop->extent)->value;
  ranges[loop->var->id] = (c_interval){true, min, min + fmax(extent - 1, 0)};
  return TVMS_WALK_ON;
}

const c_interval *tvms_c_ranges_find(tvms_context *context, tvms_node *body,
                                     uint32_t ids) {
  c_interval *ranges = tvms_arena_array(&context->scratch, c_interval, ids);
  tvms_visitor visitor = {.self = ranges, .enter = see_loop};
  tvms_walk(&context->memory, body, &visitor);
  return ranges;
}

// ---- Expressions ----

static bool is_real(tvms_dtype dtype) {
  return dtype.code == TVMS_FLOAT && dtype.bits >= 32;
}

// All numbers of an integer type.
static c_interval whole_range(tvms_dtype dtype) {
  int bits = dtype.code == TVMS_INT ? dtype.bits - 1 : dtype.bits;
  bool known = dtype.code == TVMS_INT || dtype.code == TVMS_UINT;
  return (c_interval){known, dtype.code == TVMS_INT ? -ldexp(1, bits) : 0,
                      ldexp(1, bits) - 1};
}

// What an operation gives: rounded, or of integers whatever the type has if it may wrap around.
static c_interval made(tvms_dtype dtype, double least, double most) {
  if (is_real(dtype)) {
    double slack = ldexp(fmax(fabs(least), fabs(most)), -20);
    bool known = fabs(least) < 0x1p100 && fabs(most) < 0x1p100;
    return (c_interval){known, least - slack, most + slack};
  }
  // Ends of 64 bits are no doubles: a bound that is one of them may be rounded.
  c_interval all = whole_range(dtype);
  bool wide = dtype.bits == 64;
  bool inside = all.known
                && (wide ? all.least < least && most < all.most
                         : all.least <= least && most <= all.most);
  return inside ? (c_interval){true, least, most} : all;
}

static c_interval product(tvms_dtype dtype, const c_interval *a, const c_interval *b) {
  double ends[] = {a->least * b->least, a->least * b->most, a->most * b->least,
                   a->most * b->most};
  return made(dtype, fmin(fmin(ends[0], ends[1]), fmin(ends[2], ends[3])),
              fmax(fmax(ends[0], ends[1]), fmax(ends[2], ends[3])));
}

static c_interval range_of(const c_interval *ranges, const tvms_node *node,
                           uint32_t depth);

static c_interval binary(const c_interval *ranges, const tvms_node *node,
                         uint32_t depth) {
  const tvms_binary *sides = tvms_as_binary(node);
  c_interval a = range_of(ranges, sides->a, depth),
             b = range_of(ranges, sides->b, depth);
  tvms_dtype dtype = node->dtype;
  if (!a.known || !b.known) return (c_interval){0};
  bool by = b.least == b.most && b.least > 0 && !is_real(dtype);
  switch ((int)node->kind) {
  case TVMS_NODE_ADD: return made(dtype, a.least + b.least, a.most + b.most);
  case TVMS_NODE_SUB: return made(dtype, a.least - b.most, a.most - b.least);
  case TVMS_NODE_MUL: return product(dtype, &a, &b);
  case TVMS_NODE_MIN:
    return (c_interval){true, fmin(a.least, b.least), fmin(a.most, b.most)};
  case TVMS_NODE_MAX:
    return (c_interval){true, fmax(a.least, b.least), fmax(a.most, b.most)};
  case TVMS_NODE_FLOOR_DIV:
    return by ? made(dtype, floor(a.least / b.least), floor(a.most / b.least))
              : whole_range(dtype);
  case TVMS_NODE_FLOOR_MOD:
    return by ? (c_interval){true, 0, b.least - 1} : whole_range(dtype);
  default: return whole_range(dtype);
  }
}

static c_interval call(const c_interval *ranges, const tvms_node *node,
                       uint32_t depth) {
  tvms_list args = tvms_as_call(node)->args;
  c_interval given[3] = {{0}};
  for (uint32_t i = 0; i < args.len && i < 3; i++)
    given[i] = range_of(ranges, args.items[i], depth);
  switch ((int)tvms_call_opcode(node)) {
  case TVMS_TIR_floor:
  case TVMS_TIR_ceil:
  case TVMS_TIR_trunc:
  case TVMS_TIR_round:
  case TVMS_TIR_nearbyint:
    return (c_interval){given[0].known, floor(given[0].least), ceil(given[0].most)};
  case TVMS_TIR_fma: {
    c_interval times = product(node->dtype, &given[0], &given[1]);
    if (!given[0].known || !given[1].known || !given[2].known || !times.known)
      return (c_interval){0};
    return made(node->dtype, times.least + given[2].least, times.most + given[2].most);
  }
  default: return whole_range(node->dtype);
  }
}

static c_interval cast(const c_interval *ranges, const tvms_node *node,
                       uint32_t depth) {
  const tvms_node *value = tvms_as_cast(node)->value;
  c_interval from = range_of(ranges, value, depth);
  bool whole = !tvms_dtype_is_real(value->dtype);
  if (from.known && (whole || is_real(node->dtype)))
    return made(node->dtype, from.least, from.most);
  return whole_range(node->dtype);
}

// Of a float that is not known, no range is.
static c_interval range_of(const c_interval *ranges, const tvms_node *node,
                           uint32_t depth) {
  if (depth == DEEPEST || (tvms_dtype_is_real(node->dtype) && !is_real(node->dtype)))
    return whole_range(node->dtype);
  depth++;
  if (tvms_node_is_binary(node)) return binary(ranges, node, depth);
  switch ((int)node->kind) {
  case TVMS_NODE_INT_IMM: {
    double value = (double)tvms_as_int_imm(node)->value;
    return (c_interval){true, value, value};
  }
  case TVMS_NODE_FLOAT_IMM: {
    double value = tvms_as_float_imm(node)->value;
    return isfinite(value) ? made(node->dtype, value, value) : (c_interval){0};
  }
  case TVMS_NODE_BROADCAST:
    return range_of(ranges, tvms_as_broadcast(node)->value, depth);
  case TVMS_NODE_RAMP: {
    const tvms_ramp *ramp = tvms_as_ramp(node);
    c_interval base = range_of(ranges, ramp->base, depth), last = {true, 0, 0};
    last.most = node->dtype.lanes - 1;
    c_interval stride = range_of(ranges, ramp->stride, depth);
    if (!base.known || !stride.known) return (c_interval){0};
    c_interval steps = product(node->dtype, &stride, &last);
    return made(node->dtype, base.least + steps.least, base.most + steps.most);
  }
  case TVMS_NODE_VAR:
    return ranges[node->id].known ? ranges[node->id] : whole_range(node->dtype);
  case TVMS_NODE_CAST: return cast(ranges, node, depth);
  case TVMS_NODE_CALL: return call(ranges, node, depth);
  default: return whole_range(node->dtype);
  }
}

bool tvms_c_ranges_fit(const c_interval *ranges, const tvms_node *value,
                       tvms_dtype to) {
  c_interval all = whole_range(to), range = range_of(ranges, value, 0);
  // Of 64 bits doubles do not have the greatest number.
  double most = to.bits == 64 ? ldexp(1, 62) : all.most;
  return all.known && is_real(value->dtype) && range.known && all.least <= range.least
         && range.most <= most;
}
