// VerifyMemory: nothing on the host touches the memory of a device.
//
// Before: target cuda; for i in range(16): A[i] = 0.0         After: refused
// Before: with T.launch_thread("threadIdx.x", 16) as i: …     After: the same
//
// Looked at are functions for CUDA, OpenCL, Vulkan, Metal and ROCm without a calling convention: what
// accesses a parameter must stand behind T.launch_thread. Buffers that the function allocates
// may be anywhere, and loops that are bound to threads must have been lowered. A function without a
// target is for the host, but up to 0.22 it needs one. Nothing is changed.
// TVM: tirx.transform.VerifyMemory.
#include "ir/build.h"
#include "ir/object.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/tir/host/function_target.h"
#include "support/diag_ids.h"

typedef struct {
  tvms_context *context;
  const tvms_prim_func *function;
  tvms_dialect dialect;
  bool in_threads;
  TVMS_VEC(bool) around;  // in_threads where the open sequences begin
  tvms_node_map bound;    // VAR -> what it is bound to
} verifier;

static bool is_gpu(const tvms_node *config) {
  switch (tvms_host_device_type(config)) {
  case 2:
  case 4:
  case 7:
  case 8:
  case 10: return true;
  default: return false;
  }
}

// Does a pointer come from the first parameter, by way of T.tvm_struct_get?
static bool comes_from_arguments(const verifier *v, const tvms_node *pointer) {
  if (!v->function->params.len) return false;
  while (pointer != v->function->params.items[0]) {
    const tvms_node *value = tvms_node_map_get(&v->bound, pointer);
    if (!value || tvms_call_opcode(value) != TVMS_TIR_tvm_struct_get) return false;
    pointer = tvms_as_call(value)->args.items[0];
  }
  return true;
}

static bool is_of_caller(const verifier *v, const tvms_node *buffer) {
  bool own = tvms_release_has(v->dialect, TVMS_FACT_buffers_are_variables);
  const tvms_node *data = tvms_as_buffer(buffer)->data;
  for (uint32_t i = 0; i < v->function->buffers.len; i++) {
    const tvms_node *given = v->function->buffers.items[i];
    if (!given) continue;
    if (own ? given == buffer : tvms_as_buffer(given)->data == data) return true;
  }
  return !own && comes_from_arguments(v, data);
}

static tvms_walk_step enter(void *self, tvms_node *node, tvms_field_role role) {
  verifier *v = self;
  (void)role;
  switch ((int)node->kind) {
  case TVMS_NODE_SEQ:
    tvms_vec_push(&v->context->memory, &v->around, v->in_threads);
    return TVMS_WALK_ON;
  case TVMS_NODE_ATTR_STMT:
    v->in_threads |= tvms_bytes_is(tvms_as_attr_stmt(node)->key, "thread_extent");
    return TVMS_WALK_ON;
  case TVMS_NODE_BIND:
    tvms_node_map_put(&v->bound, tvms_as_bind(node)->var, tvms_as_bind(node)->value);
    return TVMS_WALK_ON;
  case TVMS_NODE_BUFFER: return TVMS_WALK_SKIP;
  case TVMS_NODE_BUFFER_LOAD:
  case TVMS_NODE_STORE: break;
  default: return TVMS_WALK_ON;
  }
  const tvms_node *buffer = *tvms_node_element(node).buffer;
  if (!v->in_threads && is_of_caller(v, buffer))
    tvms_diag_report(&v->context->diags, TVMS_D_host_access, node->span,
                     tvms_symbol_text(v->context, tvms_as_buffer(buffer)->name));
  return TVMS_WALK_ON;
}

static void leave(void *self, tvms_node *node, tvms_field_role role) {
  verifier *v = self;
  (void)role;
  if (node->kind == TVMS_NODE_SEQ) v->in_threads = v->around.items[--v->around.len];
}

static void verify(tvms_pass_run *run, const tvms_node *function) {
  const tvms_prim_func *prim_func = tvms_as_prim_func(function);
  tvms_context *context = run->context;
  const tvms_node *config = tvms_host_target_of(function);
  if (!config) {
    if (tvms_release_has(run->module->dialect, TVMS_FACT_memory_has_target))
      tvms_host_target_report(context, function,
                              tvms_symbol_text(context, prim_func->name),
                              "VerifyMemory");
    return;
  }
  int64_t convention = 0;
  const tvms_node *given = tvms_object_map_get(prim_func->attrs, "calling_conv");
  if ((tvms_object_as_int(given, &convention) && convention) || !is_gpu(config)) return;
  verifier v = {
      .context = context, .function = prim_func, .dialect = run->module->dialect};
  tvms_node_map_init(&v.bound, &context->memory);
  tvms_visitor visitor = {.self = &v, .enter = enter, .leave = leave};
  tvms_walk(&context->memory, prim_func->body, &visitor);
  tvms_vec_fini(&context->memory, &v.around);
  tvms_node_map_fini(&v.bound);
}

void tvms_pass_verify_memory(tvms_pass_run *run) {
  for (uint32_t i = 0; i < run->module->member_count; i++) {
    const tvms_node *function = run->module->members[i].function;
    if (function && function->kind == TVMS_NODE_PRIM_FUNC) verify(run, function);
  }
}
