// Values of TIR as variables of C.
//
// Integers wrap: they are computed without sign and converted back, except where they make
// an index. What could fault is computed only where it is wanted (Select, And, Or), as the
// interpreter does.
#include "backend/c/expr.h"

#include "backend/c/calls.h"
#include "backend/c/division.h"
#include "backend/c/memory.h"
#include "backend/c/numbers.h"
#include "backend/c/quads.h"
#include "backend/c/scaled.h"
#include "backend/c/shuffle.h"
#include "backend/c/truths.h"
#include "backend/c/vector.h"
#include "backend/core/clamped.h"
#include "backend/core/classes.h"
#include "ir/build.h"
#include "ir/op.h"
#include "support/diag_ids.h"

#include <math.h>

const char *tvms_c_index(c_emitter *e, const tvms_node *node) {
  bool before = e->in_index;
  e->in_index = true;
  const char *value = tvms_c_expr(e, node);
  e->in_index = before;
  return value;
}

const char *tvms_c_condition(c_emitter *e, const tvms_node *node) {
  const char *value = tvms_c_expr(e, node);
  if (tvms_dtype_is_bool(node->dtype)) return value;
  if (tvms_c_is_whole(node->dtype))
    return tvms_c_compare(e, node->dtype, node->span, value,
                          "!=", tvms_c_spread(e, node->dtype, node->span, "0"));
  tvms_dtype truth = {TVMS_BOOL, 1, node->dtype.lanes};
  const char *lane = tvms_c_lane(e, value, node->dtype);
  return tvms_c_value(e, truth, node->span, tvms_c_text(e, "(%s != 0)", lane));
}

// ---- What is computed only where it is wanted ----

// A variable that gets its value on two ways.
static const char *open_choice(c_emitter *e, tvms_dtype dtype, tvms_span span) {
  const char *name = tvms_c_text(e, "v%u", e->next++);
  tvms_c_line(e, "%s %s;", tvms_c_type(e, dtype, span), name);
  return name;
}

static bool is_simple(const tvms_node *node) {
  return node->kind == TVMS_NODE_VAR || node->kind == TVMS_NODE_INT_IMM
         || node->kind == TVMS_NODE_FLOAT_IMM;
}

static const char *select(c_emitter *e, const tvms_node *node,
                          const tvms_node *condition, const tvms_node *yes,
                          const tvms_node *no) {
  const char *test = tvms_c_condition(e, condition);
  if (condition->dtype.lanes > 1 || (is_simple(yes) && is_simple(no))) {
    const char *a = tvms_c_expr(e, yes), *b = tvms_c_expr(e, no);
    if (tvms_c_is_whole(condition->dtype) && !tvms_dtype_is_bool(node->dtype))
      return tvms_c_blend(e, node->dtype, node->span, test, a, b);
    return tvms_c_value(
        e, node->dtype, node->span,
        tvms_c_text(e, "%s ? %s : %s", tvms_c_lane(e, test, condition->dtype),
                    tvms_c_lane(e, a, yes->dtype), tvms_c_lane(e, b, no->dtype)));
  }
  const char *name = open_choice(e, node->dtype, node->span);
  tvms_c_open(e, "if (%s)", test);
  tvms_c_line(e, "%s = %s;", name, tvms_c_expr(e, yes));
  e->depth--;
  tvms_c_open(e, "} else");
  tvms_c_line(e, "%s = %s;", name, tvms_c_expr(e, no));
  tvms_c_close(e);
  return name;
}

// Both vectors of truths, or either of them.
static const char *join_truths(c_emitter *e, const tvms_node *node, const char *a,
                               const char *b) {
  const char *sign = node->kind == TVMS_NODE_AND ? "&" : "|";
  int lanes = node->dtype.lanes, bits = tvms_c_mask_bits(a);
  if (!bits) bits = tvms_c_mask_bits(b);
  if (bits) {
    const char *x = tvms_c_mask_of(e, a, lanes, bits, node->span);
    const char *y = tvms_c_mask_of(e, b, lanes, bits, node->span);
    const char *both =
        tvms_c_mask(e, bits, lanes, node->span, tvms_c_text(e, "%s %s %s", x, sign, y));
    tvms_c_note_joined(e, both, a, sign, b);
    return both;
  }
  if (tvms_c_is_whole(node->dtype))
    return tvms_c_whole(e, node->dtype, node->span,
                        tvms_c_text(e, "%s %s %s", a, sign, b));
  return tvms_c_value(e, node->dtype, node->span,
                      tvms_c_text(e, "%s %s %s", tvms_c_lane(e, a, node->dtype), sign,
                                  tvms_c_lane(e, b, node->dtype)));
}

static const char *logic(c_emitter *e, const tvms_node *node) {
  const tvms_binary *binary = tvms_as_binary(node);
  bool is_and = node->kind == TVMS_NODE_AND;
  const char *a = tvms_c_condition(e, binary->a);
  if (node->dtype.lanes > 1)
    return join_truths(e, node, a, tvms_c_condition(e, binary->b));
  const char *name = open_choice(e, node->dtype, node->span);
  tvms_c_line(e, "%s = %s;", name, a);
  tvms_c_open(e, is_and ? "if (%s)" : "if (!%s)", name);
  tvms_c_line(e, "%s = %s;", name, tvms_c_condition(e, binary->b));
  tvms_c_close(e);
  return name;
}

// ---- Integers ----

// Is it a truth that counts as a number?
static bool is_truth(const tvms_node *node) {
  return node->kind == TVMS_NODE_CAST
         && tvms_dtype_is_bool(tvms_as_cast(node)->value->dtype);
}

static const char *int_arithmetic(c_emitter *e, const tvms_node *node, const char *a,
                                  const char *b) {
  // A sum of truths is true if it is not zero, as in the interpreter.
  bool truth = tvms_dtype_is_bool(node->dtype);
  const char *sign = node->kind == TVMS_NODE_ADD   ? truth ? "|" : "+"
                     : node->kind == TVMS_NODE_SUB ? truth ? "^" : "-"
                     : truth                       ? "&"
                                                   : "*";
  tvms_dtype scalar = tvms_dtype_with_lanes(node->dtype, 1);
  const char *type = tvms_c_type(e, scalar, node->span);
  if (node->kind > TVMS_NODE_MUL)
    return tvms_c_text(e, "(%s)(%s)", type, tvms_c_divide(e, node, a, b));
  // GCC multiplies by what is 0 or 1.
  bool chosen = is_truth(tvms_as_binary(node)->a);
  if (*sign == '*' && (chosen || is_truth(tvms_as_binary(node)->b)))
    return tvms_c_text(e, "(%s)(-%s & %s)", type, chosen ? a : b, chosen ? b : a);
  if (e->in_index && node->dtype.code == TVMS_INT && node->dtype.bits >= 32)
    return tvms_c_text(e, "%s %s %s", a, sign, b);
  const char *wide = node->dtype.bits == 64 ? "u64" : "u32";
  return tvms_c_text(e, "(%s)((%s)%s %s (%s)%s)", type, wide, a, sign, wide, b);
}

// ---- Reals ----

static const char *real_arithmetic(c_emitter *e, const tvms_node *node, const char *a,
                                   const char *b) {
  bool wide = node->dtype.bits == 64;
  switch ((int)node->kind) {
  case TVMS_NODE_ADD: return tvms_c_text(e, "%s + %s", a, b);
  case TVMS_NODE_SUB: return tvms_c_text(e, "%s - %s", a, b);
  case TVMS_NODE_MUL: return tvms_c_text(e, "%s * %s", a, b);
  case TVMS_NODE_DIV: return tvms_c_text(e, "%s / %s", a, b);
  case TVMS_NODE_MOD:
    return tvms_c_text(e, "%s(%s, %s)", tvms_c_function(e, "fmod", wide, 2), a, b);
  case TVMS_NODE_FLOOR_DIV:
    return tvms_c_text(e, "%s(%s / %s)", tvms_c_function(e, "floor", wide, 1), a, b);
  default: {
    const char *floor = tvms_c_function(e, "floor", wide, 1);
    return tvms_c_text(e, "%s - %s(%s / %s) * %s", a, floor, a, b, b);
  }
  }
}

// A number of 16 bits, which is float32 in registers, and is kept rounded in both forms.
static bool is_half(tvms_dtype dtype) {
  return tvms_c_is_narrow(dtype) && dtype.lanes == 1;
}

static const char *half_of(c_emitter *e, const tvms_node *node, const char *exact) {
  return tvms_c_widen(e, node->dtype, node->span,
                      tvms_c_to_memory(e, node->dtype, exact));
}

// ---- Both ----

// The operator of C that compares so; NULL if none does.
static const char *TVMS_NULLABLE sign_of(tvms_node_kind kind) {
  switch ((int)kind) {
  case TVMS_NODE_EQ: return "==";
  case TVMS_NODE_NE: return "!=";
  case TVMS_NODE_LT: return "<";
  case TVMS_NODE_LE: return "<=";
  case TVMS_NODE_GT: return ">";
  case TVMS_NODE_GE: return ">=";
  default: return NULL;
  }
}

// Is it the greater of a signed integer and 0? Of that and of a min GCC makes steps in vector registers, for single places:
// the way there and back takes longer than the two steps.
static bool is_from_zero(const tvms_node *node) {
  return node->dtype.code == TVMS_INT && node->dtype.bits >= 32
         && node->dtype.lanes == 1 && tvms_node_is_int(tvms_as_binary(node)->b, 0);
}

static const char *compare(c_emitter *e, const tvms_node *node, const char *a,
                           const char *b) {
  switch ((int)node->kind) {
  case TVMS_NODE_MIN: return tvms_c_text(e, "(%s < %s ? %s : %s)", a, b, a, b);
  case TVMS_NODE_MAX:
    if (tvms_dtype_is_real(node->dtype))
      return tvms_c_text(e, "(%s > %s ? %s : %s)", a, b, a, b);
    if (is_from_zero(node))
      return tvms_c_text(e, "(%s & ~(%s >> %d))", a, a, node->dtype.bits - 1);
    return tvms_c_text(e, "(%s < %s ? %s : %s)", a, b, b, a);
  default:
    return tvms_c_text(e, "(%s %s %s)", a, sign_of((tvms_node_kind)node->kind), b);
  }
}

// A product of floats that a sum takes: rounded once with it, if that is asked for.
static const tvms_binary *TVMS_NULLABLE product(const c_emitter *e,
                                                const tvms_node *node) {
  bool wide = node->dtype.code == TVMS_FLOAT && node->dtype.bits >= 32;
  return e->contract && wide && node->kind == TVMS_NODE_MUL ? tvms_as_binary(node)
                                                            : NULL;
}

bool tvms_c_contracts(const c_emitter *e, const tvms_node *node,
                      tvms_contraction *sum) {
  if (node->kind != TVMS_NODE_ADD && node->kind != TVMS_NODE_SUB) return false;
  const tvms_binary *sides = tvms_as_binary(node), *times = product(e, sides->a);
  *sum = (tvms_contraction){times, times ? sides->b : sides->a, times != NULL};
  if (!times) sum->times = product(e, sides->b);
  return sum->times != NULL;
}

// fma(x, y, z) of lanes; of a difference, the product or the other side has the other sign.
static const char *contracted(c_emitter *e, const tvms_node *node,
                              const tvms_contraction *sum) {
  bool differs = node->kind == TVMS_NODE_SUB, first = sum->first;
  const char *x = tvms_c_expr(e, sum->times->a), *y = tvms_c_expr(e, sum->times->b);
  const char *z = tvms_c_expr(e, sum->added);
  const char *fma = node->dtype.bits == 64 ? "mul_add_f64" : "mul_add_f32";
  const char *minus_x = differs && !first ? "-" : "",
             *minus_z = differs && first ? "-" : "";
  if (tvms_c_is_whole(node->dtype)) {
    const char *args[] = {tvms_c_text(e, "%s%s", minus_x, x), y,
                          tvms_c_text(e, "%s%s", minus_z, z)};
    return tvms_c_each_lane(e, node->dtype, node->span, fma, args, 3);
  }
  return tvms_c_value(e, node->dtype, node->span,
                      tvms_c_text(e, "%s(%s%s, %s, %s%s)", fma, minus_x,
                                  tvms_c_lane(e, x, node->dtype),
                                  tvms_c_lane(e, y, node->dtype), minus_z,
                                  tvms_c_lane(e, z, node->dtype)));
}

// Is it a product of vectors of 64 bits by a number that more than two steps would be needed for?
static bool multiplies_in_steps(const tvms_node *node) {
  int64_t number;
  int lanes = node->dtype.lanes;
  return node->kind == TVMS_NODE_MUL && node->dtype.bits == 64 && lanes <= 8
         && !(lanes & (lanes - 1))
         && tvms_node_int_in_lanes(tvms_as_binary(node)->b, &number)
         && __builtin_popcountll((uint64_t)number) > 2;
}

// Operators on vectors that are operators of C on them; NULL if it is none of these.
static const char *TVMS_NULLABLE binary_whole(c_emitter *e, const tvms_node *node,
                                              const char *a, const char *b) {
  tvms_dtype dtype = tvms_as_binary(node)->a->dtype;
  tvms_span span = node->span;
  const char *compares = sign_of((tvms_node_kind)node->kind);
  if (compares) return tvms_c_compare(e, dtype, span, a, compares, b);
  if (node->kind == TVMS_NODE_MIN || node->kind == TVMS_NODE_MAX)
    return tvms_c_extreme(e, dtype, span, a, b, node->kind == TVMS_NODE_MAX);
  if (tvms_c_is_narrow(dtype) && node->kind <= TVMS_NODE_DIV) {
    const char *result = real_arithmetic(e, node, a, b);
    return tvms_c_rounded(e, dtype, span, result);
  }
  const char *sign = node->kind == TVMS_NODE_ADD   ? "+"
                     : node->kind == TVMS_NODE_SUB ? "-"
                     : node->kind == TVMS_NODE_MUL ? "*"
                                                   : NULL;
  if (tvms_dtype_is_real(dtype)) return NULL;
  if (!sign) return tvms_c_divide_whole(e, node, a, b);
  if (multiplies_in_steps(node)) return tvms_c_times(e, dtype, span, a, b);
  return tvms_c_wrapping(e, dtype, node->span, a, sign, b);
}

const tvms_node *TVMS_NULLABLE tvms_c_truth_of(const tvms_node *node) {
  const tvms_binary *binary = tvms_as_binary(node);
  const tvms_node *cast = binary->b;
  int64_t zero;
  bool asks = node->kind == TVMS_NODE_LT && tvms_node_int_in_lanes(binary->a, &zero)
              && !zero && cast->kind == TVMS_NODE_CAST
              && tvms_dtype_is_bool(tvms_as_cast(cast)->value->dtype);
  return asks ? tvms_as_cast(cast)->value : NULL;
}

static const char *binary_expr(c_emitter *e, const tvms_node *node) {
  const tvms_node *classified;
  tvms_tir_opcode class = tvms_class_asked(node, &classified);
  if (class) return tvms_c_classify(e, node, classified, class);
  if (node->kind == TVMS_NODE_AND || node->kind == TVMS_NODE_OR) return logic(e, node);
  const tvms_binary *binary = tvms_as_binary(node);
  tvms_contraction sum;
  if (tvms_c_contracts(e, node, &sum)) return contracted(e, node, &sum);
  const char *made = tvms_c_quad(e, node);
  if (!made) made = tvms_c_scaled(e, node);
  if (made) return made;
  const char *a = tvms_c_expr(e, binary->a), *b = tvms_c_expr(e, binary->b);
  bool divides = node->kind >= TVMS_NODE_DIV && node->kind <= TVMS_NODE_FLOOR_MOD;
  if (divides && !tvms_dtype_is_real(node->dtype))
    tvms_c_check_divisor(e, binary->b, b);
  if (tvms_c_is_whole(node->dtype) && !tvms_dtype_is_bool(binary->a->dtype)) {
    made = binary_whole(e, node, a, b);
    if (made) return made;
  }
  bool real = tvms_dtype_is_real(binary->a->dtype);
  bool whole = real && node->kind <= TVMS_NODE_DIV && node->dtype.bits >= 32;
  if (whole)
    return tvms_c_whole(e, node->dtype, node->span, real_arithmetic(e, node, a, b));
  const char *left = tvms_c_lane(e, a, binary->a->dtype);
  const char *right = tvms_c_lane(e, b, binary->b->dtype), *value;
  if (real && node->kind <= TVMS_NODE_FLOOR_MOD && is_half(node->dtype))
    return half_of(e, node, real_arithmetic(e, node, left, right));
  if (node->kind > TVMS_NODE_FLOOR_MOD)
    value = compare(e, node, left, right);
  else
    value = real ? tvms_c_round(e, node->dtype, real_arithmetic(e, node, left, right))
                 : int_arithmetic(e, node, left, right);
  return tvms_c_value(e, node->dtype, node->span, value);
}

// ---- Vectors ----

static const char *ramp(c_emitter *e, const tvms_node *node) {
  const tvms_ramp *source = tvms_as_ramp(node);
  if (source->base->dtype.lanes > 1) tvms_c_refuse(e, node->span, "a ramp of vectors");
  const char *base = tvms_c_expr(e, source->base);
  const char *stride = tvms_c_expr(e, source->stride);
  if (tvms_c_is_whole(node->dtype))
    return tvms_c_ramp(e, node->dtype, node->span, base, stride);
  tvms_dtype scalar = tvms_dtype_with_lanes(node->dtype, 1);
  return tvms_c_value(e, node->dtype, node->span,
                      tvms_c_text(e, "(%s)((u64)%s + (u64)%s * (u64)k)",
                                  tvms_c_type(e, scalar, node->span), base, stride));
}

// ---- All kinds ----

static const char *variable(c_emitter *e, const tvms_node *node) {
  if (e->vars[node->id]) return e->vars[node->id];
  tvms_diag_report(&e->context->diags, TVMS_D_no_value_yet, node->span,
                   tvms_symbol_text(e->context, tvms_as_var(node)->name));
  tvms_c_give_up(e);
}

static const char *int_constant(c_emitter *e, const tvms_node *node) {
  int64_t value = tvms_as_int_imm(node)->value;
  if (value == INT64_MIN) return "(-9223372036854775807ll - 1)";
  bool is_signed = node->dtype.code == TVMS_INT;
  if (node->dtype.bits <= 32 && is_signed && value > INT32_MIN)
    return tvms_c_text(e, value < 0 ? "(%lld)" : "%lld", (long long)value);
  if (is_signed) return tvms_c_text(e, "(%lldll)", (long long)value);
  return tvms_c_text(
      e, "(u%d)%lluull",
      node->dtype.bits > 8 || node->dtype.code == TVMS_UINT ? node->dtype.bits : 8,
      (unsigned long long)value);
}

static const char *real_constant(c_emitter *e, const tvms_node *node) {
  tvms_scalar value = {.f = tvms_as_float_imm(node)->value};
  value = tvms_scalar_fit(value, tvms_interp_dl_type_of(node->dtype));
  const char *suffix = node->dtype.bits == 64 ? "" : "f";
  if (isnan(value.f)) return tvms_c_text(e, "__builtin_nan%s(\"\")", suffix);
  if (isinf(value.f))
    return tvms_c_text(e, "(%s__builtin_inf%s())", value.f < 0 ? "-" : "", suffix);
  return tvms_c_text(e, signbit(value.f) ? "(%a%s)" : "%a%s", value.f, suffix);
}

bool tvms_c_are_numbers(const tvms_cast *cast, tvms_lanes *lanes) {
  enum { EXACT = 1 << 24 };
  tvms_dtype dtype = cast->head.dtype;
  bool fits = dtype.code == TVMS_FLOAT && dtype.bits >= 32 && tvms_c_is_whole(dtype)
              && !tvms_dtype_is_real(cast->value->dtype)
              && !tvms_dtype_is_bool(cast->value->dtype)
              && tvms_lanes_read(cast->value, lanes) && !lanes->base_count;
  return fits && lanes->least >= -EXACT && lanes->least + lanes->span <= EXACT;
}

// Integers that count, of which the lower bits are wanted: these count, too, and GCC has more lanes for them.
static bool is_narrowed_ramp(const tvms_node *node) {
  const tvms_node *from = tvms_as_cast(node)->value;
  return from->kind == TVMS_NODE_RAMP && tvms_dtype_is_int(from->dtype)
         && tvms_dtype_is_int(node->dtype) && tvms_c_is_whole(node->dtype)
         && node->dtype.bits <= from->dtype.bits
         && tvms_as_ramp(from)->base->dtype.lanes == 1;
}

static const char *narrowed_ramp(c_emitter *e, const tvms_node *node) {
  const tvms_node *from = tvms_as_cast(node)->value;
  const tvms_ramp *source = tvms_as_ramp(from);
  tvms_dtype wide = tvms_dtype_with_lanes(from->dtype, 1);
  tvms_dtype narrow = tvms_dtype_with_lanes(node->dtype, 1);
  const char *base = tvms_c_convert(e, wide, narrow, tvms_c_expr(e, source->base));
  const char *stride = tvms_c_convert(e, wide, narrow, tvms_c_expr(e, source->stride));
  return tvms_c_ramp(e, node->dtype, node->span, base, stride);
}

static const char *convert(c_emitter *e, const tvms_node *node) {
  const tvms_node *from = tvms_as_cast(node)->value;
  tvms_lanes lanes;
  if (tvms_c_are_numbers(tvms_as_cast(node), &lanes)) {
    const char *list = "";
    for (uint32_t i = 0; i < lanes.count; i++)
      list =
          tvms_c_text(e, "%s%s%lld", list, i ? ", " : "", (long long)lanes.offsets[i]);
    return tvms_c_whole(e, node->dtype, node->span, tvms_c_text(e, "{%s}", list));
  }
  if (is_narrowed_ramp(node)) return narrowed_ramp(e, node);
  const char *value = tvms_c_expr(e, from);
  bool whole =
      tvms_c_is_whole(node->dtype) && tvms_c_converts_whole(from->dtype, node->dtype);
  bool inside = tvms_c_ranges_fit(e->ranges, from, node->dtype);
  if (whole && (inside || tvms_clamped_to(from, node->dtype)))
    return tvms_c_convert_inside(e, from->dtype, node->dtype, node->span, value);
  if (whole)
    return tvms_c_convert_whole(e, from->dtype, node->dtype, node->span, value);
  const char *lane = tvms_c_lane(e, value, from->dtype);
  if (is_half(node->dtype))
    return half_of(e, node,
                   tvms_dtype_same(from->dtype, node->dtype)
                       ? lane
                       : tvms_c_text(e, "(f32)(%s)", lane));
  if (inside && node->dtype.lanes == 1)
    return tvms_c_whole(
        e, node->dtype, node->span,
        tvms_c_text(e, "(%s)%s", tvms_c_type(e, node->dtype, node->span), value));
  return tvms_c_value(e, node->dtype, node->span,
                      tvms_c_convert(e, from->dtype, node->dtype, lane));
}

// Is the comparison one of reals of which so many lanes are a register? What a register of masks gets from one of scalars
// goes by flags, for which GCC has a result wait that the step before left in the same register.
static bool compares_in_lanes(const tvms_node *value, int lanes) {
  if (!sign_of((tvms_node_kind)value->kind)) return false;
  tvms_dtype dtype = tvms_as_binary(value)->a->dtype;
  return dtype.code == TVMS_FLOAT && dtype.bits >= 32 && dtype.bits / 8 * lanes <= 64;
}

static const char *broadcast(c_emitter *e, const tvms_node *node) {
  const tvms_node *value = tvms_as_broadcast(node)->value;
  if (value->dtype.lanes > 1) tvms_c_refuse(e, node->span, "a broadcast of vectors");
  bool whole = tvms_c_is_whole(node->dtype);
  if (whole && compares_in_lanes(value, node->dtype.lanes)) {
    const tvms_binary *sides = tvms_as_binary(value);
    const char *a = tvms_c_expr(e, sides->a), *b = tvms_c_expr(e, sides->b);
    tvms_dtype dtype = tvms_dtype_with_lanes(sides->a->dtype, node->dtype.lanes);
    a = tvms_c_spread(e, dtype, node->span, a);
    b = tvms_c_spread(e, dtype, node->span, b);
    return tvms_c_compare(e, dtype, node->span, a, sign_of((tvms_node_kind)value->kind),
                          b);
  }
  const char *scalar = tvms_c_expr(e, value);
  return whole ? tvms_c_spread(e, node->dtype, node->span, scalar)
               : tvms_c_value(e, node->dtype, node->span, scalar);
}

static const char *expr_kind(c_emitter *e, const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_VAR: return variable(e, node);
  case TVMS_NODE_INT_IMM: return int_constant(e, node);
  case TVMS_NODE_FLOAT_IMM: return real_constant(e, node);
  case TVMS_NODE_NOT: {
    const tvms_node *a = tvms_as_not(node)->a;
    const char *truth = tvms_c_condition(e, a);
    int bits = tvms_c_mask_bits(truth);
    if (bits) {
      const char *mask = tvms_c_mask(e, bits, node->dtype.lanes, node->span,
                                     tvms_c_text(e, "~%s", truth));
      tvms_c_note_joined(e, mask, truth, "", NULL);
      return mask;
    }
    if (tvms_c_is_whole(node->dtype))
      return tvms_c_whole(e, node->dtype, node->span, tvms_c_text(e, "%s ^ 1", truth));
    const char *lane = tvms_c_lane(e, truth, a->dtype);
    return tvms_c_value(e, node->dtype, node->span, tvms_c_text(e, "!%s", lane));
  }
  case TVMS_NODE_SELECT: {
    const tvms_select *source = tvms_as_select(node);
    return select(e, node, source->condition, source->true_value, source->false_value);
  }
  case TVMS_NODE_CAST: return convert(e, node);
  case TVMS_NODE_LET: {
    const tvms_let *source = tvms_as_let(node);
    e->vars[source->var->id] = tvms_c_expr(e, source->value);
    return tvms_c_expr(e, source->body);
  }
  case TVMS_NODE_RAMP: return ramp(e, node);
  case TVMS_NODE_BROADCAST: return broadcast(e, node);
  case TVMS_NODE_SHUFFLE: return tvms_c_shuffle(e, node);
  case TVMS_NODE_BUFFER_LOAD: return tvms_c_load(e, node);
  case TVMS_NODE_CALL: {
    const tvms_call *call = tvms_as_call(node);
    if (tvms_call_opcode(node) == TVMS_TIR_if_then_else && call->args.len == 3)
      return select(e, node, call->args.items[0], call->args.items[1],
                    call->args.items[2]);
    return tvms_c_call(e, call);
  }
  default:
    tvms_c_refuse(e, node->span, tvms_node_schema_of((tvms_node_kind)node->kind)->name);
  }
}

const char *tvms_c_expr(c_emitter *e, const tvms_node *node) {
  if (!tvms_memory_enter(&e->context->memory)) {
    tvms_diag_report(&e->context->diags, TVMS_D_too_deep, node->span,
                     e->context->memory.depth_limit);
    tvms_c_give_up(e);
  }
  const char *value = tvms_c_numbers(e, node);
  if (!value)
    value = tvms_node_is_binary(node) ? binary_expr(e, node) : expr_kind(e, node);
  tvms_memory_leave(&e->context->memory);
  return value;
}
