// Calls in a Relax function that becomes a PrimFunc: of PrimFuncs and of other Relax
// functions, directly and with pointers, and of the operators that lowering leaves.
#include "passes/relax/host/calls.h"

#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/clone.h"
#include "ir/op.h"
#include "passes/relax/fuse/tir_call_sizes.h"
#include "passes/relax/fuse/unpack_prim_func.h"
#include "passes/relax/host/bindings.h"
#include "passes/relax/host/functions.h"
#include "passes/relax/host/leaves.h"
#include "passes/relax/host/objects.h"
#include "passes/relax/host/packed.h"
#include "passes/relax/host/values.h"
#include "passes/relax/host/views.h"
#include "passes/relax/make.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

#include <stdio.h>

// ---- Direct calls ----

static tvms_node *tensor_type(tvms_host *h, const tvms_host_value *value) {
  tvms_node *shape = tvms_sinfo_shape_value_new(h->unit, value->dims.items,
                                                value->dims.len, TVMS_NO_SPAN);
  return tvms_sinfo_tensor_new(h->unit, shape, value->dtype, NULL);
}

// Is the next parameter of a callee an object?
static bool takes_object(const tvms_prim_func *callee,
                         const tvms_fuse_passed_list *passed) {
  uint32_t at = passed->len;
  return at < callee->params.len && !callee->buffers.items[at]
         && tvms_dtype_is_handle(callee->params.items[at]->dtype);
}

// The tensor that the next parameter is, of an object. NULL: the parameter is not a tensor, or refused.
static tvms_host_value *TVMS_NULLABLE tensor_for(tvms_host *h,
                                                 const tvms_prim_func *callee,
                                                 const tvms_fuse_passed_list *passed,
                                                 const tvms_host_value *object) {
  uint32_t at = passed->len;
  if (at >= callee->params.len || !callee->buffers.items[at]) return NULL;
  const tvms_buffer *buffer = tvms_as_buffer(callee->buffers.items[at]);
  const tvms_node *type =
      tvms_sinfo_tensor_new_ndim(h->unit, buffer->shape.len, buffer->element, NULL);
  return tvms_host_unboxed(h, type, object, "", TVMS_NO_SPAN);
}

// What is handed over for an object, a tensor, a number or the numbers of a shape. Pointers among the parameters are
// for objects if the callee was a Relax function (`boxes`), else for the elements of a tensor.
static void hand_over(tvms_host *h, const tvms_prim_func *callee, bool boxes,
                      tvms_host_value *value, tvms_fuse_passed_list *passed) {
  tvms_memory *memory = tvms_host_memory(h);
  if (takes_object(callee, passed) && !boxes && value->kind == TVMS_HOST_TENSOR) {
    tvms_vec_push(memory, passed, ((tvms_fuse_passed){value->data, NULL}));
    return;
  }
  if (takes_object(callee, passed)) {
    const tvms_host_value *object = tvms_host_boxed(h, value);
    if (object)
      tvms_vec_push(memory, passed,
                    ((tvms_fuse_passed){tvms_host_item_pointer(h, object), NULL}));
    return;
  }
  if (value->kind == TVMS_HOST_OBJECT) value = tensor_for(h, callee, passed, value);
  if (!value) return;
  if (value->kind == TVMS_HOST_TENSOR)
    tvms_vec_push(memory, passed,
                  ((tvms_fuse_passed){value->data, tensor_type(h, value)}));
  if (value->kind == TVMS_HOST_NUMBER)
    tvms_vec_push(memory, passed, ((tvms_fuse_passed){value->number, NULL}));
  for (uint32_t i = 0; value->kind == TVMS_HOST_SHAPE && i < value->dims.len; i++)
    tvms_vec_push(memory, passed, ((tvms_fuse_passed){value->dims.items[i], NULL}));
  for (uint32_t i = 0; value->kind == TVMS_HOST_TUPLE && i < value->count; i++)
    hand_over(h, callee, boxes, value->fields[i], passed);
}

// The sizes that the callee takes, in `values`; what is not proved of those of its tensors is
// asserted. Returns why they cannot be told.
static const char *TVMS_NULLABLE solve(tvms_host *h, const tvms_prim_func *callee,
                                       const tvms_fuse_passed_list *passed,
                                       tvms_node_map *values) {
  for (uint32_t i = 0; i < passed->len; i++) {
    bool tensor = callee->buffers.items[i] != NULL;
    if (tensor != (passed->items[i].type != NULL))
      return "it passes something else than its callee takes";
  }
  tvms_node_vec doubts = {0};
  tvms_fuse_caller in = {h->run, h->unit, &h->definitions, &h->prover, &doubts};
  const char *why = tvms_fuse_solve_sizes(&in, callee, passed, values);
  for (uint32_t i = 0; i < doubts.len && !why; i++)
    tvms_host_assert(
        h, doubts.items[i], "ValueError",
        "a size of a tensor is {left}, but what it is passed to takes {right}");
  tvms_vec_fini(tvms_host_memory(h), &doubts);
  return why;
}

static tvms_node *as_param(tvms_host *h, const tvms_node *param, tvms_node *value) {
  bool same =
      tvms_dtype_is_handle(param->dtype) || tvms_dtype_same(param->dtype, value->dtype);
  return same ? value : tvms_cast_new(h->unit, param->dtype, value, TVMS_NO_SPAN);
}

// A call of `name`, the form with pointers of `callee`.
static tvms_node *direct_call(tvms_host *h, tvms_sym name, const tvms_prim_func *callee,
                              const tvms_fuse_passed_list *passed,
                              const tvms_node_map *values, tvms_span span) {
  tvms_memory *memory = tvms_host_memory(h);
  tvms_node_vec args = {0}, sizes = {0};
  for (uint32_t i = 0; i < passed->len; i++) {
    const tvms_node *param = callee->params.items[i];
    tvms_node *value = passed->items[i].value;
    tvms_vec_push(memory, &args,
                  callee->buffers.items[i] ? value : as_param(h, param, value));
  }
  tvms_fuse_sizes_of(memory, callee, &sizes);
  for (uint32_t i = 0; i < sizes.len; i++)
    tvms_vec_push(memory, &args, tvms_node_map_get(values, sizes.items[i]));
  tvms_dtype gives = callee->ret ? callee->ret->dtype : (tvms_dtype){0};
  tvms_node *call =
      tvms_call_new(h->unit, gives, tvms_relax_make_global_var(h->unit, name),
                    args.items, args.len, span);
  tvms_vec_fini(memory, &args);
  tvms_vec_fini(memory, &sizes);
  return call;
}

// What a PrimFunc gives: a number, or nothing.
static tvms_host_value *given_by(tvms_host *h, tvms_node *call, tvms_span span) {
  if (!tvms_dtype_is_void(call->dtype)) return tvms_host_bound(h, "given", call);
  tvms_host_push(h, tvms_evaluate_new(h->unit, call, span));
  return tvms_host_value_new(h, TVMS_HOST_NOTHING);
}

static bool eval_args(tvms_host *h, const tvms_prim_func *callee, bool boxes,
                      tvms_list args, tvms_fuse_passed_list *passed) {
  for (uint32_t i = 0; i < args.len; i++) {
    tvms_host_value *value = tvms_host_eval(h, args.items[i]);
    if (value) hand_over(h, callee, boxes, value, passed);
  }
  return !h->failed;
}

static tvms_host_value *TVMS_NULLABLE call_prim_func(tvms_host *h, tvms_list args,
                                                     uint32_t index, tvms_span span) {
  const tvms_prim_func *callee =
      tvms_as_prim_func(h->run->module->members[index].function);
  tvms_fuse_passed_list passed = {0};
  tvms_node_map sizes;
  tvms_node_map_init(&sizes, tvms_host_memory(h));
  bool known = eval_args(h, callee, false, args, &passed);
  const char *why = tvms_fuse_unpack_obstacle(callee, true);
  tvms_host_value *given = NULL;
  if (known && !why && passed.len != callee->params.len)
    why = "it does not pass what its callee takes";
  if (known && !why) why = solve(h, callee, &passed, &sizes);
  if (why) tvms_host_refuse(h, span, why);
  if (!h->failed) {
    if (!h->functions[index].unpacked) {
      h->functions[index].unpacked = true;
      h->functions[index].direct = tvms_fuse_unpack(h->run, index);
    }
    tvms_sym name = h->functions[index].direct;
    callee = tvms_as_prim_func(h->run->module->members[index].function);
    given = given_by(h, direct_call(h, name, callee, &passed, &sizes, span), span);
  }
  tvms_node_map_fini(&sizes);
  tvms_vec_fini(tvms_host_memory(h), &passed);
  return h->failed ? NULL : given;
}

// ---- Calls of Relax functions ----

// Memory for one result, of the size that the callee says.
static tvms_host_value *TVMS_NULLABLE result_memory(tvms_host *h, const tvms_node *node,
                                                    const tvms_host_function *callee,
                                                    uint32_t at, tvms_node_map *sizes) {
  const tvms_node *result = callee->made->buffers.items[callee->input_count + at];
  if (!result) return tvms_host_slot(h);
  const tvms_buffer *buffer = tvms_as_buffer(result);
  tvms_list dims = tvms_list_copy(h->unit, buffer->shape.items, buffer->shape.len);
  for (uint32_t i = 0; i < dims.len; i++)
    dims.items[i] =
        tvms_arith_simplify(h->unit, tvms_clone(h->unit, dims.items[i], sizes));
  tvms_node *sent = tvms_host_is_late(h, dims) ? NULL : tvms_host_sent(h, node, at);
  return tvms_host_tensor(h, "given", buffer->element, dims, sent);
}

static bool pass_workspace(tvms_host *h, const tvms_host_function *callee,
                           tvms_fuse_passed_list *passed, tvms_node_map *sizes) {
  if (!callee->has_workspace) return true;
  const tvms_node *buffer = callee->made->buffers.items[callee->made->buffers.len - 1];
  tvms_node *bytes = tvms_clone(h->unit, tvms_as_buffer(buffer)->shape.items[0], sizes);
  tvms_list size = tvms_list_copy(h->unit, &bytes, 1);
  if (tvms_host_is_late(h, size)) {
    const tvms_host_value *memory =
        tvms_host_late_tensor(h, "memory", TVMS_DTYPE(UINT, 8), size);
    tvms_vec_push(tvms_host_memory(h), passed,
                  ((tvms_fuse_passed){memory->data, tensor_type(h, memory)}));
    return true;
  }
  tvms_node *offset = tvms_host_take(h, bytes);
  if (!offset) return false;
  tvms_vec_push(tvms_host_memory(h), passed,
                ((tvms_fuse_passed){tvms_host_place(h, offset), NULL}));
  return true;
}

// Hands over memory for the results, which are put into `leaves`, and the workspace.
static void pass_memory(tvms_host *h, const tvms_node *node,
                        const tvms_host_function *callee, tvms_fuse_passed_list *passed,
                        tvms_node_map *sizes, tvms_host_value **leaves) {
  for (uint32_t i = 0; i < callee->result_count && !h->failed; i++) {
    leaves[i] = result_memory(h, node, callee, i, sizes);
    if (leaves[i]) hand_over(h, callee->made, true, leaves[i], passed);
  }
  if (!h->failed) pass_workspace(h, callee, passed, sizes);
}

tvms_host_value *tvms_host_call_function(tvms_host *h, tvms_node *node,
                                         const tvms_host_value *function,
                                         tvms_list args) {
  const tvms_host_function *callee = &h->functions[function->member];
  if (!callee->made)
    return tvms_host_refuse(h, node->span, "its callee cannot become native code");
  // A callee without an annotation that comes later gives anything: by its body it is known of what that is made.
  const tvms_node *type = node->sinfo;
  bool anything = type && type->kind == TVMS_NODE_SINFO_OBJECT && callee->result;
  if (anything) type = callee->result;
  if (!type || tvms_host_leaves(type) != callee->result_count)
    return tvms_host_refuse(h, node->span,
                            "the type of what the call gives is not known");
  uint32_t next = 0;
  tvms_host_value **leaves = tvms_arena_array(&h->run->context->scratch,
                                              tvms_host_value *, callee->result_count);
  tvms_fuse_passed_list passed = {0};
  tvms_node_map sizes;
  tvms_node_map_init(&sizes, tvms_host_memory(h));
  eval_args(h, callee->made, true, args, &passed);
  for (uint32_t i = 0; i < function->count; i++)
    hand_over(h, callee->made, true, function->fields[i], &passed);
  if (!h->failed && passed.len != callee->input_count)
    tvms_host_refuse(h, node->span, "it does not pass what its callee takes");
  const char *why = h->failed ? NULL : solve(h, callee->made, &passed, &sizes);
  if (why) tvms_host_refuse(h, node->span, why);
  if (!h->failed) pass_memory(h, node, callee, &passed, &sizes, leaves);
  if (!h->failed)
    given_by(h,
             direct_call(h, callee->direct, callee->made, &passed, &sizes, node->span),
             node->span);
  tvms_node_map_fini(&sizes);
  tvms_vec_fini(tvms_host_memory(h), &passed);
  for (uint32_t i = 0; i < callee->result_count && !h->failed; i++)
    leaves[i] = tvms_host_read(h, tvms_host_leaf_type(type, i), leaves[i]);
  if (h->failed) return NULL;
  tvms_host_value *value = tvms_host_of_leaves(h, type, leaves, &next);
  return anything && value->kind == TVMS_HOST_TUPLE ? tvms_host_boxed(h, value) : value;
}

// ---- Operators ----

static tvms_host_value *TVMS_NULLABLE allocate(tvms_host *h, tvms_node *node,
                                               const char *name) {
  tvms_list dims, made;
  if (!tvms_sinfo_is_tensor(node->sinfo) || !tvms_sinfo_dims(node->sinfo, &dims))
    return tvms_host_refuse(h, node->span, "the sizes of a tensor are not known");
  if (!tvms_host_exprs(h, dims, node->span, &made)) return NULL;
  return tvms_host_tensor(h, name, node->sinfo->dtype, made,
                          tvms_host_is_late(h, made) ? NULL
                                                     : tvms_host_sent(h, node, 0));
}

static tvms_host_value *TVMS_NULLABLE allocate_storage(tvms_host *h,
                                                       const tvms_call *call) {
  tvms_host_value *size = tvms_host_eval(h, call->args.items[0]);
  if (!size) return NULL;
  if (size->kind != TVMS_HOST_SHAPE || size->dims.len != 1)
    return tvms_host_refuse(h, call->head.span, "its size is not a number of bytes");
  tvms_host_value *storage = tvms_host_value_new(h, TVMS_HOST_STORAGE);
  // Its size may be more than 64 bits can say: each tensor has memory of its own then, which is checked.
  if (tvms_host_is_late(h, size->dims)) return storage;
  storage->number = tvms_host_take(h, size->dims.items[0]);
  return storage->number ? storage : NULL;
}

static tvms_host_value *TVMS_NULLABLE allocate_in(tvms_host *h, const tvms_call *call,
                                                  const char *name) {
  tvms_host_value *storage = tvms_host_eval(h, call->args.items[0]);
  tvms_host_value *offset = storage ? tvms_host_eval(h, call->args.items[1]) : NULL;
  tvms_host_value *shape = offset ? tvms_host_eval(h, call->args.items[2]) : NULL;
  if (!shape) return NULL;
  bool good = storage->kind == TVMS_HOST_STORAGE && offset->kind == TVMS_HOST_NUMBER
              && shape->kind == TVMS_HOST_SHAPE
              && call->args.items[3]->kind == TVMS_NODE_DTYPE_IMM;
  if (!good) return tvms_host_refuse(h, call->head.span, "its storage is not known");
  tvms_dtype dtype = tvms_as_dtype_imm(call->args.items[3])->value;
  if (!storage->number) return tvms_host_tensor(h, name, dtype, shape->dims, NULL);
  tvms_node *at = storage->number;
  if (!tvms_node_is_int(offset->number, 0))
    at = tvms_binary_new(h->unit, TVMS_NODE_ADD, at, offset->number, TVMS_NO_SPAN);
  tvms_node *buffer =
      tvms_host_declare(h, name, dtype, shape->dims, tvms_host_place(h, at));
  tvms_host_value *value =
      tvms_host_tensor(h, name, dtype, shape->dims, tvms_as_buffer(buffer)->data);
  value->buffer = buffer;
  return value;
}

static tvms_host_value *TVMS_NULLABLE reshape(tvms_host *h, const tvms_call *call) {
  tvms_host_value *tensor = tvms_host_eval(h, call->args.items[0]);
  if (!tensor) return NULL;
  if (tensor->kind != TVMS_HOST_TENSOR)
    return tvms_host_refuse(h, call->head.span, "it is not a tensor");
  tvms_list dims, made;
  if (tvms_sinfo_is_tensor(call->head.sinfo)
      && tvms_sinfo_dims(call->head.sinfo, &dims)) {
    if (!tvms_host_exprs(h, dims, call->head.span, &made)) return NULL;
  } else {
    tvms_host_value *shape = tvms_host_eval(h, call->args.items[1]);
    if (!shape) return NULL;
    made = shape->dims;
  }
  return tvms_host_tensor(h, "view", tensor->dtype, made, tensor->data);
}

static tvms_host_value *TVMS_NULLABLE shape_of(tvms_host *h, const tvms_call *call) {
  tvms_host_value *tensor = tvms_host_eval(h, call->args.items[0]);
  if (!tensor) return NULL;
  tvms_host_value *shape = tvms_host_value_new(h, TVMS_HOST_SHAPE);
  shape->dims = tensor->dims;
  return shape;
}

// ---- Other operators ----

// A PrimFunc with scalars that are the sizes of a shape: (function, (arguments..., shape)).
static tvms_host_value *TVMS_NULLABLE call_with_scalars(tvms_host *h,
                                                        const tvms_call *call) {
  const tvms_member *member = tvms_module_function_named(
      h->run->module, call->args.items[0], TVMS_NODE_PRIM_FUNC);
  uint32_t index = member ? (uint32_t)(member - h->run->module->members) : 0;
  if (!member || index >= h->function_count)
    return tvms_host_refuse(h, call->head.span,
                            "it calls what is not a function of the module");
  tvms_list args = {call->args.items + 1, call->args.len - 1};
  return call_prim_func(h, args, index, call->head.span);
}

// An operator that lowering has left.
static void *TVMS_NULLABLE refuse_operator(tvms_host *h, const tvms_node *node) {
  char reason[160];
  uint32_t place;
  const char *name = tvms_op_of(tvms_op_called(node))->name;
  const char *what = tvms_sinfo_unknown_of(tvms_as_call(node)->args, &place);
  if (what)
    snprintf(reason, sizeof reason,
             "no PrimFunc computes 'R.%s': the %s of argument %u is not known", name,
             what, place + 1);
  else
    snprintf(reason, sizeof reason, "no PrimFunc computes 'R.%s'", name);
  return tvms_host_refuse(h, node->span, reason);
}

static tvms_host_value *TVMS_NULLABLE call_operator(tvms_host *h, tvms_node *node,
                                                    const char *name) {
  const tvms_call *call = tvms_as_call(node);
  switch ((int)tvms_op_called(node)) {
  case TVMS_R_builtin_alloc_tensor: return allocate(h, node, name);
  case TVMS_R_memory_alloc_storage:
  case TVMS_R_vm_alloc_storage: return allocate_storage(h, call);
  case TVMS_R_memory_alloc_tensor:
  case TVMS_R_vm_alloc_tensor: return allocate_in(h, call, name);
  case TVMS_R_memory_kill_storage:
  case TVMS_R_memory_kill_tensor:
  case TVMS_R_vm_kill_object:
  case TVMS_R_null_value: return tvms_host_value_new(h, TVMS_HOST_NOTHING);
  case TVMS_R_memory_ensure_zero_offset:
  case TVMS_R_hint_on_device:
  case TVMS_R_to_vdevice: return tvms_host_eval(h, call->args.items[0]);
  case TVMS_R_memory_view: return tvms_host_view(h, call);
  case TVMS_R_reshape: return reshape(h, call);
  case TVMS_R_shape_of: return shape_of(h, call);
  case TVMS_R_tensor_to_shape: return tvms_host_tensor_to_shape(h, call);
  case TVMS_R_vm_call_tir_dyn: return call_with_scalars(h, call);
  case TVMS_R_make_closure: return tvms_host_make_closure(h, call);
  case TVMS_R_invoke_closure:
  case TVMS_R_invoke_pure_closure: return tvms_host_invoke_closure(h, node);
  case TVMS_R_NONE: break;
  default: return refuse_operator(h, node);
  }
  if (tvms_dtype_is_void(node->dtype))
    return tvms_host_refuse(h, node->span,
                            "it calls what is not a function of the module");
  tvms_node *number = tvms_host_expr(h, node, node->span);
  return number ? tvms_host_number(h, number) : NULL;
}

tvms_host_value *tvms_host_call(tvms_host *h, tvms_node *node, const char *name) {
  const tvms_node *callee = tvms_as_call(node)->callee;
  if (callee->kind == TVMS_NODE_OPERATOR) return call_operator(h, node, name);
  if (callee->kind == TVMS_NODE_EXTERN_FUNC) return tvms_host_call_packed(h, node);
  if (callee->kind == TVMS_NODE_VAR)
    return tvms_host_invoke(h, node, tvms_as_call(node)->callee,
                            tvms_as_call(node)->args);
  const tvms_member *member = tvms_module_named(h->run->module, callee);
  if (!member || !member->function)
    return tvms_host_refuse(h, node->span,
                            "it calls what is not a function of the module");
  uint32_t index = (uint32_t)(member - h->run->module->members);
  if (member->function->kind == TVMS_NODE_PRIM_FUNC && index < h->function_count)
    return call_prim_func(h, tvms_as_call(node)->args, index, node->span);
  if (member->function->kind == TVMS_NODE_FUNCTION && index < h->function_count)
    return tvms_host_invoke(h, node, tvms_as_call(node)->callee,
                            tvms_as_call(node)->args);
  return tvms_host_refuse(h, node->span,
                          "it calls a function that is defined elsewhere");
}
