// MakePackedAPI: functions that are called from outside take their arguments packed.
//
// Before: def main(A: T.Buffer(("n",), "float32"), k: T.int32): …
// After:  def main(self_handle, args, num_args, result) -> T.int32: checks of every argument,
//         A and k taken out of args, the body, return 0
//
// The name becomes __tvm_ffi_main, the target that of the host. What the function returned is stored
// in `result`. Calls of such functions inside the module are packed, too. Functions that are
// private, have a calling convention or a target without a host stay as they are.
//
// Modules of 0.22 are packed as its development version 0.22.dev0 does: other messages, other numbers of
// fields, and the name stays. Up to 0.25 a parameter holds the handle of its tensor, and the buffer has
// a pointer of its own.
// TVM: tirx.transform.MakePackedAPI, tir.transform.MakePackedAPI up to 0.22.
#include "ir/build.h"
#include "ir/clone.h"
#include "ir/object.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/tir/host/entry_point.h"
#include "passes/tir/host/function_target.h"
#include "passes/tir/host/packed_arguments.h"
#include "passes/tir/host/packed_classic.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

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

// How a returned value travels, and as what; false if it cannot. Pointers do since their types say
// to what they point.
static bool packed_kind(tvms_dialect dialect, tvms_dtype dtype, tvms_packed_kind *kind,
                        tvms_dtype *as) {
  *as = dtype;
  *kind = TVMS_PACKED_NONE;
  if (tvms_dtype_is_void(dtype)) return true;
  *kind = TVMS_PACKED_POINTER;
  if (tvms_dtype_is_handle(dtype))
    return tvms_release_has(dialect, TVMS_FACT_expressions_have_types);
  *kind = TVMS_PACKED_FLOAT;
  if (dtype.code == TVMS_FLOAT) {
    *as = TVMS_DTYPE(FLOAT, 64);
    return true;
  }
  *as = TVMS_DTYPE(INT, 64);
  bool is_bool = tvms_dtype_is_bool(dtype);
  *kind = is_bool ? TVMS_PACKED_BOOL : TVMS_PACKED_INT;
  return is_bool || tvms_dtype_is_int(dtype) || tvms_dtype_is_uint(dtype);
}

// The statements that hand a value over and end the function.
static tvms_node *TVMS_NULLABLE hand_over(tvms_rewriter *r, const tvms_node *at,
                                          tvms_node *value) {
  packing *p = r->self;
  tvms_diags *diags = &r->unit->context->diags;
  if (p->parallel) {
    tvms_diag_report(diags, TVMS_D_return_in_parallel, at->span);
    return NULL;
  }
  tvms_dtype as;
  tvms_packed_kind kind;
  if (!packed_kind(r->unit->dialect, value->dtype, &kind, &as)) {
    char text[TVMS_DTYPE_TEXT];
    tvms_diag_report(diags, TVMS_D_not_returned_packed, at->span,
                     tvms_dtype_text(value->dtype, text));
    return NULL;
  }
  if (kind != TVMS_PACKED_POINTER && kind != TVMS_PACKED_NONE)
    value = tvms_cast_new(r->unit, as, value, TVMS_NO_SPAN);
  bool padded =
      tvms_release_has(r->unit->dialect, TVMS_FACT_packed_arguments_have_padding);
  tvms_packed_field to =
      padded ? TVMS_FIELD_ANY_UNION_VALUE : TVMS_FIELD_ANY_ZERO_PADDING;
  tvms_node *stmts[4];
  uint32_t count = 0;
  stmts[count++] = set_result(r, TVMS_FIELD_ANY_TYPE_INDEX, int32(r->unit, kind));
  if (padded)
    stmts[count++] = set_result(r, TVMS_FIELD_ANY_ZERO_PADDING, int32(r->unit, 0));
  stmts[count++] = set_result(r, to, value);
  stmts[count++] = tvms_host_return_zero(r->unit);
  return tvms_seq_new(r->unit, stmts, count, TVMS_NO_SPAN);
}

static tvms_node *pack_return(tvms_rewriter *r, tvms_node *node) {
  tvms_node *made = hand_over(r, node, tvms_as_return(node)->value);
  return made ? made : node;
}

// T.ret, which returned before there was a statement for it.
static tvms_node *pack_ret(tvms_rewriter *r, tvms_node *node) {
  const tvms_node *value = tvms_as_evaluate(node)->value;
  if (tvms_call_opcode(value) != TVMS_TIR_ret) return node;
  tvms_node *made = hand_over(r, node, tvms_as_call(value)->args.items[0]);
  return made ? made : node;
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
  r.leave[TVMS_NODE_EVALUATE] = pack_ret;
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
  const tvms_member *member = tvms_module_named(p->run->module, call->callee);
  if (!member) return node;
  const char *symbol =
      member ? tvms_host_symbol_of(r->unit->context, member->function) : NULL;
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

static tvms_node *text(tvms_unit *unit, const char *value) {
  return tvms_string_imm_new(unit, value, strlen(value), TVMS_NO_SPAN);
}

// The body under the name that splits it off, in a scope of its own.
static tvms_node *computation(tvms_unit *unit, const char *symbol, tvms_node *body) {
  char name[256];
  snprintf(name, sizeof name, "%.240s_compute_", symbol);
  tvms_node_vec stmts = {0};
  tvms_memory *memory = &unit->context->memory;
  bool object = tvms_release_has(unit->dialect, TVMS_FACT_attrs_stand_at_objects);
  tvms_node *zero =
      object ? tvms_object_int_new(unit, 0, TVMS_NO_SPAN) : int32(unit, 0);
  tvms_vec_push(memory, &stmts,
                tvms_host_attribute(unit, zero, "compute_scope", text(unit, name)));
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
  if (a->has_device) tvms_host_push_device(unit, &stmts, a->device_id, a->device_type);
  push_all(memory, &stmts, &a->checks);
  push_all(memory, &stmts, &a->declarations);
  if (a->has_device && a->device_type != TVMS_HOST_DEVICE_CPU)
    tvms_vec_push(memory, &stmts, set_device(unit, a));
  tvms_vec_push(memory, &stmts, computation(unit, a->symbol, body));
  tvms_vec_push(memory, &stmts, tvms_host_return_zero(unit));
  tvms_node *seq = tvms_seq_new(unit, stmts.items, stmts.len, TVMS_NO_SPAN);
  tvms_vec_fini(memory, &stmts);
  return seq;
}

// The packed function: its parameters and what its attributes say.
static tvms_node *with_signature(tvms_unit *unit, const tvms_node *function,
                                 const tvms_packed_arguments *a, tvms_node *result,
                                 tvms_node *host) {
  tvms_node *params[] = {variable(unit, "self_handle", TVMS_DTYPE(HANDLE, 64)), a->args,
                         a->num_args, result};
  tvms_node *packed = tvms_host_with_signature(unit, function, params, 4);
  tvms_node **attrs = &tvms_as_prim_func(packed)->attrs;
  *attrs = tvms_object_map_with(unit, *attrs, "calling_conv",
                                tvms_object_int_new(unit, 1, TVMS_NO_SPAN));
  *attrs = tvms_object_map_with(unit, *attrs, "target", host);
  if (!tvms_release_has(unit->dialect, TVMS_FACT_packed_arguments_have_padding))
    return packed;
  char symbol[256];
  int len = snprintf(symbol, sizeof symbol, "__tvm_ffi_%.240s", a->symbol);
  *attrs = tvms_object_map_with(
      unit, *attrs, "global_symbol",
      tvms_object_str_new(unit, symbol, (size_t)len, TVMS_NO_SPAN));
  return packed;
}

// Where the result of a call is put: a pointer to anything, which older releases write.
static tvms_node *result_variable(tvms_unit *unit) {
  tvms_node *result = variable(unit, "result", TVMS_DTYPE(HANDLE, 64));
  if (tvms_release_has(unit->dialect, TVMS_FACT_opaque_pointers_are_bare))
    return result;
  tvms_struct_SINFO_POINTER *type = tvms_node_make(unit, SINFO_POINTER, TVMS_NO_SPAN);
  bool named = tvms_release_has(unit->dialect, TVMS_FACT_pointers_have_scope);
  const char *scope = named ? "global" : "";
  type->scope = tvms_symbol_intern(unit->context, scope, strlen(scope));
  result->sinfo = &type->head;
  return result;
}

// Reports a buffer of two parameters.
static bool shares_buffer(tvms_context *context, const tvms_prim_func *function,
                          const char *symbol) {
  for (uint32_t i = 0; i < function->buffers.len; i++) {
    tvms_node *buffer = function->buffers.items[i];
    for (uint32_t k = 0; buffer && k < i; k++) {
      if (function->buffers.items[k] != buffer) continue;
      tvms_diag_report(&context->diags, TVMS_D_buffer_shared, buffer->span, symbol,
                       tvms_symbol_text(context, tvms_as_buffer(buffer)->name));
      return true;
    }
  }
  return false;
}

// Reports a buffer whose vectors are as long as the machine's: no tensor says so.
static bool has_scalable(tvms_context *context, const tvms_prim_func *function) {
  for (uint32_t i = 0; i < function->buffers.len; i++) {
    const tvms_node *buffer = function->buffers.items[i];
    if (!buffer || tvms_as_buffer(buffer)->element.lanes >= 0) continue;
    char text[TVMS_DTYPE_TEXT];
    tvms_dtype_text(tvms_as_buffer(buffer)->element, text);
    tvms_diag_report(&context->diags, TVMS_D_not_passed_packed, buffer->span, text);
    return true;
  }
  return false;
}

// The search for a size that no tensor tells: one that is no dimension, stride or offset itself.
typedef struct {
  const tvms_prim_func *function;
  const tvms_node *TVMS_NULLABLE found;  // VAR
} size_search;

static bool is_among(tvms_list list, const tvms_node *node) {
  for (uint32_t i = 0; i < list.len; i++) {
    if (list.items[i] == node) return true;
  }
  return false;
}

static tvms_walk_step find_size(void *self, tvms_node *node, tvms_field_role role) {
  size_search *s = self;
  (void)role;
  bool size = node->kind == TVMS_NODE_VAR && !tvms_dtype_is_handle(node->dtype)
              && !is_among(s->function->params, node);
  for (uint32_t i = 0; size && i < s->function->buffers.len; i++) {
    if (!s->function->buffers.items[i]) continue;
    const tvms_buffer *buffer = tvms_as_buffer(s->function->buffers.items[i]);
    size = !is_among(buffer->shape, node) && !is_among(buffer->strides, node)
           && buffer->elem_offset != node;
  }
  if (!size) return TVMS_WALK_ON;
  s->found = node;
  return TVMS_WALK_STOP;
}

static bool lacks_size(tvms_context *context, const tvms_node *function,
                       const char *symbol) {
  size_search s = {.function = tvms_as_prim_func(function)};
  tvms_visitor visitor = {.self = &s, .enter = find_size};
  for (uint32_t i = 0; i < s.function->buffers.len && !s.found; i++) {
    tvms_node *buffer = s.function->buffers.items[i];
    if (buffer) (void)tvms_walk(&context->memory, buffer, &visitor);
  }
  if (s.found)
    tvms_diag_report(&context->diags, TVMS_D_size_not_passed, function->span,
                     tvms_symbol_text(context, tvms_as_var(s.found)->name), symbol);
  return s.found != NULL;
}

static tvms_node *pack(tvms_pass_run *run, tvms_unit *unit, tvms_node *old) {
  tvms_node *function = pack_calls(run, unit, old);
  const char *symbol = tvms_host_symbol_of(unit->context, function);
  if (!symbol) return function;
  const tvms_node *config = tvms_host_target_of(function);
  if (!config) {
    tvms_host_target_report(unit->context, function, symbol, "MakePackedAPI");
    return function;
  }
  tvms_node *host = tvms_host_target_to_be(unit, config);
  tvms_packed_arguments a = {.unit = unit,
                             .symbol = symbol,
                             .device_type = tvms_host_device_type(config),
                             .device = tvms_host_device_name(config)};
  if (!host || !a.device) return function;
  a.function = tvms_as_prim_func(function);
  if (shares_buffer(unit->context, a.function, symbol)
      || has_scalable(unit->context, a.function)
      || lacks_size(unit->context, function, symbol))
    return function;
  a.args = variable(unit, "args", TVMS_DTYPE(HANDLE, 64));
  a.num_args = variable(unit, "num_args", TVMS_DTYPE(INT, 32));
  a.device_id = variable(unit, "dev_id", TVMS_DTYPE(INT, 32));
  packing p = {.run = run, .result = result_variable(unit)};
  tvms_node *body = rewrite_body(&p, unit, a.function->body);
  if (tvms_release_has(unit->dialect, TVMS_FACT_packed_arguments_have_padding))
    tvms_packed_arguments_bind(&a);
  else
    tvms_packed_classic_bind(&a);
  tvms_node *packed = with_signature(unit, function, &a, p.result, host);
  tvms_as_prim_func(packed)->body = whole_body(unit, &a, body);
  tvms_packed_arguments_fini(&a);
  return packed;
}

// Callees are looked at as they were: one that is packed already would no longer say so.
static tvms_node *TVMS_NULLABLE remake(void *self, tvms_unit *unit, uint32_t index) {
  tvms_pass_run *run = self;
  tvms_node *copy = tvms_clone(unit, run->module->members[index].function, NULL);
  tvms_node *packed = pack(run, unit, copy);
  return packed == copy ? NULL : packed;
}

void tvms_pass_make_packed_api(tvms_pass_run *run) {
  tvms_functions_remake(run, TVMS_NODE_PRIM_FUNC, remake, run);
}
