// Operators on constants, as Python has them: numbers, text, sequences.
#include "parser/eval/python.h"

#include "parser/eval/budget.h"
#include "parser/eval/convert.h"
#include "parser/eval/iterate.h"
#include "parser/eval/operator.h"
#include "parser/eval/ops.h"
#include "parser/eval/set.h"

#include <math.h>
#include <string.h>

static tvms_eval_value too_big(tvms_reader *reader, tvms_ref ref) {
  tvms_reader_report(reader, number_too_big, ref);
  return TVMS_UNKNOWN;
}

static bool is_integral(tvms_eval_value value) {
  return value.kind == TVMS_EVAL_INT || value.kind == TVMS_EVAL_BOOL;
}

static bool is_number(tvms_eval_value value) {
  return is_integral(value) || value.kind == TVMS_EVAL_FLOAT;
}

static double real_of(tvms_eval_value value) {
  if (value.kind == TVMS_EVAL_FLOAT) return value.as.f;
  return value.flags & TVMS_EVAL_LARGE ? (double)(uint64_t)value.as.i
                                       : (double)value.as.i;
}

// ---- Integers ---------------------------------------------------------------------------

static bool power_of(int64_t base, int64_t exponent, int64_t *result) {
  *result = 1;
  while (exponent > 0) {
    if ((exponent & 1) && __builtin_mul_overflow(*result, base, result)) return false;
    exponent >>= 1;
    if (exponent && __builtin_mul_overflow(base, base, &base)) return false;
  }
  return true;
}

static int64_t floor_div(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static tvms_eval_value divide(tvms_reader *reader, tvms_surf_op op, int64_t a,
                              int64_t b, tvms_ref ref) {
  if (b == 0) {
    tvms_reader_report(reader, evaluated_division_by_zero, ref);
    return TVMS_UNKNOWN;
  }
  if (op == TVMS_OP_DIV) return tvms_eval_value_float((double)a / (double)b);
  if (a == INT64_MIN && b == -1) {
    return op == TVMS_OP_MOD ? tvms_eval_value_int(0) : too_big(reader, ref);
  }
  int64_t quotient = floor_div(a, b);
  return tvms_eval_value_int(op == TVMS_OP_MOD ? a - quotient * b : quotient);
}

static tvms_eval_value shift(tvms_reader *reader, tvms_surf_op op, int64_t a, int64_t b,
                             tvms_ref ref) {
  if (b < 0) {
    tvms_reader_report(reader, negative_shift, ref);
    return TVMS_UNKNOWN;
  }
  if (op == TVMS_OP_SHIFT_RIGHT)
    return tvms_eval_value_int(b > 63 ? (a < 0 ? -1 : 0) : a >> b);
  if (a == 0) return tvms_eval_value_int(0);
  if (b == 63 && a == 1) {
    tvms_eval_value value = tvms_eval_value_int(INT64_MIN);
    value.flags = TVMS_EVAL_LARGE;
    return value;
  }
  int64_t result;
  if (b > 62 || __builtin_mul_overflow(a, (int64_t)1 << b, &result)) {
    return too_big(reader, ref);
  }
  return tvms_eval_value_int(result);
}

static tvms_eval_value int_binary(tvms_reader *reader, tvms_surf_op op, int64_t a,
                                  int64_t b, tvms_ref ref) {
  int64_t result = 0;
  bool fits = true;
  switch ((int)op) {
  case TVMS_OP_ADD: fits = !__builtin_add_overflow(a, b, &result); break;
  case TVMS_OP_SUB: fits = !__builtin_sub_overflow(a, b, &result); break;
  case TVMS_OP_MUL: fits = !__builtin_mul_overflow(a, b, &result); break;
  case TVMS_OP_DIV:
  case TVMS_OP_FLOOR_DIV:
  case TVMS_OP_MOD: return divide(reader, op, a, b, ref);
  case TVMS_OP_POWER:
    if (b < 0) return tvms_eval_value_float(pow((double)a, (double)b));
    fits = power_of(a, b, &result);
    break;
  case TVMS_OP_SHIFT_LEFT:
  case TVMS_OP_SHIFT_RIGHT: return shift(reader, op, a, b, ref);
  case TVMS_OP_BIT_AND: result = a & b; break;
  case TVMS_OP_BIT_OR: result = a | b; break;
  case TVMS_OP_BIT_XOR: result = a ^ b; break;
  default:
    return tvms_bad_operands(reader, op, tvms_eval_value_int(a), tvms_eval_value_int(b),
                             ref);
  }
  return fits ? tvms_eval_value_int(result) : too_big(reader, ref);
}

// `2**64 - 1` and the like stay within 64 bits only by the end; Python's ints have no
// such limit. The few operations on uint64 values that programs use are done here.
static tvms_eval_value large_binary(tvms_reader *reader, tvms_surf_op op,
                                    tvms_eval_value a, tvms_eval_value b,
                                    tvms_ref ref) {
  uint64_t x = (uint64_t)a.as.i, y = (uint64_t)b.as.i, result;
  bool negative = (!(a.flags & TVMS_EVAL_LARGE) && a.as.i < 0)
                  || (!(b.flags & TVMS_EVAL_LARGE) && b.as.i < 0);
  if (negative) return too_big(reader, ref);
  bool fits = true;
  switch ((int)op) {
  case TVMS_OP_ADD: fits = !__builtin_add_overflow(x, y, &result); break;
  case TVMS_OP_SUB:
    fits = x >= y;
    result = x - y;
    break;
  case TVMS_OP_BIT_AND: result = x & y; break;
  case TVMS_OP_BIT_OR: result = x | y; break;
  case TVMS_OP_BIT_XOR: result = x ^ y; break;
  case TVMS_OP_SHIFT_RIGHT: result = y > 63 ? 0 : x >> y; break;
  case TVMS_OP_FLOOR_DIV:
  case TVMS_OP_MOD:
    if (y == 0) return divide(reader, op, 1, 0, ref);
    result = op == TVMS_OP_MOD ? x % y : x / y;
    break;
  default: return too_big(reader, ref);
  }
  if (!fits) return too_big(reader, ref);
  tvms_eval_value value = tvms_eval_value_int((int64_t)result);
  if (result > INT64_MAX) value.flags = TVMS_EVAL_LARGE;
  return value;
}

static tvms_eval_value real_binary(tvms_reader *reader, tvms_surf_op op,
                                   tvms_eval_value left, tvms_eval_value right,
                                   tvms_ref ref) {
  double a = real_of(left), b = real_of(right);
  switch ((int)op) {
  case TVMS_OP_ADD: return tvms_eval_value_float(a + b);
  case TVMS_OP_SUB: return tvms_eval_value_float(a - b);
  case TVMS_OP_MUL: return tvms_eval_value_float(a * b);
  case TVMS_OP_POWER: return tvms_eval_value_float(pow(a, b));
  case TVMS_OP_DIV:
  case TVMS_OP_FLOOR_DIV:
  case TVMS_OP_MOD: break;
  default: return tvms_bad_operands(reader, op, left, right, ref);
  }
  if (b == 0) {
    tvms_reader_report(reader, evaluated_division_by_zero, ref);
    return TVMS_UNKNOWN;
  }
  if (op == TVMS_OP_DIV) return tvms_eval_value_float(a / b);
  double quotient = floor(a / b);
  return tvms_eval_value_float(op == TVMS_OP_MOD ? a - quotient * b : quotient);
}

// ---- Text and sequences -----------------------------------------------------------------

static tvms_eval_value join_text(tvms_reader *reader, tvms_eval_value a,
                                 tvms_eval_value b, tvms_ref ref) {
  uint64_t size = (uint64_t)a.len + b.len + 1;
  if (!tvms_eval_may_take(reader, size, ref)) return TVMS_UNKNOWN;
  char *text = tvms_arena_alloc(&reader->values, size);
  if (a.len) memcpy(text, a.as.text, a.len);
  if (b.len) memcpy(text + a.len, b.as.text, b.len);
  return tvms_eval_value_text(text, a.len + b.len);
}

static tvms_eval_value join_items(tvms_reader *reader, tvms_eval_value a,
                                  tvms_eval_value b, tvms_ref ref) {
  uint64_t len = (uint64_t)a.len + b.len;
  if (!tvms_eval_may_take(reader, len * sizeof(tvms_eval_value), ref)) {
    return TVMS_UNKNOWN;
  }
  tvms_eval_value *items = tvms_arena_array(&reader->values, tvms_eval_value, len);
  if (a.len) memcpy(items, a.as.items, a.len * sizeof *items);
  if (b.len) memcpy(items + a.len, b.as.items, b.len * sizeof *items);
  return tvms_eval_value_items((tvms_eval_kind)a.kind, items, a.len + b.len);
}

static tvms_eval_value repeat(tvms_reader *reader, tvms_eval_value what, int64_t times,
                              tvms_ref ref) {
  bool is_text = what.kind == TVMS_EVAL_STR;
  if (times < 0 || what.len == 0) times = 0;
  if (times > UINT32_MAX) times = UINT32_MAX;  // which is too much as well
  uint64_t len = what.len * (uint64_t)times;
  uint64_t size = is_text ? len + 1 : len * sizeof(tvms_eval_value);
  if (!tvms_eval_may_take(reader, size, ref)) return TVMS_UNKNOWN;
  if (is_text) {
    char *text = tvms_arena_alloc(&reader->values, size);
    for (uint64_t i = 0; i < len; i += what.len) {
      memcpy(text + i, what.as.text, what.len);
    }
    return tvms_eval_value_text(text, (uint32_t)len);
  }
  tvms_eval_value *items = tvms_arena_array(&reader->values, tvms_eval_value, len);
  for (uint64_t i = 0; i < len; i += what.len) {
    memcpy(items + i, what.as.items, what.len * sizeof *items);
  }
  return tvms_eval_value_items((tvms_eval_kind)what.kind, items, (uint32_t)len);
}

static bool repeats(tvms_eval_value value) {
  return tvms_eval_value_is_sequence(value) || value.kind == TVMS_EVAL_STR;
}

// ---- Comparison -------------------------------------------------------------------------

static bool items_equal(const tvms_reader *reader, tvms_eval_value a,
                        tvms_eval_value b) {
  if (a.len != b.len) return false;
  for (uint32_t i = 0; i < a.len; i++) {
    if (!tvms_eval_values_equal(reader, a.as.items[i], b.as.items[i])) return false;
  }
  return true;
}

// Sets and dicts are equal in any order: each entry of `a` (of `stride` values) stands in `b`.
static bool entries_equal(const tvms_reader *reader, tvms_eval_value a,
                          tvms_eval_value b, uint32_t stride) {
  if (a.len != b.len) return false;
  for (uint32_t i = 0; i < a.len; i += stride) {
    bool found = false;
    for (uint32_t k = 0; k < b.len && !found; k += stride) {
      found = tvms_eval_values_equal(reader, a.as.items[i], b.as.items[k])
              && tvms_eval_values_equal(reader, a.as.items[i + stride - 1],
                                        b.as.items[k + stride - 1]);
    }
    if (!found) return false;
  }
  return true;
}

static bool dtype_equals_text(tvms_eval_value dtype, tvms_eval_value text) {
  char buffer[TVMS_DTYPE_TEXT];
  const char *name = tvms_dtype_text(dtype.as.dtype, buffer);
  return strlen(name) == text.len && memcmp(name, text.as.text, text.len) == 0;
}

tvms_eval_value tvms_constant_of(const tvms_reader *reader, tvms_eval_value value) {
  const tvms_eval_value_ops *ops = tvms_ops_of(reader, value);
  return ops->constant ? ops->constant(value) : value;
}

// T.int32(3) equals 3 in Python; other constants of TVM build a node.
static tvms_eval_value plain_number(const tvms_reader *reader, tvms_eval_value value) {
  tvms_eval_value constant = tvms_constant_of(reader, value);
  return constant.kind == TVMS_EVAL_INT ? constant : value;
}

bool tvms_eval_values_equal(const tvms_reader *reader, tvms_eval_value a,
                            tvms_eval_value b) {
  a = plain_number(reader, a);
  b = plain_number(reader, b);
  if (is_number(a) && is_number(b)) {
    if (is_integral(a) && is_integral(b)) {
      return a.as.i == b.as.i
             && (a.flags & TVMS_EVAL_LARGE) == (b.flags & TVMS_EVAL_LARGE);
    }
    return real_of(a) == real_of(b);
  }
  if (a.kind == TVMS_EVAL_DTYPE && b.kind == TVMS_EVAL_STR) {
    return dtype_equals_text(a, b);
  }
  if (b.kind == TVMS_EVAL_DTYPE && a.kind == TVMS_EVAL_STR) {
    return dtype_equals_text(b, a);
  }
  if (a.kind != b.kind) return false;
  switch (a.kind) {
  case TVMS_EVAL_NONE:
  case TVMS_EVAL_ELLIPSIS: return true;
  case TVMS_EVAL_STR:
  case TVMS_EVAL_BYTES:
    return a.len == b.len && (a.len == 0 || memcmp(a.as.text, b.as.text, a.len) == 0);
  case TVMS_EVAL_DTYPE:
  case TVMS_EVAL_DTYPE_NAME: return tvms_dtype_same(a.as.dtype, b.as.dtype);
  case TVMS_EVAL_TUPLE:
  case TVMS_EVAL_LIST:
  case TVMS_EVAL_RANGE:
  case TVMS_EVAL_SLICE: return items_equal(reader, a, b);
  case TVMS_EVAL_DICT: return entries_equal(reader, a, b, 2);
  case TVMS_EVAL_SET: return entries_equal(reader, a, b, 1);
  default: return a.as.i == b.as.i;
  }
}

// -1, 0, 1; 2 if the two have no order.
static int order_of(tvms_eval_value a, tvms_eval_value b) {
  if (is_number(a) && is_number(b)) {
    if (is_integral(a) && is_integral(b) && !((a.flags | b.flags) & TVMS_EVAL_LARGE)) {
      return a.as.i < b.as.i ? -1 : a.as.i > b.as.i;
    }
    double x = real_of(a), y = real_of(b);
    return x < y ? -1 : x > y ? 1 : 0;
  }
  if (a.kind != b.kind) return 2;
  if (a.kind == TVMS_EVAL_STR) {
    uint32_t len = a.len < b.len ? a.len : b.len;
    int order = len ? memcmp(a.as.text, b.as.text, len) : 0;
    if (order) return order < 0 ? -1 : 1;
    return a.len < b.len ? -1 : a.len > b.len;
  }
  if (!tvms_eval_value_is_sequence(a)) return 2;
  for (uint32_t i = 0; i < a.len && i < b.len; i++) {
    int order = order_of(a.as.items[i], b.as.items[i]);
    if (order) return order;
  }
  return a.len < b.len ? -1 : a.len > b.len;
}

static tvms_eval_value compare(tvms_reader *reader, tvms_surf_op op, tvms_eval_value a,
                               tvms_eval_value b, tvms_ref ref) {
  int order = order_of(a, b);
  if (order == 2) return tvms_bad_operands(reader, op, a, b, ref);
  switch ((int)op) {
  case TVMS_OP_LT: return tvms_eval_value_bool(order < 0);
  case TVMS_OP_LE: return tvms_eval_value_bool(order <= 0);
  case TVMS_OP_GT: return tvms_eval_value_bool(order > 0);
  default: return tvms_eval_value_bool(order >= 0);
  }
}

static bool text_contains(tvms_eval_value whole, tvms_eval_value part) {
  if (part.len == 0) return true;
  for (uint32_t at = 0; at + part.len <= whole.len; at++) {
    if (memcmp(whole.as.text + at, part.as.text, part.len) == 0) return true;
  }
  return false;
}

static tvms_eval_value contains(tvms_reader *reader, tvms_surf_op op,
                                tvms_eval_value item, tvms_eval_value container,
                                tvms_ref ref) {
  bool found = false;
  if (container.kind == TVMS_EVAL_STR && item.kind == TVMS_EVAL_STR) {
    found = text_contains(container, item);
  } else if (container.kind == TVMS_EVAL_STR && item.kind != TVMS_EVAL_DTYPE) {
    tvms_eval_report_wrong_type(reader, ref, "what is looked for in a string",
                                "a string", item);
    return TVMS_UNKNOWN;
  } else if (container.kind == TVMS_EVAL_DICT) {
    if (!tvms_eval_count_steps(reader, container.len, ref)) return TVMS_UNKNOWN;
    for (uint32_t i = 0; i < container.len; i += 2) {
      found = found || tvms_eval_values_equal(reader, container.as.items[i], item);
    }
  } else {
    tvms_eval_items items;
    if (!tvms_eval_iterate(reader, container, ref, &items)) return TVMS_UNKNOWN;
    if (!tvms_eval_count_steps(reader, items.len, ref)) return TVMS_UNKNOWN;
    for (uint32_t i = 0; i < items.len; i++) {
      found = found || tvms_eval_values_equal(reader, items.items[i], item);
    }
  }
  return tvms_eval_value_bool(found == (op == TVMS_OP_IN));
}

// ---- Entry points -------------------------------------------------------------------------

tvms_eval_value tvms_python_binary(tvms_reader *reader, tvms_surf_op op,
                                   tvms_eval_value a, tvms_eval_value b, tvms_ref ref) {
  switch ((int)op) {
  case TVMS_OP_EQ: return tvms_eval_value_bool(tvms_eval_values_equal(reader, a, b));
  case TVMS_OP_NE: return tvms_eval_value_bool(!tvms_eval_values_equal(reader, a, b));
  case TVMS_OP_IS:
  case TVMS_OP_IS_NOT: {
    bool same = a.kind == b.kind && a.as.i == b.as.i;
    return tvms_eval_value_bool(same == (op == TVMS_OP_IS));
  }
  case TVMS_OP_IN:
  case TVMS_OP_NOT_IN: return contains(reader, op, a, b, ref);
  case TVMS_OP_LT:
  case TVMS_OP_LE:
  case TVMS_OP_GT:
  case TVMS_OP_GE: return compare(reader, op, a, b, ref);
  default: break;
  }
  if (is_integral(a) && is_integral(b)) {
    bool logical =
        op == TVMS_OP_BIT_AND || op == TVMS_OP_BIT_OR || op == TVMS_OP_BIT_XOR;
    bool large = (a.flags | b.flags) & TVMS_EVAL_LARGE;
    tvms_eval_value result = large ? large_binary(reader, op, a, b, ref)
                                   : int_binary(reader, op, a.as.i, b.as.i, ref);
    bool both = a.kind == TVMS_EVAL_BOOL && b.kind == TVMS_EVAL_BOOL;
    if (logical && both) result.kind = TVMS_EVAL_BOOL;
    return result;
  }
  if (is_number(a) && is_number(b)) return real_binary(reader, op, a, b, ref);
  if (op == TVMS_OP_ADD && a.kind == b.kind) {
    if (a.kind == TVMS_EVAL_STR) return join_text(reader, a, b, ref);
    if (tvms_eval_value_is_sequence(a)) return join_items(reader, a, b, ref);
  }
  if (op == TVMS_OP_MUL && repeats(a) && is_integral(b)) {
    return repeat(reader, a, b.as.i, ref);
  }
  if (op == TVMS_OP_MUL && repeats(b) && is_integral(a)) {
    return repeat(reader, b, a.as.i, ref);
  }
  tvms_eval_value result;
  if (tvms_eval_set_operator(reader, op, a, b, ref, &result)) return result;
  return tvms_bad_operands(reader, op, a, b, ref);
}

tvms_eval_value tvms_python_unary(tvms_reader *reader, tvms_surf_op op,
                                  tvms_eval_value a, tvms_ref ref) {
  if (op == TVMS_OP_NOT) {
    bool known;
    bool truth = tvms_eval_value_truth(reader, a, &known);
    if (known) return tvms_eval_value_bool(!truth);
  }
  if (is_integral(a)) {
    if (a.flags & TVMS_EVAL_LARGE) {
      if (op == TVMS_OP_NEGATE && a.as.i == INT64_MIN)
        return tvms_eval_value_int(INT64_MIN);
      return op == TVMS_OP_PLUS ? a : too_big(reader, ref);
    }
    if (op == TVMS_OP_NEGATE) {
      return a.as.i == INT64_MIN ? too_big(reader, ref) : tvms_eval_value_int(-a.as.i);
    }
    return tvms_eval_value_int(op == TVMS_OP_INVERT ? ~a.as.i : a.as.i);
  }
  if (a.kind == TVMS_EVAL_FLOAT && op != TVMS_OP_INVERT) {
    return tvms_eval_value_float(op == TVMS_OP_NEGATE ? -a.as.f : a.as.f);
  }
  tvms_reader_report(reader, bad_operand, ref, tvms_surface_operator_text(op),
                     tvms_eval_describe(reader, a));
  return TVMS_UNKNOWN;
}

bool tvms_eval_value_truth(const tvms_reader *reader, tvms_eval_value value,
                           bool *known) {
  *known = true;
  switch ((int)value.kind) {
  case TVMS_EVAL_NONE: return false;
  case TVMS_EVAL_BOOL:
  case TVMS_EVAL_INT: return value.as.i != 0;
  case TVMS_EVAL_FLOAT: return value.as.f != 0;
  case TVMS_EVAL_STR:
  case TVMS_EVAL_BYTES:
  case TVMS_EVAL_TUPLE:
  case TVMS_EVAL_LIST:
  case TVMS_EVAL_SET:
  case TVMS_EVAL_DICT: return value.len != 0;
  case TVMS_EVAL_UNKNOWN: *known = false; return false;
  default: break;
  }
  const tvms_eval_value_ops *ops = tvms_ops_of(reader, value);
  return ops->truth ? ops->truth(value, known) : true;
}
