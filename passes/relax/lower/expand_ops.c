// Each operator in the order in which TVM's FLegalize emits its parts, because their names
// follow from it. TVM: python/tvm/relax/transform/legalize_ops/.
#include "passes/relax/lower/expand_ops.h"

#include "interp/interp.h"
#include "ir/fold.h"
#include "ir/object.h"
#include "ir/omitted.h"
#include "passes/relax/lower/expand_suppression.h"
#include "passes/relax/make.h"
#include "runtime/number.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

#include <stdio.h>
#include <string.h>

static tvms_unit *unit_of(const tvms_expansion *e) {
  return e->mutator->unit;
}

tvms_node *tvms_relax_expansion_bind(tvms_expansion *e, tvms_node *value) {
  const char *name = tvms_relax_in_dataflow(e->mutator) ? "lv" : "gv";
  return tvms_relax_emit(&e->mutator->emitter, &e->mutator->rewriter, value, name);
}

static tvms_node *bind_legal(tvms_expansion *e, tvms_node *call) {
  return tvms_relax_expansion_bind(e, e->legalize(e, call));
}

// ---- Tuples of operands ----

static bool takes_items(tvms_opcode opcode, uint32_t *place) {
  *place = 0;
  switch ((uint32_t)opcode) {
  case TVMS_R_concat:
  case TVMS_R_stack:
  case TVMS_R_meshgrid:
  case TVMS_R_einsum: return true;
  case TVMS_R_index_tensor:
  case TVMS_R_index_put: *place = 1; return true;
  default: return false;
  }
}

// The tuple that is behind variables, or the last variable.
static tvms_node *behind_variables(const tvms_expansion *e, tvms_node *tuple) {
  while (tuple->kind == TVMS_NODE_VAR) {
    tvms_node *value = tvms_relax_definitions_value(e->definitions, tuple);
    if (!value || (value->kind != TVMS_NODE_TUPLE && value->kind != TVMS_NODE_VAR)) {
      break;
    }
    tuple = value;
  }
  return tuple;
}

static tvms_node *with_argument(tvms_expansion *e, const tvms_node *call,
                                uint32_t place, tvms_node *arg) {
  tvms_node *made = tvms_node_copy(unit_of(e), call);
  tvms_list args = tvms_as_call(call)->args;
  args = tvms_list_copy(unit_of(e), args.items, args.len);
  args.items[place] = arg;
  tvms_as_call(made)->args = args;
  return made;
}

tvms_node *tvms_relax_open_operands(tvms_expansion *e, tvms_node *call) {
  uint32_t place;
  tvms_opcode opcode = tvms_op_called(call);
  if (!takes_items(opcode, &place)) return call;
  tvms_node *old = tvms_as_call(e->old)->args.items[place];
  bool always = opcode == TVMS_R_index_tensor;
  if (!always && (old->kind == TVMS_NODE_TUPLE || opcode == TVMS_R_index_put)) {
    return call;
  }
  tvms_node *tuple = always ? old : behind_variables(e, old);
  tvms_node *now = tvms_rewrite(&e->mutator->rewriter, tuple);
  if (!now || !now->sinfo || now->sinfo->kind != TVMS_NODE_SINFO_TUPLE) return call;
  if (now->kind == TVMS_NODE_TUPLE && !always) {
    return with_argument(e, call, place, now);
  }
  uint32_t count = tvms_as_sinfo_tuple(now->sinfo)->fields.len;
  tvms_node **items = tvms_arena_array(&unit_of(e)->arena, tvms_node *, count + 1);
  for (uint32_t i = 0; i < count; i++) {
    items[i] = tvms_relax_expansion_bind(e, tvms_relax_make_item(e->mutator, now, i));
  }
  return with_argument(e, call, place, tvms_relax_make_tuple(e->mutator, items, count));
}

// ---- Constants ----

static tvms_node *constant(tvms_expansion *e, tvms_dtype dtype, tvms_list shape,
                           const void *data, size_t size) {
  tvms_constant *made = tvms_node_make(unit_of(e), CONSTANT, TVMS_NO_SPAN);
  made->element = dtype;
  made->shape = shape;
  made->data = tvms_bytes_copy(unit_of(e), data, size);
  tvms_node *value =
      tvms_sinfo_shape_value_new(unit_of(e), shape.items, shape.len, TVMS_NO_SPAN);
  made->head.sinfo = tvms_sinfo_tensor_new(unit_of(e), value, dtype, NULL);
  return &made->head;
}

// The number in a scalar that is written out.
static bool number_in(const tvms_node *arg, double *real, int64_t *whole,
                      bool *is_real) {
  const tvms_node *value = tvms_relax_scalar_of((tvms_node *)(uintptr_t)arg);
  if (!value) return false;
  if (tvms_node_is_int_imm(value)) {
    *whole = tvms_as_int_imm(value)->value;
    *real = (double)*whole;
    *is_real = false;
    return true;
  }
  if (value->kind != TVMS_NODE_FLOAT_IMM) return false;
  *real = tvms_as_float_imm(value)->value;
  *whole = (int64_t)*real;
  *is_real = true;
  return true;
}

// Writes element `index` of a run of numbers, as numpy counts: in steps of what the first two
// differ by.
static void put_number(tvms_dtype dtype, char *at, double real, int64_t whole) {
  tvms_dl_type type = tvms_interp_dl_type_of(dtype);
  bool is_real = dtype.code == TVMS_FLOAT;
  tvms_scalar value = is_real ? (tvms_scalar){.f = real} : (tvms_scalar){.i = whole};
  tvms_dl_element_set(at, type, tvms_scalar_fit(value, type));
}

// A number as the dtype holds it.
static double held(tvms_dtype dtype, double real) {
  tvms_dl_type type = tvms_interp_dl_type_of(dtype);
  return tvms_scalar_fit((tvms_scalar){.f = real}, type).f;
}

static bool can_count_in(tvms_dtype dtype) {
  if (dtype.code == TVMS_FLOAT) return dtype.bits % 16 == 0 && dtype.bits <= 64;
  return (dtype.code == TVMS_INT || dtype.code == TVMS_UINT) && dtype.bits % 8 == 0;
}

enum { MOST_NUMBERS = 1 << 24 };

typedef struct {
  double real[3];
  int64_t whole[3];
  bool is_real;  // one of them is
} run_of_numbers;

static int64_t run_length(const run_of_numbers *r) {
  double count = (r->real[1] - r->real[0]) / r->real[2];
  if (!(count > 0)) return 0;
  if (count > MOST_NUMBERS) return -1;
  int64_t length = (int64_t)count;
  return length + ((double)length < count);
}

static tvms_node *expand_arange(tvms_expansion *e, tvms_node *call) {
  run_of_numbers r = {.is_real = false};
  tvms_list args = tvms_as_call(call)->args;
  if (args.len != 3) return NULL;
  for (uint32_t i = 0; i < 3; i++) {
    bool real;
    if (!number_in(args.items[i], &r.real[i], &r.whole[i], &real)) return NULL;
    r.is_real = r.is_real || real;
  }
  tvms_dtype dtype = call->sinfo->dtype;
  int64_t length = r.real[2] == 0 ? -1 : run_length(&r);
  if (length < 0 || !can_count_in(dtype)) return NULL;
  size_t width = dtype.bits / 8, size = width * (size_t)length;
  char *data = tvms_arena_array(&unit_of(e)->arena, char, size + 8);
  // What numpy adds is the difference of the first two, as they are in the dtype; it adds to
  // float16 in float32.
  bool real = dtype.code == TVMS_FLOAT, single = real && dtype.bits < 64;
  double second = r.real[0] + r.real[2];
  double first = real ? held(dtype, r.real[0]) : r.real[0];
  double step = (real ? held(dtype, second) : second) - first;
  int64_t whole = (int64_t)r.real[0], by = (int64_t)second - whole;
  for (int64_t i = 0; i < length; i++) {
    double number = single ? (double)((float)first + (float)i * (float)step)
                           : first + (double)i * step;
    put_number(dtype, data + width * (size_t)i, number, whole + i * by);
  }
  tvms_node *dim = tvms_sinfo_dim_new(unit_of(e), length);
  return constant(e, dtype, tvms_list_copy(unit_of(e), &dim, 1), data, size);
}

// Its only number as one of another data type. TVM: _try_convert_to_scalar_const.
static tvms_node *expand_astype(tvms_expansion *e, tvms_node *call) {
  const tvms_node *arg = tvms_as_call(call)->args.items[0];
  if (!tvms_relax_becomes_constant(call)) return NULL;
  if (!tvms_node_refuse_omitted(unit_of(e)->context, arg, "LegalizeOps")) return NULL;
  const tvms_constant *given = tvms_as_constant(arg);
  tvms_dl_type from = tvms_interp_dl_type_of(given->element);
  tvms_dl_type to = tvms_interp_dl_type_of(call->sinfo->dtype);
  tvms_scalar value = tvms_dl_element_get(given->data.text, from);
  char data[sizeof value];
  tvms_dl_element_set(data, to, tvms_scalar_convert(value, from, to));
  return constant(e, call->sinfo->dtype, (tvms_list){NULL, 0}, data,
                  tvms_dl_element_size(to));
}

static bool is_one_number(const tvms_node *arg, tvms_dtype dtype) {
  if (arg->kind != TVMS_NODE_CONSTANT || tvms_dtype_is_void(dtype)) return false;
  const tvms_constant *c = tvms_as_constant(arg);
  size_t size = tvms_dl_element_size(tvms_interp_dl_type_of(c->element));
  return c->shape.len == 0 && size
         && tvms_dl_element_size(tvms_interp_dl_type_of(dtype))
         && (c->data.len == size || tvms_node_omitted(arg));
}

bool tvms_relax_becomes_constant(const tvms_node *call) {
  tvms_list args = tvms_as_call(call)->args;
  switch ((uint32_t)tvms_op_called(call)) {
  case TVMS_R_astype:
    return args.len > 0 && call->sinfo
           && is_one_number(args.items[0], call->sinfo->dtype);
  case TVMS_R_arange: {
    double real;
    int64_t whole;
    bool is_real, all = true;
    for (uint32_t i = 0; i < args.len; i++)
      all = all && number_in(args.items[i], &real, &whole, &is_real);
    return all;
  }
  default: return false;
  }
}

// ---- Sizes ----

static tvms_node *expand_size(tvms_expansion *e, tvms_node *call) {
  tvms_unit *unit = unit_of(e);
  tvms_node *x = tvms_as_call(call)->args.items[0];
  tvms_list dims;
  if (!x->sinfo || x->sinfo->kind != TVMS_NODE_SINFO_TENSOR
      || !tvms_sinfo_tensor_dims(x->sinfo, &dims)) {
    return NULL;
  }
  tvms_node *shape = bind_legal(e, tvms_relax_op(e->mutator, TVMS_R_shape_of, &x, 1));
  tvms_node *vector =
      bind_legal(e, tvms_relax_op(e->mutator, TVMS_R_shape_to_tensor, &shape, 1));
  tvms_node *attrs[] = {NULL, tvms_object_bool_new(unit, false, TVMS_NO_SPAN)};
  return tvms_relax_op_with(e->mutator, TVMS_R_prod, &vector, 1, attrs);
}

// ---- Collectives ----

static tvms_node *call_dps_packed(tvms_expansion *e, const char *name,
                                  tvms_node *const *args, uint32_t count,
                                  tvms_node *type) {
  tvms_unit *unit = unit_of(e);
  tvms_extern_func *callee = tvms_node_make(unit, EXTERN_FUNC, TVMS_NO_SPAN);
  callee->symbol = tvms_bytes_copy(unit, name, strlen(name));
  callee->head.sinfo =
      tvms_sinfo_func_new_opaque(unit, tvms_sinfo_object_new(unit), false);
  tvms_node *both[] = {&callee->head, tvms_relax_make_tuple(e->mutator, args, count)};
  tvms_node *op = tvms_op_operator_new(unit, TVMS_R_call_dps_packed);
  tvms_node *call = tvms_call_new(unit, (tvms_dtype){0}, op, both, 2, TVMS_NO_SPAN);
  tvms_as_call(call)->type_args = tvms_list_copy(unit, &type, 1);
  call->sinfo = type;
  return call;
}

static tvms_node *expand_allreduce(tvms_expansion *e, tvms_node *node) {
  static const char *const kinds[] = {"sum", "prod", "min", "max", "avg"};
  const tvms_call *call = tvms_as_call(node);
  tvms_unit *unit = unit_of(e);
  tvms_bytes kind = tvms_attr_text(call, TVMS_ATTR_allreduce_op_type);
  int64_t code = 0;
  while (code < 5 && !tvms_bytes_is(kind, kinds[code]))
    code++;
  if (code == 5) return NULL;
  bool grouped = tvms_attr_bool(call, TVMS_ATTR_allreduce_in_group);
  tvms_node *number = tvms_sinfo_dim_new(unit, code);
  tvms_node *shape = tvms_sinfo_shape_value_new(unit, &number, 1, TVMS_NO_SPAN);
  tvms_node *x = call->args.items[0];
  tvms_node *args[] = {x, shape, tvms_relax_make_int(unit, grouped)};
  return call_dps_packed(e, "runtime.disco.allreduce", args, 3, x->sinfo);
}

static tvms_node *expand_allgather(tvms_expansion *e, tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  tvms_node *x = call->args.items[0];
  bool grouped = tvms_attr_bool(call, TVMS_ATTR_allgather_in_group);
  tvms_node *args[] = {x, tvms_relax_make_int(unit_of(e), grouped)};
  return call_dps_packed(e, "runtime.disco.allgather", args, 2, node->sinfo);
}

static tvms_node *expand_broadcast(tvms_expansion *e, tvms_node *node) {
  tvms_node *x = tvms_as_call(node)->args.items[0];
  tvms_node *args[] = {x, tvms_relax_make_int(unit_of(e), 0)};
  return call_dps_packed(e, "runtime.disco.broadcast_from_worker0", args, 2, x->sinfo);
}

// The axis that is dealt out becomes two, and the workers' axis the first.
static tvms_node *expand_scatter(tvms_expansion *e, tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  tvms_unit *unit = unit_of(e);
  tvms_node *x = call->args.items[0];
  tvms_list dims;
  int64_t workers = tvms_attr_int(call, TVMS_ATTR_workers_num_workers, 1);
  int64_t axis = tvms_attr_int(call, TVMS_ATTR_workers_axis, 0);
  if (!tvms_sinfo_tensor_dims(x->sinfo, &dims) || axis < 0 || axis >= dims.len
      || workers < 1) {
    return NULL;
  }
  tvms_node **split = tvms_arena_array(&unit->arena, tvms_node *, dims.len + 1);
  tvms_node **order = tvms_arena_array(&unit->arena, tvms_node *, dims.len + 1);
  order[0] = tvms_object_int_new(unit, axis, TVMS_NO_SPAN);
  for (uint32_t i = 0, at = 0; i < dims.len; i++) {
    if (i == axis) split[at++] = tvms_sinfo_dim_new(unit, workers);
    if (i != axis)
      order[i < axis ? i + 1 : i] = tvms_object_int_new(unit, i, TVMS_NO_SPAN);
    tvms_node *part = dims.items[i];
    if (i == axis) {
      part = tvms_build_binary(unit, TVMS_NODE_DIV, part,
                               tvms_sinfo_dim_new(unit, workers), TVMS_NO_SPAN);
    }
    if (!part) return NULL;
    split[at++] = part;
  }
  for (uint32_t i = (uint32_t)axis + 1; i <= dims.len; i++)
    order[i] = tvms_object_int_new(unit, i, TVMS_NO_SPAN);
  tvms_node *shape =
      tvms_sinfo_shape_value_new(unit, split, dims.len + 1, TVMS_NO_SPAN);
  tvms_node *both[] = {x, shape};
  tvms_node *value = bind_legal(e, tvms_relax_op(e->mutator, TVMS_R_reshape, both, 2));
  if (axis != 0) {
    tvms_node *axes = tvms_object_array_new(unit, order, dims.len + 1, TVMS_NO_SPAN);
    value = bind_legal(
        e, tvms_relax_op_with(e->mutator, TVMS_R_permute_dims, &value, 1, &axes));
  }
  tvms_node *args[] = {value, tvms_relax_make_int(unit, 0)};
  return call_dps_packed(e, "runtime.disco.scatter_from_worker0", args, 2, node->sinfo);
}

// ---- What only packed functions do ----

static tvms_node *call_pure_packed(tvms_expansion *e, const char *name, tvms_list args,
                                   tvms_node *type) {
  tvms_unit *unit = unit_of(e);
  tvms_node *inner =
      tvms_relax_make_packed_call(unit, name, args.items, args.len, type, TVMS_NO_SPAN);
  tvms_node **all = tvms_arena_array(&unit->arena, tvms_node *, args.len + 1);
  all[0] = tvms_as_call(inner)->callee;
  for (uint32_t i = 0; i < args.len; i++)
    all[i + 1] = args.items[i];
  tvms_node *op = tvms_op_operator_new(unit, TVMS_R_call_pure_packed);
  tvms_node *call =
      tvms_call_new(unit, (tvms_dtype){0}, op, all, args.len + 1, TVMS_NO_SPAN);
  tvms_as_call(call)->type_args = tvms_as_call(inner)->type_args;
  call->sinfo = type;
  return call;
}

tvms_node *tvms_relax_expand_to_packed(tvms_expansion *e, tvms_node *call) {
  tvms_list args = tvms_as_call(call)->args;
  switch ((uint32_t)tvms_op_called(call)) {
  case TVMS_R_print:
    return tvms_relax_make_packed_call(unit_of(e), "relax.run.print", args.items,
                                       args.len, call->sinfo, call->span);
  case TVMS_R_assert_op:
    return tvms_relax_make_packed_call(unit_of(e), "relax.run.assert_op", args.items,
                                       args.len, call->sinfo, call->span);
  case TVMS_R_unique: return call_pure_packed(e, "relax.run.unique", args, call->sinfo);
  case TVMS_R_nonzero:
    return call_pure_packed(e, "relax.run.nonzero", args, call->sinfo);
  case TVMS_R_shape_to_tensor:
    return call_pure_packed(e, "relax.run.shape_to_tensor", args, call->sinfo);
  default: return NULL;
  }
}

// ---- The part of a worker ----

static tvms_node *prims(tvms_expansion *e, tvms_node *value) {
  tvms_node *item = tvms_relax_make_prim_value(unit_of(e), value);
  return tvms_relax_make_tuple(e->mutator, &item, 1);
}

// position * size // workers
static tvms_node *bound_of(tvms_unit *unit, tvms_node *position, tvms_node *size,
                           int64_t workers) {
  tvms_node *product =
      tvms_build_binary(unit, TVMS_NODE_MUL, position, size, TVMS_NO_SPAN);
  return product ? tvms_build_binary(unit, TVMS_NODE_FLOOR_DIV, product,
                                     tvms_sinfo_dim_new(unit, workers), TVMS_NO_SPAN)
                 : NULL;
}

// Binds `value` to a variable of type `type`, which defines symbols.
static tvms_node *bind_cast(tvms_expansion *e, tvms_node *value, tvms_node *type) {
  tvms_unit *unit = unit_of(e);
  bool dataflow = tvms_relax_in_dataflow(e->mutator);
  value->sinfo = value->sinfo ? value->sinfo : type;
  // The emitter names variables of values; this one has another type.
  tvms_node *named =
      tvms_relax_bind(&e->mutator->emitter, value, dataflow ? "lv" : "gv", dataflow);
  tvms_match_cast *binding = tvms_node_make(unit, MATCH_CAST, TVMS_NO_SPAN);
  binding->value = value;
  binding->type = type;
  binding->var = tvms_as_var_binding(named)->var;
  binding->var->sinfo = type;
  tvms_rewrite_emit(&e->mutator->rewriter, &binding->head);
  return binding->var;
}

static tvms_node *expand_replica_to_shard(tvms_expansion *e, tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  tvms_unit *unit = unit_of(e);
  tvms_list dims;
  tvms_node *x = call->args.items[0];
  int64_t workers = tvms_attr_int(call, TVMS_ATTR_workers_num_workers, 1);
  int64_t axis = tvms_attr_int(call, TVMS_ATTR_workers_axis, 0);
  if (!tvms_sinfo_tensor_dims(x->sinfo, &dims) || axis < 0 || axis >= dims.len
      || workers < 1) {
    return NULL;
  }
  tvms_node *any = tvms_sinfo_shape_new_ndim(unit, -1);
  tvms_node *shape = tvms_relax_expansion_bind(
      e, call_pure_packed(e, "runtime.disco.worker_id", (tvms_list){NULL, 0}, any));
  tvms_sym name = tvms_symbol_intern(unit->context, "worker_id", 9);
  tvms_node *worker = tvms_var_new(unit, name, TVMS_DTYPE(INT, 64), TVMS_NO_SPAN);
  (void)bind_cast(e, shape, tvms_sinfo_shape_new(unit, &worker, 1));
  tvms_node *size = dims.items[axis];
  tvms_node *next = tvms_build_binary(unit, TVMS_NODE_ADD, worker,
                                      tvms_sinfo_dim_new(unit, 1), TVMS_NO_SPAN);
  tvms_node *begin = bound_of(unit, worker, size, workers);
  tvms_node *end = next ? bound_of(unit, next, size, workers) : NULL;
  if (!begin || !end) return NULL;
  tvms_node *args[] = {x, prims(e, tvms_sinfo_dim_new(unit, axis)), prims(e, begin),
                       prims(e, end)};
  tvms_node *attr = tvms_object_bool_new(unit, true, TVMS_NO_SPAN);
  return tvms_relax_op_with(e->mutator, TVMS_R_strided_slice, args, 4, &attr);
}

// The call with a result of these sizes, computed.
static tvms_node *compute_of_sizes(tvms_expansion *e, const tvms_node *node,
                                   tvms_list sizes, tvms_dtype dtype) {
  tvms_unit *unit = unit_of(e);
  tvms_node *value =
      tvms_sinfo_shape_value_new(unit, sizes.items, sizes.len, TVMS_NO_SPAN);
  tvms_node *typed = tvms_node_copy(unit, node);
  typed->sinfo = tvms_sinfo_tensor_new(unit, value, dtype, NULL);
  return e->compute(e, typed, TVMS_LEGAL_RESULT);
}

// What a tensor holds, as a shape.
static tvms_node *shape_in(tvms_expansion *e, tvms_node *sizes, int64_t rank) {
  tvms_unit *unit = unit_of(e);
  if (!tvms_release_has(unit->dialect, TVMS_FACT_slices_read_shapes_by_packed))
    return tvms_relax_expansion_bind(
        e, tvms_relax_op(e->mutator, TVMS_R_tensor_to_shape, &sizes, 1));
  tvms_list args = tvms_list_copy(unit, &sizes, 1);
  return tvms_relax_expansion_bind(
      e, call_pure_packed(e, "vm.builtin.tensor_to_shape", args,
                          tvms_sinfo_shape_new_ndim(unit, rank)));
}

// The shape is computed first, and its dimensions get names.
static tvms_node *expand_dynamic_slice(tvms_expansion *e, tvms_node *node) {
  tvms_unit *unit = unit_of(e);
  const tvms_node *x = tvms_as_call(node)->args.items[0];
  tvms_list dims;
  if (!x->sinfo || !tvms_sinfo_tensor_dims(x->sinfo, &dims)) return NULL;
  tvms_node *sizes = e->compute(e, node, TVMS_LEGAL_SHAPE);
  if (!sizes) return NULL;
  sizes = tvms_relax_expansion_bind(e, sizes);
  tvms_node *shape = shape_in(e, sizes, dims.len);
  tvms_list symbols = tvms_list_copy(unit, dims.items, dims.len);
  tvms_sym name = tvms_symbol_intern(unit->context, "s", 1);
  for (uint32_t i = 0; i < dims.len; i++)
    symbols.items[i] = tvms_var_new(unit, name, TVMS_DTYPE(INT, 64), TVMS_NO_SPAN);
  (void)bind_cast(e, shape, tvms_sinfo_shape_new(unit, symbols.items, symbols.len));
  return compute_of_sizes(e, node, symbols, x->sinfo->dtype);
}

// A shape that is a variable is bound anew, and its dimensions get names.
static tvms_node *expand_full(tvms_expansion *e, tvms_node *node) {
  tvms_unit *unit = unit_of(e);
  tvms_node *shape = tvms_as_call(node)->args.items[0];
  const tvms_node *type = shape->sinfo;
  if (shape->kind == TVMS_NODE_SHAPE_EXPR || !type
      || type->kind != TVMS_NODE_SINFO_SHAPE || tvms_as_sinfo_shape(type)->ndim < 0
      || !tvms_release_has(unit->dialect, TVMS_FACT_full_names_sizes)) {
    return NULL;
  }
  uint32_t rank = (uint32_t)tvms_as_sinfo_shape(type)->ndim;
  tvms_list symbols = {tvms_arena_array(&unit->arena, tvms_node *, rank + 1), rank};
  for (uint32_t i = 0; i < rank; i++) {
    char text[16];
    int length = snprintf(text, sizeof text, "s%u", i);
    tvms_sym name = tvms_symbol_intern(unit->context, text, (size_t)length);
    symbols.items[i] = tvms_var_new(unit, name, TVMS_DTYPE(INT, 64), TVMS_NO_SPAN);
  }
  (void)bind_cast(e, tvms_relax_expansion_bind(e, shape),
                  tvms_sinfo_shape_new(unit, symbols.items, symbols.len));
  return compute_of_sizes(e, node, symbols, node->sinfo->dtype);
}

tvms_node *tvms_relax_expand_op(tvms_expansion *e, tvms_node *call) {
  switch ((uint32_t)tvms_op_called(call)) {
  case TVMS_R_arange: return expand_arange(e, call);
  case TVMS_R_astype: return expand_astype(e, call);
  case TVMS_R_size: return expand_size(e, call);
  // Marks for Gradient, which compute nothing.
  case TVMS_R_grad_no_grad:
  case TVMS_R_grad_start_checkpoint:
  case TVMS_R_grad_end_checkpoint: return tvms_as_call(call)->args.items[0];
  case TVMS_R_ccl_allreduce: return expand_allreduce(e, call);
  case TVMS_R_ccl_allgather: return expand_allgather(e, call);
  case TVMS_R_ccl_broadcast_from_worker0: return expand_broadcast(e, call);
  case TVMS_R_ccl_scatter_from_worker0: return expand_scatter(e, call);
  case TVMS_R_dist_redistribute_replica_to_shard:
    return expand_replica_to_shard(e, call);
  case TVMS_R_dynamic_strided_slice: return expand_dynamic_slice(e, call);
  case TVMS_R_full: return expand_full(e, call);
  case TVMS_R_vision_all_class_non_max_suppression:
    return tvms_relax_expand_suppression(e, call);
  default: return NULL;
  }
}
