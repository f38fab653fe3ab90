// MakePackedAPI: functions that are called from outside take their arguments packed.
//
// Before: def main(A: T.Buffer(("n",), "float32"), k: T.int32): …
// After:  def main(self_handle, args, num_args, result) -> T.int32: checks of every argument,
//         A and k taken out of args, the body, return 0
//
// The name becomes __tvm_ffi_main, the target that of the host. What the function returned is stored
// in `result`. Calls of such functions inside the module are packed, too. Functions that are
// private, have a calling convention or a target without a host stay as they are. Releases before
// 0.26 pack in another way, which is not here. TVM: tirx.transform.MakePackedAPI.
#include "ir/build.h"
#include "ir/object.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/tir/host/function_target.h"
#include "passes/tir/host/packed_arguments.h"

#include <stdio.h>
#include <string.h>

// ---- Which functions ----

// The name under which a function is called from outside, or NULL.
static const char *symbol_of(const tvms_context *context, const tvms_node *function) {
  if (!function || function->kind != TVMS_NODE_PRIM_FUNC) return NULL;
  const tvms_prim_func *prim_func = tvms_as_prim_func(function);
  int64_t convention;
  const tvms_node *given = tvms_object_map_get(prim_func->attrs, "calling_conv");
  if (tvms_object_as_int(given, &convention) && convention) return NULL;
  const char *symbol =
      tvms_object_as_text(tvms_object_map_get(prim_func->attrs, "global_symbol"));
  if (symbol) return symbol;
  return function->flags & TVMS_FLAG_PRIVATE
             ? NULL
             : tvms_symbol_text(context, prim_func->name);
}

// ---- The body ----

typedef struct {
  tvms_pass_run *run;
  tvms_node *result;  // VAR
  uint32_t parallel;  // loops around
} packing;

static tvms_node *int32(tvms_unit *unit, int64_t value) {
  return tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), value, TVMS_NO_SPAN);
}

static tvms_node *set_result(tvms_rewriter *r, tvms_packed_field field,
                             tvms_node *value) {
  packing *p = r->self;
  tvms_node *args[] = {p->result, int32(r->unit, 0), int32(r->unit, field), value};
  tvms_node *set = tvms_call_new_of(r->unit, TVMS_DTYPE(INT, 32),
                                    TVMS_TIR_tvm_struct_set, args, 4, TVMS_NO_SPAN);
  return tvms_evaluate_new(r->unit, set, TVMS_NO_SPAN);
}

static tvms_node *return_zero(tvms_unit *unit) {
  tvms_return *stmt = tvms_node_make(unit, RETURN, TVMS_NO_SPAN);
  stmt->value = int32(unit, 0);
  return &stmt->head;
}

// How a returned value travels, and as what.
static tvms_packed_kind packed_kind(tvms_dtype dtype, tvms_dtype *as) {
  *as = TVMS_DTYPE(INT, 64);
  if (tvms_dtype_is_bool(dtype)) return TVMS_PACKED_BOOL;
  if (tvms_dtype_is_float(dtype)) {
    *as = TVMS_DTYPE(FLOAT, 64);
    return TVMS_PACKED_FLOAT;
  }
  *as = dtype;
  if (tvms_dtype_is_handle(dtype)) return TVMS_PACKED_POINTER;
  if (tvms_dtype_is_void(dtype)) return TVMS_PACKED_NONE;
  *as = TVMS_DTYPE(INT, 64);
  return TVMS_PACKED_INT;
}

static tvms_node *pack_return(tvms_rewriter *r, tvms_node *node) {
  packing *p = r->self;
  tvms_node *value = tvms_as_return(node)->value;
  if (p->parallel) {
    tvms_diag_report(&r->unit->context->diags, TVMS_D_return_in_parallel, node->span);
    return node;
  }
  tvms_dtype as;
  tvms_packed_kind kind = packed_kind(value->dtype, &as);
  if (kind != TVMS_PACKED_POINTER && kind != TVMS_PACKED_NONE)
    value = tvms_cast_new(r->unit, as, value, TVMS_NO_SPAN);
  tvms_node *stmts[] = {
      set_result(r, TVMS_FIELD_ANY_TYPE_INDEX, int32(r->unit, kind)),
      set_result(r, TVMS_FIELD_ANY_ZERO_PADDING, int32(r->unit, 0)),
      set_result(r, TVMS_FIELD_ANY_UNION_VALUE, value),
      return_zero(r->unit),
  };
  return tvms_seq_new(r->unit, stmts, 4, TVMS_NO_SPAN);
}

static tvms_node *enter_loop(tvms_rewriter *r, tvms_node *node) {
  packing *p = r->self;
  p->parallel += tvms_as_for(node)->for_kind == TVMS_FOR_PARALLEL;
  return TVMS_REWRITE_BELOW;
}

static tvms_node *leave_loop(tvms_rewriter *r, tvms_node *node) {
  packing *p = r->self;
  p->parallel -= tvms_as_for(r->old)->for_kind == TVMS_FOR_PARALLEL;
  return node;
}

static tvms_node *rewrite_body(packing *p, tvms_unit *unit, tvms_node *body) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, p);
  r.leave[TVMS_NODE_RETURN] = pack_return;
  r.enter[TVMS_NODE_FOR] = enter_loop;
  r.leave[TVMS_NODE_FOR] = leave_loop;
  body = tvms_rewrite(&r, body);
  tvms_rewriter_fini(&r);
  return body;
}

// ---- Calls inside of the module ----

static tvms_node *pack_call(tvms_rewriter *r, tvms_node *node) {
  packing *p = r->self;
  const tvms_call *call = tvms_as_call(node);
  if (call->callee->kind != TVMS_NODE_GLOBAL_VAR) return node;
  const tvms_member *member =
      tvms_module_find(p->run->module, tvms_as_global_var(call->callee)->name);
  const char *symbol = member ? symbol_of(r->unit->context, member->function) : NULL;
  if (!symbol) return node;
  tvms_node_vec args = {0};
  tvms_memory *memory = &r->unit->context->memory;
  tvms_vec_push(memory, &args,
                tvms_string_imm_new(r->unit, symbol, strlen(symbol), TVMS_NO_SPAN));
  for (uint32_t i = 0; i < call->args.len; i++) {
    tvms_vec_push(memory, &args, call->args.items[i]);
  }
  tvms_node *zero = tvms_int_imm_new(r->unit, TVMS_DTYPE(UINT, 64), 0, TVMS_NO_SPAN);
  tvms_node *nowhere = tvms_call_new_of(r->unit, TVMS_DTYPE(HANDLE, 64),
                                        TVMS_TIR_reinterpret, &zero, 1, TVMS_NO_SPAN);
  tvms_vec_push(memory, &args, nowhere);
  tvms_node *packed = tvms_call_new_of(r->unit, node->dtype, TVMS_TIR_tvm_call_cpacked,
                                       args.items, args.len, node->span);
  packed->sinfo = node->sinfo;
  tvms_vec_fini(memory, &args);
  return packed;
}

static tvms_node *pack_calls(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  packing p = {.run = run};
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &p);
  r.roles = TVMS_IN(USE) | TVMS_IN(BODY);
  r.leave[TVMS_NODE_CALL] = pack_call;
  tvms_node *changed = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  return changed;
}

// ---- One function ----

static tvms_node *variable(tvms_unit *unit, const char *name, tvms_dtype dtype) {
  tvms_sym sym = tvms_symbol_intern(unit->context, name, strlen(name));
  return tvms_var_new(unit, sym, dtype, TVMS_NO_SPAN);
}

static tvms_node *attribute(tvms_unit *unit, tvms_node *node, const char *key,
                            tvms_node *value) {
  tvms_attr_stmt *stmt = tvms_node_make(unit, ATTR_STMT, TVMS_NO_SPAN);
  stmt->node = node;
  stmt->key = tvms_bytes_copy(unit, key, strlen(key));
  stmt->value = value;
  return &stmt->head;
}

static tvms_node *text(tvms_unit *unit, const char *value) {
  return tvms_string_imm_new(unit, value, strlen(value), TVMS_NO_SPAN);
}

// The body under the name that splits it off, in a scope of its own.
static tvms_node *computation(tvms_unit *unit, const char *symbol, tvms_node *body) {
  char name[256];
  snprintf(name, sizeof name, "%.240s_compute_", symbol);
  tvms_node_vec stmts = {0};
  tvms_memory *memory = &unit->context->memory;
  tvms_node *zero = tvms_object_int_new(unit, 0, TVMS_NO_SPAN);
  tvms_vec_push(memory, &stmts,
                attribute(unit, zero, "compute_scope", text(unit, name)));
  tvms_stmt_push_last(memory, &stmts, body);
  tvms_node *seq = tvms_seq_new(unit, stmts.items, stmts.len, TVMS_NO_SPAN);
  tvms_vec_fini(memory, &stmts);
  return seq;
}

static void push_all(tvms_memory *memory, tvms_node_vec *stmts,
                     const tvms_node_vec *more) {
  for (uint32_t i = 0; i < more->len; i++) {
    tvms_vec_push(memory, stmts, more->items[i]);
  }
}

static void push_device(tvms_unit *unit, tvms_node_vec *stmts,
                        const tvms_packed_arguments *a) {
  if (!a->has_device) return;
  tvms_memory *memory = &unit->context->memory;
  tvms_node *node = tvms_object_str_new(unit, "default", 7, TVMS_NO_SPAN);
  tvms_vec_push(memory, stmts, attribute(unit, node, "device_id", a->device_id));
  tvms_vec_push(memory, stmts,
                attribute(unit, node, "device_type", int32(unit, a->device_type)));
}

static tvms_node *set_device(tvms_unit *unit, const tvms_packed_arguments *a) {
  tvms_node *args[] = {text(unit, "__tvm_set_device"), int32(unit, a->device_type),
                       a->device_id};
  tvms_node *call = tvms_call_new_of(unit, TVMS_DTYPE(INT, 32),
                                     TVMS_TIR_tvm_call_packed, args, 3, TVMS_NO_SPAN);
  return tvms_evaluate_new(unit, call, TVMS_NO_SPAN);
}

static tvms_node *whole_body(tvms_unit *unit, tvms_packed_arguments *a,
                             tvms_node *body) {
  tvms_node_vec stmts = {0};
  tvms_memory *memory = &unit->context->memory;
  push_all(memory, &stmts, &a->loads);
  push_device(unit, &stmts, a);
  push_all(memory, &stmts, &a->checks);
  push_all(memory, &stmts, &a->declarations);
  if (a->has_device && a->device_type != TVMS_HOST_DEVICE_CPU)
    tvms_vec_push(memory, &stmts, set_device(unit, a));
  tvms_vec_push(memory, &stmts, computation(unit, a->symbol, body));
  tvms_vec_push(memory, &stmts, return_zero(unit));
  tvms_node *seq = tvms_seq_new(unit, stmts.items, stmts.len, TVMS_NO_SPAN);
  tvms_vec_fini(memory, &stmts);
  return seq;
}

static tvms_node *host_of(tvms_unit *unit, const tvms_node *config) {
  const tvms_node *host = tvms_host_of_target(config);
  if (!host) return NULL;
  tvms_object_target *target = tvms_node_make(unit, OBJECT_TARGET, TVMS_NO_SPAN);
  target->config = (tvms_node *)(uintptr_t)host;
  return &target->head;
}

// Attributes, parameters and result of a packed function.
static void set_signature(tvms_unit *unit, tvms_prim_func *function,
                          const tvms_packed_arguments *a, tvms_node *result,
                          tvms_node *host) {
  tvms_node *params[] = {variable(unit, "self_handle", TVMS_DTYPE(HANDLE, 64)), a->args,
                         a->num_args, result};
  function->params = tvms_list_copy(unit, params, 4);
  function->buffers = (tvms_list){tvms_arena_array(&unit->arena, tvms_node *, 4), 4};
  tvms_struct_SINFO_PRIM *ret = tvms_node_make(unit, SINFO_PRIM, TVMS_NO_SPAN);
  ret->head.dtype = TVMS_DTYPE(INT, 32);
  function->ret = &ret->head;
  char symbol[256];
  int len = snprintf(symbol, sizeof symbol, "__tvm_ffi_%.240s", a->symbol);
  function->attrs = tvms_object_map_with(unit, function->attrs, "calling_conv",
                                         tvms_object_int_new(unit, 1, TVMS_NO_SPAN));
  function->attrs = tvms_object_map_with(unit, function->attrs, "target", host);
  function->attrs = tvms_object_map_with(
      unit, function->attrs, "global_symbol",
      tvms_object_str_new(unit, symbol, (size_t)len, TVMS_NO_SPAN));
}

static tvms_node *pack(tvms_pass_run *run, tvms_unit *unit, tvms_node *old) {
  tvms_node *function = pack_calls(run, unit, old);
  const char *symbol = symbol_of(unit->context, function);
  if (!symbol) return function;
  const tvms_node *config = tvms_host_target_of(function);
  if (!config) {
    tvms_diag_report(&unit->context->diags, TVMS_D_no_target, function->span, symbol,
                     "MakePackedAPI");
    return function;
  }
  tvms_node *host = host_of(unit, config);
  tvms_packed_arguments a = {.unit = unit,
                             .symbol = symbol,
                             .device_type = tvms_host_device_type(config),
                             .device = tvms_host_device_name(config)};
  if (!host || !a.device) return function;
  a.function = tvms_as_prim_func(function);
  a.args = variable(unit, "args", TVMS_DTYPE(HANDLE, 64));
  a.num_args = variable(unit, "num_args", TVMS_DTYPE(INT, 32));
  a.device_id = variable(unit, "dev_id", TVMS_DTYPE(INT, 32));
  packing p = {.run = run, .result = variable(unit, "result", TVMS_DTYPE(HANDLE, 64))};
  tvms_node *body = rewrite_body(&p, unit, a.function->body);
  tvms_node *packed = tvms_node_copy(unit, function);
  tvms_packed_arguments_bind(&a);
  tvms_as_prim_func(packed)->body = whole_body(unit, &a, body);
  set_signature(unit, tvms_as_prim_func(packed), &a, p.result, host);
  tvms_packed_arguments_fini(&a);
  return packed;
}

void tvms_pass_make_packed_api(tvms_pass_run *run) {
  if (!tvms_release_has(run->module->dialect, TVMS_FACT_buffers_are_variables)) {
    tvms_diag_report(&run->context->diags, TVMS_D_pass_of_newer_releases, TVMS_NO_SPAN,
                     "MakePackedAPI", "0.26");
    return;
  }
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, pack);
}
