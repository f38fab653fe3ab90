// Both forms of a call: call_tir, which gives new tensors, and, after CallTIRRewrite, a call by
// name, which writes into the tensors that it is given.
#include "passes/relax/fuse/tir_call.h"

#include "ir/build.h"
#include "ir/op.h"
#include "passes/relax/fuse/unpack_prim_func.h"
#include "structinfo/sinfo.h"

const tvms_call *TVMS_NULLABLE tvms_fuse_tir_call_of(const tvms_fuse_caller *f,
                                                     const tvms_node *binding,
                                                     uint32_t *callee, bool *in_place) {
  if (binding->kind != TVMS_NODE_VAR_BINDING) return NULL;
  const tvms_node *value = tvms_as_var_binding(binding)->value;
  if (value->kind != TVMS_NODE_CALL) return NULL;
  const tvms_call *call = tvms_as_call(value);
  const tvms_node *name = call->callee;
  *in_place = name->kind == TVMS_NODE_GLOBAL_VAR;
  if (tvms_op_called(value) == TVMS_R_call_tir) name = call->args.items[0];
  if (name->kind != TVMS_NODE_GLOBAL_VAR) return NULL;
  const tvms_module *module = f->run->module;
  const tvms_member *member = tvms_module_find(module, tvms_as_global_var(name)->name);
  bool found =
      member && member->function && member->function->kind == TVMS_NODE_PRIM_FUNC;
  if (!found) return NULL;
  *callee = (uint32_t)(member - module->members);
  return call;
}

tvms_list tvms_fuse_tir_call_args(const tvms_call *call, bool in_place) {
  if (in_place) return call->args;
  const tvms_node *args = call->args.items[1];
  return args->kind == TVMS_NODE_TUPLE ? tvms_as_tuple(args)->fields
                                       : (tvms_list){NULL, 0};
}

tvms_list tvms_fuse_tir_call_results(const tvms_fuse_caller *f, const tvms_call *call) {
  tvms_node *type = call->type_args.items[0];
  if (type->kind == TVMS_NODE_SINFO_TUPLE) return tvms_as_sinfo_tuple(type)->fields;
  return tvms_list_copy(f->unit, &type, 1);
}

// The storage that a tensor was made in, or the tensor itself.
static const tvms_node *storage_of(const tvms_fuse_caller *f, const tvms_node *var) {
  tvms_node *value =
      tvms_relax_definitions_unwrap(f->definitions, (tvms_node *)(uintptr_t)var);
  if (value->kind != TVMS_NODE_CALL) return value;
  tvms_opcode op = tvms_op_called(value);
  bool placed = op == TVMS_R_memory_alloc_tensor || op == TVMS_R_vm_alloc_tensor;
  return placed ? tvms_relax_definitions_unwrap(f->definitions,
                                                tvms_as_call(value)->args.items[0])
                : value;
}

tvms_node *tvms_fuse_tir_call_original(const tvms_fuse_caller *f, tvms_node *var) {
  tvms_node *value = tvms_relax_definitions_value(f->definitions, var);
  while (value && value->kind == TVMS_NODE_VAR) {
    var = value;
    value = tvms_relax_definitions_value(f->definitions, var);
  }
  return var;
}

// Do two arguments of a call lie in the same memory?
static bool overlaps(const tvms_fuse_caller *f, tvms_list args) {
  for (uint32_t i = 0; i < args.len; i++) {
    for (uint32_t k = 0; k < i; k++) {
      bool tensors = tvms_sinfo_is_tensor(args.items[i]->sinfo)
                     && tvms_sinfo_is_tensor(args.items[k]->sinfo);
      if (tensors && args.items[i] != args.items[k]
          && storage_of(f, args.items[i]) == storage_of(f, args.items[k]))
        return true;
    }
  }
  return false;
}

static bool is_number(const tvms_node *arg) {
  if (arg->kind == TVMS_NODE_PRIM_VALUE) arg = tvms_as_prim_value(arg)->value;
  return arg->kind == TVMS_NODE_INT_IMM || arg->kind == TVMS_NODE_FLOAT_IMM;
}

const char *TVMS_NULLABLE tvms_fuse_tir_call_obstacle(const tvms_fuse_caller *f,
                                                      const tvms_node *binding,
                                                      const tvms_call *call,
                                                      uint32_t callee, bool in_place) {
  const tvms_prim_func *function =
      tvms_as_prim_func(f->run->module->members[callee].function);
  tvms_list args = tvms_fuse_tir_call_args(call, in_place);
  uint32_t results = in_place ? 0 : tvms_fuse_tir_call_results(f, call).len;
  if (args.len + results != function->params.len)
    return "it does not pass what its callee takes";
  if (in_place
      && tvms_relax_definitions_of(f->definitions, tvms_as_var_binding(binding)->var)
             .uses)
    return "its result is used";
  for (uint32_t i = 0; i < args.len; i++) {
    bool scalar = !function->buffers.items[i];
    if (scalar && !is_number(args.items[i])) return "it passes a size that is computed";
    if (!scalar && !tvms_sinfo_is_tensor(args.items[i]->sinfo))
      return "it passes something that is no tensor";
  }
  for (uint32_t i = 0; i < results; i++) {
    if (!function->buffers.items[args.len + i]) return "its result is no tensor";
  }
  if (in_place && overlaps(f, args)) return "two of its tensors lie in the same memory";
  return tvms_fuse_unpack_obstacle(function);
}
