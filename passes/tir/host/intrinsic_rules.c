// The rules of passes/tir/host/intrinsics.def.
//
// A rule builds with the constructors that fold (ir/fold.h), since TVM's rules are written
// with its operators, and what is built of other operators is lowered again by the caller:
// T.sigmoid(x) is 1 / (1 + exp(0 - x)) first, and its exp the intrinsic next.
#include "passes/tir/host/intrinsic_rules.h"

#include "ir/fold_ops.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  tvms_unit *unit;
  tvms_node *node;
  const tvms_call *call;
  const char *name;
  tvms_span span;
} lowering;

typedef tvms_node *rule(const lowering *l);

static tvms_node *build(const lowering *l, tvms_node_kind kind, tvms_node *a,
                        tvms_node *b) {
  return tvms_build_binary(l->unit, kind, a, b, l->span);
}

static tvms_node *argument(const lowering *l, uint32_t i) {
  return l->call->args.items[i];
}

static tvms_node *number(const lowering *l, tvms_dtype dtype, double value) {
  return tvms_build_float(l->unit, dtype, value, l->span);
}

static tvms_node *operator_of(const lowering *l, tvms_tir_opcode op, tvms_node *a) {
  return tvms_call_new_of(l->unit, a->dtype, op, &a, 1, l->span);
}

// The call of `op` with `first` in front of the arguments of the call.
static tvms_node *with_first(const lowering *l, tvms_tir_opcode op, tvms_node *first) {
  enum { MOST = 8 };
  tvms_node *args[MOST] = {first};
  uint32_t count = l->call->args.len;
  if (count >= MOST) return l->node;
  for (uint32_t i = 0; i < count; i++) {
    args[i + 1] = argument(l, i);
  }
  tvms_node *call =
      tvms_call_new_of(l->unit, l->node->dtype, op, args, count + 1, l->span);
  call->sinfo = l->node->sinfo;
  return call;
}

static tvms_node *text(const lowering *l, const char *value) {
  return tvms_string_imm_new(l->unit, value, strlen(value), l->span);
}

static tvms_node *rewrite_pure_intrinsic(const lowering *l) {
  return with_first(l, TVMS_TIR_call_llvm_pure_intrin, text(l, l->name));
}

static tvms_node *rewrite_intrinsic(const lowering *l) {
  return with_first(l, TVMS_TIR_call_llvm_intrin, text(l, l->name));
}

// Functions of C exist for float32 and float64 only.
static tvms_node *rewrite_c_function(const lowering *l) {
  tvms_dtype dtype = l->node->dtype;
  bool has_one = tvms_dtype_is_float(dtype) && tvms_dtype_is_scalar(dtype)
                 && (dtype.bits == 32 || dtype.bits == 64);
  if (!has_one) return l->node;
  char name[32];
  snprintf(name, sizeof name, "%s%s", l->name, dtype.bits == 32 ? "f" : "");
  return with_first(l, TVMS_TIR_call_pure_extern, text(l, name));
}

// Without overflow: exp is taken of a negative number only.
static tvms_node *rewrite_stable_tanh(const lowering *l) {
  tvms_node *x = argument(l, 0);
  tvms_node *one = number(l, x->dtype, 1), *two = number(l, x->dtype, 2);
  tvms_node *down =
      operator_of(l, TVMS_TIR_exp, build(l, TVMS_NODE_MUL, number(l, x->dtype, -2), x));
  tvms_node *up = operator_of(l, TVMS_TIR_exp, build(l, TVMS_NODE_MUL, two, x));
  tvms_node *positive = build(l, TVMS_NODE_DIV, build(l, TVMS_NODE_SUB, one, down),
                              build(l, TVMS_NODE_ADD, one, down));
  tvms_node *negative = build(l, TVMS_NODE_DIV, build(l, TVMS_NODE_SUB, up, one),
                              build(l, TVMS_NODE_ADD, up, one));
  tvms_node *sign = build(l, TVMS_NODE_GE, x, number(l, x->dtype, 0));
  return tvms_select_new(l->unit, sign, positive, negative, l->span);
}

static tvms_node *rewrite_exp10(const lowering *l) {
  tvms_node *x = argument(l, 0);
  tvms_node *ln10 = number(l, x->dtype, 2.302585093);
  return operator_of(l, TVMS_TIR_exp, build(l, TVMS_NODE_MUL, x, ln10));
}

static tvms_node *rewrite_tan(const lowering *l) {
  tvms_node *x = argument(l, 0);
  return build(l, TVMS_NODE_DIV, operator_of(l, TVMS_TIR_sin, x),
               operator_of(l, TVMS_TIR_cos, x));
}

static tvms_node *rewrite_atanh(const lowering *l) {
  tvms_node *x = argument(l, 0);
  tvms_node *one = number(l, x->dtype, 1);
  tvms_node *more = operator_of(l, TVMS_TIR_log, build(l, TVMS_NODE_ADD, one, x));
  tvms_node *less = operator_of(l, TVMS_TIR_log, build(l, TVMS_NODE_SUB, one, x));
  return build(l, TVMS_NODE_MUL, build(l, TVMS_NODE_SUB, more, less),
               number(l, x->dtype, 0.5));
}

// The intrinsic counts in the type of its argument; zero need not have a result.
static tvms_node *rewrite_clz(const lowering *l) {
  tvms_node *x = argument(l, 0);
  tvms_node *args[] = {text(l, l->name), x,
                       tvms_int_imm_new(l->unit, TVMS_DTYPE(INT, 1), 1, l->span)};
  tvms_node *count =
      tvms_call_new_of(l->unit, x->dtype, TVMS_TIR_call_llvm_intrin, args, 3, l->span);
  return tvms_build_cast(l->unit, l->node->dtype, count, l->span);
}

static tvms_node *rewrite_rsqrt(const lowering *l) {
  tvms_node *x = argument(l, 0);
  return build(l, TVMS_NODE_DIV, number(l, x->dtype, 1),
               operator_of(l, TVMS_TIR_sqrt, x));
}

static tvms_node *rewrite_sigmoid(const lowering *l) {
  tvms_node *x = argument(l, 0), *one = number(l, x->dtype, 1);
  tvms_node *down = operator_of(l, TVMS_TIR_exp, tvms_build_neg(l->unit, x, l->span));
  return build(l, TVMS_NODE_DIV, one, build(l, TVMS_NODE_ADD, one, down));
}

static tvms_node *rewrite_isfinite(const lowering *l) {
  return tvms_build_isfinite(l->unit, argument(l, 0), l->span);
}

static tvms_node *rewrite_isinf(const lowering *l) {
  return tvms_build_isinf(l->unit, argument(l, 0), l->span);
}

// ---- Products with numbers of fixed point ----

static tvms_node *shift(const lowering *l, tvms_tir_opcode op, tvms_node *a,
                        tvms_node *b) {
  return tvms_build_bitwise(l->unit, op, a, b, l->span);
}

static tvms_node *whole(const lowering *l, tvms_dtype dtype, int64_t value) {
  return tvms_build_int(l->unit, dtype, value, l->span);
}

static tvms_dtype int_like(tvms_dtype dtype, uint8_t bits) {
  return (tvms_dtype){TVMS_INT, bits, dtype.lanes};
}

// x * y * 2**(left - right - q), rounded, by way of 64 bits.
static tvms_node *fixed_product(const lowering *l, tvms_node *y, tvms_node *q,
                                tvms_node *left, tvms_node *right, tvms_node *is_left) {
  tvms_node *x = argument(l, 0);
  tvms_dtype wide = int_like(x->dtype, 64), narrow = int_like(x->dtype, 32);
  x = tvms_build_cast(l->unit, wide, x, l->span);
  y = tvms_build_cast(l->unit, wide, y, l->span);
  x = tvms_select_new(l->unit, is_left, shift(l, TVMS_TIR_shift_left, x, left), x,
                      l->span);
  x = build(l, TVMS_NODE_MUL, x, y);
  tvms_node *total = build(l, TVMS_NODE_ADD, right, q);
  tvms_node *half = build(l, TVMS_NODE_SUB, total, whole(l, total->dtype, 1));
  tvms_node *rounding = shift(l, TVMS_TIR_shift_left, whole(l, wide, 1), half);
  x = build(l, TVMS_NODE_ADD, x, rounding);
  return tvms_build_cast(l->unit, narrow, shift(l, TVMS_TIR_shift_right, x, total),
                         l->span);
}

// y is 0.5 there, so the product is a shift.
static tvms_node *power_of_two(const lowering *l, tvms_node *s, int64_t exponent) {
  tvms_node *x = argument(l, 0);
  tvms_node *power = build(l, TVMS_NODE_SUB, s, whole(l, s->dtype, 1));
  if (exponent > 0) return shift(l, TVMS_TIR_shift_left, x, power);
  tvms_node *one = whole(l, int_like(x->dtype, 32), 1);
  power = tvms_build_neg(l->unit, power, l->span);
  tvms_node *half = build(l, TVMS_NODE_SUB, power, whole(l, power->dtype, 1));
  tvms_node *rounded =
      build(l, TVMS_NODE_ADD, x, shift(l, TVMS_TIR_shift_left, one, half));
  return shift(l, TVMS_TIR_shift_right, rounded, power);
}

static tvms_node *rewrite_q_multiply_shift(const lowering *l) {
  if (l->call->args.len != 4) return l->node;
  tvms_node *y = argument(l, 1), *q = argument(l, 2), *s = argument(l, 3);
  int64_t factor, exponent;
  bool half = tvms_node_int_in_lanes(y, &factor) && factor == 1 << 30;
  if (half && tvms_node_int_in_lanes(s, &exponent))
    return power_of_two(l, s, exponent - 1);
  tvms_node *zero = whole(l, s->dtype, 0);
  tvms_node *is_positive = build(l, TVMS_NODE_GT, s, zero);
  tvms_node *left = tvms_select_new(l->unit, is_positive, s, zero, l->span);
  tvms_node *right = tvms_select_new(l->unit, build(l, TVMS_NODE_GT, s, zero), zero,
                                     tvms_build_neg(l->unit, s, l->span), l->span);
  return fixed_product(l, y, q, left, right, build(l, TVMS_NODE_NE, left, zero));
}

static tvms_node *rewrite_q_multiply_shift_per_axis(const lowering *l) {
  if (l->call->args.len != 7) return l->node;
  return fixed_product(l, argument(l, 1), argument(l, 4), argument(l, 2),
                       argument(l, 3), argument(l, 5));
}

// ---- The table ----

static const struct {
  uint16_t opcode;
  bool llvm;  // for this kind of target only
  rule *apply;
  const char *name;
} rules[] = {
#define LLVM true
#define ANY  false
#define INTRINSIC(ident, TARGET, how, name)                                            \
  {TVMS_TIR_##ident, TARGET, rewrite_##how, name},
#include "passes/tir/host/intrinsics.def"
#undef LLVM
#undef ANY
};

tvms_node *tvms_intrinsic_lower(tvms_unit *unit, tvms_node *call, bool is_llvm) {
  tvms_tir_opcode opcode = tvms_call_opcode(call);
  if (opcode == TVMS_TIR_NONE || !tvms_as_call(call)->args.len) return call;
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
    if (rules[i].opcode != opcode || (rules[i].llvm && !is_llvm)) continue;
    lowering l = {unit, call, tvms_as_call(call), rules[i].name, call->span};
    tvms_node *lowered = rules[i].apply(&l);
    if (lowered && lowered != call) return lowered;
  }
  return call;
}

tvms_node *tvms_intrinsic_fma(tvms_unit *unit, tvms_node *a, tvms_node *b,
                              tvms_node *c) {
  tvms_node *args[] = {a, b, c};
  tvms_node *fma = tvms_call_new_of(unit, c->dtype, TVMS_TIR_fma, args, 3, c->span);
  return tvms_intrinsic_lower(unit, fma, true);
}
