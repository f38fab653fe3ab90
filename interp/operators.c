// Calls of operators by their definition: arguments, the elements that are mapped one by one, and
// what all definitions need.
#define _GNU_SOURCE
#include "interp/operators.h"

#include "interp/match.h"
#include "interp/operators_fold.h"
#include "interp/operators_shape.h"
#include "interp/prim.h"
#include "interp/relax.h"
#include "interp/tensor.h"
#include "support/diag_ids.h"

#include <math.h>

void tvms_interp_need(const tvms_interp_operator *o, bool fits) {
  if (!fits)
    fault(o->f, TVMS_D_wrong_argument, o->call->head.span, "of the operator",
          "its size does not fit");
}

// ---- Elements ----

bool tvms_interp_is_real(const tvms_tensor *tensor) {
  return tvms_scalar_kind_is_real(tensor->view.dtype.code);
}

double tvms_interp_element_real(const tvms_tensor *tensor, int64_t at) {
  tvms_scalar value = tvms_tensor_get(tensor, at);
  return tvms_interp_is_real(tensor) ? value.f : (double)value.i;
}

int64_t tvms_interp_element_whole(const tvms_tensor *tensor, int64_t at) {
  return tvms_tensor_get(tensor, at).i;
}

static void put(const tvms_interp_operator *o, int64_t at, tvms_scalar value,
                tvms_dl_type from) {
  tvms_dl_type to = o->result->view.dtype;
  tvms_interp_need(o, at >= 0 && at < o->len);
  if (to.code == TVMS_BOOL)
    value.i = tvms_scalar_kind_is_real(from.code) ? value.f != 0 : value.i != 0;
  else
    value = tvms_scalar_convert(value, from, to);
  tvms_tensor_set(o->result, at, value);
}

void tvms_interp_put_real(const tvms_interp_operator *o, int64_t at, double value) {
  put(o, at, (tvms_scalar){.f = value}, (tvms_dl_type){TVMS_DL_FLOAT, 64, 1});
}

void tvms_interp_put_whole(const tvms_interp_operator *o, int64_t at, int64_t value) {
  put(o, at, (tvms_scalar){.i = value}, (tvms_dl_type){TVMS_DL_INT, 64, 1});
}

void tvms_interp_put_element(const tvms_interp_operator *o, int64_t at,
                             const tvms_tensor *from, int64_t place) {
  put(o, at, tvms_tensor_get(from, place), from->view.dtype);
}

// ---- Places ----

bool tvms_interp_next(const tvms_interp_operator *o, const tvms_tensor *tensor,
                      tvms_interp_place *place) {
  tvms_interp_count_step(o->f, o->call->head.span);
  place->flat++;
  for (int d = tensor->view.ndim - 1; d >= 0; d--) {
    if (++place->index[d] < tensor->shape[d]) return true;
    place->index[d] = 0;
  }
  return false;
}

int64_t tvms_interp_broadcast(const tvms_interp_operator *o, const tvms_tensor *tensor,
                              const int64_t *index) {
  int before = o->result->view.ndim - tensor->view.ndim;
  int64_t at = 0;
  tvms_interp_need(o, before >= 0);
  for (int d = 0; d < tensor->view.ndim; d++) {
    int64_t size = tensor->shape[d];
    int64_t i = size == 1 ? 0 : index[d + before];
    tvms_interp_need(o, i < size);
    at = at * size + i;
  }
  return at;
}

void tvms_interp_axes(const tvms_tensor *tensor, tvms_list numbers, bool all,
                      bool *axes) {
  int ndim = tensor->view.ndim;
  for (int d = 0; d < ndim; d++)
    axes[d] = all;
  for (uint32_t i = 0; i < numbers.len; i++) {
    int64_t axis = tvms_attr_item_int(numbers.items[i]);
    if (axis < 0) axis += ndim;
    if (axis >= 0 && axis < ndim) axes[axis] = true;
  }
}

int64_t tvms_interp_part(const tvms_tensor *tensor, const int64_t *index,
                         const bool *axes, bool wanted) {
  int64_t at = 0;
  for (int d = 0; d < tensor->view.ndim; d++) {
    if (axes[d] == wanted) at = at * tensor->shape[d] + index[d];
  }
  return at;
}

// ---- Arguments ----

const tvms_tensor *tvms_interp_operand(const tvms_interp_operator *o, uint32_t at) {
  bool given = at < o->call->args.len && o->args[at];
  if (!given) {
    fault(o->f, TVMS_D_too_few_arguments, o->call->head.span,
          tvms_symbol_text(o->f->context, tvms_as_operator(o->call->callee)->name));
  }
  return o->args[at];
}

// A number as a tensor of rank 0.
static tvms_tensor *tensor_of_number(tvms_interp_frame *f, const tvms_node *node,
                                     tvms_value value) {
  tvms_dtype dtype = node->kind == TVMS_NODE_PRIM_VALUE
                         ? tvms_as_prim_value(node)->value->dtype
                         : node->dtype;
  if (tvms_dtype_is_void(dtype) && node->sinfo) dtype = node->sinfo->dtype;
  if (tvms_dtype_is_void(dtype))
    dtype =
        value.kind == TVMS_VALUE_FLOAT ? TVMS_DTYPE(FLOAT, 64) : TVMS_DTYPE(INT, 64);
  tvms_tensor *tensor =
      tvms_interp_new_tensor(f, node->span, tvms_interp_dl_type_of(dtype), 0, NULL);
  tvms_scalar number = {.i = value.i};
  if (value.kind == TVMS_VALUE_FLOAT) number.f = value.f;
  tvms_tensor_set(tensor, 0, number);
  return tensor;
}

static tvms_tensor *TVMS_NULLABLE tensor_of(tvms_interp_frame *f, const tvms_node *node,
                                            tvms_value value) {
  if (value.kind == TVMS_VALUE_TENSOR) return tvms_value_keep(value).tensor;
  bool number = value.kind == TVMS_VALUE_INT || value.kind == TVMS_VALUE_FLOAT
                || value.kind == TVMS_VALUE_BOOL;
  return number ? tensor_of_number(f, node, value) : NULL;
}

// ---- Element by element ----

#define WRAP(a, op, b) ((int64_t)((uint64_t)(a)op(uint64_t)(b)))

static int64_t quotient(const tvms_interp_operator *o, int64_t i, int64_t j) {
  if (j == 0) fault(o->f, TVMS_D_executed_division_by_zero, o->call->head.span);
  return j == -1 ? WRAP(0, -, i) : i / j;
}

static int64_t floor_quotient(const tvms_interp_operator *o, int64_t i, int64_t j) {
  int64_t q = quotient(o, i, j);
  return q - (WRAP(i, -, WRAP(q, *, j)) != 0 && (i < 0) != (j < 0));
}

#define MAP(ident, real)                                                               \
  static double map_##ident(double x) {                                                \
    return real;                                                                       \
  }
#define MAP2(ident, real, whole)                                                       \
  MAP(ident, real)                                                                     \
  static int64_t map_whole_##ident(int64_t i) {                                        \
    return whole;                                                                      \
  }
#define PAIR(ident, real, whole)                                                       \
  static double pair_##ident(double x, double y) {                                     \
    (void)x, (void)y;                                                                  \
    return real;                                                                       \
  }                                                                                    \
  static int64_t pair_whole_##ident(const tvms_interp_operator *o, int64_t i,          \
                                    int64_t j) {                                       \
    (void)o, (void)i, (void)j;                                                         \
    return whole;                                                                      \
  }
#include "interp/operators.def"

// ---- The table ----

typedef struct {
  void (*define)(const tvms_interp_operator *o);
  double (*map)(double x);
  int64_t (*map_whole)(int64_t i);
  double (*pair)(double x, double y);
  int64_t (*pair_whole)(const tvms_interp_operator *o, int64_t i, int64_t j);
} definition;

static void define_map(const tvms_interp_operator *o);
static void define_pair(const tvms_interp_operator *o);

static const definition definitions[TVMS_OP_COUNT + 1] = {
#define MAP(ident, real) [TVMS_R_##ident] = {.define = define_map, .map = map_##ident},
#define MAP2(ident, real, whole)                                                       \
  [TVMS_R_##ident] = {                                                                 \
      .define = define_map, .map = map_##ident, .map_whole = map_whole_##ident},
#define PAIR(ident, real, whole)                                                       \
  [TVMS_R_##ident] = {                                                                 \
      .define = define_pair, .pair = pair_##ident, .pair_whole = pair_whole_##ident},
#define OWN(ident, function)                                                           \
  [TVMS_R_##ident] = {.define = tvms_interp_define_##function},
#include "interp/operators.def"
};

static void define_map(const tvms_interp_operator *o) {
  const tvms_tensor *from = tvms_interp_operand(o, 0);
  const definition *d = &definitions[o->opcode];
  bool whole = d->map_whole && !tvms_interp_is_real(from);
  // A bool has one bit: its complement is what is not so.
  if (o->opcode == TVMS_R_bitwise_not && o->call->head.sinfo->dtype.code == TVMS_BOOL)
    d = &definitions[TVMS_R_logical_not];
  for (int64_t i = 0; i < tvms_tensor_len(from); i++) {
    tvms_interp_count_step(o->f, o->call->head.span);
    if (whole)
      tvms_interp_put_whole(o, i, d->map_whole(tvms_interp_element_whole(from, i)));
    else
      tvms_interp_put_real(o, i, d->map(tvms_interp_element_real(from, i)));
  }
}

static void define_pair(const tvms_interp_operator *o) {
  const tvms_tensor *a = tvms_interp_operand(o, 0), *b = tvms_interp_operand(o, 1);
  const definition *d = &definitions[o->opcode];
  bool whole = !tvms_interp_is_real(a) && !tvms_interp_is_real(b);
  tvms_interp_place at = {0};
  if (o->len == 0) return;
  do {
    int64_t i = tvms_interp_broadcast(o, a, at.index);
    int64_t j = tvms_interp_broadcast(o, b, at.index);
    if (whole)
      tvms_interp_put_whole(o, at.flat,
                            d->pair_whole(o, tvms_interp_element_whole(a, i),
                                          tvms_interp_element_whole(b, j)));
    else
      tvms_interp_put_real(
          o, at.flat,
          d->pair(tvms_interp_element_real(a, i), tvms_interp_element_real(b, j)));
  } while (tvms_interp_next(o, o->result, &at));
}

bool tvms_interp_defines(tvms_opcode opcode) {
  return definitions[opcode].define != NULL;
}

tvms_value tvms_interp_compute(tvms_interp_frame *f, const tvms_call *call) {
  uint32_t count = call->args.len;
  if (!call->head.sinfo) fault(f, TVMS_D_shape_not_known, call->head.span);
  tvms_value *values = tvms_arena_array(&f->context->scratch, tvms_value, count + 1);
  tvms_tensor **args = tvms_arena_array(&f->context->scratch, tvms_tensor *, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    values[i] = tvms_interp_eval_relax(f, call->args.items[i]);
    args[i] = tensor_of(f, call->args.items[i], values[i]);
  }
  tvms_interp_operator o = {.f = f,
                            .call = call,
                            .opcode = tvms_op_called(&call->head),
                            .values = values,
                            .args = args};
  o.result = tvms_interp_make_tensor(f, call->head.sinfo, call->head.span);
  o.len = tvms_tensor_len(o.result);
  definitions[o.opcode].define(&o);
  for (uint32_t i = 0; i < count; i++) {
    tvms_value_drop(values[i]);
    if (args[i]) tvms_value_drop(tvms_value_of_tensor(args[i]));
  }
  return tvms_value_of_tensor(o.result);
}
