// What the functions of VectorMath are written in, as far as it is more than a constructor.
#include "passes/tir/math/vector_steps.h"

#include "support/vec.h"

#define F32                         false
#define F64                         true
#define POLYNOMIAL(name, type, ...) static const double row_##name[] = {__VA_ARGS__};
#include "passes/tir/math/vector_math.def"

static const struct {
  const double *factors;
  uint32_t count;
  bool wide;
} polynomials[] = {
#define POLYNOMIAL(name, type, ...)                                                    \
  {row_##name, sizeof row_##name / sizeof(double), type},
#include "passes/tir/math/vector_math.def"
};
#undef F32
#undef F64

tvms_node *tvms_vector_constant(vector_steps *s, tvms_dtype dtype, double value) {
  tvms_dtype one = tvms_dtype_with_lanes(dtype, 1);
  if (one.bits == 32) value = (double)(float)value;
  tvms_node *imm = tvms_float_imm_new(s->unit, one, value, TVMS_NO_SPAN);
  if (tvms_dtype_is_scalar(dtype)) return imm;
  return tvms_broadcast_new(s->unit, imm, dtype.lanes, TVMS_NO_SPAN);
}

tvms_node *tvms_vector_polynomial_times(vector_steps *s, polynomial which, tvms_node *x,
                                        double scale) {
  const double *factors = polynomials[which].factors;
  tvms_dtype dtype = of_lanes(s, TVMS_FLOAT, polynomials[which].wide ? 64 : 32);
  uint32_t at = polynomials[which].count - 1;
  tvms_node *sum = tvms_vector_constant(s, dtype, factors[at] * scale);
  while (at-- > 0)
    sum = fused(s, sum, x, tvms_vector_constant(s, dtype, factors[at] * scale));
  return sum;
}

tvms_node *tvms_vector_polynomial(vector_steps *s, polynomial which, tvms_node *x) {
  return tvms_vector_polynomial_times(s, which, x, 1);
}

tvms_node *tvms_vector_keep(vector_steps *s, const char *name, tvms_node *value) {
  if (value->kind == TVMS_NODE_VAR) return value;
  tvms_bind *made = tvms_node_make(s->unit, BIND, TVMS_NO_SPAN);
  tvms_sym symbol = tvms_symbol_intern(s->unit->context, name, strlen(name));
  made->value = value;
  made->var = tvms_var_new(s->unit, symbol, value->dtype, TVMS_NO_SPAN);
  tvms_vec_push(&s->unit->context->memory, &s->steps, &made->head);
  return made->var;
}

tvms_node *tvms_vector_reinterpret(vector_steps *s, tvms_dtype dtype,
                                   tvms_node *value) {
  return tvms_call_new_of(s->unit, dtype, TVMS_TIR_reinterpret, &value, 1,
                          TVMS_NO_SPAN);
}
