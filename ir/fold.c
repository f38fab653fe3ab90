// Promotion, casts and the binary operators as TVM builds them (src/tirx/op/op.cc).
//
// TVM's operators look at their operands when they are built: they bring both to one data type,
// fold constants, and drop neutral elements. What a program says is therefore not what its nodes
// are, and the reader has to do the same, in the same order: `x * 1` is `x`, `1 + 2` is 3,
// `i + 1 + 2` stays as it is, because only the two operands at hand are looked at. The printer
// asks the other way round, whether a node would come out again (tvms_build_is_possible), and
// writes T.Add(x, 0) where it would not.
#include "ir/fold.h"

#include "ir/fold_const.h"
#include "support/diag_ids.h"

#include <limits.h>
#include <math.h>

static const tvms_dtype int32 = {TVMS_INT, 32, 1};
static const tvms_dtype int64 = {TVMS_INT, 64, 1};

// The text of a dtype inside a call of tvms_diag_report.
#define TEXT(dtype) tvms_dtype_text((dtype), (char[TVMS_DTYPE_TEXT]){0})

static tvms_diags *diags_of(tvms_unit *unit) {
  return &unit->context->diags;
}

// ---- Constants ----

// Largest finite value of the kinds whose constants TVM checks; 0: not checked.
static double largest(tvms_dtype dtype) {
  switch ((tvms_dtype_code)dtype.code) {
  case TVMS_FLOAT:
    return dtype.bits == 32 ? 0x1.fffffep127 : dtype.bits == 16 ? 65504 : 0;
  case TVMS_BFLOAT: return 3.895313892515354759047080037148786688e38;
  case TVMS_FLOAT8_E5M2:
  case TVMS_FLOAT8_E5M2FNUZ: return 57344;
  case TVMS_FLOAT8_E4M3:
  case TVMS_FLOAT8_E4M3FN:
  case TVMS_FLOAT8_E4M3FNUZ: return 448;
  case TVMS_FLOAT8_E4M3B11FNUZ: return 30;
  case TVMS_FLOAT8_E3M4: return 31;
  case TVMS_FLOAT8_E8M0FNU: return 3.4028236692093846e38;
  case TVMS_FLOAT6_E2M3FN: return 7.5;
  case TVMS_FLOAT6_E3M2FN: return 28;
  case TVMS_FLOAT4_E2M1FN: return 6;
  case TVMS_INT:
  case TVMS_UINT:
  case TVMS_HANDLE:
  case TVMS_BOOL: break;
  }
  return 0;
}

// Kinds that TVM treats as having no negative constants.
static bool is_nonnegative(tvms_dtype dtype) {
  return dtype.code == TVMS_FLOAT8_E4M3B11FNUZ || dtype.code == TVMS_FLOAT8_E4M3FNUZ
         || dtype.code == TVMS_FLOAT8_E5M2FNUZ || dtype.code == TVMS_FLOAT8_E8M0FNU;
}

static bool float_fits(tvms_dtype dtype, double value) {
  double limit = largest(dtype);
  if (!isfinite(value) || limit == 0) return true;
  return value <= limit && value >= (is_nonnegative(dtype) ? 0 : -limit);
}

static tvms_node *spread(tvms_unit *unit, tvms_node *scalar, tvms_dtype dtype,
                         tvms_span span) {
  if (!scalar || dtype.lanes == 1) return scalar;
  return tvms_broadcast_new(unit, scalar, dtype.lanes, span);
}

tvms_node *TVMS_NULLABLE tvms_build_int(tvms_unit *unit, tvms_dtype dtype,
                                        int64_t value, tvms_span span) {
  tvms_dtype scalar = tvms_dtype_with_lanes(dtype, 1);
  if (tvms_dtype_is_real(dtype)) {
    return tvms_build_float(unit, dtype, (double)value, span);
  }
  if (dtype.code == TVMS_HANDLE || tvms_dtype_is_void(dtype)) {
    tvms_diag_report(diags_of(unit), TVMS_D_no_constant_of_dtype, span, TEXT(dtype));
    return NULL;
  }
  if (!tvms_fold_int_fits(scalar, value)) {
    tvms_diag_report(diags_of(unit), TVMS_D_constant_out_of_range, span,
                     (long long)value, TEXT(scalar));
    return NULL;
  }
  return spread(unit, tvms_int_imm_new(unit, scalar, value, span), dtype, span);
}

tvms_node *TVMS_NULLABLE tvms_build_uint(tvms_unit *unit, tvms_dtype dtype,
                                         uint64_t value, tvms_span span) {
  if (value <= INT64_MAX) return tvms_build_int(unit, dtype, (int64_t)value, span);
  if (tvms_dtype_is_real(dtype)) {
    return tvms_build_float(unit, dtype, (double)value, span);
  }
  if (dtype.code != TVMS_UINT || dtype.bits < 64) {
    tvms_diag_report(diags_of(unit), TVMS_D_constant_too_large, span,
                     (unsigned long long)value, TEXT(dtype));
    return NULL;
  }
  tvms_dtype half = TVMS_DTYPE(UINT, 32);
  tvms_node *args[] = {
      tvms_int_imm_new(unit, half, (int64_t)(value & UINT32_MAX), span),
      tvms_int_imm_new(unit, half, (int64_t)(value >> 32), span),
  };
  tvms_dtype scalar = tvms_dtype_with_lanes(dtype, 1);
  return spread(unit,
                tvms_call_new_of(unit, scalar, TVMS_TIR_large_uint_imm, args, 2, span),
                dtype, span);
}

tvms_node *TVMS_NULLABLE tvms_build_float(tvms_unit *unit, tvms_dtype dtype,
                                          double value, tvms_span span) {
  tvms_dtype scalar = tvms_dtype_with_lanes(dtype, 1);
  if (!tvms_dtype_is_real(dtype)) {
    // Out of the range of int64 the result of a C conversion is not defined.
    bool small = value > -9.2e18 && value < 9.2e18;
    if (small) return tvms_build_int(unit, dtype, (int64_t)value, span);
  }
  if (!tvms_dtype_is_real(dtype) || !float_fits(scalar, value)) {
    tvms_diag_report(diags_of(unit), TVMS_D_float_out_of_range, span, value,
                     TEXT(scalar));
    return NULL;
  }
  return spread(unit, tvms_float_imm_new(unit, scalar, value, span), dtype, span);
}

tvms_node *tvms_build_literal_int(tvms_unit *unit, int64_t value, tvms_span span) {
  bool small = value >= INT32_MIN && value <= INT32_MAX;
  return tvms_int_imm_new(unit, small ? int32 : int64, value, span);
}

// ---- Casts ----

static tvms_node *cast_scalar(tvms_unit *unit, tvms_dtype dtype, tvms_node *value,
                              tvms_span span) {
  if (tvms_dtype_same(value->dtype, dtype)) return value;
  if (value->kind == TVMS_NODE_INT_IMM) {
    int64_t number = tvms_as_int_imm(value)->value;
    return tvms_build_int(unit, dtype, number, value->span);
  }
  if (value->kind == TVMS_NODE_FLOAT_IMM) {
    double number = tvms_as_float_imm(value)->value;
    return tvms_build_float(unit, dtype, number, value->span);
  }
  if (tvms_dtype_is_handle(value->dtype) || tvms_dtype_is_void(value->dtype)) {
    tvms_diag_report(diags_of(unit), TVMS_D_cannot_cast, span, TEXT(value->dtype),
                     TEXT(dtype));
    return NULL;
  }
  return tvms_cast_new(unit, dtype, value, span);
}

static tvms_node *cast_vector(tvms_unit *unit, tvms_dtype dtype, tvms_node *value,
                              tvms_span span) {
  tvms_dtype scalar = tvms_dtype_with_lanes(dtype, 1);
  if (value->kind == TVMS_NODE_BROADCAST) {
    const tvms_struct_BROADCAST *old = tvms_as_broadcast(value);
    return spread(unit, tvms_build_cast(unit, scalar, old->value, span), dtype, span);
  }
  if (value->kind == TVMS_NODE_RAMP
      && (dtype.code == TVMS_INT || dtype.code == TVMS_UINT)) {
    const tvms_struct_RAMP *old = tvms_as_ramp(value);
    tvms_node *base = tvms_build_cast(unit, scalar, old->base, span);
    tvms_node *stride = tvms_build_cast(unit, scalar, old->stride, span);
    if (!base || !stride) return NULL;
    return tvms_ramp_new(unit, base, stride, dtype.lanes, span);
  }
  return tvms_cast_new(unit, dtype, value, span);
}

tvms_node *TVMS_NULLABLE tvms_build_cast(tvms_unit *unit, tvms_dtype dtype,
                                         tvms_node *value, tvms_span span) {
  if (tvms_dtype_same(value->dtype, dtype)) return value;
  if (tvms_dtype_is_void(dtype)) {
    tvms_diag_report(diags_of(unit), TVMS_D_cannot_cast, span, TEXT(value->dtype),
                     "void");
    return NULL;
  }
  if (value->dtype.lanes == 1 || tvms_dtype_is_void(value->dtype)) {
    tvms_dtype scalar = tvms_dtype_with_lanes(dtype, 1);
    return spread(unit, cast_scalar(unit, scalar, value, span), dtype, span);
  }
  if (value->dtype.lanes != dtype.lanes) {
    tvms_diag_report(diags_of(unit), TVMS_D_lanes_differ, span, TEXT(value->dtype),
                     TEXT(dtype));
    return NULL;
  }
  return cast_vector(unit, dtype, value, span);
}

// ---- Promotion ----

// Kinds with a fraction, the strongest first; the index is the rank.
static int rank_of(tvms_dtype dtype) {
  if (dtype.code == TVMS_FLOAT) return 5;
  if (dtype.code == TVMS_BFLOAT) return 4;
  if (dtype.code >= TVMS_FLOAT8_E3M4 && dtype.code <= TVMS_FLOAT8_E8M0FNU) return 3;
  if (dtype.code >= TVMS_FLOAT6_E2M3FN && dtype.code <= TVMS_FLOAT6_E3M2FN) return 2;
  return dtype.code == TVMS_FLOAT4_E2M1FN ? 1 : 0;
}

// The dtype that two dtypes of equal lanes meet in; void: there is none.
static tvms_dtype common_dtype(tvms_dtype a, tvms_dtype b) {
  int rank_a = rank_of(a), rank_b = rank_of(b);
  if (rank_a != rank_b) return rank_a > rank_b ? a : b;
  if (rank_a == 5) return a.bits < b.bits ? b : a;
  bool whole_a = a.code == TVMS_INT || a.code == TVMS_UINT || a.code == TVMS_BOOL;
  bool whole_b = b.code == TVMS_INT || b.code == TVMS_UINT || b.code == TVMS_BOOL;
  if (rank_a > 0 || !whole_a || !whole_b) return (tvms_dtype){0};
  if (a.code == TVMS_BOOL || b.code == TVMS_BOOL) return a.code == TVMS_BOOL ? b : a;
  if (a.bits != b.bits) return a.bits < b.bits ? b : a;
  return a.code == TVMS_UINT ? a : b;
}

bool tvms_build_match_dtypes(tvms_unit *unit, tvms_node **a, tvms_node **b,
                             tvms_span span) {
  tvms_dtype left = (*a)->dtype, right = (*b)->dtype;
  if (tvms_dtype_same(left, right)) return true;
  tvms_dtype common = {0};
  bool lanes_fit = left.lanes == right.lanes || left.lanes == 1 || right.lanes == 1;
  if (lanes_fit && !tvms_dtype_is_void(left) && !tvms_dtype_is_void(right)) {
    common =
        common_dtype(tvms_dtype_with_lanes(left, 1), tvms_dtype_with_lanes(right, 1));
  }
  if (tvms_dtype_is_void(common)
      && (left.code != right.code || left.bits != right.bits || !lanes_fit)) {
    tvms_diag_report(diags_of(unit), TVMS_D_dtypes_differ, span, TEXT(left),
                     TEXT(right));
    return false;
  }
  if (left.lanes != right.lanes) {
    if (left.lanes == 1) *a = tvms_broadcast_new(unit, *a, right.lanes, span);
    if (right.lanes == 1) *b = tvms_broadcast_new(unit, *b, left.lanes, span);
  }
  if (tvms_dtype_is_void(common)) return true;
  common.lanes = (*a)->dtype.lanes;
  *a = tvms_build_cast(unit, common, *a, span);
  if (*a) *b = tvms_build_cast(unit, common, *b, span);
  return *a && *b;
}

// ---- Binary operators ----

static bool is_whole(tvms_unit *unit, tvms_dtype dtype) {
  return dtype.code == TVMS_INT || dtype.code == TVMS_UINT
         || (dtype.code == TVMS_BOOL
             && tvms_release_has(unit->dialect, TVMS_FACT_bools_are_uint1));
}

static bool want_whole(tvms_unit *unit, const tvms_node *a, const char *what,
                       tvms_span span) {
  if (is_whole(unit, a->dtype)) return true;
  tvms_diag_report(diags_of(unit), TVMS_D_wants_integer, span, what, TEXT(a->dtype));
  return false;
}

static bool want_bool(tvms_unit *unit, const tvms_node *a, const char *what,
                      tvms_span span) {
  if (tvms_dtype_is_bool(a->dtype)) return true;
  tvms_diag_report(diags_of(unit), TVMS_D_wants_bool, span, what, TEXT(a->dtype));
  return false;
}

static bool check_operands(tvms_unit *unit, tvms_node_kind kind, const tvms_node *a,
                           const tvms_node *b, tvms_span span) {
  switch ((int)kind) {
  case TVMS_NODE_FLOOR_DIV:
    return want_whole(unit, a, "//", span) && want_whole(unit, b, "//", span);
  case TVMS_NODE_FLOOR_MOD:
    return want_whole(unit, a, "%", span) && want_whole(unit, b, "%", span);
  case TVMS_NODE_AND:
    return want_bool(unit, a, "and", span) && want_bool(unit, b, "and", span);
  case TVMS_NODE_OR:
    return want_bool(unit, a, "or", span) && want_bool(unit, b, "or", span);
  default: return true;
  }
}

// Pointers are not operands from 0.26 on; before, two of them made a node.
static bool check_pointers(tvms_unit *unit, const tvms_node *a, const tvms_node *b,
                           tvms_span span) {
  bool pointers = tvms_dtype_is_handle(a->dtype) && tvms_dtype_is_handle(b->dtype);
  bool values = !tvms_dtype_is_void(a->dtype) && !tvms_dtype_is_void(b->dtype);
  if (values
      && (!pointers || tvms_release_has(unit->dialect, TVMS_FACT_pointers_are_numbers)))
    return true;
  tvms_diag_report(diags_of(unit), TVMS_D_dtypes_differ, span, TEXT(a->dtype),
                   TEXT(b->dtype));
  return false;
}

static bool both_vscale(const tvms_node *a, const tvms_node *b) {
  return tvms_call_opcode(a) == TVMS_TIR_vscale
         && tvms_call_opcode(b) == TVMS_TIR_vscale;
}

// Folds, or makes the raw node; operands have equal dtypes.
static tvms_node *TVMS_NULLABLE finish_binary(tvms_unit *unit, tvms_node_kind kind,
                                              tvms_node *a, tvms_node *b,
                                              tvms_span span) {
  tvms_folded folded = tvms_fold_binary_constants(unit, kind, a, b, span);
  switch (folded.status) {
  case TVMS_FOLD_DONE: return folded.result;
  case TVMS_FOLD_ZERO:
    tvms_diag_report(diags_of(unit), TVMS_D_folded_division_by_zero, span);
    return NULL;
  case TVMS_FOLD_OUT_OF_RANGE:
    tvms_diag_report(diags_of(unit), TVMS_D_constant_out_of_range, span,
                     (long long)folded.value, TEXT(a->dtype));
    return NULL;
  case TVMS_FOLD_NONE: break;
  }
  if (kind == TVMS_NODE_EQ && both_vscale(a, b))
    return tvms_bool_imm_new(unit, true, span);
  return tvms_binary_new(unit, kind, a, b, span);
}

tvms_node *TVMS_NULLABLE tvms_build_binary(tvms_unit *unit, tvms_node_kind kind,
                                           tvms_node *a, tvms_node *b, tvms_span span) {
  if (!check_operands(unit, kind, a, b, span)) return NULL;
  if (!check_pointers(unit, a, b, span)) return NULL;
  bool logical = kind == TVMS_NODE_AND || kind == TVMS_NODE_OR;
  if (logical && a->dtype.lanes != b->dtype.lanes
      && !tvms_fold_binary_constants(unit, kind, a, b, span).result) {
    tvms_diag_report(diags_of(unit), TVMS_D_dtypes_differ, span, TEXT(a->dtype),
                     TEXT(b->dtype));
    return NULL;
  }
  if (!logical && !tvms_build_match_dtypes(unit, &a, &b, span)) return NULL;
  return finish_binary(unit, kind, a, b, span);
}

tvms_node *TVMS_NULLABLE tvms_build_true_div(tvms_unit *unit, tvms_node *a,
                                             tvms_node *b, tvms_span span) {
  if (a->dtype.code == TVMS_INT && b->dtype.code == TVMS_INT) {
    tvms_diag_report(diags_of(unit), TVMS_D_ambiguous_division, span);
    return NULL;
  }
  return tvms_build_binary(unit, TVMS_NODE_DIV, a, b, span);
}

tvms_node *TVMS_NULLABLE tvms_build_trunc_div(tvms_unit *unit, tvms_node *a,
                                              tvms_node *b, tvms_span span) {
  if (!want_whole(unit, a, "truncdiv", span)
      || !want_whole(unit, b, "truncdiv", span)) {
    return NULL;
  }
  return tvms_build_binary(unit, TVMS_NODE_DIV, a, b, span);
}

tvms_node *TVMS_NULLABLE tvms_build_ceil_div(tvms_unit *unit, tvms_node *a,
                                             tvms_node *b, tvms_span span) {
  if (!want_whole(unit, a, "ceildiv", span) || !want_whole(unit, b, "ceildiv", span)) {
    return NULL;
  }
  if (!tvms_build_match_dtypes(unit, &a, &b, span)) return NULL;
  tvms_node *sum = tvms_build_binary(unit, TVMS_NODE_ADD, a, b, span);
  tvms_dtype scalar = sum ? tvms_dtype_with_lanes(sum->dtype, 1) : int32;
  tvms_node *one = tvms_build_int(unit, scalar, 1, span);
  if (sum && one) sum = tvms_build_binary(unit, TVMS_NODE_SUB, sum, one, span);
  return sum ? finish_binary(unit, TVMS_NODE_FLOOR_DIV, sum, b, span) : NULL;
}

tvms_node *TVMS_NULLABLE tvms_build_node(tvms_unit *unit, tvms_node_kind kind,
                                         tvms_node *a, tvms_node *TVMS_NULLABLE b,
                                         tvms_span span) {
  if (kind == TVMS_NODE_NOT) {
    return want_bool(unit, a, "not", span) ? tvms_not_new(unit, a, span) : NULL;
  }
  bool logical = kind == TVMS_NODE_AND || kind == TVMS_NODE_OR;
  if (logical && !check_operands(unit, kind, a, b, span)) return NULL;
  if (!check_pointers(unit, a, b, span)) return NULL;
  if (!tvms_dtype_same(a->dtype, b->dtype)) {
    tvms_diag_report(diags_of(unit), TVMS_D_dtypes_differ, span, TEXT(a->dtype),
                     TEXT(b->dtype));
    return NULL;
  }
  return tvms_binary_new(unit, kind, a, b, span);
}

bool tvms_build_is_possible(tvms_unit *unit, const tvms_node *node) {
  const tvms_binary *old = tvms_as_binary(node);
  tvms_node_kind kind = (tvms_node_kind)node->kind;
  if (!tvms_dtype_same(old->a->dtype, old->b->dtype)) return false;
  bool whole = kind != TVMS_NODE_FLOOR_DIV && kind != TVMS_NODE_FLOOR_MOD;
  whole = whole || is_whole(unit, old->a->dtype);
  if (!whole || (kind == TVMS_NODE_EQ && both_vscale(old->a, old->b))) return false;
  tvms_mark mark = tvms_arena_mark(&unit->arena);
  uint32_t next_id = unit->next_id;
  tvms_folded folded =
      tvms_fold_binary_constants(unit, kind, old->a, old->b, TVMS_NO_SPAN);
  tvms_arena_reset(&unit->arena, mark);
  unit->next_id = next_id;
  return folded.status == TVMS_FOLD_NONE;
}
