// Descriptions of operators that make tensors of numbers: arange, eye, hamming_window,
// shape_to_tensor.
//
// TVM: legalize_ops/create.py, topi/tensor.py and topi/transform.py. An arange of which
// everything is known becomes a constant, which is not for te/ to make (passes/).
#include "te/element.h"
#include "te/legalizers.h"
#include "te/topi_index.h"

static tvms_node *operand(tvms_legal *legal, uint32_t place) {
  return tvms_legal_expr(legal, tvms_legal_arg(legal, place));
}

bool tvms_legalize_arange(tvms_legal *legal) {
  legal->name = "arange";
  tvms_node *bounds[3];
  for (uint32_t i = 0; i < 3; i++) {
    if (!tvms_legal_is_prim(tvms_legal_arg(legal, i))) return false;
    bounds[i] = operand(legal, i);
  }
  tvms_dtype dtype = tvms_legal_result_dtype(legal);
  return tvms_legal_return(
      legal, tvms_te_arange(&legal->te, bounds[0], bounds[1], bounds[2], dtype));
}

// Ones on the diagonal `k` above the main one.
static tvms_node *eye(tvms_te *te, tvms_node *rows, tvms_node *columns, tvms_node *k,
                      tvms_dtype dtype) {
  tvms_node *dims[] = {rows, columns};
  const char *names[] = {"i", "j"};
  tvms_stage stage;
  tvms_te_open_named(te, &stage, tvms_list_copy(te->unit, dims, 2), names);
  tvms_node *on = EQ(stage.axes.items[0], SUB(stage.axes.items[1], k));
  tvms_node *value = IF(on, tvms_te_const(te, dtype, 1), tvms_te_const(te, dtype, 0));
  return tvms_te_close(&stage, "eye", value);
}

bool tvms_legalize_eye(tvms_legal *legal) {
  legal->name = "eye";
  tvms_te *te = &legal->te;
  uint32_t count = legal->call->args.len;
  for (uint32_t i = 0; i < count; i++) {
    if (!tvms_legal_is_prim(tvms_legal_arg(legal, i))) return false;
  }
  tvms_node *rows = operand(legal, 0);
  tvms_node *columns = count > 1 ? operand(legal, 1) : rows;
  tvms_node *k = count > 2 ? operand(legal, 2) : INT32(0);
  return tvms_legal_return(legal,
                           eye(te, rows, columns, k, tvms_legal_result_dtype(legal)));
}

bool tvms_legalize_eye_like(tvms_legal *legal) {
  legal->name = "eye_like";
  tvms_te *te = &legal->te;
  tvms_list shape;
  if (!tvms_legal_result_shape(legal, &shape) || shape.len != 2) return false;
  // The attribute has no say: TVM takes the dtype of the matrix.
  tvms_dtype dtype = tvms_legal_arg(legal, 0)->sinfo->dtype;
  bool given = legal->call->args.len > 1;
  if (given && !tvms_legal_is_prim(tvms_legal_arg(legal, 1))) return false;
  tvms_node *k = given ? operand(legal, 1) : INT32(0);
  return tvms_legal_return(legal, eye(te, shape.items[0], shape.items[1], k, dtype));
}

static tvms_node *cos_of(tvms_te *te, tvms_node *x) {
  return tvms_te_call(te, TVMS_TIR_cos, x);
}

// The last element of a periodic window is left out.
static tvms_node *drop_last(tvms_te *te, tvms_node *x, int64_t length) {
  tvms_node *dim = INDEX(length);
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_list_copy(te->unit, &dim, 1), "ax");
  return tvms_te_close(&stage, "T_strided_slice",
                       tvms_te_load(te, x, stage.axes.items, 1));
}

static tvms_node *lone_one(tvms_te *te, tvms_dtype dtype) {
  tvms_node *dim = INDEX(1);
  const char *names[] = {"i"};
  tvms_stage stage;
  tvms_te_open_named(te, &stage, tvms_list_copy(te->unit, &dim, 1), names);
  return tvms_te_close(&stage, "const_vector", tvms_te_const(te, dtype, 1));
}

// alpha - beta * cos(2 pi i / (n - 1))
bool tvms_legalize_hamming_window(tvms_legal *legal) {
  legal->name = "hamming_window";
  tvms_te *te = &legal->te;
  tvms_node *args[4];
  for (uint32_t i = 0; i < 4; i++) {
    if (!tvms_legal_is_prim(tvms_legal_arg(legal, i))) return false;
    args[i] = operand(legal, i);
  }
  if (!tvms_node_is_int_imm(args[0]) || !tvms_node_is_int_imm(args[1])) return false;
  tvms_dtype dtype = tvms_legal_result_dtype(legal);
  int64_t length = tvms_as_int_imm(args[0])->value;
  bool periodic = tvms_as_int_imm(args[1])->value != 0;
  if (length == 1) return tvms_legal_return(legal, lone_one(te, dtype));
  tvms_node *size = INDEX(length + periodic);
  tvms_node *index = tvms_te_arange(te, INT32(0), size, INT32(1), dtype);
  tvms_dtype single = TVMS_DTYPE(FLOAT, 32);
  tvms_node *turn = tvms_te_const(te, single, 6.283185307179586);
  tvms_node *angle = tvms_te_divide(te, tvms_te_multiply(te, turn, index),
                                    INDEX(length + periodic - 1));
  tvms_node *wave = tvms_te_map(te, angle, "compute", "i", cos_of);
  wave = tvms_te_subtract(te, args[2], tvms_te_multiply(te, args[3], wave));
  wave = tvms_te_cast(te, wave, dtype, "compute", "i");
  return tvms_legal_return(legal, periodic ? drop_last(te, wave, length) : wave);
}

// Picks the dimension by its place, the first one last.
bool tvms_legalize_shape_to_tensor(tvms_legal *legal) {
  legal->name = "shape_to_tensor";
  tvms_te *te = &legal->te;
  tvms_list shape;
  if (!tvms_release_has(te->unit->dialect, TVMS_FACT_shapes_are_computed)) return false;
  if (!tvms_legal_shape(legal, tvms_legal_arg(legal, 0), &shape)) return false;
  tvms_node *count = INT32(shape.len);
  const char *names[] = {"i"};
  tvms_stage stage;
  tvms_te_open_named(te, &stage, tvms_list_copy(te->unit, &count, 1), names);
  tvms_node *value = INDEX(0);
  for (uint32_t i = shape.len; i > 0; i--) {
    tvms_node *here = EQ(stage.axes.items[0], INT32(i - 1));
    value = IF(here, shape.items[i - 1], value);
  }
  return tvms_legal_return(legal, tvms_te_close(&stage, "shape_to_tensor", value));
}
