// LowerRuntimeBuiltin, VMBuiltinLower: operators that the run time does itself become calls of
// its functions.
//
// Before: lv = R.reshape(x, R.shape([6])); R.memory.kill_tensor(x)
// After:  lv = R.call_packed("vm.builtin.reshape", x, R.shape([6]), ty_args=(…,))
//         R.vm.kill_object(x)
//
// The storage of a memory plan is one of bytes from here on: its dtype is uint8. A tensor that
// has no storage yet is for LowerAllocTensor. TVM: relax.transform.LowerRuntimeBuiltin, up to
// 0.22 relax.transform.VMBuiltinLower.
#include "ir/object.h"
#include "ir/target.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/relax/make.h"
#include "passes/relax/retype.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"
#include "support/diag_ids.h"

#include <string.h>

typedef struct {
  const tvms_module *module;
  tvms_node_map bound;  // VAR -> what a binding gave it
  tvms_node_map
      asked;  // variables, and what they are bound to, whose types others ask for
  tvms_node_map made_of;  // VAR -> the tuple, variable or If that it is bound to
  tvms_node_vec pending;  // for `ask`
} lowering;

typedef tvms_node *lower(tvms_rewriter *r, tvms_node *node);

static tvms_node *packed(tvms_rewriter *r, const tvms_node *node, const char *name,
                         tvms_node *const *args, uint32_t count, tvms_node *type) {
  return tvms_relax_make_packed_call(r->unit, name, args, count, type, node->span);
}

static tvms_node *same_arguments(tvms_rewriter *r, tvms_node *node, const char *name) {
  tvms_list args = tvms_as_call(node)->args;
  return packed(r, node, name, args.items, args.len, node->sinfo);
}

static tvms_node *lower_reshape(tvms_rewriter *r, tvms_node *node) {
  return same_arguments(r, node, "vm.builtin.reshape");
}

static tvms_node *lower_shape_of(tvms_rewriter *r, tvms_node *node) {
  return same_arguments(r, node, "vm.builtin.shape_of");
}

static tvms_node *lower_tensor_to_shape(tvms_rewriter *r, tvms_node *node) {
  return same_arguments(r, node, "vm.builtin.tensor_to_shape");
}

static tvms_node *lower_zero_offset(tvms_rewriter *r, tvms_node *node) {
  return same_arguments(r, node, "vm.builtin.ensure_zero_offset");
}

static tvms_node *lower_storage(tvms_rewriter *r, tvms_node *node) {
  tvms_node **old = tvms_as_call(node)->args.items;
  tvms_node *bytes = tvms_relax_make_dtype(r->unit, TVMS_DTYPE(UINT, 8));
  tvms_node *args[] = {old[0], old[1], bytes, old[2]};
  return tvms_relax_make_operator_call(r->unit, TVMS_R_vm_alloc_storage, args, 4,
                                       node->span);
}

static tvms_node *lower_tensor(tvms_rewriter *r, tvms_node *node) {
  tvms_list args = tvms_as_call(node)->args;
  return tvms_relax_make_operator_call(r->unit, TVMS_R_vm_alloc_tensor, args.items,
                                       args.len, node->span);
}

static tvms_node *lower_kill(tvms_rewriter *r, tvms_node *node) {
  tvms_list args = tvms_as_call(node)->args;
  return tvms_relax_make_operator_call(r->unit, TVMS_R_vm_kill_object, args.items,
                                       args.len, node->span);
}

// The function and the items of the tuple behind it as one list of arguments.
static tvms_list unpacked(tvms_rewriter *r, const tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  tvms_list fields = tvms_as_tuple(call->args.items[1])->fields;
  tvms_node_vec args = {0};
  tvms_memory *memory = &r->unit->context->memory;
  tvms_vec_push(memory, &args, call->args.items[0]);
  for (uint32_t i = 0; i < fields.len; i++)
    tvms_vec_push(memory, &args, fields.items[i]);
  tvms_list list = tvms_list_copy(r->unit, args.items, args.len);
  tvms_vec_fini(memory, &args);
  return list;
}

static bool has_tuple(const tvms_node *node) {
  tvms_list args = tvms_as_call(node)->args;
  return args.len == 2 && args.items[1]->kind == TVMS_NODE_TUPLE;
}

static tvms_node *lower_call_tir_dyn(tvms_rewriter *r, tvms_node *node) {
  if (!has_tuple(node)) return node;
  tvms_list args = unpacked(r, node);
  return packed(r, node, "vm.builtin.call_tir_dyn", args.items, args.len,
                tvms_sinfo_tuple_new(r->unit, NULL, 0));
}

static tvms_node *lower_make_closure(tvms_rewriter *r, tvms_node *node) {
  if (!has_tuple(node)) return node;
  tvms_list args = unpacked(r, node);
  return packed(r, node, "vm.builtin.make_closure", args.items, args.len,
                tvms_sinfo_object_new(r->unit));
}

static tvms_node *tuple_of(tvms_rewriter *r, tvms_list fields) {
  tvms_tuple *tuple = tvms_node_make(r->unit, TUPLE, TVMS_NO_SPAN);
  tvms_list types = tvms_list_copy(r->unit, fields.items, fields.len);
  for (uint32_t i = 0; i < types.len; i++)
    types.items[i] = tvms_sinfo_of(r->unit, fields.items[i]);
  tuple->fields = fields;
  tuple->head.sinfo = tvms_sinfo_tuple_new(r->unit, types.items, types.len);
  return &tuple->head;
}

// A closure is called with the state of the virtual machine in front. TVM forgets the type, and fails where that
// is asked for; it stays there.
static tvms_node *lower_invoke_closure(tvms_rewriter *r, tvms_node *node) {
  if (!has_tuple(node)) return node;
  const lowering *state = r->self;
  bool asked = tvms_node_map_get(&state->asked, r->old) != NULL;
  tvms_node *type = asked ? node->sinfo : tvms_sinfo_object_new(r->unit);
  return tvms_relax_make_context_call(r->unit, "vm.builtin.invoke_closure",
                                      tuple_of(r, unpacked(r, node)), type, node->span);
}

static tvms_node *lower_py_func(tvms_rewriter *r, tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  tvms_node *both = tuple_of(r, tvms_list_copy(r->unit, call->args.items, 2));
  tvms_node *made = packed(r, node, "vm.builtin.call_py_func", &both, 1, node->sinfo);
  tvms_as_call(made)->type_args = call->type_args;
  tvms_as_call(made)->attrs = call->attrs;
  return made;
}

// ---- Views ----

static bool is_void(const tvms_node *argument) {
  return argument->sinfo && tvms_sinfo_is_void(argument->sinfo);
}

static bool is_null(const tvms_rewriter *r, const tvms_node *argument) {
  const lowering *state = r->self;
  while (argument && argument->kind == TVMS_NODE_VAR)
    argument = tvms_node_map_get(&state->bound, argument);
  return argument && argument->kind == TVMS_NODE_CALL
         && tvms_op_called(argument) == TVMS_R_null_value;
}

static tvms_node *refuse(tvms_rewriter *r, tvms_node *node) {
  tvms_diag_report(&r->unit->context->diags, TVMS_D_output_shape, node->span);
  return node;
}

// What a view leaves open is that of its tensor.
static tvms_node *lower_view(tvms_rewriter *r, tvms_node *node) {
  tvms_node **old = tvms_as_call(node)->args.items;
  bool any_dtype = is_void(old[2]) || is_null(r, old[2]);
  if (is_void(old[1]) && any_dtype && is_void(old[3])) return old[0];
  tvms_node *args[] = {old[0], old[1], old[2], old[3]};
  const tvms_node *type = old[0]->sinfo;
  if (is_void(old[1])) {
    tvms_list dims;
    if (!tvms_sinfo_dims(type, &dims)) return refuse(r, node);
    args[1] = tvms_sinfo_shape_value_new(r->unit, dims.items, dims.len, TVMS_NO_SPAN);
  }
  if (any_dtype) {
    if (tvms_dtype_is_void(type->dtype)) return refuse(r, node);
    args[2] = tvms_relax_make_dtype(r->unit, type->dtype);
  }
  if (is_void(old[3])) args[3] = tvms_relax_make_int(r->unit, 0);
  const char *derive = tvms_release_has(r->unit->dialect, TVMS_FACT_types_are_called_ty)
                           ? "tvm.relax.type.infer_view_ty"
                           : "tvm.relax.struct_info.infer_view_sinfo";
  tvms_node *call =
      packed(r, node, "runtime.TVMTensorCreateView", args, 4, node->sinfo);
  tvms_bytes name = {derive, (uint32_t)strlen(derive)};
  tvms_as_call(call)->callee->sinfo =
      tvms_sinfo_func_new_derived(r->unit, tvms_sinfo_object_new(r->unit), true, name);
  tvms_as_call(call)->type_args = (tvms_list){0};
  return call;
}

// Numbers of DLPack for kinds of targets.
static const struct {
  const char *kind;
  int64_t number;
} devices[] = {
    {"llvm", 1},  {"c", 1},     {"cuda", 2},     {"opencl", 4},  {"vulkan", 7},
    {"metal", 8}, {"rocm", 10}, {"hexagon", 16}, {"webgpu", 15}, {"ext_dev", 12},
};

static int64_t device_of(tvms_rewriter *r, const tvms_object_vdevice *vdevice) {
  tvms_target target;
  const tvms_node *config = tvms_as_object_target(vdevice->target)->config;
  tvms_target_from_config(r->unit, config, &target);
  for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
    if (target.kind && strcmp(target.kind, devices[i].kind) == 0)
      return tvms_target_number(&target, "target_device_type", devices[i].number);
  }
  return tvms_target_number(&target, "target_device_type", 1);
}

static tvms_node *lower_to_vdevice(tvms_rewriter *r, tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  tvms_node *given = tvms_attr(call, TVMS_ATTR_to_vdevice_dst_vdevice);
  if (!given || given->kind != TVMS_NODE_OBJECT_VDEVICE) return node;
  const tvms_object_vdevice *vdevice = tvms_as_object_vdevice(given);
  tvms_node *args[] = {
      call->args.items[0],
      tvms_relax_make_int(r->unit, device_of(r, vdevice)),
      tvms_relax_make_int(r->unit, vdevice->index),
      tvms_relax_make_text(r->unit, vdevice->scope.len ? vdevice->scope.text : ""),
  };
  tvms_node *made = packed(r, node, "vm.builtin.to_device", args, 4, node->sinfo);
  tvms_node *attrs = tvms_object_map_with(r->unit, NULL, "dst_vdevice", given);
  tvms_as_call(made)->attrs = tvms_list_copy(r->unit, &attrs, 1);
  return made;
}

static const struct {
  tvms_opcode opcode;
  lower *make;
} rows[] = {
    {TVMS_R_reshape, lower_reshape},
    {TVMS_R_shape_of, lower_shape_of},
    {TVMS_R_tensor_to_shape, lower_tensor_to_shape},
    {TVMS_R_memory_ensure_zero_offset, lower_zero_offset},
    {TVMS_R_memory_view, lower_view},
    {TVMS_R_memory_alloc_storage, lower_storage},
    {TVMS_R_memory_alloc_tensor, lower_tensor},
    {TVMS_R_memory_kill_storage, lower_kill},
    {TVMS_R_memory_kill_tensor, lower_kill},
    {TVMS_R_vm_call_tir_dyn, lower_call_tir_dyn},
    {TVMS_R_make_closure, lower_make_closure},
    {TVMS_R_invoke_closure, lower_invoke_closure},
    {TVMS_R_call_py_func, lower_py_func},
    {TVMS_R_to_vdevice, lower_to_vdevice},
};

static tvms_node *lower_call(tvms_rewriter *r, tvms_node *node) {
  const lowering *state = r->self;
  tvms_opcode opcode = tvms_op_called(node);
  if (node != r->old) tvms_relax_infer_call(r->unit, state->module, node);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (rows[i].opcode == opcode && opcode != TVMS_R_NONE) return rows[i].make(r, node);
  }
  return node;
}

static tvms_node *note_binding(tvms_rewriter *r, tvms_node *node) {
  lowering *state = r->self;
  const tvms_var_binding *binding = tvms_as_var_binding(node);
  tvms_node_map_put(&state->bound, binding->var, binding->value);
  if (tvms_node_map_get(&state->asked, binding->var))
    tvms_node_map_put(&state->asked, binding->value, binding->value);
  return TVMS_REWRITE_BELOW;
}

// The type of an argument is asked for, and so are those of all that it is made of.
static void ask(lowering *state, tvms_node *arg) {
  tvms_memory *memory = state->asked.memory;
  tvms_vec_push(memory, &state->pending, arg);
  while (state->pending.len) {
    tvms_node *node = state->pending.items[--state->pending.len];
    if (node->kind == TVMS_NODE_TUPLE) {
      tvms_list fields = tvms_as_tuple(node)->fields;
      for (uint32_t i = 0; i < fields.len; i++)
        tvms_vec_push(memory, &state->pending, fields.items[i]);
    } else if (node->kind == TVMS_NODE_IF) {
      const tvms_if *choice = tvms_as_if(node);
      tvms_vec_push(memory, &state->pending,
                    tvms_as_seq_expr(choice->true_branch)->body);
      tvms_vec_push(memory, &state->pending,
                    tvms_as_seq_expr(choice->false_branch)->body);
    } else if (node->kind == TVMS_NODE_VAR && !tvms_node_map_get(&state->asked, node)) {
      tvms_node_map_put(&state->asked, node, node);
      tvms_node *value = tvms_node_map_get(&state->made_of, node);
      if (value) tvms_vec_push(memory, &state->pending, value);
    }
  }
}

static void note_parts(lowering *state, const tvms_node *node) {
  const tvms_var_binding *binding = tvms_as_var_binding(node);
  tvms_node_kind kind = binding->value->kind;
  if (kind == TVMS_NODE_TUPLE || kind == TVMS_NODE_VAR || kind == TVMS_NODE_IF)
    tvms_node_map_put(&state->made_of, binding->var, binding->value);
}

// Functions of Relax, also those that are values, and operators on shapes look at the types of their arguments.
static tvms_walk_step note_asked(void *self, tvms_node *node, tvms_field_role role) {
  lowering *state = self;
  (void)role;
  if (node->kind == TVMS_NODE_VAR_BINDING) note_parts(state, node);
  if (node->kind != TVMS_NODE_CALL) return TVMS_WALK_ON;
  const tvms_call *call = tvms_as_call(node);
  const tvms_member *callee = tvms_module_named(state->module, call->callee);
  tvms_opcode opcode = tvms_op_called(node);
  bool asks =
      opcode == TVMS_R_reshape || opcode == TVMS_R_shape_of
      || opcode == TVMS_R_tensor_to_shape || opcode == TVMS_R_memory_view
      || call->callee->kind == TVMS_NODE_VAR
      || (callee && callee->function && callee->function->kind == TVMS_NODE_FUNCTION);
  for (uint32_t i = 0; i < call->args.len && asks; i++)
    ask(state, call->args.items[i]);
  return TVMS_WALK_ON;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  lowering state = {.module = run->module};
  tvms_memory *memory = &run->context->memory;
  tvms_node_map_init(&state.bound, memory);
  tvms_node_map_init(&state.asked, memory);
  tvms_node_map_init(&state.made_of, memory);
  tvms_visitor visitor = {.self = &state, .enter = note_asked};
  tvms_walk(memory, function, &visitor);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &state);
  tvms_relax_retype(&rewriter);
  rewriter.leave[TVMS_NODE_CALL] = lower_call;
  rewriter.enter[TVMS_NODE_VAR_BINDING] = note_binding;
  tvms_node *changed = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  tvms_node_map_fini(&state.bound);
  tvms_node_map_fini(&state.asked);
  tvms_node_map_fini(&state.made_of);
  tvms_vec_fini(memory, &state.pending);
  return changed;
}

void tvms_pass_lower_runtime_builtin(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
