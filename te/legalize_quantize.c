// Descriptions of quantize and dequantize.
//
// Scale and zero point are numbers, tensors of one element, or have one element for each
// place along an axis. TVM: legalize_ops/qdq.py.
#include "te/element.h"
#include "te/legalizers.h"

static bool is_single(const tvms_node *tensor) {
  tvms_list shape = tvms_te_shape(tensor);
  for (uint32_t i = 0; i < shape.len; i++) {
    if (!tvms_node_is_int(shape.items[i], 1)) return false;
  }
  return true;
}

// The parameter for the element that stands at `axes`; NULL for a form that TVM has not.
static tvms_node *parameter(tvms_legal *legal, tvms_node *given, tvms_stage *stage) {
  tvms_te *te = &legal->te;
  if (given->kind != TVMS_NODE_BUFFER) return given;
  uint32_t rank = tvms_te_shape(given).len;
  if (is_single(given)
      && tvms_release_has(te->unit->dialect, TVMS_FACT_quantize_takes_single_values)) {
    tvms_node **zeros = tvms_arena_array(&te->unit->arena, tvms_node *, rank + 1);
    for (uint32_t i = 0; i < rank; i++)
      zeros[i] = INDEX(0);
    return tvms_te_load(te, given, zeros, rank);
  }
  int64_t axis = tvms_attr_int(legal->call, TVMS_ATTR_quantize_axis, -1);
  uint32_t place = tvms_legal_axis(axis, stage->shape.len);
  if (rank != 1 || place >= stage->shape.len) return NULL;
  return tvms_te_load(te, given, &stage->axes.items[place], 1);
}

static tvms_node *limit(tvms_te *te, tvms_node *value, tvms_dtype dtype) {
  tvms_node *least = tvms_build_min_value(te->unit, dtype, TVMS_NO_SPAN);
  tvms_node *most = tvms_build_max_value(te->unit, dtype, TVMS_NO_SPAN);
  return tvms_te_convert(te, dtype, MAX(MIN(value, most), least));
}

static bool is_prim(const tvms_legal *legal, uint32_t place) {
  return tvms_legal_is_prim(tvms_legal_arg(legal, place));
}

// The tensor and its parameters, in the order in which both operators take them.
typedef struct {
  tvms_node *x;
  tvms_node *scale;
  tvms_node *zero;
} operands;

static bool take_operands(tvms_legal *legal, const char *name, operands *o) {
  legal->name = name;
  if (is_prim(legal, 1) || is_prim(legal, 2)) return false;
  o->x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  o->scale = tvms_legal_operand(legal, tvms_legal_arg(legal, 1));
  o->zero = tvms_legal_operand(legal, tvms_legal_arg(legal, 2));
  return true;
}

// clip(round(x / scale) + zero point)
bool tvms_legalize_quantize(tvms_legal *legal) {
  tvms_te *te = &legal->te;
  operands o;
  if (!take_operands(legal, "quantize", &o)) return false;
  tvms_dtype dtype = tvms_attr_dtype(legal->call, TVMS_ATTR_quantize_out_dtype);
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_te_shape(o.x), "i");
  tvms_node *value = tvms_te_load(te, o.x, stage.axes.items, stage.shape.len);
  value = DIV(value, parameter(legal, o.scale, &stage));
  bool whole = dtype.code == TVMS_INT || dtype.code == TVMS_UINT;
  if (value && whole && tvms_dtype_is_real(value->dtype)) {
    value = tvms_te_call(te, TVMS_TIR_round, value);
  }
  value = ADD(value, parameter(legal, o.zero, &stage));
  value = value ? limit(te, value, dtype) : NULL;
  return tvms_legal_return(legal, tvms_te_close(&stage, "quantized", value));
}

// (x - zero point) * scale
bool tvms_legalize_dequantize(tvms_legal *legal) {
  tvms_te *te = &legal->te;
  operands o;
  if (!take_operands(legal, "dequantize", &o)) return false;
  tvms_dtype dtype = tvms_attr_dtype(legal->call, TVMS_ATTR_quantize_out_dtype);
  tvms_dtype single = TVMS_DTYPE(FLOAT, 32);
  tvms_dtype_code code = (tvms_dtype_code)tvms_te_dtype(o.x).code;
  bool small = code != TVMS_FLOAT && code != TVMS_BFLOAT;
  bool real = tvms_dtype_is_real(tvms_te_dtype(o.x))
              && !(small
                   && tvms_release_has(te->unit->dialect,
                                       TVMS_FACT_small_floats_dequantize_as_integers));
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_te_shape(o.x), "i");
  tvms_node *value = tvms_te_load(te, o.x, stage.axes.items, stage.shape.len);
  value = tvms_te_convert(te, real ? single : TVMS_DTYPE(INT, 32), value);
  value = SUB(value, parameter(legal, o.zero, &stage));
  tvms_node *factor = tvms_te_convert(te, single, parameter(legal, o.scale, &stage));
  value = MUL(value, factor);
  if (value && !tvms_dtype_same(dtype, single)) value = limit(te, value, dtype);
  return tvms_legal_return(legal, tvms_te_close(&stage, "dequantized", value));
}
