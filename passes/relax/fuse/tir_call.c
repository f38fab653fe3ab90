// Both forms of a call: call_tir, which gives new tensors, and, after CallTIRRewrite, a call by
// name, which writes into the tensors that it is given.
#include "passes/relax/fuse/tir_call.h"

#include "ir/build.h"
#include "ir/op.h"
#include "passes/relax/fuse/tir_call_sizes.h"
#include "passes/relax/fuse/unpack_prim_func.h"
#include "passes/relax/make.h"
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
  const tvms_module *module = f->run->module;
  const tvms_member *member =
      tvms_module_function_named(module, name, TVMS_NODE_PRIM_FUNC);
  if (!member) return NULL;
  *callee = (uint32_t)(member - module->members);
  return call;
}

static void add_passed(const tvms_fuse_caller *f, tvms_fuse_passed_list *passed,
                       tvms_node *TVMS_NULLABLE value, tvms_node *TVMS_NULLABLE type) {
  tvms_vec_push(&f->run->context->memory, passed, ((tvms_fuse_passed){value, type}));
}

static void add_arguments(const tvms_fuse_caller *f, tvms_list args,
                          tvms_fuse_passed_list *passed) {
  for (uint32_t i = 0; i < args.len; i++) {
    tvms_node *number = tvms_relax_scalar_of(args.items[i]);
    if (number)
      add_passed(f, passed, number, NULL);
    else
      add_passed(f, passed, tvms_fuse_tir_call_original(f, args.items[i]),
                 args.items[i]->sinfo);
  }
}

void tvms_fuse_tir_call_passed(const tvms_fuse_caller *f, const tvms_call *call,
                               bool in_place, tvms_fuse_passed_list *passed) {
  if (in_place) {
    add_arguments(f, call->args, passed);
    return;
  }
  if (call->args.items[1]->kind == TVMS_NODE_TUPLE)
    add_arguments(f, tvms_as_tuple(call->args.items[1])->fields, passed);
  tvms_node *type = call->type_args.items[0];
  tvms_list results = {&type, 1};
  if (type->kind == TVMS_NODE_SINFO_TUPLE) results = tvms_as_sinfo_tuple(type)->fields;
  for (uint32_t i = 0; i < results.len; i++)
    add_passed(f, passed, NULL, results.items[i]);
  tvms_node *sizes = call->args.len > 2 ? call->args.items[2] : NULL;
  if (sizes && sizes->kind == TVMS_NODE_SHAPE_EXPR)
    add_arguments(f, tvms_as_shape_expr(sizes)->values, passed);
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

static bool is_tensor(const tvms_fuse_passed *passed) {
  return passed->value && passed->type && tvms_sinfo_is_tensor(passed->type);
}

// Do two arguments of a call lie in the same memory?
static bool overlaps(const tvms_fuse_caller *f, const tvms_fuse_passed_list *passed) {
  for (uint32_t i = 0; i < passed->len; i++) {
    for (uint32_t k = 0; k < i; k++) {
      const tvms_fuse_passed *a = &passed->items[i], *b = &passed->items[k];
      if (is_tensor(a) && is_tensor(b) && a->value != b->value
          && storage_of(f, a->value) == storage_of(f, b->value))
        return true;
    }
  }
  return false;
}

static const char *TVMS_NULLABLE unlike_parameter(const tvms_fuse_passed *passed,
                                                  bool scalar) {
  if (scalar && (passed->type || !passed->value))
    return "it passes a number that is computed";
  if (scalar || is_tensor(passed)) return NULL;
  if (passed->value) return "it passes something that is not a tensor";
  return tvms_sinfo_is_tensor(passed->type) ? NULL : "its result is not a tensor";
}

static const char *TVMS_NULLABLE obstacle(const tvms_fuse_caller *f,
                                          const tvms_prim_func *function,
                                          const tvms_fuse_passed_list *passed,
                                          bool in_place) {
  if (passed->len != function->params.len)
    return "it does not pass what its callee takes";
  for (uint32_t i = 0; i < passed->len; i++) {
    const char *why =
        unlike_parameter(&passed->items[i], function->buffers.items[i] == NULL);
    if (why) return why;
  }
  if (in_place && overlaps(f, passed))
    return "two of its tensors lie in the same memory";
  const char *why = tvms_fuse_unpack_obstacle(function, false);
  if (why) return why;
  tvms_node_map sizes;
  tvms_node_map_init(&sizes, &f->run->context->memory);
  why = tvms_fuse_solve_sizes(f, function, passed, &sizes);
  tvms_node_map_fini(&sizes);
  return why;
}

const char *TVMS_NULLABLE tvms_fuse_tir_call_obstacle(const tvms_fuse_caller *f,
                                                      const tvms_node *binding,
                                                      const tvms_call *call,
                                                      uint32_t callee, bool in_place) {
  if (in_place
      && tvms_relax_definitions_of(f->definitions, tvms_as_var_binding(binding)->var)
             .uses)
    return "its result is used";
  tvms_fuse_passed_list passed = {0};
  tvms_fuse_tir_call_passed(f, call, in_place, &passed);
  const char *why =
      obstacle(f, tvms_as_prim_func(f->run->module->members[callee].function), &passed,
               in_place);
  tvms_vec_fini(&f->run->context->memory, &passed);
  return why;
}
