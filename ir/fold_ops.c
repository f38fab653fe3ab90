// Unary operators, calls that fold, limits of dtypes and vectors as TVM builds them.
//
// What ir/fold.c does for binary operators: a node is made the way TVM's own
// constructors make it, constants folded, dtypes checked, and what TVM refuses is
// reported and gives NULL.
#include "ir/fold_ops.h"

#include "ir/fold.h"
#include "ir/fold_const.h"
#include "support/diag_ids.h"

#include <float.h>
#include <math.h>

#define TEXT(dtype) tvms_dtype_text((dtype), (char[TVMS_DTYPE_TEXT]){0})

static tvms_diags *diags_of(tvms_unit *unit) {
  return &unit->context->diags;
}

static tvms_node *TVMS_NULLABLE fail_dtype(tvms_unit *unit, const char *what,
                                           tvms_dtype dtype, tvms_span span) {
  tvms_diag_report(diags_of(unit), TVMS_D_wrong_dtype_for, span, what, TEXT(dtype));
  return NULL;
}

// ---- Unary ----

tvms_node *TVMS_NULLABLE tvms_build_not(tvms_unit *unit, tvms_node *a, tvms_span span) {
  if (!tvms_dtype_is_bool(a->dtype)) {
    tvms_diag_report(diags_of(unit), TVMS_D_wants_bool, span, "not", TEXT(a->dtype));
    return NULL;
  }
  if (a->kind != TVMS_NODE_INT_IMM) return tvms_not_new(unit, a, span);
  return tvms_bool_imm_new(unit, tvms_as_int_imm(a)->value == 0, span);
}

static bool is_number(tvms_dtype dtype) {
  return dtype.code != TVMS_HANDLE && !tvms_dtype_is_void(dtype);
}

tvms_node *TVMS_NULLABLE tvms_build_negative(tvms_unit *unit, tvms_node *a,
                                             tvms_span span) {
  if (!is_number(a->dtype)) return fail_dtype(unit, "-", a->dtype, span);
  tvms_node *minus_one = tvms_build_int(unit, a->dtype, -1, span);
  return minus_one ? tvms_build_binary(unit, TVMS_NODE_MUL, a, minus_one, span) : NULL;
}

tvms_node *TVMS_NULLABLE tvms_build_neg(tvms_unit *unit, tvms_node *a, tvms_span span) {
  if (a->kind == TVMS_NODE_INT_IMM) {
    uint64_t value = (uint64_t)tvms_as_int_imm(a)->value;
    return tvms_build_int(unit, a->dtype, (int64_t)(0 - value), span);
  }
  if (a->kind == TVMS_NODE_FLOAT_IMM) {
    return tvms_float_imm_new(unit, a->dtype, -tvms_as_float_imm(a)->value, span);
  }
  if (!is_number(a->dtype)) return fail_dtype(unit, "-", a->dtype, span);
  tvms_node *zero = tvms_build_int(unit, a->dtype, 0, span);
  return zero ? tvms_build_binary(unit, TVMS_NODE_SUB, zero, a, span) : NULL;
}

tvms_node *TVMS_NULLABLE tvms_build_abs(tvms_unit *unit, tvms_node *a, tvms_span span) {
  if (a->dtype.code == TVMS_UINT) return a;
  if (a->dtype.code == TVMS_BOOL
      && tvms_release_has(unit->dialect, TVMS_FACT_bools_are_uint1))
    return a;
  if (a->dtype.code == TVMS_FLOAT || a->dtype.code == TVMS_BFLOAT) {
    if (a->kind == TVMS_NODE_FLOAT_IMM) {
      return tvms_float_imm_new(unit, a->dtype, fabs(tvms_as_float_imm(a)->value),
                                a->span);
    }
    return tvms_call_new_of(unit, a->dtype, TVMS_TIR_fabs, &a, 1, span);
  }
  if (!tvms_dtype_is_int(a->dtype)) return fail_dtype(unit, "abs", a->dtype, span);
  if (a->kind == TVMS_NODE_INT_IMM) {
    int64_t value = tvms_as_int_imm(a)->value;
    return value >= 0 ? a : tvms_build_neg(unit, a, a->span);
  }
  tvms_node *zero = tvms_build_int(unit, a->dtype, 0, span);
  tvms_node *positive = tvms_build_binary(unit, TVMS_NODE_GE, a, zero, span);
  tvms_node *negated = tvms_build_neg(unit, a, span);
  if (!positive || !negated) return NULL;
  return tvms_select_new(unit, positive, a, negated, span);
}

// ---- Bits ----

static bool is_shift(tvms_tir_opcode op) {
  return op == TVMS_TIR_shift_left || op == TVMS_TIR_shift_right;
}

static const char *sign_of(tvms_tir_opcode op) {
  if (op == TVMS_TIR_shift_left) return "<<";
  if (op == TVMS_TIR_shift_right) return ">>";
  if (op == TVMS_TIR_bitwise_and) return "&";
  return op == TVMS_TIR_bitwise_or ? "|" : "^";
}

static bool check_bits(tvms_unit *unit, const tvms_node *a, const char *what,
                       bool bools_too, tvms_span span) {
  tvms_dtype dtype = a->dtype;
  bool boolean = dtype.code == TVMS_BOOL;
  bool fine =
      tvms_dtype_is_int(dtype) || dtype.code == TVMS_UINT
      || (boolean
          && (bools_too || tvms_release_has(unit->dialect, TVMS_FACT_bools_are_uint1)));
  if (!fine)
    tvms_diag_report(diags_of(unit), TVMS_D_wants_integer, span, what, TEXT(dtype));
  return fine;
}

static int64_t compute_bits(tvms_tir_opcode op, int64_t a, int64_t b) {
  if (op == TVMS_TIR_shift_left) return (int64_t)((uint64_t)a << b);
  if (op == TVMS_TIR_shift_right) return a >> b;
  if (op == TVMS_TIR_bitwise_and) return a & b;
  return op == TVMS_TIR_bitwise_or ? a | b : a ^ b;
}

static bool check_both_bits(tvms_unit *unit, tvms_tir_opcode op, const tvms_node *a,
                            const tvms_node *b, tvms_span span) {
  return check_bits(unit, a, sign_of(op), !is_shift(op), span)
         && check_bits(unit, b, sign_of(op), !is_shift(op), span);
}

// A constant amount must be less than the type has bits.
static bool check_amount(tvms_unit *unit, tvms_tir_opcode op, const tvms_node *a,
                         const tvms_node *b, tvms_span span) {
  if (!is_shift(op) || !tvms_dtype_is_index(a->dtype) || b->kind != TVMS_NODE_INT_IMM) {
    return true;
  }
  int64_t amount = tvms_as_int_imm(b)->value;
  if (amount >= 0 && amount < a->dtype.bits) return true;
  tvms_diag_report(diags_of(unit), TVMS_D_shift_amount, span, (long long)amount,
                   TEXT(a->dtype));
  return false;
}

tvms_node *TVMS_NULLABLE tvms_build_bitwise(tvms_unit *unit, tvms_tir_opcode op,
                                            tvms_node *a, tvms_node *b,
                                            tvms_span span) {
  if (!check_both_bits(unit, op, a, b, span)) return NULL;
  if (!tvms_build_match_dtypes(unit, &a, &b, span)) return NULL;
  if (!check_amount(unit, op, a, b, span)) return NULL;
  if (tvms_dtype_is_index(a->dtype) && b->kind == TVMS_NODE_INT_IMM) {
    int64_t right = tvms_as_int_imm(b)->value;
    if (is_shift(op) && right == 0) return a;
    if (a->kind == TVMS_NODE_INT_IMM) {
      int64_t value = compute_bits(op, tvms_as_int_imm(a)->value, right);
      return tvms_build_int(unit, a->dtype, value, span);
    }
  }
  tvms_node *args[] = {a, b};
  return tvms_call_new_of(unit, a->dtype, op, args, 2, span);
}

tvms_node *TVMS_NULLABLE tvms_bitwise_new(tvms_unit *unit, tvms_tir_opcode op,
                                          tvms_node *a, tvms_node *b, tvms_span span) {
  if (!tvms_dtype_same(a->dtype, b->dtype)) {
    tvms_diag_report(diags_of(unit), TVMS_D_dtypes_differ, span, TEXT(a->dtype),
                     TEXT(b->dtype));
    return NULL;
  }
  if (!check_both_bits(unit, op, a, b, span) || !check_amount(unit, op, a, b, span)) {
    return NULL;
  }
  tvms_node *args[] = {a, b};
  return tvms_call_new_of(unit, a->dtype, op, args, 2, span);
}

tvms_node *TVMS_NULLABLE tvms_build_bitwise_not(tvms_unit *unit, tvms_node *a,
                                                tvms_span span) {
  if (!check_bits(unit, a, "~", true, span)) return NULL;
  return tvms_call_new_of(unit, a->dtype, TVMS_TIR_bitwise_not, &a, 1, span);
}

// ---- Choice ----

tvms_node *TVMS_NULLABLE tvms_build_if_then_else(tvms_unit *unit, tvms_node *condition,
                                                 tvms_node *true_value,
                                                 tvms_node *false_value,
                                                 tvms_span span) {
  bool scalar = condition->dtype.lanes == 1
                || tvms_release_has(unit->dialect, TVMS_FACT_choices_take_vectors);
  if (!tvms_dtype_is_bool(condition->dtype) || !scalar) {
    tvms_diag_report(diags_of(unit), TVMS_D_wants_bool, span, "if_then_else",
                     TEXT(condition->dtype));
    return NULL;
  }
  if (!tvms_build_match_dtypes(unit, &true_value, &false_value, span)) return NULL;
  if (condition->kind == TVMS_NODE_INT_IMM) {
    return tvms_node_is_true(condition) ? true_value : false_value;
  }
  tvms_node *args[] = {condition, true_value, false_value};
  return tvms_call_new_of(unit, true_value->dtype, TVMS_TIR_if_then_else, args, 3,
                          span);
}

tvms_node *TVMS_NULLABLE tvms_build_select(tvms_unit *unit, tvms_node *condition,
                                           tvms_node *true_value,
                                           tvms_node *false_value, tvms_span span) {
  int lanes = condition->dtype.lanes;
  if (!tvms_dtype_is_bool(condition->dtype)
      || (lanes != 1 && lanes != true_value->dtype.lanes)) {
    tvms_diag_report(diags_of(unit), TVMS_D_wants_bool, span, "Select",
                     TEXT(condition->dtype));
    return NULL;
  }
  if (!tvms_dtype_same(true_value->dtype, false_value->dtype)) {
    tvms_diag_report(diags_of(unit), TVMS_D_dtypes_differ, span,
                     TEXT(true_value->dtype), TEXT(false_value->dtype));
    return NULL;
  }
  return tvms_select_new(unit, condition, true_value, false_value, span);
}

tvms_node *tvms_build_likely(tvms_unit *unit, tvms_node *condition, tvms_span span) {
  if (condition->kind == TVMS_NODE_INT_IMM) return condition;
  return tvms_call_new_of(unit, condition->dtype, TVMS_TIR_likely, &condition, 1, span);
}

// ---- Kinds of numbers ----

static tvms_node *answer(tvms_unit *unit, const tvms_node *a, bool value,
                         tvms_span span) {
  tvms_dtype dtype = tvms_dtype_with_lanes(TVMS_DTYPE(BOOL, 1), a->dtype.lanes);
  return tvms_build_int(unit, dtype, value, span);
}

// Integers are finite numbers; from 0.25 on a bool is not an integer.
static bool is_finite_dtype(const tvms_unit *unit, tvms_dtype dtype) {
  if (tvms_dtype_is_bool(dtype))
    return tvms_release_has(unit->dialect, TVMS_FACT_bools_are_uint1);
  return !tvms_dtype_is_real(dtype) && !tvms_dtype_is_handle(dtype);
}

tvms_node *TVMS_NULLABLE tvms_build_isnan(tvms_unit *unit, tvms_node *a,
                                          tvms_span span) {
  if (is_finite_dtype(unit, a->dtype)) return answer(unit, a, false, span);
  if (a->dtype.code != TVMS_FLOAT) return fail_dtype(unit, "isnan", a->dtype, span);
  if (a->kind == TVMS_NODE_FLOAT_IMM) {
    return answer(unit, a, isnan(tvms_as_float_imm(a)->value), a->span);
  }
  tvms_dtype boolean = tvms_dtype_with_lanes(TVMS_DTYPE(BOOL, 1), a->dtype.lanes);
  if (a->dtype.bits == 16) {
    tvms_dtype wide = tvms_dtype_with_lanes(TVMS_DTYPE(FLOAT, 32), a->dtype.lanes);
    a = tvms_build_cast(unit, wide, a, span);
    if (!a) return NULL;
  }
  return tvms_call_new_of(unit, boolean, TVMS_TIR_isnan, &a, 1, span);
}

tvms_node *TVMS_NULLABLE tvms_build_isinf(tvms_unit *unit, tvms_node *a,
                                          tvms_span span) {
  if (is_finite_dtype(unit, a->dtype)) return answer(unit, a, false, span);
  if (a->dtype.code != TVMS_FLOAT) return fail_dtype(unit, "isinf", a->dtype, span);
  tvms_node *infinity = tvms_build_infinity(unit, a->dtype, span);
  tvms_node *size = tvms_build_abs(unit, a, span);
  tvms_node *nan = tvms_build_isnan(unit, a, span);
  if (!infinity || !size || !nan) return NULL;
  tvms_node *same = tvms_build_binary(unit, TVMS_NODE_EQ, size, infinity, span);
  tvms_node *number = tvms_build_not(unit, nan, span);
  if (!same || !number) return NULL;
  return tvms_build_binary(unit, TVMS_NODE_AND, same, number, span);
}

tvms_node *TVMS_NULLABLE tvms_build_isfinite(tvms_unit *unit, tvms_node *a,
                                             tvms_span span) {
  tvms_node *infinite = tvms_build_isinf(unit, a, span);
  tvms_node *nan = infinite ? tvms_build_isnan(unit, a, span) : NULL;
  if (!nan) return NULL;
  tvms_node *bounded = tvms_build_not(unit, infinite, span);
  tvms_node *number = tvms_build_not(unit, nan, span);
  if (!bounded || !number) return NULL;
  return tvms_build_binary(unit, TVMS_NODE_AND, bounded, number, span);
}

// ---- Limits ----

// The limits that TVM gives for kinds with a fraction; row order does not matter.
static const struct {
  uint8_t code, bits;
  double min, max;
} limits[] = {
    {TVMS_FLOAT, 64, -DBL_MAX, DBL_MAX},
    {TVMS_FLOAT, 32, -(double)FLT_MAX, (double)FLT_MAX},
    {TVMS_FLOAT, 16, -65504, 65504},
    {TVMS_BFLOAT, 16, -(double)FLT_MAX, (double)FLT_MAX},
    {TVMS_FLOAT8_E5M2, 8, -57344, 57344},
    {TVMS_FLOAT8_E5M2FNUZ, 8, 0, 57344},
    {TVMS_FLOAT8_E4M3FN, 8, -448, 448},
    {TVMS_FLOAT8_E4M3FNUZ, 8, 0, 448},
    {TVMS_FLOAT8_E4M3, 8, -448, 448},
    {TVMS_FLOAT8_E4M3B11FNUZ, 8, 0, 30},
    {TVMS_FLOAT8_E3M4, 8, -31, 31},
    {TVMS_FLOAT8_E8M0FNU, 8, 0, 3.4028236692093846e+38},
    {TVMS_FLOAT6_E2M3FN, 6, -7.5, 7.5},
    {TVMS_FLOAT6_E3M2FN, 6, -28, 28},
    {TVMS_FLOAT4_E2M1FN, 4, -6, 6},
};

static tvms_node *TVMS_NULLABLE limit_of(tvms_unit *unit, tvms_dtype dtype, bool upper,
                                         tvms_span span) {
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
    if (limits[i].code == dtype.code && limits[i].bits == dtype.bits
        && dtype.lanes == 1) {
      double value = upper ? limits[i].max : limits[i].min;
      return tvms_float_imm_new(unit, dtype, value, span);
    }
  }
  return fail_dtype(unit, upper ? "max_value" : "min_value", dtype, span);
}

tvms_node *TVMS_NULLABLE tvms_build_min_value(tvms_unit *unit, tvms_dtype dtype,
                                              tvms_span span) {
  bool unsigned_like =
      dtype.code == TVMS_UINT
      || (dtype.code == TVMS_BOOL
          && tvms_release_has(unit->dialect, TVMS_FACT_bools_are_uint1));
  if (unsigned_like && dtype.lanes == 1) return tvms_int_imm_new(unit, dtype, 0, span);
  if (dtype.code != TVMS_INT || dtype.lanes != 1) {
    return limit_of(unit, dtype, false, span);
  }
  int64_t value = dtype.bits >= 64 ? INT64_MIN : -((int64_t)1 << (dtype.bits - 1));
  return tvms_int_imm_new(unit, dtype, value, span);
}

tvms_node *TVMS_NULLABLE tvms_build_max_value(tvms_unit *unit, tvms_dtype dtype,
                                              tvms_span span) {
  bool unsigned_like =
      dtype.code == TVMS_UINT
      || (dtype.code == TVMS_BOOL
          && tvms_release_has(unit->dialect, TVMS_FACT_bools_are_uint1));
  if (unsigned_like && dtype.lanes == 1) {
    uint64_t value = dtype.bits >= 64 ? UINT64_MAX : ((uint64_t)1 << dtype.bits) - 1;
    return tvms_build_uint(unit, dtype, value, span);
  }
  if (dtype.code != TVMS_INT || dtype.lanes != 1) {
    return limit_of(unit, dtype, true, span);
  }
  int64_t value = dtype.bits >= 64 ? INT64_MAX : ((int64_t)1 << (dtype.bits - 1)) - 1;
  return tvms_int_imm_new(unit, dtype, value, span);
}

tvms_node *TVMS_NULLABLE tvms_build_infinity(tvms_unit *unit, tvms_dtype dtype,
                                             tvms_span span) {
  if (dtype.code != TVMS_FLOAT || dtype.lanes != 1 || dtype.bits > 64) {
    return fail_dtype(unit, "infinity", dtype, span);
  }
  return tvms_float_imm_new(unit, dtype, (double)INFINITY, span);
}

// ---- Vectors ----

// The lanes that an expression means, as in tvms_dtype; 0: not a valid number of lanes.
static int lanes_meant(const tvms_node *lanes) {
  if (lanes->kind == TVMS_NODE_INT_IMM) {
    int64_t count = tvms_as_int_imm(lanes)->value;
    return count > 1 && count <= INT16_MAX ? (int)count : 0;
  }
  if (lanes->kind != TVMS_NODE_MUL) return 0;
  const tvms_binary *product = tvms_as_binary(lanes);
  bool vscale_first = tvms_call_opcode(product->a) == TVMS_TIR_vscale;
  const tvms_node *vscale = vscale_first ? product->a : product->b;
  const tvms_node *factor = vscale_first ? product->b : product->a;
  if (tvms_call_opcode(vscale) != TVMS_TIR_vscale) return 0;
  if (factor->kind != TVMS_NODE_INT_IMM) return 0;
  int64_t count = tvms_as_int_imm(factor)->value;
  return count > 0 && count <= INT16_MAX ? (int)-count : 0;
}

static int want_lanes(tvms_unit *unit, const tvms_node *lanes, tvms_span span) {
  int meant = lanes_meant(lanes);
  if (!meant) tvms_diag_report(diags_of(unit), TVMS_D_bad_lanes, span);
  return meant;
}

static bool want_scalar(tvms_unit *unit, const tvms_node *a, const char *what,
                        tvms_span span) {
  if (a->dtype.lanes == 1) return true;
  fail_dtype(unit, what, a->dtype, span);
  return false;
}

tvms_node *TVMS_NULLABLE tvms_build_ramp(tvms_unit *unit, tvms_node *base,
                                         tvms_node *stride, tvms_node *lanes,
                                         tvms_span span) {
  int count = want_lanes(unit, lanes, span);
  if (!count || !want_scalar(unit, base, "Ramp", span)) return NULL;
  if (!want_scalar(unit, stride, "Ramp", span)) return NULL;
  stride = tvms_build_cast(unit, base->dtype, stride, span);
  return stride ? tvms_ramp_new(unit, base, stride, count, span) : NULL;
}

tvms_node *TVMS_NULLABLE tvms_build_broadcast(tvms_unit *unit, tvms_node *value,
                                              tvms_node *lanes, tvms_span span) {
  int count = want_lanes(unit, lanes, span);
  if (!count || !want_scalar(unit, value, "Broadcast", span)) return NULL;
  return tvms_broadcast_new(unit, value, count, span);
}

tvms_node *TVMS_NULLABLE tvms_build_shuffle(tvms_unit *unit, tvms_node *const *vectors,
                                            uint32_t vector_count,
                                            tvms_node *const *indices,
                                            uint32_t index_count, tvms_span span) {
  int total = 0;
  for (uint32_t i = 0; i < vector_count; i++) {
    tvms_dtype first = tvms_dtype_with_lanes(vectors[0]->dtype, 1);
    if (!tvms_dtype_same(first, tvms_dtype_with_lanes(vectors[i]->dtype, 1))) {
      tvms_diag_report(diags_of(unit), TVMS_D_dtypes_differ, span,
                       TEXT(vectors[0]->dtype), TEXT(vectors[i]->dtype));
      return NULL;
    }
    total += vectors[i]->dtype.lanes;
  }
  if (vector_count == 0 || index_count == 0 || (int64_t)index_count > total) {
    tvms_diag_report(diags_of(unit), TVMS_D_bad_lanes, span);
    return NULL;
  }
  tvms_struct_SHUFFLE *node = tvms_node_make(unit, SHUFFLE, span);
  node->head.dtype = tvms_dtype_with_lanes(vectors[0]->dtype, (int)index_count);
  node->vectors = tvms_list_copy(unit, vectors, vector_count);
  node->indices = tvms_list_copy(unit, indices, index_count);
  return &node->head;
}

tvms_node *tvms_build_negation(tvms_unit *unit, tvms_node *condition) {
  tvms_dtype dtype = condition->dtype;
  if (tvms_dtype_is_bool(dtype)) return tvms_build_not(unit, condition, TVMS_NO_SPAN);
  if (tvms_dtype_is_handle(dtype)) {
    tvms_node *is_null = tvms_tir_operator_new(unit, TVMS_TIR_isnullptr);
    return tvms_call_new(unit, TVMS_DTYPE(BOOL, 1), is_null, &condition, 1,
                         TVMS_NO_SPAN);
  }
  bool whole = dtype.code == TVMS_INT || dtype.code == TVMS_UINT;
  tvms_node *zero = whole ? tvms_int_imm_new(unit, dtype, 0, TVMS_NO_SPAN)
                          : tvms_float_imm_new(unit, dtype, 0.0, TVMS_NO_SPAN);
  return tvms_build_node(unit, TVMS_NODE_EQ, condition, zero, TVMS_NO_SPAN);
}
