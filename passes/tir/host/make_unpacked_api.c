// MakeUnpackedAPI: functions that are called from outside take the data of their buffers.
//
// Before: def main(A: T.Buffer((4,), "float32"), n: T.int32): …
// After:  def main(A: T.handle("float32", "global"), n: T.int32) -> T.int32: the body, return 0
//
// Nothing checks what the caller passes. A function that has buffers knows its device: number 0 of
// the kind of its target, which becomes that of the host. Calls of such functions inside of the module give
// an error code, and pass the data of a tensor that T.tvm_stack_make_array makes. Sizes that the
// body needs must be parameters. Functions that are private, have a calling convention or a target
// without a host stay as they are.
//
// TVM: tir.transform.MakeUnpackedAPI, up to 0.22. Later releases have no such pass; where
// buffers must be declared, the function declares them over the pointers that it takes.
#include "ir/build.h"
#include "ir/clone.h"
#include "ir/object.h"
#include "ir/stmt.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/tir/host/entry_point.h"
#include "passes/tir/host/function_target.h"
#include "support/diag_ids.h"

#include <string.h>

// ---- Calls inside of the module ----

// The data of a tensor that is made for the call; any other argument as it is.
static tvms_node *unpacked(tvms_node *arg) {
  if (tvms_call_opcode(arg) != TVMS_TIR_tvm_stack_make_array) return arg;
  return tvms_as_call(arg)->args.items[0];
}

static bool is_called_from_outside(const tvms_context *context,
                                   const tvms_member *TVMS_NULLABLE member) {
  if (!member || !member->function) return false;
  const tvms_node *function = member->function;
  return function->kind == TVMS_NODE_PRIM_FUNC
         && (!(function->flags & TVMS_FLAG_PRIVATE)
             || tvms_host_symbol_of(context, function));
}

static tvms_node *unpack_call(tvms_rewriter *r, tvms_node *node) {
  const tvms_pass_run *run = r->self;
  const tvms_call *call = tvms_as_call(node);
  const tvms_member *member = tvms_module_named(run->module, call->callee);
  if (!member) return node;
  if (!is_called_from_outside(r->unit->context, member)) return node;
  tvms_dtype int32 = TVMS_DTYPE(INT, 32);
  bool same = tvms_dtype_same(node->dtype, int32);
  tvms_node **args = tvms_arena_array(&r->unit->arena, tvms_node *, call->args.len);
  for (uint32_t i = 0; i < call->args.len; i++) {
    args[i] = unpacked(call->args.items[i]);
    same = same && args[i] == call->args.items[i];
  }
  return same ? node
              : tvms_call_new(r->unit, int32, call->callee, args, call->args.len,
                              node->span);
}

static tvms_node *unpack_calls(tvms_pass_run *run, tvms_unit *unit,
                               tvms_node *function) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, run);
  r.roles = TVMS_IN(USE) | TVMS_IN(BODY);
  r.leave[TVMS_NODE_CALL] = unpack_call;
  tvms_node *changed = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  return changed;
}

// ---- One function ----

// The pointer that is passed for a buffer. Where a buffer has a pointer of its own, a declaration
// says that it lies there.
static tvms_node *pointer_for(tvms_unit *unit, tvms_node *node, tvms_node_vec *stmts) {
  tvms_node *data = tvms_as_buffer(node)->data;
  if (!tvms_release_has(unit->dialect, TVMS_FACT_buffers_must_be_declared)) return data;
  tvms_decl_buffer *declare = tvms_node_make(unit, DECL_BUFFER, TVMS_NO_SPAN);
  declare->buffer = node;
  if (tvms_release_has(unit->dialect, TVMS_FACT_buffers_are_variables))
    declare->source = data = tvms_var_like(unit, data);
  tvms_vec_push(&unit->context->memory, stmts, &declare->head);
  return data;
}

// The parameters, and in `stmts` what the body begins with.
static tvms_list pointers(tvms_unit *unit, const tvms_prim_func *function,
                          int device_type, tvms_node_vec *stmts) {
  tvms_list params = tvms_list_copy(unit, function->params.items, function->params.len);
  tvms_node_vec declared = {0};
  tvms_memory *memory = &unit->context->memory;
  bool any = false;
  for (uint32_t i = 0; i < params.len; i++) {
    tvms_node *buffer = function->buffers.items[i];
    if (!buffer) continue;
    params.items[i] = pointer_for(unit, buffer, &declared);
    any = true;
  }
  tvms_node *first = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), 0, TVMS_NO_SPAN);
  if (any) tvms_host_push_device(unit, stmts, first, device_type);
  for (uint32_t i = 0; i < declared.len; i++) {
    tvms_vec_push(memory, stmts, declared.items[i]);
  }
  tvms_vec_fini(memory, &declared);
  return params;
}

// The search for a size that nothing defines once buffers are pointers.
typedef struct {
  tvms_memory *memory;
  const tvms_prim_func *function;
  const tvms_node *TVMS_NULLABLE found;  // VAR
} size_search;

static tvms_walk_step find_size(void *self, tvms_node *node, tvms_field_role role) {
  size_search *s = self;
  (void)role;
  if (node->kind != TVMS_NODE_VAR || tvms_dtype_is_handle(node->dtype))
    return TVMS_WALK_ON;
  for (uint32_t i = 0; i < s->function->params.len; i++) {
    if (s->function->params.items[i] == node) return TVMS_WALK_ON;
  }
  if (!tvms_walk_contains(s->memory, s->function->body, node)) return TVMS_WALK_ON;
  s->found = node;
  return TVMS_WALK_STOP;
}

// Reports a size of a buffer that the body needs and no parameter is; true if there is none.
static bool sizes_are_passed(tvms_unit *unit, const tvms_node *function,
                             const char *symbol) {
  tvms_context *context = unit->context;
  size_search s = {&context->memory, tvms_as_prim_func(function), NULL};
  tvms_visitor visitor = {.self = &s, .enter = find_size};
  for (uint32_t i = 0; i < s.function->buffers.len && !s.found; i++) {
    tvms_node *buffer = s.function->buffers.items[i];
    if (buffer) tvms_walk(&context->memory, buffer, &visitor);
  }
  if (s.found)
    tvms_diag_report(&context->diags, TVMS_D_size_not_passed, function->span,
                     tvms_symbol_text(context, tvms_as_var(s.found)->name), symbol);
  return !s.found;
}

static tvms_node *unpack(tvms_pass_run *run, tvms_unit *unit, tvms_node *old) {
  tvms_node *function = unpack_calls(run, unit, old);
  const char *symbol = tvms_host_symbol_of(unit->context, function);
  if (!symbol) return function;
  const tvms_node *config = tvms_host_target_of(function);
  if (!config) {
    tvms_host_target_report(unit->context, function, symbol, "MakeUnpackedAPI");
    return function;
  }
  tvms_node *host = tvms_host_target_to_be(unit, config);
  if (!host || !sizes_are_passed(unit, function, symbol)) return function;
  tvms_prim_func *prim_func = tvms_as_prim_func(function);
  tvms_node_vec stmts = {0};
  tvms_memory *memory = &unit->context->memory;
  tvms_list params = pointers(unit, prim_func, tvms_host_device_type(config), &stmts);
  tvms_stmt_push(unit, &stmts, prim_func->body);
  tvms_vec_push(memory, &stmts, tvms_host_return_zero(unit));
  tvms_node *changed =
      tvms_host_with_signature(unit, function, params.items, params.len);
  prim_func = tvms_as_prim_func(changed);
  prim_func->body = tvms_stmt_seq(unit, &stmts, TVMS_NO_SPAN);
  prim_func->attrs = tvms_object_map_with(unit, prim_func->attrs, "target", host);
  return changed;
}

static tvms_node *TVMS_NULLABLE remake(void *self, tvms_unit *unit, uint32_t index) {
  tvms_pass_run *run = self;
  tvms_node *copy = tvms_clone(unit, run->module->members[index].function, NULL);
  tvms_node *changed = unpack(run, unit, copy);
  return changed == copy ? NULL : changed;
}

void tvms_pass_make_unpacked_api(tvms_pass_run *run) {
  tvms_functions_remake(run, TVMS_NODE_PRIM_FUNC, remake, run);
}
