// Operators on constants, as Python has them: numbers, text, sequences.
#include "parser/eval/python.h"

#include "parser/eval/budget.h"
#include "parser/eval/convert.h"
#include "parser/eval/integer.h"
#include "parser/eval/iterate.h"
#include "parser/eval/meant_value.h"
#include "parser/eval/operator.h"
#include "parser/eval/ops.h"
#include "parser/eval/set.h"

#include <math.h>
#include <string.h>

static bool is_number(tvms_eval_value value) {
  return tvms_eval_integer_is(value) || value.kind == TVMS_EVAL_FLOAT;
}

static double real_of(tvms_eval_value value) {
  if (value.kind == TVMS_EVAL_FLOAT) return value.as.f;
  return tvms_eval_integer_real(value);
}

// ---- Numbers ----------------------------------------------------------------------------

// The remainder has the sign of the divisor; the quotient is what it leaves.
static double real_mod(double a, double b) {
  double rest = fmod(a, b);
  if (rest == 0) return copysign(0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

static double real_floor_div(double a, double b) {
  double quotient = (a - real_mod(a, b)) / b, whole = floor(quotient);
  if (quotient == 0) return copysign(0, a / b);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

static tvms_eval_value real_binary(tvms_reader *reader, tvms_surf_op op,
                                   tvms_eval_value left, tvms_eval_value right,
                                   tvms_ref ref) {
  double a = real_of(left), b = real_of(right);
  bool divides = op == TVMS_OP_DIV || op == TVMS_OP_FLOOR_DIV || op == TVMS_OP_MOD;
  if ((divides && b == 0) || (op == TVMS_OP_POWER && a == 0 && b < 0)) {
    tvms_reader_report(reader, evaluated_division_by_zero, ref);
    return TVMS_UNKNOWN;
  }
  switch ((int)op) {
  case TVMS_OP_ADD: return tvms_eval_value_float(a + b);
  case TVMS_OP_SUB: return tvms_eval_value_float(a - b);
  case TVMS_OP_MUL: return tvms_eval_value_float(a * b);
  case TVMS_OP_POWER: return tvms_eval_value_float(pow(a, b));
  case TVMS_OP_DIV: return tvms_eval_value_float(a / b);
  case TVMS_OP_FLOOR_DIV: return tvms_eval_value_float(real_floor_div(a, b));
  case TVMS_OP_MOD: return tvms_eval_value_float(real_mod(a, b));
  default: return tvms_eval_report_bad_operands(reader, op, left, right, ref);
  }
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

tvms_eval_value tvms_eval_constant_of(const tvms_reader *reader,
                                      tvms_eval_value value) {
  const tvms_eval_value_ops *ops = tvms_eval_ops_of(reader, value);
  return ops->constant ? ops->constant(value) : value;
}

// T.int32(3) equals 3 in Python; other constants of TVM build a node.
static tvms_eval_value plain_number(const tvms_reader *reader, tvms_eval_value value) {
  tvms_eval_value constant = tvms_eval_constant_of(reader, value);
  return constant.kind == TVMS_EVAL_INT ? constant : value;
}

bool tvms_eval_values_equal(const tvms_reader *reader, tvms_eval_value a,
                            tvms_eval_value b) {
  a = plain_number(reader, a);
  b = plain_number(reader, b);
  if (is_number(a) && is_number(b)) {
    if (tvms_eval_integer_is(a) && tvms_eval_integer_is(b)) {
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

enum { INCOMPARABLE = 2, UNORDERED };

// -1, 0, 1; INCOMPARABLE if the two have no order, UNORDERED if one is not a number.
static int order_of(tvms_eval_value a, tvms_eval_value b) {
  if (is_number(a) && is_number(b)) {
    if (tvms_eval_integer_is(a) && tvms_eval_integer_is(b))
      return tvms_eval_integer_order(a, b);
    double x = real_of(a), y = real_of(b);
    return x < y ? -1 : x > y ? 1 : x == y ? 0 : UNORDERED;
  }
  if (a.kind != b.kind) return INCOMPARABLE;
  if (a.kind == TVMS_EVAL_STR) {
    uint32_t len = a.len < b.len ? a.len : b.len;
    int order = len ? memcmp(a.as.text, b.as.text, len) : 0;
    if (order) return order < 0 ? -1 : 1;
    return a.len < b.len ? -1 : a.len > b.len;
  }
  if (!tvms_eval_value_is_sequence(a)) return INCOMPARABLE;
  for (uint32_t i = 0; i < a.len && i < b.len; i++) {
    int order = order_of(a.as.items[i], b.as.items[i]);
    if (order) return order;
  }
  return a.len < b.len ? -1 : a.len > b.len;
}

static tvms_eval_value compare(tvms_reader *reader, tvms_surf_op op, tvms_eval_value a,
                               tvms_eval_value b, tvms_ref ref) {
  if (a.kind == TVMS_EVAL_SET && b.kind == TVMS_EVAL_SET) {
    return tvms_eval_value_bool(tvms_eval_sets_compare(reader, op, a, b));
  }
  int order = order_of(a, b);
  if (order == INCOMPARABLE)
    return tvms_eval_report_bad_operands(reader, op, a, b, ref);
  if (order == UNORDERED) return tvms_eval_value_bool(false);
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
  bool hashes = container.kind == TVMS_EVAL_DICT || container.kind == TVMS_EVAL_SET;
  if (hashes && !tvms_eval_can_hash(reader, item, ref)) return TVMS_UNKNOWN;
  if (container.kind == TVMS_EVAL_STR && item.kind == TVMS_EVAL_STR) {
    found = text_contains(container, item);
  } else if (container.kind == TVMS_EVAL_STR && item.kind != TVMS_EVAL_DTYPE) {
    tvms_eval_report_wrong_type(reader, ref, "the left operand of 'in' with a string",
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

tvms_eval_value tvms_eval_python_binary(tvms_reader *reader, tvms_surf_op op,
                                        tvms_eval_value a, tvms_eval_value b,
                                        tvms_ref ref) {
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
  if (tvms_eval_integer_is(a) && tvms_eval_integer_is(b)) {
    bool logical =
        op == TVMS_OP_BIT_AND || op == TVMS_OP_BIT_OR || op == TVMS_OP_BIT_XOR;
    tvms_eval_value result = tvms_eval_integer_binary(reader, op, a, b, ref);
    bool both = a.kind == TVMS_EVAL_BOOL && b.kind == TVMS_EVAL_BOOL;
    if (logical && both) result.kind = TVMS_EVAL_BOOL;
    return result;
  }
  if (is_number(a) && is_number(b)) return real_binary(reader, op, a, b, ref);
  if (op == TVMS_OP_ADD && a.kind == b.kind) {
    if (a.kind == TVMS_EVAL_STR) return join_text(reader, a, b, ref);
    if (tvms_eval_value_is_sequence(a)) return join_items(reader, a, b, ref);
  }
  if (op == TVMS_OP_MUL && repeats(a) && tvms_eval_integer_is(b)) {
    return repeat(reader, a, b.as.i, ref);
  }
  if (op == TVMS_OP_MUL && repeats(b) && tvms_eval_integer_is(a)) {
    return repeat(reader, b, a.as.i, ref);
  }
  tvms_eval_value result;
  if (tvms_eval_set_operator(reader, op, a, b, ref, &result)) return result;
  return tvms_eval_report_bad_operands(reader, op, a, b, ref);
}

tvms_eval_value tvms_eval_python_unary(tvms_reader *reader, tvms_surf_op op,
                                       tvms_eval_value a, tvms_ref ref) {
  if (op == TVMS_OP_NOT) {
    bool known;
    bool truth = tvms_eval_value_truth(reader, a, &known);
    if (known) return tvms_eval_value_bool(!truth);
  }
  if (tvms_eval_integer_is(a)) return tvms_eval_integer_unary(reader, op, a, ref);
  if (a.kind == TVMS_EVAL_FLOAT && op != TVMS_OP_INVERT) {
    return tvms_eval_value_float(op == TVMS_OP_NEGATE ? -a.as.f : a.as.f);
  }
  tvms_eval_explain_sign(reader,
                         tvms_reader_report(reader, bad_operand, ref,
                                            tvms_surface_operator_text(op),
                                            tvms_eval_describe(reader, a)),
                         ref);
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
  const tvms_eval_value_ops *ops = tvms_eval_ops_of(reader, value);
  return ops->truth ? ops->truth(value, known) : true;
}
