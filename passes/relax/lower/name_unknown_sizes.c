// NameUnknownSizes: sizes that only the run tells get names, so that operators can be lowered.
//
// Before: x: R.Tensor(dtype="float32", ndim=1); y: R.Tensor(("n",), "float32")
//         lv = R.add(x, y)
// After:  lv = R.match_cast(x, R.Tensor((m,), dtype="float32"))
//         lv1 = R.match_cast(R.shape([T.max(m, n)]), R.Shape(["k"]))
//         lv2 = R.match_cast(R.shape([(m - 1) * (k - m), (n - 1) * (k - n)]), R.Shape([0, 0]))
//         lv3 = R.take(lv, R.arange(0, k, 1), axis=0, mode="clip"), and the same of y
//         gv = R.add(lv3, lv4)
//
// A tensor whose rank and data type are known gets a variable for every size. Where operands are
// broadcast and it cannot be proved which of two sizes gives way, the greater is that of the result:
// operands of size 1 are repeated, others must have this size, which is checked. Tensors that are joined
// or stacked have the sizes of the first one, which is checked where it is not proved. A shape that is a
// value gets names, too, and where an operator asks for it, what it is given is checked against it;
// with `checks` also where R.reshape and R.broadcast_to name sizes of which nothing is proved, and where
// operands of R.matmul have different ones along the sum.
// From there on types are inferred again. Operators without a description, and tensors of unknown rank, stay as they are.
// TVM has no such pass: its LegalizeOps leaves these calls alone.
#include "ir/build.h"
#include "ir/object.h"
#include "passes/relax/graph/op_calls.h"
#include "passes/relax/make.h"
#include "structinfo/infer.h"
#include "structinfo/make.h"
#include "te/legalize_call.h"

typedef struct {
  tvms_node_map named;  // a value → its variable with named sizes, in one block
  const tvms_node *TVMS_NULLABLE block;  // that block
  bool shapes;                           // shapes that are values get names as well
  bool checks;                           // the option
} naming;

// ---- Names ----

static bool has_unknown_sizes(const tvms_node *value) {
  const tvms_node *type = value->sinfo;
  tvms_list dims;
  if (type && type->kind == TVMS_NODE_SINFO_SHAPE)
    return !(type->flags & TVMS_FLAG_KNOWN)
           && tvms_as_sinfo_shape(type)->ndim != TVMS_UNKNOWN_NDIM;
  return tvms_sinfo_is_tensor(type) && !tvms_dtype_is_void(type->dtype)
         && tvms_as_sinfo_tensor(type)->ndim != TVMS_UNKNOWN_NDIM
         && !tvms_sinfo_tensor_dims(type, &dims);
}

static tvms_node *size_var(tvms_unit *unit) {
  tvms_sym name = tvms_symbol_intern(unit->context, "n", 1);
  return tvms_var_new(unit, name, TVMS_DTYPE(INT, 64), TVMS_NO_SPAN);
}

static tvms_node *type_with_names(tvms_unit *unit, tvms_node *type) {
  bool is_shape = type->kind == TVMS_NODE_SINFO_SHAPE;
  uint32_t ndim = (uint32_t)(is_shape ? tvms_as_sinfo_shape(type)->ndim
                                      : tvms_as_sinfo_tensor(type)->ndim);
  tvms_node **sizes = tvms_arena_array(&unit->arena, tvms_node *, ndim + 1);
  for (uint32_t i = 0; i < ndim; i++)
    sizes[i] = size_var(unit);
  if (is_shape) return tvms_sinfo_shape_new(unit, sizes, ndim);
  tvms_node *shape = tvms_sinfo_shape_value_new(unit, sizes, ndim, TVMS_NO_SPAN);
  return tvms_sinfo_tensor_new(unit, shape, type->dtype,
                               tvms_as_sinfo_tensor(type)->vdevice);
}

// `value` under a name whose sizes have names, too, if they are not known.
static tvms_node *name_sizes(tvms_relax_mutator *m, tvms_node *value) {
  naming *state = m->self;
  bool is_shape = value->sinfo && value->sinfo->kind == TVMS_NODE_SINFO_SHAPE;
  if (!has_unknown_sizes(value) || (is_shape && !state->shapes)) return value;
  if (state->block != m->rewriter.sequence) tvms_node_map_clear(&state->named);
  state->block = m->rewriter.sequence;
  tvms_node *known = tvms_node_map_get(&state->named, value);
  if (known) return known;
  tvms_node *type = type_with_names(m->unit, value->sinfo);
  tvms_prover_assume(&m->prover, type);
  known = tvms_relax_mutator_cast(m, value, type);
  if (is_shape) {
    tvms_list sizes = tvms_as_sinfo_shape(type)->values;
    known = tvms_sinfo_shape_value_new(m->unit, sizes.items, sizes.len, TVMS_NO_SPAN);
  }
  tvms_node_map_put(&state->named, value, known);
  return known;
}

static tvms_node *name_argument(tvms_relax_mutator *m, tvms_node *argument);

// Arguments, or fields of one, into *now. Returns true if one of them is another.
static bool name_list(tvms_relax_mutator *m, tvms_list list, tvms_list *now) {
  bool changed = false;
  *now = tvms_list_copy(m->unit, list.items, list.len);
  for (uint32_t i = 0; i < list.len; i++) {
    now->items[i] = name_argument(m, list.items[i]);
    changed |= now->items[i] != list.items[i];
  }
  return changed;
}

static tvms_node *name_argument(tvms_relax_mutator *m, tvms_node *argument) {
  if (argument->kind != TVMS_NODE_TUPLE) return name_sizes(m, argument);
  tvms_list now;
  bool changed = name_list(m, tvms_as_tuple(argument)->fields, &now);
  return changed ? tvms_relax_make_tuple(m, now.items, now.len) : argument;
}

static tvms_node *name_arguments(tvms_relax_mutator *m, tvms_node *call) {
  tvms_list now;
  bool changed = name_list(m, tvms_as_call(call)->args, &now);
  return changed ? tvms_relax_recall(m, call, now.items) : call;
}

// ---- Operands that may be broadcast ----

// Emits a name for a size: what follows is simpler.
static tvms_node *name_size(tvms_relax_mutator *m, tvms_node *size) {
  tvms_node *var = size_var(m->unit);
  tvms_node *type = tvms_sinfo_shape_new(m->unit, &var, 1);
  tvms_prover_assume(&m->prover, type);
  tvms_node *shape = tvms_sinfo_shape_value_new(m->unit, &size, 1, TVMS_NO_SPAN);
  tvms_relax_mutator_cast(m, shape, type);
  return var;
}

// The size of a result for two of its operands.
static tvms_node *common_size(tvms_relax_mutator *m, tvms_node *a, tvms_node *b) {
  if (!a || tvms_node_is_int(a, 1)) return b;
  if (tvms_node_is_int(b, 1) || tvms_dim_equal(&m->prover, a, b)) return a;
  tvms_node *greater = tvms_dim_binary(&m->prover, TVMS_NODE_MAX, a, b);
  greater = tvms_dim_simplify(&m->prover, greater);
  return greater->kind == TVMS_NODE_MAX ? name_size(m, greater) : greater;
}

// Sizes of the result of a call whose operands all have theirs, from the last on; NULL: they have not.
static tvms_node **result_sizes(tvms_relax_mutator *m, const tvms_call *call) {
  uint32_t count = 0;
  tvms_list dims;
  for (uint32_t i = 0; i < call->args.len; i++) {
    const tvms_node *type = call->args.items[i]->sinfo;
    if (!tvms_sinfo_is_tensor(type)) continue;
    if (!tvms_sinfo_tensor_dims(type, &dims)) return NULL;
    if (dims.len > count) count = dims.len;
  }
  tvms_node **sizes = tvms_arena_array(&m->unit->arena, tvms_node *, count + 1);
  for (uint32_t i = 0; i < count; i++)
    sizes[i] = NULL;
  for (uint32_t i = 0; i < call->args.len; i++) {
    const tvms_node *type = call->args.items[i]->sinfo;
    if (!tvms_sinfo_is_tensor(type) || !tvms_sinfo_tensor_dims(type, &dims)) continue;
    for (uint32_t k = 0; k < dims.len; k++)
      sizes[k] = common_size(m, sizes[k], dims.items[dims.len - 1 - k]);
  }
  return sizes;
}

// Zero if `size` is 1 or that of the result.
static tvms_node *misfit(tvms_relax_mutator *m, tvms_node *size, tvms_node *result) {
  tvms_prover *prover = &m->prover;
  tvms_node *less = tvms_dim_binary_int(prover, TVMS_NODE_SUB, size, 1);
  tvms_node *gap = tvms_dim_binary(prover, TVMS_NODE_SUB, result, size);
  return tvms_dim_binary(prover, TVMS_NODE_MUL, less, gap);
}

// Axis `axis` of `x`, repeated up to `size` if it has one element.
static tvms_node *repeat(tvms_relax_mutator *m, tvms_node *x, uint32_t axis,
                         tvms_node *size) {
  tvms_unit *unit = m->unit;
  tvms_node *range[] = {tvms_relax_make_prim_value(unit, tvms_sinfo_dim_new(unit, 0)),
                        tvms_relax_make_prim_value(unit, size),
                        tvms_relax_make_prim_value(unit, tvms_sinfo_dim_new(unit, 1))};
  tvms_node *dtype = tvms_object_dtype_new(unit, TVMS_DTYPE(INT, 64), TVMS_NO_SPAN);
  tvms_node *indices = tvms_relax_op_with(m, TVMS_R_arange, range, 3, &dtype);
  return tvms_relax_op_take(m, x, indices, axis, "clip");
}

// What does not fit, and an operand with the sizes of the result.
static tvms_node *fit(tvms_relax_mutator *m, tvms_node *x, tvms_node *const *sizes,
                      tvms_node_vec *misfits) {
  tvms_list dims;
  if (!tvms_sinfo_is_tensor(x->sinfo) || !tvms_sinfo_tensor_dims(x->sinfo, &dims))
    return x;
  for (uint32_t i = 0; i < dims.len; i++) {
    tvms_node *size = dims.items[i], *wanted = sizes[dims.len - 1 - i];
    if (tvms_node_is_int(size, 1) || tvms_dim_equal(&m->prover, size, wanted)) continue;
    tvms_vec_push(&m->unit->context->memory, misfits, misfit(m, size, wanted));
    x = repeat(m, x, i, wanted);
  }
  return x;
}

// Emits the check that all of these are zero.
static void check(tvms_relax_mutator *m, const tvms_node_vec *misfits) {
  tvms_unit *unit = m->unit;
  tvms_node *zero = tvms_sinfo_dim_new(unit, 0);
  tvms_node **zeros = tvms_arena_array(&unit->arena, tvms_node *, misfits->len);
  for (uint32_t i = 0; i < misfits->len; i++)
    zeros[i] = zero;
  tvms_node *shape =
      tvms_sinfo_shape_value_new(unit, misfits->items, misfits->len, TVMS_NO_SPAN);
  tvms_relax_mutator_cast(m, shape, tvms_sinfo_shape_new(unit, zeros, misfits->len));
}

// A call whose operands have the sizes of its result.
static tvms_node *fit_operands(tvms_relax_mutator *m, tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  tvms_node **sizes = result_sizes(m, call);
  if (!sizes) return node;
  tvms_node_vec misfits = {0};
  tvms_list now = tvms_list_copy(m->unit, call->args.items, call->args.len);
  for (uint32_t i = 0; i < now.len; i++)
    now.items[i] = fit(m, now.items[i], sizes, &misfits);
  if (misfits.len) {
    check(m, &misfits);
    node = tvms_relax_settle(m, tvms_relax_recall(m, node, now.items));
  }
  tvms_vec_fini(&m->unit->context->memory, &misfits);
  return node;
}

// ---- Tensors that are joined ----

// The axis along which a call joins tensors of `ndim` axes, whose sizes there may differ; `ndim`: none.
static uint32_t joined_axis(const tvms_call *call, tvms_opcode opcode, uint32_t ndim) {
  const tvms_node *given = tvms_attr(call, TVMS_ATTR_opt_axis_axis);
  if (opcode != TVMS_R_concat || !given) return opcode == TVMS_R_concat ? 0 : ndim;
  int64_t axis = tvms_attr_int(call, TVMS_ATTR_opt_axis_axis, 0);
  return (uint32_t)(axis < 0 ? axis + ndim : axis);
}

// The size along `axis` that all fields must have: a number if one of them says it.
static tvms_node *shared_size(const tvms_list *fields, uint32_t axis) {
  tvms_list dims, first;
  tvms_sinfo_tensor_dims(fields->items[0]->sinfo, &first);
  for (uint32_t i = 1; i < fields->len; i++) {
    tvms_sinfo_tensor_dims(fields->items[i]->sinfo, &dims);
    if (tvms_node_is_int_imm(dims.items[axis])) return dims.items[axis];
  }
  return first.items[axis];
}

// `field` with the sizes that all must have, but for that along `joined`: cast where one is not proved.
static tvms_node *fit_field(tvms_relax_mutator *m, const tvms_list *fields,
                            tvms_node *field, uint32_t joined) {
  tvms_list dims;
  tvms_sinfo_tensor_dims(field->sinfo, &dims);
  tvms_list now = tvms_list_copy(m->unit, dims.items, dims.len);
  bool same = true;
  for (uint32_t i = 0; i < dims.len; i++) {
    tvms_node *size = i == joined ? dims.items[i] : shared_size(fields, i);
    if (tvms_dim_equal(&m->prover, dims.items[i], size)) continue;
    now.items[i] = size;
    same = false;
  }
  if (same) return field;
  tvms_node *shape =
      tvms_sinfo_shape_value_new(m->unit, now.items, now.len, TVMS_NO_SPAN);
  tvms_node *vdevice = tvms_as_sinfo_tensor(field->sinfo)->vdevice;
  tvms_node *type = tvms_sinfo_tensor_new(m->unit, shape, field->sinfo->dtype, vdevice);
  return tvms_relax_mutator_cast(m, field, type);
}

static bool have_sizes(const tvms_list *fields) {
  tvms_list dims, first;
  for (uint32_t i = 0; i < fields->len; i++) {
    const tvms_node *type = fields->items[i]->sinfo;
    if (!tvms_sinfo_is_tensor(type) || !tvms_sinfo_tensor_dims(type, &dims))
      return false;
    if (i == 0) first = dims;
    if (dims.len != first.len) return false;
  }
  return fields->len > 1;
}

// A call that joins the fields of a tuple, whose sizes fit.
static tvms_node *fit_fields(tvms_relax_mutator *m, tvms_node *node,
                             tvms_opcode opcode) {
  const tvms_call *call = tvms_as_call(node);
  tvms_node *tuple = call->args.items[0];
  if (tuple->kind != TVMS_NODE_TUPLE) return node;
  tvms_list fields = tvms_as_tuple(tuple)->fields;
  if (!have_sizes(&fields)) return node;
  tvms_list first;
  tvms_sinfo_tensor_dims(fields.items[0]->sinfo, &first);
  uint32_t joined = joined_axis(call, opcode, first.len);
  tvms_list now = tvms_list_copy(m->unit, fields.items, fields.len);
  for (uint32_t i = 0; i < now.len; i++)
    now.items[i] = fit_field(m, &fields, now.items[i], joined);
  tvms_node *made = tvms_relax_make_tuple(m, now.items, now.len);
  return tvms_relax_settle(m, tvms_relax_recall(m, node, &made));
}

// ---- Shapes that are asked for ----

// The sizes of the first argument, and those that the second one asks for; false if they are not known.
static bool find_sizes(const tvms_call *call, tvms_list *has, tvms_list *asked) {
  if (call->args.len != 2 || !tvms_sinfo_is_tensor(call->args.items[0]->sinfo)
      || !tvms_sinfo_tensor_dims(call->args.items[0]->sinfo, has))
    return false;
  const tvms_node *shape = call->args.items[1]->sinfo;
  bool known =
      shape && shape->kind == TVMS_NODE_SINFO_SHAPE && (shape->flags & TVMS_FLAG_KNOWN);
  if (!known) return false;
  *asked = tvms_as_sinfo_shape(shape)->values;
  for (uint32_t i = 0; i < asked->len; i++) {
    const tvms_node *size = asked->items[i];
    // What follows from the others.
    if (size->kind == TVMS_NODE_INT_IMM && tvms_as_int_imm(size)->value < 0)
      return false;
  }
  return true;
}

// Emits the check that a tensor has the elements, or may get the sizes, of a shape, where that is not proved.
static void check_shape(tvms_relax_mutator *m, const tvms_call *call,
                        tvms_opcode opcode) {
  tvms_list has, asked;
  if (!find_sizes(call, &has, &asked)) return;
  tvms_node_vec misfits = {0};
  tvms_memory *memory = &m->unit->context->memory;
  tvms_prover *prover = &m->prover;
  if (opcode == TVMS_R_reshape) {
    tvms_node *now = tvms_dim_product(prover, asked),
              *before = tvms_dim_product(prover, has);
    if (!tvms_dim_equal(prover, now, before))
      tvms_vec_push(memory, &misfits,
                    tvms_dim_binary(prover, TVMS_NODE_SUB, now, before));
  }
  bool widens = opcode == TVMS_R_broadcast_to && asked.len >= has.len;
  for (uint32_t i = 0; widens && i < has.len; i++) {
    tvms_node *size = has.items[i], *wanted = asked.items[asked.len - has.len + i];
    if (!tvms_node_is_int(size, 1) && !tvms_dim_equal(prover, size, wanted))
      tvms_vec_push(memory, &misfits, misfit(m, size, wanted));
  }
  if (misfits.len) check(m, &misfits);
  tvms_vec_fini(memory, &misfits);
}

// Emits the check that operands of a product have one length along the sum, where that is not proved.
static void check_product(tvms_relax_mutator *m, const tvms_call *call) {
  tvms_list a, b;
  bool known = tvms_sinfo_tensor_dims(call->args.items[0]->sinfo, &a)
               && tvms_sinfo_tensor_dims(call->args.items[1]->sinfo, &b);
  if (!known || a.len == 0 || b.len == 0) return;
  tvms_node *left = a.items[a.len - 1], *right = b.items[b.len > 1 ? b.len - 2 : 0];
  if (tvms_dim_equal(&m->prover, left, right)) return;
  tvms_node *shape = tvms_sinfo_shape_value_new(m->unit, &right, 1, TVMS_NO_SPAN);
  tvms_relax_mutator_cast(m, shape, tvms_sinfo_shape_new(m->unit, &left, 1));
}

// Operators whose shape may be any; R.collapse_sum_to asks for a proof.
static bool takes_any_shape(tvms_opcode opcode) {
  return opcode == TVMS_R_reshape || opcode == TVMS_R_broadcast_to
         || opcode == TVMS_R_zeros || opcode == TVMS_R_ones || opcode == TVMS_R_full;
}

// Operators that LegalizeOps or DispatchSortScan lowers if sizes are known.
static bool is_lowered(tvms_opcode opcode) {
  return tvms_legalize_describes(opcode) || tvms_legalize_has_dispatch(opcode)
         || opcode == TVMS_R_size;
}

static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  tvms_relax_mutator *m = r->self;
  naming *state = m->self;
  node = tvms_relax_leave_call(r, node);
  tvms_opcode opcode = tvms_op_called(node);
  if (!is_lowered(opcode) || !r->sequence) return node;
  if (tvms_legalize_is_possible(tvms_as_call(node))) {
    if (state->checks) check_shape(m, tvms_as_call(node), opcode);
    if (state->checks && opcode == TVMS_R_matmul) check_product(m, tvms_as_call(node));
    return node;
  }
  state->shapes = takes_any_shape(opcode);
  tvms_node *named = name_arguments(m, node);
  if (named != node) check_shape(m, tvms_as_call(named), opcode);
  node = named;
  if (tvms_legalize_is_possible(tvms_as_call(node))) return node;
  if (opcode == TVMS_R_concat || opcode == TVMS_R_stack)
    return fit_fields(m, node, opcode);
  return tvms_infer_is_broadcast(opcode) ? fit_operands(m, node) : node;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  naming state = {.checks = TVMS_OPTION(run, NameUnknownSizes, checks).number};
  tvms_node_map_init(&state.named, &unit->context->memory);
  tvms_relax_mutator m;
  tvms_relax_mutator_init(&m, run, unit, &state);
  m.rewriter.leave[TVMS_NODE_CALL] = leave_call;
  tvms_node *changed = tvms_relax_mutate(&m, function);
  tvms_relax_mutator_fini(&m);
  tvms_node_map_fini(&state.named);
  return changed;
}

void tvms_pass_name_unknown_sizes(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
