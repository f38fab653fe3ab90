// Operators that fold constants when they are called: T.min, T.floordiv, T.bitwise_and …
#include "ir/fold_ops.h"
#include "parser/eval/budget.h"
#include "parser/tir/call.h"
#include "parser/tir/handlers.h"
#include "parser/tir/operator.h"
#include "support/diag_ids.h"

static tvms_node *build_named(tvms_reader *reader, tvms_sym name, tvms_node *a,
                              tvms_node *b, tvms_span span) {
  tvms_unit *unit = reader->unit;
  switch (name) {
  case TVMS_SYM_min: return tvms_build_binary(unit, TVMS_NODE_MIN, a, b, span);
  case TVMS_SYM_max: return tvms_build_binary(unit, TVMS_NODE_MAX, a, b, span);
  case TVMS_SYM_floordiv:
    return tvms_build_binary(unit, TVMS_NODE_FLOOR_DIV, a, b, span);
  case TVMS_SYM_floormod:
    return tvms_build_binary(unit, TVMS_NODE_FLOOR_MOD, a, b, span);
  case TVMS_SYM_truncmod: return tvms_build_binary(unit, TVMS_NODE_MOD, a, b, span);
  case TVMS_SYM_truncdiv: return tvms_build_trunc_div(unit, a, b, span);
  default: return tvms_build_ceil_div(unit, a, b, span);
  }
}

static tvms_node *power(tvms_reader *reader, tvms_node *a, tvms_node *b,
                        tvms_span span) {
  if (!tvms_build_match_dtypes(reader->unit, &a, &b, span)) return NULL;
  if (!tvms_dtype_is_real(a->dtype)) {
    char buffer[TVMS_DTYPE_TEXT];
    tvms_diag_report(&reader->context->diags, TVMS_D_wrong_dtype_for, span, "T.pow",
                     tvms_dtype_text(a->dtype, buffer));
    return NULL;
  }
  tvms_node *args[] = {a, b};
  return tvms_call_new_of(reader->unit, a->dtype, TVMS_TIR_pow, args, 2, span);
}

static tvms_tir_opcode bits_of(tvms_sym name) {
  switch (name) {
  case TVMS_SYM_shift_left: return TVMS_TIR_shift_left;
  case TVMS_SYM_shift_right: return TVMS_TIR_shift_right;
  case TVMS_SYM_bitwise_and: return TVMS_TIR_bitwise_and;
  case TVMS_SYM_bitwise_or: return TVMS_TIR_bitwise_or;
  case TVMS_SYM_bitwise_xor: return TVMS_TIR_bitwise_xor;
  default: return TVMS_TIR_NONE;
  }
}

tvms_eval_value tvms_call_fold_binary(tvms_reader *reader, const tvms_call_args *call) {
  tvms_tir_opcode bits = bits_of(call->row->name);
  if (bits) {
    return tvms_call_done(
        reader, tvms_eval_bits(reader, bits, call->args[0], call->args[1], call->ref));
  }
  tvms_node *a, *b;
  if (!tvms_call_two_exprs(reader, call, &a, &b)) return TVMS_UNKNOWN;
  tvms_span span = tvms_call_span(reader, call);
  if (call->row->name == TVMS_SYM_pow)
    return tvms_call_done(reader, power(reader, a, b, span));
  if (call->row->name == TVMS_SYM_ceildiv
      && !tvms_eval_may_repeat(reader, b, call->ref))
    return TVMS_UNKNOWN;
  return tvms_call_done(reader, build_named(reader, call->row->name, a, b, span));
}

static tvms_tir_opcode rounding_op(tvms_sym name) {
  switch (name) {
  case TVMS_SYM_floor: return TVMS_TIR_floor;
  case TVMS_SYM_ceil: return TVMS_TIR_ceil;
  case TVMS_SYM_trunc: return TVMS_TIR_trunc;
  case TVMS_SYM_round: return TVMS_TIR_round;
  default: return TVMS_TIR_nearbyint;
  }
}

// floor, ceil, trunc, round, nearbyint: nothing to do for integers.
static tvms_node *rounded(tvms_reader *reader, tvms_sym name, tvms_node *a,
                          tvms_span span) {
  bool whole = a->dtype.code == TVMS_INT || a->dtype.code == TVMS_UINT
               || tvms_dtype_is_bool(a->dtype);
  if (whole) return a;
  if (a->kind == TVMS_NODE_FLOAT_IMM) {
    double value = tvms_as_float_imm(a)->value;
    switch (name) {
    case TVMS_SYM_floor: value = __builtin_floor(value); break;
    case TVMS_SYM_ceil: value = __builtin_ceil(value); break;
    case TVMS_SYM_trunc: value = __builtin_trunc(value); break;
    default: value = __builtin_nearbyint(value); break;
    }
    return tvms_float_imm_new(reader->unit, a->dtype, value, span);
  }
  return tvms_call_new_of(reader->unit, a->dtype, rounding_op(name), &a, 1, span);
}

// Does the argument stand in the result more than once?
static bool repeats(tvms_sym name, const tvms_node *a) {
  bool real = a->dtype.code == TVMS_FLOAT || a->dtype.code == TVMS_BFLOAT;
  switch (name) {
  case TVMS_SYM_fabs:
  case TVMS_SYM_abs: return !real;
  default: return name == TVMS_SYM_isinf || name == TVMS_SYM_isfinite;
  }
}

tvms_eval_value tvms_call_fold_unary(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *a = tvms_call_number_at(reader, call, 0);
  if (!a) return TVMS_UNKNOWN;
  tvms_span span = tvms_call_span(reader, call);
  tvms_unit *unit = reader->unit;
  if (repeats(call->row->name, a) && !tvms_eval_may_repeat(reader, a, call->ref))
    return TVMS_UNKNOWN;
  switch (call->row->name) {
  case TVMS_SYM_fabs:
  case TVMS_SYM_abs: return tvms_call_done(reader, tvms_build_abs(unit, a, span));
  case TVMS_SYM_isnan: return tvms_call_done(reader, tvms_build_isnan(unit, a, span));
  case TVMS_SYM_isinf: return tvms_call_done(reader, tvms_build_isinf(unit, a, span));
  case TVMS_SYM_isfinite:
    return tvms_call_done(reader, tvms_build_isfinite(unit, a, span));
  case TVMS_SYM_likely: return tvms_call_done(reader, tvms_build_likely(unit, a, span));
  case TVMS_SYM_bitwise_not:
    return tvms_call_done(reader, tvms_build_bitwise_not(unit, a, span));
  default: return tvms_call_done(reader, rounded(reader, call->row->name, a, span));
  }
}

tvms_eval_value tvms_call_if_then_else(tvms_reader *reader,
                                       const tvms_call_args *call) {
  // MakePackedAPI chooses between pointers, which TVM writes and does not read.
  tvms_node *(*operand)(tvms_reader *, const tvms_call_args *, uint32_t) =
      reader->as_written ? tvms_call_expr_at : tvms_call_number_at;
  tvms_node *condition = tvms_call_expr_at(reader, call, 0);
  tvms_node *yes = condition ? operand(reader, call, 1) : NULL;
  tvms_node *no = yes ? operand(reader, call, 2) : NULL;
  if (!no) return TVMS_UNKNOWN;
  return tvms_call_done(reader,
                        tvms_build_if_then_else(reader->unit, condition, yes, no,
                                                tvms_call_span(reader, call)));
}
