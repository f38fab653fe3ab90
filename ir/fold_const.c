// Constant folding, one small function per group of operators (rules:
// src/arith/const_fold.h of TVM; docs/language.md, "Values").
#include "ir/fold_const.h"

#include "ir/fold.h"

#include <float.h>
#include <math.h>

typedef struct {
  tvms_unit *unit;
  tvms_node *a, *b;
  bool ints, reals;   // both constants of that kind
  bool int_a, int_b;  // one of them
  bool real_a, real_b;
  int64_t ia, ib;
  double ra, rb;
  tvms_dtype dtype;
  tvms_span span;
} operands;

static const tvms_folded nothing = {TVMS_FOLD_NONE, NULL, 0};
static const tvms_folded by_zero = {TVMS_FOLD_ZERO, NULL, 0};

bool tvms_fold_int_fits(tvms_dtype dtype, int64_t value) {
  if (dtype.code == TVMS_BOOL || (dtype.bits == 1 && dtype.code != TVMS_UINT)) {
    return value == 0 || value == 1;
  }
  if (dtype.code == TVMS_UINT) {
    return value >= 0 && (dtype.bits >= 63 || value < (int64_t)1 << dtype.bits);
  }
  if (dtype.bits >= 64) return true;
  int64_t half = (int64_t)1 << (dtype.bits - 1);
  return value >= -half && value < half;
}

int64_t tvms_fold_int_floor_div(int64_t a, int64_t b) {
  if (b == -1) return (int64_t)(0 - (uint64_t)a);
  int64_t quotient = a / b;
  return (a % b != 0 && (a < 0) != (b < 0)) ? quotient - 1 : quotient;
}

int64_t tvms_fold_int_floor_mod(int64_t a, int64_t b) {
  if (b == -1) return 0;
  int64_t rest = a % b;
  return (rest != 0 && (rest < 0) != (b < 0)) ? rest + b : rest;
}

static int64_t trunc_div(int64_t a, int64_t b) {
  return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

// Wraps a value to the width of the dtype, as a machine register would.
static int64_t wrap(int64_t value, const operands *o) {
  int bits = o->dtype.bits;
  if (o->dtype.code == TVMS_BOOL
      && !tvms_release_has(o->unit->dialect, TVMS_FACT_bools_are_uint1))
    bits = 8;
  if (bits >= 64) return value;
  uint64_t kept = (uint64_t)value & (((uint64_t)1 << bits) - 1);
  if (o->dtype.code != TVMS_INT) return (int64_t)kept;
  uint64_t sign = (uint64_t)1 << (bits - 1);
  return (int64_t)((kept ^ sign) - sign);
}

static tvms_folded keep(tvms_node *node) {
  return (tvms_folded){TVMS_FOLD_DONE, node, 0};
}

static tvms_folded integer(const operands *o, int64_t value) {
  value = wrap(value, o);
  if (!tvms_fold_int_fits(o->dtype, value)) {
    return (tvms_folded){TVMS_FOLD_OUT_OF_RANGE, NULL, value};
  }
  return keep(tvms_int_imm_new(o->unit, o->dtype, value, o->span));
}

static tvms_folded truth(const operands *o, bool value) {
  return keep(tvms_bool_imm_new(o->unit, value, o->span));
}

// A float result: only 32 and 64 bits fold, and 32 bits compute as float.
static tvms_folded real(const operands *o, double wide, float narrow) {
  if (o->dtype.bits == 64) {
    return keep(tvms_float_imm_new(o->unit, o->dtype, wide, o->span));
  }
  if (o->dtype.bits != 32) return nothing;
  return keep(tvms_float_imm_new(o->unit, o->dtype, (double)narrow, o->span));
}

static bool zero_a(const operands *o) {
  return (o->int_a && o->ia == 0) || (o->real_a && o->ra == 0);
}
static bool zero_b(const operands *o) {
  return (o->int_b && o->ib == 0) || (o->real_b && o->rb == 0);
}
static bool one_a(const operands *o) {
  return (o->int_a && o->ia == 1) || (o->real_a && o->ra == 1);
}
static bool one_b(const operands *o) {
  return (o->int_b && o->ib == 1) || (o->real_b && o->rb == 1);
}

static tvms_folded fold_add(const operands *o) {
  if (o->ints) return integer(o, (int64_t)((uint64_t)o->ia + (uint64_t)o->ib));
  tvms_folded both =
      o->reals ? real(o, o->ra + o->rb, (float)o->ra + (float)o->rb) : nothing;
  if (both.status) return both;
  if (zero_a(o)) return keep(o->b);
  return zero_b(o) ? keep(o->a) : nothing;
}

static tvms_folded fold_sub(const operands *o) {
  bool below_zero = o->ints && o->dtype.code == TVMS_UINT && o->ia == 0 && o->ib > 0;
  if (below_zero) return (tvms_folded){TVMS_FOLD_OUT_OF_RANGE, NULL, -o->ib};
  if (o->ints) return integer(o, (int64_t)((uint64_t)o->ia - (uint64_t)o->ib));
  tvms_folded both =
      o->reals ? real(o, o->ra - o->rb, (float)o->ra - (float)o->rb) : nothing;
  if (both.status) return both;
  return zero_b(o) ? keep(o->a) : nothing;
}

static tvms_folded fold_mul(const operands *o) {
  if (o->ints) return integer(o, (int64_t)((uint64_t)o->ia * (uint64_t)o->ib));
  tvms_folded both =
      o->reals ? real(o, o->ra * o->rb, (float)o->ra * (float)o->rb) : nothing;
  if (both.status) return both;
  if (one_a(o)) return keep(o->b);
  if (zero_a(o)) return keep(o->a);
  if (one_b(o)) return keep(o->a);
  return zero_b(o) ? keep(o->b) : nothing;
}

static tvms_folded fold_div(const operands *o) {
  if ((o->ints || o->reals) && zero_b(o)) return by_zero;
  if (o->ints) return integer(o, trunc_div(o->ia, o->ib));
  tvms_folded both =
      o->reals ? real(o, o->ra / o->rb, (float)o->ra / (float)o->rb) : nothing;
  if (both.status) return both;
  if (zero_a(o)) return keep(o->a);
  if (one_b(o)) return keep(o->a);
  return zero_b(o) ? by_zero : nothing;
}

static tvms_folded fold_floor_div(const operands *o) {
  if (o->ints && o->ib == 0) return by_zero;
  if (o->ints) return integer(o, tvms_fold_int_floor_div(o->ia, o->ib));
  if (zero_a(o)) return keep(o->a);
  if (one_b(o)) return keep(o->a);
  return zero_b(o) ? by_zero : nothing;
}

// The modulo operators fold index dtypes only; constants of unsigned dtypes too in the
// floor form from 0.26 on.
static tvms_folded fold_mod(const operands *o, bool floor) {
  bool small_unsigned =
      floor && o->ints && o->dtype.code == TVMS_UINT
      && tvms_release_has(o->unit->dialect, TVMS_FACT_floormod_folds_unsigned);
  if (!tvms_dtype_is_index(o->dtype) && !small_unsigned) return nothing;
  if (o->ints && o->ib == 0) return by_zero;
  if (o->ints && floor) return integer(o, tvms_fold_int_floor_mod(o->ia, o->ib));
  if (o->ints) return integer(o, o->ib == -1 ? 0 : o->ia % o->ib);
  if (zero_a(o)) return keep(o->a);
  if (one_b(o)) return integer(o, 0);
  return zero_b(o) ? by_zero : nothing;
}

static tvms_folded fold_extreme(const operands *o, bool minimum) {
  if (o->ints) {
    bool first = minimum ? o->ia <= o->ib : o->ia >= o->ib;
    return integer(o, first ? o->ia : o->ib);
  }
  if (o->reals) {
    // The order of operands decides for NaN, as in std::min and std::max.
    double value =
        minimum ? (o->rb < o->ra ? o->rb : o->ra) : (o->ra < o->rb ? o->rb : o->ra);
    return keep(tvms_float_imm_new(o->unit, o->dtype, value, o->span));
  }
  return o->a == o->b ? keep(o->a) : nothing;
}

static tvms_folded fold_comparison(const operands *o, tvms_node_kind kind) {
  if (!o->ints && !o->reals) return nothing;
  int order =
      o->ints ? (o->ia > o->ib) - (o->ia < o->ib) : (o->ra > o->rb) - (o->ra < o->rb);
  bool ordered = o->ints || o->ra == o->ra;
  ordered = ordered && (o->ints || o->rb == o->rb);
  switch ((int)kind) {
  case TVMS_NODE_EQ: return truth(o, ordered && order == 0);
  case TVMS_NODE_NE: return truth(o, !ordered || order != 0);
  case TVMS_NODE_LT: return truth(o, ordered && order < 0);
  case TVMS_NODE_LE: return truth(o, ordered && order <= 0);
  case TVMS_NODE_GT: return truth(o, ordered && order > 0);
  default: return truth(o, ordered && order >= 0);
  }
}

static tvms_folded fold_logical(const operands *o, bool conjunction) {
  if (o->int_a) return keep((o->ia != 0) == conjunction ? o->b : o->a);
  if (o->int_b) return keep((o->ib != 0) == conjunction ? o->a : o->b);
  return nothing;
}

static bool is_number(const tvms_node *node) {
  return node->kind == TVMS_NODE_INT_IMM || node->kind == TVMS_NODE_FLOAT_IMM;
}

// A number that is neutral to no operator.
static bool is_other_number(const tvms_node *node) {
  return node->kind == TVMS_NODE_INT_IMM && (uint64_t)tvms_as_int_imm(node)->value > 1;
}

// Is there nothing to fold at first sight? So it is for most operands.
static bool is_unfolded(tvms_node_kind kind, const tvms_node *a, const tvms_node *b) {
  bool number_a = is_number(a), number_b = is_number(b);
  if (!number_a && !number_b) return kind != TVMS_NODE_MIN && kind != TVMS_NODE_MAX;
  if (number_a && number_b) return false;
  return is_other_number(number_a ? a : b) && kind != TVMS_NODE_AND
         && kind != TVMS_NODE_OR;
}

tvms_folded tvms_fold_binary_constants(tvms_unit *unit, tvms_node_kind kind,
                                       tvms_node *a, tvms_node *b, tvms_span span) {
  if (is_unfolded(kind, a, b)) return nothing;
  operands o = {.unit = unit, .a = a, .b = b, .dtype = a->dtype, .span = span};
  o.int_a = a->kind == TVMS_NODE_INT_IMM;
  o.int_b = b->kind == TVMS_NODE_INT_IMM;
  o.real_a = a->kind == TVMS_NODE_FLOAT_IMM;
  o.real_b = b->kind == TVMS_NODE_FLOAT_IMM;
  if (o.int_a) o.ia = tvms_as_int_imm(a)->value;
  if (o.int_b) o.ib = tvms_as_int_imm(b)->value;
  if (o.real_a) o.ra = tvms_as_float_imm(a)->value;
  if (o.real_b) o.rb = tvms_as_float_imm(b)->value;
  o.ints = o.int_a && o.int_b;
  o.reals = o.real_a && o.real_b;
  switch ((int)kind) {
  case TVMS_NODE_ADD: return fold_add(&o);
  case TVMS_NODE_SUB: return fold_sub(&o);
  case TVMS_NODE_MUL: return fold_mul(&o);
  case TVMS_NODE_DIV: return fold_div(&o);
  case TVMS_NODE_MOD: return fold_mod(&o, false);
  case TVMS_NODE_FLOOR_DIV: return fold_floor_div(&o);
  case TVMS_NODE_FLOOR_MOD: return fold_mod(&o, true);
  case TVMS_NODE_MIN: return fold_extreme(&o, true);
  case TVMS_NODE_MAX: return fold_extreme(&o, false);
  case TVMS_NODE_AND: return fold_logical(&o, true);
  case TVMS_NODE_OR: return fold_logical(&o, false);
  default: return fold_comparison(&o, kind);
  }
}

tvms_node *TVMS_NULLABLE tvms_build_try_fold(tvms_unit *unit, tvms_node_kind kind,
                                             tvms_node *a, tvms_node *b) {
  return tvms_fold_binary_constants(unit, kind, a, b, TVMS_NO_SPAN).result;
}
