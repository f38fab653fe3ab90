// Operators of Relax that stay after legalisation: calls of PrimFuncs, memory, shapes.
//
// Everything that computes becomes a call_tir by LegalizeOps before a program is run, but for
// operators that are to be computed by their definition.
#include "interp/relax_ops.h"

#include "interp/builtin.h"
#include "interp/match.h"
#include "interp/operators.h"
#include "interp/packed.h"
#include "interp/prim.h"
#include "interp/relax.h"
#include "interp/tensor.h"
#include "ir/op.h"
#include "support/diag_ids.h"

typedef tvms_value handler(tvms_interp_frame *f, const tvms_call *call);

TVMS_NORETURN static void unsupported(tvms_interp_frame *f, const tvms_call *call) {
  fault(f, TVMS_D_call_not_interpreted, call->head.span,
        tvms_symbol_text(f->context, tvms_as_operator(call->callee)->name));
}

static const tvms_node *argument(tvms_interp_frame *f, const tvms_call *call,
                                 uint32_t at) {
  if (at >= call->args.len) {
    fault(f, TVMS_D_too_few_arguments, call->head.span,
          tvms_symbol_text(f->context, tvms_as_operator(call->callee)->name));
  }
  return call->args.items[at];
}

static tvms_value tensor_argument(tvms_interp_frame *f, const tvms_call *call,
                                  uint32_t at) {
  const tvms_node *node = argument(f, call, at);
  tvms_value value = tvms_interp_eval_relax(f, node);
  if (value.kind != TVMS_VALUE_TENSOR) {
    fault(f, TVMS_D_wrong_argument, node->span, "of the operator",
          "a tensor is expected");
  }
  return value;
}

static tvms_value shape_argument(tvms_interp_frame *f, const tvms_call *call,
                                 uint32_t at) {
  const tvms_node *node = argument(f, call, at);
  tvms_value value = tvms_interp_eval_relax(f, node);
  if (value.kind != TVMS_VALUE_SHAPE) {
    fault(f, TVMS_D_wrong_argument, node->span, "of the operator",
          "a shape is expected");
  }
  return value;
}

// The arguments of a call_tir with its outputs after them, all owned by the caller.
typedef TVMS_VEC(tvms_value) values;

static void push_arguments(tvms_interp_frame *f, const tvms_node *node, values *args) {
  tvms_memory *memory = &f->context->memory;
  tvms_value tuple = tvms_interp_eval_relax(f, node);
  if (tuple.kind != TVMS_VALUE_TUPLE) {
    tvms_vec_push(memory, args, tuple);
    return;
  }
  for (uint32_t i = 0; i < tuple.tuple->len; i++) {
    tvms_vec_push(memory, args, tvms_value_keep(tuple.tuple->items[i]));
  }
  tvms_value_drop(tuple);
}

// Variables that are passed as numbers after the outputs.
static void push_sizes(tvms_interp_frame *f, const tvms_call *call, values *args) {
  if (call->args.len < 3) return;
  tvms_value shape = shape_argument(f, call, 2);
  for (int32_t i = 0; i < shape.tensor->view.ndim; i++) {
    tvms_value size = {.kind = TVMS_VALUE_INT, .i = shape.tensor->shape[i]};
    tvms_vec_push(&f->context->memory, args, size);
  }
  tvms_value_drop(shape);
}

// Which argument is the i-th output of a call_tir_inplace; -1: a new tensor.
static int64_t place_of_output(const tvms_call *call, uint32_t output) {
  if (tvms_op_called(&call->head) != TVMS_R_call_tir_inplace) return -1;
  const tvms_node *places = call->attrs.len ? call->attrs.items[0] : NULL;
  if (!places || places->kind != TVMS_NODE_OBJECT_ARRAY) return -1;
  tvms_list items = tvms_as_object_array(places)->items;
  bool given = output < items.len && items.items[output]->kind == TVMS_NODE_OBJECT_INT;
  return given ? tvms_as_object_int(items.items[output])->value : -1;
}

// The i-th output: a new tensor of `type`, or an argument. Owned by the caller.
static tvms_value make_output(tvms_interp_frame *f, const tvms_call *call,
                              const tvms_node *type, const values *args,
                              uint32_t inputs, uint32_t output) {
  int64_t place = place_of_output(call, output);
  if (place >= 0 && place < inputs) return tvms_value_keep(args->items[place]);
  return tvms_value_of_tensor(tvms_interp_make_tensor(f, type, call->head.span));
}

static tvms_value make_outputs(tvms_interp_frame *f, const tvms_call *call,
                               values *args) {
  tvms_memory *memory = &f->context->memory;
  uint32_t inputs = args->len;
  if (!call->type_args.len) fault(f, TVMS_D_shape_not_known, call->head.span);
  const tvms_node *type = call->type_args.items[0];
  if (type->kind != TVMS_NODE_SINFO_TUPLE) {
    tvms_value result = make_output(f, call, type, args, inputs, 0);
    if (place_of_output(call, 0) < 0)
      tvms_vec_push(memory, args, tvms_value_keep(result));
    return result;
  }
  tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
  tvms_items *tuple = tvms_tuple_new(f->interp->heap, fields.len);
  for (uint32_t i = 0; i < fields.len; i++) {
    tuple->items[i] = make_output(f, call, fields.items[i], args, inputs, i);
    if (place_of_output(call, i) < 0)
      tvms_vec_push(memory, args, tvms_value_keep(tuple->items[i]));
  }
  return (tvms_value){.kind = TVMS_VALUE_TUPLE, .tuple = tuple};
}

// call_dps_packed: a packed function that writes into what is behind its arguments.
static void call_packed_into(tvms_interp_frame *f, const tvms_call *call,
                             const values *args) {
  const tvms_node *callee = call->args.items[0];
  tvms_bytes name = tvms_as_extern_func(callee)->symbol;
  if (!tvms_interp_has_packed(f->interp, name))
    fault(f, TVMS_D_unknown_function, callee->span, name.text);
  tvms_value_drop(
      tvms_interp_call_packed(f, name, args->items, args->len, callee->span));
}

static void call_kernel(tvms_interp_frame *f, const tvms_call *call,
                        const values *args) {
  const tvms_node *callee = call->args.items[0];
  if (callee->kind != TVMS_NODE_GLOBAL_VAR) unsupported(f, call);
  tvms_sym name = tvms_as_global_var(callee)->name;
  const tvms_member *member = tvms_module_find(f->interp->module, name);
  bool callable =
      member && member->function && member->function->kind == TVMS_NODE_PRIM_FUNC;
  if (!callable) {
    fault(f, TVMS_D_unknown_function, callee->span, tvms_symbol_text(f->context, name));
  }
  tvms_value_drop(tvms_interp_call_member(f->interp, member, args->items, args->len,
                                          call->head.span, f));
}

static tvms_value op_call_tir(tvms_interp_frame *f, const tvms_call *call) {
  bool packed = argument(f, call, 0)->kind == TVMS_NODE_EXTERN_FUNC;
  values args = {0};
  push_arguments(f, argument(f, call, 1), &args);
  tvms_value result = make_outputs(f, call, &args);
  push_sizes(f, call, &args);
  if (packed) {
    call_packed_into(f, call, &args);
  } else {
    call_kernel(f, call, &args);
  }
  for (uint32_t i = 0; i < args.len; i++) {
    tvms_value_drop(args.items[i]);
  }
  tvms_vec_fini(&f->context->memory, &args);
  return result;
}

static tvms_value op_shape_of(tvms_interp_frame *f, const tvms_call *call) {
  tvms_value tensor = tensor_argument(f, call, 0);
  tvms_tensor *shape =
      tvms_shape_new(f->interp->heap, tensor.tensor->view.ndim, tensor.tensor->shape);
  tvms_value_drop(tensor);
  return (tvms_value){.kind = TVMS_VALUE_SHAPE, .tensor = shape};
}

static tvms_value op_tensor_to_shape(tvms_interp_frame *f, const tvms_call *call) {
  tvms_value tensor = tensor_argument(f, call, 0);
  if (tensor.tensor->view.ndim != 1) {
    fault(f, TVMS_D_rank_mismatch, call->head.span, "the argument",
          tensor.tensor->view.ndim, 1u);
  }
  int64_t len = tensor.tensor->shape[0];
  int64_t *sizes = tvms_arena_array(&f->context->scratch, int64_t, len);
  for (int64_t i = 0; i < len; i++) {
    sizes[i] = tvms_tensor_get(tensor.tensor, i).i;
  }
  tvms_value_drop(tensor);
  tvms_tensor *shape = tvms_shape_new(f->interp->heap, (int32_t)len, sizes);
  return (tvms_value){.kind = TVMS_VALUE_SHAPE, .tensor = shape};
}

static tvms_tensor *tensor_of(tvms_interp_frame *f, const tvms_call *call,
                              tvms_dl_type type, int32_t ndim, const int64_t *shape) {
  return tvms_interp_new_tensor(f, call->head.span, type, ndim, shape);
}

static tvms_value op_shape_to_tensor(tvms_interp_frame *f, const tvms_call *call) {
  tvms_value shape = shape_argument(f, call, 0);
  int64_t len = shape.tensor->view.ndim;
  tvms_tensor *tensor = tensor_of(f, call, (tvms_dl_type){TVMS_DL_INT, 64, 1}, 1, &len);
  for (int64_t i = 0; i < len; i++) {
    tvms_tensor_set(tensor, i, (tvms_scalar){.i = shape.tensor->shape[i]});
  }
  tvms_value_drop(shape);
  return tvms_value_of_tensor(tensor);
}

// A tensor of a shape and a dtype that stand at these places among the arguments. The
// storage of memory plans is not shared: every tensor has its own memory.
static tvms_value alloc_tensor(tvms_interp_frame *f, const tvms_call *call,
                               uint32_t shape_at, uint32_t dtype_at) {
  tvms_value shape = shape_argument(f, call, shape_at);
  const tvms_node *dtype = argument(f, call, dtype_at);
  if (dtype->kind != TVMS_NODE_DTYPE_IMM) unsupported(f, call);
  tvms_tensor *tensor =
      tensor_of(f, call, tvms_interp_dl_type_of(tvms_as_dtype_imm(dtype)->value),
                shape.tensor->view.ndim, shape.tensor->shape);
  tvms_value_drop(shape);
  return tvms_value_of_tensor(tensor);
}

static tvms_value op_builtin_alloc_tensor(tvms_interp_frame *f, const tvms_call *call) {
  return alloc_tensor(f, call, 0, 1);
}

static tvms_value op_memory_alloc_tensor(tvms_interp_frame *f, const tvms_call *call) {
  return alloc_tensor(f, call, 2, 3);
}

static bool is_open(tvms_value value) {
  bool empty = value.kind == TVMS_VALUE_TUPLE && !value.tuple->len;
  return empty || value.kind == TVMS_VALUE_NONE;
}

// memory.view(tensor, shape, dtype, offset in bytes): the same memory, seen as another tensor. What is left open,
// by an empty tuple or R.null_value(), is as the tensor has it.
static tvms_value op_memory_view(tvms_interp_frame *f, const tvms_call *call) {
  tvms_value args[] = {tensor_argument(f, call, 0), {0}, {0}, {0}};
  const tvms_tensor *tensor = args[0].tensor;
  for (uint32_t i = 1; i < 4; i++)
    args[i] = tvms_interp_eval_relax(f, argument(f, call, i));
  if (is_open(args[1])) {
    tvms_value_drop(args[1]);
    args[1] = (tvms_value){
        .kind = TVMS_VALUE_SHAPE,
        .tensor = tvms_shape_new(f->interp->heap, tensor->view.ndim, tensor->shape)};
  }
  if (is_open(args[2])) {
    tvms_value_drop(args[2]);
    args[2] = (tvms_value){.kind = TVMS_VALUE_TYPE, .type = tensor->view.dtype};
  }
  if (is_open(args[3])) {
    tvms_value_drop(args[3]);
    args[3] = (tvms_value){.kind = TVMS_VALUE_INT};
  }
  const tvms_builtin view = {f, args, 4, call->head.span};
  tvms_value result = tvms_interp_builtin_create_view(&view);
  for (uint32_t i = 0; i < 4; i++)
    tvms_value_drop(args[i]);
  return result;
}

// Most packed functions live in a TVM run time, which is not here.
static tvms_value op_packed(tvms_interp_frame *f, const tvms_call *call) {
  const tvms_node *callee = argument(f, call, 0);
  if (callee->kind != TVMS_NODE_EXTERN_FUNC) unsupported(f, call);
  tvms_bytes name = tvms_as_extern_func(callee)->symbol;
  if (!tvms_interp_has_packed(f->interp, name))
    fault(f, TVMS_D_unknown_function, callee->span, name.text);
  uint32_t count = call->args.len - 1;
  tvms_value *args = tvms_arena_array(&f->context->scratch, tvms_value, count + 1);
  for (uint32_t i = 0; i < count; i++)
    args[i] = tvms_interp_eval_relax(f, call->args.items[i + 1]);
  tvms_value result = tvms_interp_call_packed(f, name, args, count, callee->span);
  for (uint32_t i = 0; i < count; i++)
    tvms_value_drop(args[i]);
  return result;
}

// call_builtin_with_ctx(function, (arguments…)): the machine itself is not an argument here.
static tvms_value op_builtin_with_ctx(tvms_interp_frame *f, const tvms_call *call) {
  const tvms_node *callee = argument(f, call, 0);
  if (callee->kind != TVMS_NODE_EXTERN_FUNC) unsupported(f, call);
  values args = {0};
  push_arguments(f, argument(f, call, 1), &args);
  tvms_value result = tvms_interp_call_packed(f, tvms_as_extern_func(callee)->symbol,
                                              args.items, args.len, call->head.span);
  for (uint32_t i = 0; i < args.len; i++)
    tvms_value_drop(args.items[i]);
  tvms_vec_fini(&f->context->memory, &args);
  return result;
}

// make_closure(function, (captured…)), invoke_closure(closure, (arguments…)): as the functions of the run time.
static tvms_value op_of_closure(tvms_interp_frame *f, const tvms_call *call) {
  bool makes = tvms_op_called(&call->head) == TVMS_R_make_closure;
  values args = {0};
  tvms_vec_push(&f->context->memory, &args,
                tvms_interp_eval_relax(f, argument(f, call, 0)));
  push_arguments(f, argument(f, call, 1), &args);
  tvms_builtin b = {f, args.items, args.len, call->head.span};
  tvms_value result = makes ? tvms_interp_builtin_make_closure(&b)
                            : tvms_interp_builtin_invoke_closure(&b);
  for (uint32_t i = 0; i < args.len; i++)
    tvms_value_drop(args.items[i]);
  tvms_vec_fini(&f->context->memory, &args);
  return result;
}

// print(format, values…)
static tvms_value op_print(tvms_interp_frame *f, const tvms_call *call) {
  tvms_value format = tvms_interp_eval_relax(f, argument(f, call, 0));
  if (format.kind != TVMS_VALUE_STR) unsupported(f, call);
  uint32_t count = call->args.len - 1;
  tvms_value *items = tvms_arena_array(&f->context->scratch, tvms_value, count);
  for (uint32_t i = 0; i < count; i++) {
    items[i] = tvms_interp_eval_relax(f, call->args.items[i + 1]);
  }
  const char *text = format.text ? format.text : "";
  if (f->interp->print) f->interp->print(f->interp->print_state, text, items, count);
  for (uint32_t i = 0; i < count; i++) {
    tvms_value_drop(items[i]);
  }
  return (tvms_value){0};
}

static tvms_value op_nothing(tvms_interp_frame *f, const tvms_call *call) {
  (void)f, (void)call;
  return (tvms_value){0};
}

// The same tensor elsewhere: there is one device.
static tvms_value op_first_argument(tvms_interp_frame *f, const tvms_call *call) {
  return tvms_interp_eval_relax(f, argument(f, call, 0));
}

static tvms_value op_assert(tvms_interp_frame *f, const tvms_call *call) {
  tvms_value value = tvms_interp_eval_relax(f, argument(f, call, 0));
  bool holds = value.kind == TVMS_VALUE_TENSOR ? tvms_tensor_get(value.tensor, 0).i != 0
                                               : value.i != 0;
  tvms_value_drop(value);
  if (!holds) fault(f, TVMS_D_assertion_failed, call->head.span, "assert_op");
  return (tvms_value){0};
}

static const struct {
  tvms_opcode opcode;
  handler *run;
} handlers[] = {
    {TVMS_R_call_tir, op_call_tir},
    {TVMS_R_call_tir_inplace, op_call_tir},
    {TVMS_R_call_tir_with_grad, op_call_tir},
    {TVMS_R_call_dps_packed, op_call_tir},
    {TVMS_R_call_pure_packed, op_packed},
    {TVMS_R_call_inplace_packed, op_packed},
    {TVMS_R_call_builtin_with_ctx, op_builtin_with_ctx},
    {TVMS_R_make_closure, op_of_closure},
    {TVMS_R_invoke_closure, op_of_closure},
    {TVMS_R_invoke_pure_closure, op_of_closure},
    {TVMS_R_shape_of, op_shape_of},
    {TVMS_R_tensor_to_shape, op_tensor_to_shape},
    {TVMS_R_shape_to_tensor, op_shape_to_tensor},
    {TVMS_R_builtin_alloc_tensor, op_builtin_alloc_tensor},
    {TVMS_R_memory_alloc_tensor, op_memory_alloc_tensor},
    {TVMS_R_vm_alloc_tensor, op_memory_alloc_tensor},
    {TVMS_R_memory_view, op_memory_view},
    {TVMS_R_memory_ensure_zero_offset, op_first_argument},
    {TVMS_R_memory_alloc_storage, op_nothing},
    {TVMS_R_vm_alloc_storage, op_nothing},
    {TVMS_R_memory_kill_storage, op_nothing},
    {TVMS_R_memory_kill_tensor, op_nothing},
    {TVMS_R_vm_kill_object, op_nothing},
    {TVMS_R_null_value, op_nothing},
    {TVMS_R_print, op_print},
    {TVMS_R_assert_op, op_assert},
    {TVMS_R_to_vdevice, op_first_argument},
    {TVMS_R_hint_on_device, op_first_argument},
};

static handler *find_handler(tvms_opcode opcode) {
  for (size_t i = 0; i < sizeof handlers / sizeof handlers[0]; i++) {
    if (handlers[i].opcode == opcode) return handlers[i].run;
  }
  return NULL;
}

bool tvms_interp_runs_operator(tvms_opcode opcode) {
  return find_handler(opcode) != NULL;
}

// Has an argument a value, or is it part of what the operator is?
static bool is_value(const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_VAR:
  case TVMS_NODE_CONSTANT:
  case TVMS_NODE_TUPLE:
  case TVMS_NODE_TUPLE_GET_ITEM:
  case TVMS_NODE_SHAPE_EXPR:
  case TVMS_NODE_PRIM_VALUE:
  case TVMS_NODE_CALL: return true;
  default: return false;
  }
}

static tvms_value run_late(tvms_interp_frame *f, const tvms_call *call) {
  uint32_t count = call->args.len;
  tvms_value *args = tvms_arena_array(&f->context->scratch, tvms_value, count);
  for (uint32_t i = 0; i < count; i++) {
    if (is_value(call->args.items[i]))
      args[i] = tvms_interp_eval_relax(f, call->args.items[i]);
  }
  tvms_value result = f->interp->late(f->interp->late_state, f->interp, call, args);
  for (uint32_t i = 0; i < count; i++)
    tvms_value_drop(args[i]);
  return result;
}

tvms_value tvms_interp_call_relax_operator(tvms_interp_frame *f,
                                           const tvms_call *call) {
  handler *run = find_handler(tvms_op_called(&call->head));
  tvms_interp_count_step(f, call->head.span);
  if (run) return run(f, call);
  bool defined = f->interp->defines && tvms_interp_defines(tvms_op_called(&call->head));
  if (defined) return tvms_interp_compute(f, call);
  if (!f->interp->late) unsupported(f, call);
  return run_late(f, call);
}
