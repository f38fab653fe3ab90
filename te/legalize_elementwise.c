// Descriptions of operators that work element by element.
//
// Those that are one expression of their elements are rows of te/unary.def and te/binary.def,
// with the names that topi gives to their PrimFunc and stage; the others are written out
// here. Operands of a binary operator broadcast, and one of them may be a scalar.
#include "ir/fold_ops.h"
#include "te/element.h"
#include "te/legalize.h"
#include "te/legalizers.h"

#include <math.h>

#define BUILD2(KIND, a, b)                                                             \
  tvms_build_binary(te->unit, TVMS_NODE_##KIND, (a), (b), TVMS_NO_SPAN)
#define BITS(op)     tvms_build_bitwise(te->unit, TVMS_TIR_##op, a, b, TVMS_NO_SPAN)
#define CONST(value) tvms_te_const(te, x->dtype, (value))

static tvms_node *call2(tvms_te *te, tvms_tir_opcode op, tvms_node *a, tvms_node *b) {
  if (!tvms_build_match_dtypes(te->unit, &a, &b, TVMS_NO_SPAN)) return NULL;
  tvms_node *args[] = {a, b};
  return tvms_call_new_of(te->unit, a->dtype, op, args, 2, TVMS_NO_SPAN);
}

// Integers are whole already.
static tvms_node *round_to_integer(tvms_te *te, tvms_tir_opcode op, tvms_node *x) {
  return tvms_dtype_is_real(x->dtype) ? tvms_te_call(te, op, x) : x;
}

// TVM rounded halves away from zero until 0.23.
static tvms_tir_opcode rounding(const tvms_te *te) {
  return tvms_release_has(te->unit->dialect, TVMS_FACT_round_is_nearbyint)
             ? TVMS_TIR_nearbyint
             : TVMS_TIR_round;
}

static tvms_node *select(tvms_te *te, tvms_node *condition, tvms_node *yes,
                         tvms_node *no) {
  return tvms_te_select(te, condition, yes, no);
}

static tvms_node *abs_of(tvms_te *te, tvms_node *x) {
  if (tvms_dtype_is_real(x->dtype)) return tvms_build_abs(te->unit, x, TVMS_NO_SPAN);
  if (x->dtype.code == TVMS_UINT) return x;
  tvms_node *negative = tvms_build_neg(te->unit, x, TVMS_NO_SPAN);
  return select(te, BUILD2(GE, x, CONST(0)), x, negative);
}

// Integers have no power in TVM.
static tvms_node *power(tvms_te *te, tvms_node *a, tvms_node *b) {
  bool real = tvms_dtype_is_real(a->dtype) || tvms_dtype_is_real(b->dtype);
  return real ? call2(te, TVMS_TIR_pow, a, b) : NULL;
}

static tvms_node *sign_of(tvms_te *te, tvms_node *x) {
  tvms_node *zero = CONST(0);
  tvms_node *negative = select(te, BUILD2(LT, x, zero), CONST(-1), zero);
  return select(te, BUILD2(GT, x, zero), CONST(1), negative);
}

static tvms_node *floor_divide(tvms_te *te, tvms_node *a, tvms_node *b) {
  if (!tvms_build_match_dtypes(te->unit, &a, &b, TVMS_NO_SPAN)) return NULL;
  if (!tvms_dtype_is_real(a->dtype)) return BUILD2(FLOOR_DIV, a, b);
  return tvms_te_call(te, TVMS_TIR_floor, BUILD2(DIV, a, b));
}

static tvms_node *floor_mod(tvms_te *te, tvms_node *a, tvms_node *b) {
  if (!tvms_build_match_dtypes(te->unit, &a, &b, TVMS_NO_SPAN)) return NULL;
  if (!tvms_dtype_is_real(a->dtype)) return BUILD2(FLOOR_MOD, a, b);
  return BUILD2(SUB, a, BUILD2(MUL, floor_divide(te, a, b), b));
}

static tvms_node *log_add_exp(tvms_te *te, tvms_node *a, tvms_node *b) {
  tvms_node *sum =
      BUILD2(ADD, tvms_te_call(te, TVMS_TIR_exp, a), tvms_te_call(te, TVMS_TIR_exp, b));
  return sum ? tvms_te_call(te, TVMS_TIR_log, sum) : NULL;
}

#define UNARY(ident, since, primfunc, stage, axis, element)                            \
  static tvms_node *unary_##ident(tvms_te *te, tvms_node *x) {                         \
    return (element);                                                                  \
  }                                                                                    \
  bool tvms_legalize_##ident(tvms_legal *legal) {                                      \
    legal->name = primfunc;                                                            \
    if (legal->te.unit->dialect < TVMS_DIALECT_##since) return false;                  \
    tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));                 \
    tvms_node *y = tvms_te_map(&legal->te, x, stage, axis, unary_##ident);             \
    return tvms_legal_return(legal, y);                                                \
  }
#include "te/unary.def"

static bool binary(tvms_legal *legal, const char *name, const char *stage,
                   tvms_te_binary element) {
  legal->name = name;
  const tvms_node *left = tvms_legal_arg(legal, 0), *right = tvms_legal_arg(legal, 1);
  // At most one side may be a value: a stage needs a tensor for its shape.
  bool prim_left = tvms_legal_is_prim(left), prim_right = tvms_legal_is_prim(right);
  if (prim_left && prim_right) return false;
  bool value_right = prim_right || (!prim_left && tvms_legal_constant(legal, right));
  tvms_node *a =
      value_right ? tvms_legal_tensor(legal, left) : tvms_legal_operand(legal, left);
  tvms_node *b =
      value_right ? tvms_legal_scalar(legal, right) : tvms_legal_tensor(legal, right);
  return tvms_legal_return(legal, tvms_te_broadcast(&legal->te, a, b, stage, element));
}

#define BINARY(ident, primfunc, stage, element)                                        \
  static tvms_node *binary_##ident(tvms_te *te, tvms_node *a, tvms_node *b) {          \
    return (element);                                                                  \
  }                                                                                    \
  bool tvms_legalize_##ident(tvms_legal *legal) {                                      \
    return binary(legal, primfunc, stage, binary_##ident);                             \
  }
#include "te/binary.def"

// `value` bounded by an operand. Front ends bound integers on one side only by an infinite number on the other one (TVM cannot
// compile that), which is no integer, and bounds nothing.
static tvms_node *TVMS_NULLABLE bounded(tvms_legal *legal, tvms_node_kind kind,
                                        tvms_node *TVMS_NULLABLE value, uint32_t arg) {
  tvms_te *te = &legal->te;
  tvms_node *bound = tvms_legal_expr(legal, tvms_legal_arg(legal, arg));
  if (!value || !bound) return NULL;
  double open = kind == TVMS_NODE_MIN ? (double)INFINITY : -(double)INFINITY;
  bool real = tvms_dtype_is_real(value->dtype);
  if (!real && bound->kind == TVMS_NODE_FLOAT_IMM
      && tvms_as_float_imm(bound)->value == open)
    return value;
  bound = tvms_build_cast(te->unit, value->dtype, bound, TVMS_NO_SPAN);
  return bound ? tvms_te_apply(te, kind, value, bound) : NULL;
}

bool tvms_legalize_clip(tvms_legal *legal) {
  legal->name = "tir_clip";
  tvms_te *te = &legal->te;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_te_shape(x), "i");
  tvms_node *value = tvms_te_load(te, x, stage.axes.items, stage.shape.len);
  value = bounded(legal, TVMS_NODE_MIN, value, 2);
  value = bounded(legal, TVMS_NODE_MAX, value, 1);
  return tvms_legal_return(legal, tvms_te_close(&stage, "compute", value));
}

bool tvms_legalize_astype(tvms_legal *legal) {
  legal->name = "cast";
  tvms_dtype dtype = tvms_attr_dtype(legal->call, TVMS_ATTR_cast_dtype);
  const tvms_node *arg = tvms_legal_arg(legal, 0);
  tvms_node *x = tvms_legal_tensor(legal, arg);
  return tvms_legal_return(legal, tvms_te_cast(&legal->te, x, dtype, "compute", "i"));
}

static tvms_node *erf_of(tvms_te *te, tvms_node *x) {
  return tvms_te_call(te, TVMS_TIR_erf, x);
}

// float16 goes through float32: erf is too steep for it.
static tvms_node *erf_stage(tvms_te *te, tvms_node *x) {
  bool half = tvms_dtype_same(tvms_te_dtype(x), TVMS_DTYPE(FLOAT, 16));
  if (half) x = tvms_te_cast(te, x, TVMS_DTYPE(FLOAT, 32), "compute", "i");
  tvms_node *y = tvms_te_map(te, x, "compute", "i", erf_of);
  return half ? tvms_te_cast(te, y, TVMS_DTYPE(FLOAT, 16), "compute", "i") : y;
}

bool tvms_legalize_erf(tvms_legal *legal) {
  legal->name = "erf";
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  return tvms_legal_return(legal, erf_stage(&legal->te, x));
}

// x * (0.5 + erf(x * sqrt(0.5)) * 0.5)
bool tvms_legalize_gelu(tvms_legal *legal) {
  legal->name = "gelu";
  tvms_te *te = &legal->te;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_dtype dtype = tvms_te_dtype(x);
  tvms_node *half = tvms_te_const(te, dtype, 0.5);
  tvms_node *scaled =
      tvms_te_multiply(te, x, tvms_te_const(te, dtype, 0.70710678118654757));
  tvms_node *share = tvms_te_multiply(te, erf_stage(te, scaled), half);
  return tvms_legal_return(legal,
                           tvms_te_multiply(te, x, tvms_te_add(te, half, share)));
}

static tvms_node *tanh_of(tvms_te *te, tvms_node *x) {
  return tvms_te_call(te, TVMS_TIR_tanh, x);
}

// 0.5 * x * (1 + tanh(sqrt(2 / pi) * x * (1 + 0.044715 * x * x)))
bool tvms_legalize_gelu_tanh(tvms_legal *legal) {
  legal->name = "gelu_tanh";
  tvms_te *te = &legal->te;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_dtype dtype = tvms_te_dtype(x);
  tvms_node *one = tvms_te_const(te, dtype, 1);
  tvms_node *half = tvms_te_multiply(te, tvms_te_const(te, dtype, 0.5), x);
  tvms_node *outer =
      tvms_te_multiply(te, tvms_te_const(te, dtype, 0.79788456080286541), x);
  tvms_node *inner = tvms_te_multiply(te, tvms_te_const(te, dtype, 0.044715), x);
  inner = tvms_te_add(te, one, tvms_te_multiply(te, inner, x));
  outer = tvms_te_multiply(te, outer, inner);
  tvms_node *share =
      tvms_te_add(te, one, tvms_te_map(te, outer, "compute", "i", tanh_of));
  return tvms_legal_return(legal, tvms_te_multiply(te, half, share));
}

static tvms_node *exp_of(tvms_te *te, tvms_node *x) {
  return tvms_te_call(te, TVMS_TIR_exp, x);
}

bool tvms_legalize_selu(tvms_legal *legal) {
  legal->name = "selu";
  tvms_te *te = &legal->te;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_dtype dtype = tvms_te_dtype(x);
  tvms_node *zero = tvms_te_const(te, dtype, 0);
  tvms_node *positive = tvms_te_maximum(te, x, zero);
  tvms_node *negative = tvms_te_subtract(te, tvms_te_map(te, x, "compute", "i", exp_of),
                                         tvms_te_const(te, dtype, 1));
  tvms_node *alpha = tvms_te_const(te, dtype, 1.6732632423543772848170429916717);
  negative = tvms_te_minimum(te, zero, tvms_te_multiply(te, alpha, negative));
  tvms_node *scale = tvms_te_const(te, dtype, 1.0507009873554804934193349852946);
  tvms_node *y = tvms_te_multiply(te, scale, tvms_te_add(te, positive, negative));
  return tvms_legal_return(legal, y);
}

static tvms_node *sigmoid_of(tvms_te *te, tvms_node *x) {
  return tvms_te_call(te, TVMS_TIR_sigmoid, x);
}

bool tvms_legalize_silu(tvms_legal *legal) {
  legal->name = "silu";
  tvms_te *te = &legal->te;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_node *gate = tvms_te_map(te, x, "compute", "i", sigmoid_of);
  return tvms_legal_return(legal, tvms_te_multiply(te, x, gate));
}

bool tvms_legalize_leakyrelu(tvms_legal *legal) {
  legal->name = "leaky_relu";
  tvms_te *te = &legal->te;
  tvms_node *tensor = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  double alpha = tvms_attr_float(legal->call, TVMS_ATTR_leakyrelu_alpha, 0.01);
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_te_shape(tensor), "i");
  tvms_node *x = tvms_te_load(te, tensor, stage.axes.items, stage.shape.len);
  tvms_node *y = select(te, BUILD2(GT, x, CONST(0)), x, BUILD2(MUL, x, CONST(alpha)));
  return tvms_legal_return(legal, tvms_te_close(&stage, "compute", y));
}

// x where it is positive, else x * slope of the channel. One slope is that of all channels.
bool tvms_legalize_prelu(tvms_legal *legal) {
  static const char *const names[] = {"c"};
  legal->name = "prelu";
  tvms_te *te = &legal->te;
  tvms_node *tensor = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_node *slope = tvms_legal_tensor(legal, tvms_legal_arg(legal, 1));
  tvms_list shape = tvms_te_shape(tensor);
  uint32_t axis =
      tvms_legal_axis(tvms_attr_int(legal->call, TVMS_ATTR_axis_axis, 1), shape.len);
  tvms_node *channels = shape.items[axis], *count = tvms_te_shape(slope).items[0];
  // TVM wants to know how many channels there are.
  if (!tvms_node_is_int_imm(channels) || !tvms_node_is_int_imm(count)) return false;
  tvms_stage stage;
  if (tvms_node_is_int(count, 1)
      || !tvms_release_has(te->unit->dialect, TVMS_FACT_channels_have_slopes)) {
    tvms_node *zero = tvms_te_index(te, 0);
    tvms_te_open_named(te, &stage, tvms_list_copy(te->unit, &channels, 1), names);
    tvms_node *same_slope = tvms_te_load(te, slope, &zero, 1);
    slope = tvms_te_close(&stage, "slope_broadcasted", same_slope);
  }
  tvms_te_open(te, &stage, shape, "i");
  tvms_node *x = tvms_te_load(te, tensor, stage.axes.items, shape.len);
  tvms_node *steep =
      BUILD2(MUL, x, tvms_te_load(te, slope, stage.axes.items + axis, 1));
  tvms_node *y = select(te, BUILD2(GT, x, CONST(0)), x, steep);
  return tvms_legal_return(legal, tvms_te_close(&stage, "compute", y));
}

// x where beta * x is above the threshold, else log(1 + exp(beta * x)) / beta
bool tvms_legalize_softplus(tvms_legal *legal) {
  legal->name = "softplus";
  tvms_te *te = &legal->te;
  tvms_node *tensor = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  double beta = tvms_attr_float(legal->call, TVMS_ATTR_softplus_beta, 1);
  double threshold = tvms_attr_float(legal->call, TVMS_ATTR_softplus_threshold, 20);
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_te_shape(tensor), "i");
  tvms_node *x = tvms_te_load(te, tensor, stage.axes.items, stage.shape.len);
  tvms_node *scaled = BUILD2(MUL, CONST(beta), x);
  tvms_node *sum = BUILD2(ADD, CONST(1), tvms_te_call(te, TVMS_TIR_exp, scaled));
  tvms_node *soft = BUILD2(MUL, BUILD2(DIV, CONST(1), CONST(beta)),
                           tvms_te_call(te, TVMS_TIR_log, sum));
  tvms_node *y = select(te, BUILD2(GT, scaled, CONST(threshold)), x, soft);
  return tvms_legal_return(legal, tvms_te_close(&stage, "compute", y));
}

static tvms_node *same(tvms_te *te, tvms_node *x) {
  (void)te;
  return x;
}

// Nothing is dropped: the data, and a mask of ones.
bool tvms_legalize_dropout(tvms_legal *legal) {
  legal->name = "dropout";
  tvms_te *te = &legal->te;
  if (!tvms_release_has(te->unit->dialect, TVMS_FACT_dropout_is_legalized))
    return false;
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_node *y = tvms_te_map(te, x, "compute", "i", same);
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_te_shape(x), "ax");
  tvms_node *one = tvms_te_const(te, tvms_te_dtype(x), 1);
  tvms_node *mask = tvms_te_close(&stage, "T_full_like", one);
  return tvms_legal_return(legal, y) && tvms_legal_return(legal, mask);
}

bool tvms_legalize_where(tvms_legal *legal) {
  legal->name = "where";
  tvms_te *te = &legal->te;
  tvms_node *args[3];
  for (uint32_t i = 0; i < 3; i++) {
    args[i] = tvms_legal_tensor(legal, tvms_legal_arg(legal, i));
  }
  tvms_list shape;
  if (!tvms_legal_result_shape(legal, &shape)) return false;
  tvms_stage stage;
  tvms_te_open(te, &stage, shape, "ax");
  for (uint32_t i = 0; i < 3; i++) {
    args[i] = tvms_te_broadcast_load(te, args[i], shape, stage.axes.items);
  }
  tvms_dtype wide = TVMS_DTYPE(INT, 64);
  tvms_node *chosen = args[0];
  if (tvms_dtype_is_bool(chosen->dtype)) {
    chosen = tvms_build_cast(te->unit, wide, chosen, TVMS_NO_SPAN);
  }
  tvms_node *zero = tvms_te_const(te, chosen->dtype, 0);
  tvms_node *y = select(te, BUILD2(NE, chosen, zero), args[1], args[2]);
  return tvms_legal_return(legal, tvms_te_close(&stage, "T_where", y));
}
