// Operators on Python's integers.
//
// Python's integers have no limits; ours are those that TVM can take, int64 and uint64. They
// are computed with 128 bits, which hold every sum, product and quotient of two of them, so
// only the result decides whether it fits.
#include "parser/eval/integer.h"

#include "parser/eval/operator.h"

#include <math.h>

__extension__ typedef __int128 wide;

static wide wide_of(tvms_eval_value value) {
  return value.flags & TVMS_EVAL_LARGE ? (wide)(uint64_t)value.as.i : value.as.i;
}

static tvms_eval_value too_big(tvms_reader *reader, tvms_ref ref) {
  tvms_reader_report(reader, number_too_big, ref);
  return TVMS_UNKNOWN;
}

static tvms_eval_value divided_by_zero(tvms_reader *reader, tvms_ref ref) {
  tvms_reader_report(reader, evaluated_division_by_zero, ref);
  return TVMS_UNKNOWN;
}

static tvms_eval_value narrow(tvms_reader *reader, wide result, tvms_ref ref) {
  if (result < INT64_MIN || result > (wide)UINT64_MAX) return too_big(reader, ref);
  tvms_eval_value value = tvms_eval_value_int((int64_t)result);
  if (result > INT64_MAX) value.flags = TVMS_EVAL_LARGE;
  return value;
}

// False if a step of it is past any integer of ours; so is then the result.
static bool power_of(wide base, wide exponent, wide *result) {
  const wide most = (wide)1 << 64;
  *result = 1;
  if (base >= -1 && base <= 1) exponent = exponent > 2 ? 2 + (exponent & 1) : exponent;
  for (; exponent > 0; exponent--) {
    *result *= base;
    if (*result > most || *result < -most) return false;
  }
  return true;
}

static wide floor_divided(wide a, wide b) {
  wide quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static tvms_eval_value power(tvms_reader *reader, wide base, wide exponent,
                             tvms_ref ref) {
  if (exponent < 0) {
    return base == 0 ? divided_by_zero(reader, ref)
                     : tvms_eval_value_float(pow((double)base, (double)exponent));
  }
  wide result;
  return power_of(base, exponent, &result) ? narrow(reader, result, ref)
                                           : too_big(reader, ref);
}

static tvms_eval_value shift(tvms_reader *reader, tvms_surf_op op, wide a, wide count,
                             tvms_ref ref) {
  if (count < 0) {
    tvms_reader_report(reader, negative_shift, ref);
    return TVMS_UNKNOWN;
  }
  if (op == TVMS_OP_SHIFT_RIGHT)
    return narrow(reader, a >> (count > 64 ? 64 : count), ref);
  if (a == 0) return tvms_eval_value_int(0);
  return count > 63 ? too_big(reader, ref)
                    : narrow(reader, a * ((wide)1 << count), ref);
}

tvms_eval_value tvms_eval_integer_binary(tvms_reader *reader, tvms_surf_op op,
                                         tvms_eval_value left, tvms_eval_value right,
                                         tvms_ref ref) {
  wide a = wide_of(left), b = wide_of(right);
  bool divides = op == TVMS_OP_DIV || op == TVMS_OP_FLOOR_DIV || op == TVMS_OP_MOD;
  if (divides && b == 0) return divided_by_zero(reader, ref);
  switch ((int)op) {
  case TVMS_OP_ADD: return narrow(reader, a + b, ref);
  case TVMS_OP_SUB: return narrow(reader, a - b, ref);
  case TVMS_OP_MUL:
    // Two uint64 may need 128 bits, and wide has one for the sign.
    if (a > INT64_MAX && b > INT64_MAX) return too_big(reader, ref);
    return narrow(reader, a * b, ref);
  case TVMS_OP_DIV: return tvms_eval_value_float((double)a / (double)b);
  case TVMS_OP_FLOOR_DIV: return narrow(reader, floor_divided(a, b), ref);
  case TVMS_OP_MOD: return narrow(reader, a - floor_divided(a, b) * b, ref);
  case TVMS_OP_POWER: return power(reader, a, b, ref);
  case TVMS_OP_SHIFT_LEFT:
  case TVMS_OP_SHIFT_RIGHT: return shift(reader, op, a, b, ref);
  case TVMS_OP_BIT_AND: return narrow(reader, a & b, ref);
  case TVMS_OP_BIT_OR: return narrow(reader, a | b, ref);
  case TVMS_OP_BIT_XOR: return narrow(reader, a ^ b, ref);
  default: return tvms_eval_report_bad_operands(reader, op, left, right, ref);
  }
}

tvms_eval_value tvms_eval_integer_unary(tvms_reader *reader, tvms_surf_op op,
                                        tvms_eval_value a, tvms_ref ref) {
  wide value = wide_of(a);
  if (op == TVMS_OP_NEGATE) value = -value;
  if (op == TVMS_OP_INVERT) value = ~value;
  return narrow(reader, value, ref);
}

int tvms_eval_integer_order(tvms_eval_value a, tvms_eval_value b) {
  wide x = wide_of(a), y = wide_of(b);
  return x < y ? -1 : x > y;
}

double tvms_eval_integer_real(tvms_eval_value value) {
  return (double)wide_of(value);
}
