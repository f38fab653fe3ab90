// Calls of PrimFuncs: arguments become memory and variables, compiled or interpreted.
//
// The order of checks is TVM's: kinds, ranks and data types first, then sizes that are
// variables, in any order of parameters, then sizes that are computed from them. Compiled
// code checks by itself (backend/llvm/entry.c) and leaves what it found in a tvms_raised,
// which becomes a fault with its place here.
#include "interp/prim.h"

#include "interp/boxes.h"
#include "interp/buffer.h"
#include "interp/code_run.h"
#include "interp/codes.h"
#include "interp/expr.h"
#include "interp/foreign.h"
#include "interp/frame.h"
#include "interp/meaning.h"
#include "interp/nest.h"
#include "interp/packed_entry.h"
#include "interp/relax.h"
#include "interp/result.h"
#include "interp/stmt.h"
#include "runtime/packed.h"
#include "support/diag_ids.h"
#include "support/strbuf.h"

#include <string.h>

// Says of the fault in which function it was, and who called that, as far as a reader wants to know. A
// function that a pass runs has no name.
static void tell_functions(const tvms_interp_frame *f) {
  enum { MOST_CALLERS = 6 };
  tvms_diags *diags = &f->context->diags;
  if (!diags->last || !f->member || !f->member->name) return;
  tvms_strbuf callers;
  tvms_strbuf_init(&callers, &f->context->memory);
  const tvms_interp_frame *at = f->outer;
  for (uint32_t i = 0; i < MOST_CALLERS && at && at->member && at->member->name; i++) {
    tvms_strbuf_printf(&callers, ", called by '%s'",
                       tvms_symbol_text(f->context, at->member->name));
    if (diags->source && at->at.end > at->at.begin)
      tvms_strbuf_printf(
          &callers, " (line %u)",
          tvms_source_place(&f->context->memory, diags->source, at->at.begin).line);
    at = at->outer;
  }
  tvms_diag_remark(diags, diags->last, "in '%s'%s%s",
                   tvms_symbol_text(f->context, f->member->name),
                   tvms_strbuf_text(&callers),
                   at && at->member && at->member->name ? ", and so on" : "");
  tvms_strbuf_fini(&callers);
}

void tvms_interp_give_up(const tvms_interp_frame *f) {
  tell_functions(f);
  if (f->interp->tell) f->interp->tell(f->interp->tell_state);
  tvms_memory_unwind(&f->context->memory, TVMS_FOUND_ERRORS);
}

void tvms_interp_count_step(tvms_interp_frame *f, tvms_span span) {
  tvms_interp *interp = f->interp;
  if (++interp->steps % 4096 == 0) tvms_memory_check_time(&f->context->memory);
  if (interp->steps != interp->step_limit) return;
  fault(f, TVMS_D_too_many_steps, span, (unsigned long long)interp->step_limit);
}

void tvms_interp_open_frame(tvms_interp_frame *f, tvms_interp *interp,
                            const tvms_member *member, const tvms_interp_frame *outer) {
  *f =
      (tvms_interp_frame){.interp = interp, .context = interp->context, .outer = outer};
  f->member = member;
  tvms_arena *arena = &interp->context->scratch;
  uint32_t ids = member->unit->next_id;
  f->vars = tvms_arena_array(arena, tvms_scalar, ids);
  f->bound = tvms_arena_array(arena, uint8_t, ids);
  f->views = tvms_arena_array(arena, tvms_interp_view *, ids);
}

void tvms_interp_close_frame(tvms_interp_frame *f) {
  tvms_interp_end_memory(f, 0);
  tvms_interp_boxes_close(f);
  tvms_vec_fini(&f->context->memory, &f->regions);
}

void tvms_interp_match_size(tvms_interp_frame *f, const tvms_node *size, int64_t got,
                            const char *what, uint32_t dimension, tvms_span span) {
  if (size->kind == TVMS_NODE_VAR && !f->bound[size->id]) {
    tvms_interp_bind_var(f, size, (tvms_scalar){.i = got});
    return;
  }
  int64_t expected = tvms_interp_eval_int(f, size);
  if (expected == got) return;
  fault(f, TVMS_D_size_mismatch, span, dimension, what, (long long)got,
        (long long)expected);
}

// True if the size is a variable that nothing has given a value yet.
static bool is_new(const tvms_interp_frame *f, const tvms_node *size) {
  return size->kind == TVMS_NODE_VAR && !f->bound[size->id];
}

TVMS_NORETURN static void wrong_argument(tvms_interp_frame *f, tvms_sym name,
                                         const char *why, tvms_span span) {
  fault(f, TVMS_D_wrong_argument, span, tvms_symbol_text(f->context, name), why);
}

// Strides and offset of a compact tensor. Sizes that are variables are bound first, by
// bind_sizes; here the compound ones are compared as well.
static void match_buffer(tvms_interp_frame *f, const tvms_buffer *buffer,
                         const tvms_tensor *tensor, tvms_span span) {
  const char *name = tvms_symbol_text(f->context, buffer->name);
  int64_t compact = 1;
  for (uint32_t i = buffer->shape.len; i > 0; i--) {
    tvms_interp_match_size(f, buffer->shape.items[i - 1], tensor->shape[i - 1], name,
                           i - 1, span);
    if (buffer->strides.len == buffer->shape.len) {
      const tvms_node *stride = buffer->strides.items[i - 1];
      // TVM: what has no second element may have any stride.
      if (tensor->shape[i - 1] != 1 || is_new(f, stride)) {
        tvms_interp_match_size(f, stride, compact, name, i - 1, span);
      }
    }
    compact *= tensor->shape[i - 1];
  }
  if (buffer->elem_offset)
    tvms_interp_match_size(f, buffer->elem_offset, 0, name, 0, span);
  tvms_interp_add_region(f, tensor->view.data, tensor->bytes);
  tvms_interp_bind_var(f, buffer->data, (tvms_scalar){.p = tensor->view.data});
  tvms_interp_define_buffer(f, &buffer->head, NULL);
}

static void check_tensor(tvms_interp_frame *f, const tvms_buffer *buffer,
                         tvms_value value, tvms_span span) {
  if (value.kind != TVMS_VALUE_TENSOR) {
    wrong_argument(f, buffer->name, "a tensor is expected", span);
  }
  const tvms_dl_tensor *tensor = &value.tensor->view;
  if ((uint32_t)tensor->ndim != buffer->shape.len) {
    fault(f, TVMS_D_rank_mismatch, span, tvms_symbol_text(f->context, buffer->name),
          tensor->ndim, buffer->shape.len);
  }
  tvms_dl_type wanted = tvms_interp_dl_type_of(buffer->element), got = tensor->dtype;
  if (wanted.code != got.code || wanted.bits != got.bits || wanted.lanes != got.lanes) {
    char text[2][TVMS_DTYPE_TEXT];
    tvms_dtype dtype = {got.code, got.code == TVMS_BOOL ? 1 : got.bits,
                        (int16_t)got.lanes};
    fault(f, TVMS_D_dtype_mismatch, span, tvms_symbol_text(f->context, buffer->name),
          tvms_dtype_text(dtype, text[0]), tvms_dtype_text(buffer->element, text[1]));
  }
}

static void bind_sizes(tvms_interp_frame *f, const tvms_buffer *buffer,
                       const tvms_tensor *tensor, tvms_span span) {
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    if (!is_new(f, buffer->shape.items[i])) continue;
    tvms_interp_match_size(f, buffer->shape.items[i], tensor->shape[i], "", i, span);
  }
}

static void bind_scalar(tvms_interp_frame *f, const tvms_node *param, tvms_value value,
                        tvms_span span) {
  tvms_dl_type int64 = {TVMS_DL_INT, 64, 1}, real64 = {TVMS_DL_FLOAT, 64, 1};
  tvms_dl_type type = tvms_interp_dl_type_of(param->dtype);
  tvms_scalar scalar;
  if (type.code == TVMS_DL_HANDLE) {
    if (value.kind == TVMS_VALUE_TENSOR) {
      tvms_interp_add_region(f, value.tensor->view.data, value.tensor->bytes);
      scalar.p = value.tensor->view.data;
    } else if (value.kind == TVMS_VALUE_STATE) {
      scalar.p = tvms_interp_boxes_new(f, 1, span);
    } else {
      scalar.p = (void *)(uintptr_t)value.function;
    }
  } else if (value.kind == TVMS_VALUE_FLOAT && tvms_scalar_kind_is_real(type.code)) {
    scalar = tvms_scalar_convert((tvms_scalar){.f = value.f}, real64, type);
  } else if (value.kind == TVMS_VALUE_INT || value.kind == TVMS_VALUE_BOOL) {
    scalar = tvms_scalar_convert((tvms_scalar){.i = value.i}, int64, type);
  } else {
    wrong_argument(f, tvms_as_var(param)->name, "a number of the same kind is expected",
                   span);
  }
  tvms_interp_bind_var(f, param, scalar);
}

static void bind_arguments(tvms_interp_frame *f, const tvms_prim_func *function,
                           const tvms_value *args, tvms_span span) {
  for (uint32_t i = 0; i < function->params.len; i++) {
    if (function->buffers.items[i]) continue;
    bind_scalar(f, function->params.items[i], args[i], span);
  }
  // TVM compares compound sizes after all variables have their values.
  for (uint32_t i = 0; i < function->params.len; i++) {
    const tvms_node *buffer = function->buffers.items[i];
    if (!buffer) continue;
    check_tensor(f, tvms_as_buffer(buffer), args[i], span);
    bind_sizes(f, tvms_as_buffer(buffer), args[i].tensor, span);
  }
  for (uint32_t i = 0; i < function->params.len; i++) {
    const tvms_node *buffer = function->buffers.items[i];
    if (buffer) match_buffer(f, tvms_as_buffer(buffer), args[i].tensor, span);
  }
}

// Results that are objects: the item of the argument becomes what was set.
static void take_objects(tvms_interp_frame *f, const tvms_prim_func *function,
                         const tvms_value *args) {
  for (uint32_t i = 0; i < function->params.len; i++) {
    if (function->buffers.items[i] || args[i].kind != TVMS_VALUE_STATE) continue;
    const tvms_any *place = f->vars[function->params.items[i]->id].p;
    tvms_value_drop(args[i].tuple->items[0]);
    args[i].tuple->items[0] = tvms_interp_boxes_value(f, *place, function->head.span);
  }
}

static tvms_value scalar_result(const tvms_interp_frame *f, tvms_scalar value) {
  if (!f->returns) return (tvms_value){0};
  tvms_dtype dtype = tvms_interp_result_dtype(&f->context->memory, f->member->function);
  if (tvms_dtype_is_void(dtype)) return (tvms_value){0};
  if (tvms_dtype_is_real(dtype)) {
    return (tvms_value){.kind = TVMS_VALUE_FLOAT, .f = value.f};
  }
  tvms_value_kind kind = tvms_dtype_is_bool(dtype) ? TVMS_VALUE_BOOL : TVMS_VALUE_INT;
  return (tvms_value){.kind = (uint8_t)kind, .i = value.i};
}

tvms_any tvms_interp_to_any(tvms_value value) {
  tvms_any any = {0};
  switch (value.kind) {
  case TVMS_VALUE_INT: any.type_index = TVMS_ANY_INT; break;
  case TVMS_VALUE_BOOL: any.type_index = TVMS_ANY_BOOL; break;
  case TVMS_VALUE_FLOAT: any.type_index = TVMS_ANY_FLOAT; break;
  case TVMS_VALUE_TENSOR:
    any.type_index = TVMS_ANY_DL_TENSOR;
    any.v.p = &value.tensor->view;
    return any;
  case TVMS_VALUE_STR:
    any.type_index = TVMS_ANY_TEXT;
    any.v.p = (void *)(uintptr_t)value.text;
    return any;
  default: return any;
  }
  any.v.i = value.i;
  return any;
}

static tvms_value from_any(tvms_any any) {
  switch (any.type_index) {
  case TVMS_ANY_INT: return (tvms_value){.kind = TVMS_VALUE_INT, .i = any.v.i};
  case TVMS_ANY_BOOL: return (tvms_value){.kind = TVMS_VALUE_BOOL, .i = any.v.i};
  case TVMS_ANY_FLOAT: return (tvms_value){.kind = TVMS_VALUE_FLOAT, .f = any.v.f};
  default: return (tvms_value){0};
  }
}

TVMS_NORETURN static void report_raised(tvms_interp_frame *f, const tvms_raised *raised,
                                        tvms_span call) {
  bool placed = raised->span.end > raised->span.begin;
  tvms_strbuf whole, text;
  tvms_strbuf_init(&whole, &f->context->memory);
  tvms_strbuf_init(&text, &f->context->memory);
  if (raised->signature)
    tvms_meaning_put_signature(&whole, raised->text, raised->signature);
  else
    tvms_strbuf_puts(&whole, raised->text);
  const char *raw = tvms_strbuf_text(&whole);
  tvms_meaning_put_numbers(&text, raw, raised->got, raised->expected);
  bool told = raised->compared && strcmp(tvms_strbuf_text(&text), raw) != 0;
  tvms_diag *diag = tvms_diag_report(&f->context->diags, TVMS_D_compiled_code_raised,
                                     placed ? raised->span : call, raised->kind,
                                     told ? tvms_strbuf_text(&text) : raw);
  if (raised->compared && !told) {
    tvms_diag_remark(&f->context->diags, diag, "the value is %lld, the limit %lld",
                     (long long)raised->got, (long long)raised->expected);
  }
  tvms_interp_give_up(f);
}

// What compiled code calls a packed function through.
static int call_packed(tvms_raised *raised, const char *name, const tvms_any *args,
                       int32_t count, uint32_t begin, uint32_t end) {
  tvms_packed_function *function = tvms_packed_find(name, strlen(name));
  const char *kind = name, *wrong = "it is not here";
  raised->whole = 0;
  raised->real = 0;
  if (function)
    wrong = function(raised->memory, args, count);
  else if (tvms_interp_foreign_has(raised->foreign, name))
    wrong = tvms_interp_foreign_number(raised->foreign, name, args, count,
                                       &raised->whole, &raised->real, &kind);
  if (!wrong) return 0;
  raised->kind = kind;
  raised->text = wrong;
  raised->span = (tvms_span){begin, end};
  return -1;
}

static tvms_value call_compiled(tvms_interp_frame *f, tvms_safe_call kernel,
                                const tvms_value *args, uint32_t count,
                                tvms_span span) {
  const tvms_prim_func *function = tvms_as_prim_func(f->member->function);
  tvms_any *any = tvms_arena_array(&f->context->scratch, tvms_any, count ? count : 1);
  for (uint32_t i = 0; i < count; i++) {
    any[i] = tvms_interp_to_any(args[i]);
    // A pointer is that to the elements.
    bool pointer = args[i].kind == TVMS_VALUE_TENSOR && !function->buffers.items[i];
    if (pointer)
      any[i] =
          (tvms_any){.type_index = TVMS_ANY_POINTER, .v.p = args[i].tensor->view.data};
    if (args[i].kind == TVMS_VALUE_FUNCTION)
      any[i] = (tvms_any){.type_index = TVMS_ANY_POINTER,
                          .v.p = (void *)(uintptr_t)args[i].function};
  }
  tvms_raised raised = {.call_packed = call_packed,
                        .memory = &f->context->memory,
                        .foreign = f->interp->foreign};
  tvms_any result = {0};
  if (kernel(&raised, any, (int32_t)count, &result) == 0) return from_any(result);
  if (!raised.kind) raised = (tvms_raised){.kind = "RuntimeError", .text = "failed"};
  report_raised(f, &raised, span);
}

static void run_body(tvms_interp_frame *f) {
  if (f->interp->engine != TVMS_INTERP_WALKS && tvms_interp_run_nest(f)) return;
  const tvms_interp_code *code = tvms_interp_codes_find(f);
  if (!code) {
    tvms_interp_exec(f, tvms_as_prim_func(f->member->function)->body);
    return;
  }
  tvms_scalar *slots = tvms_arena_array(&f->context->scratch, tvms_scalar, code->slots);
  memcpy(slots, f->vars, f->member->unit->next_id * sizeof *slots);
  f->vars = slots;
  tvms_interp_run_code(f, code);
}

tvms_value tvms_interp_call_prim_func(tvms_interp *interp, const tvms_member *member,
                                      const tvms_value *args, uint32_t count,
                                      tvms_span span, const tvms_interp_frame *outer) {
  const tvms_prim_func *function = tvms_as_prim_func(member->function);
  tvms_interp_frame f;
  tvms_interp_open_frame(&f, interp, member, outer);
  if (span.end == 0) span = member->name_span;
  bool packed = tvms_interp_is_packed_entry(member->function);
  if (!packed && count != function->params.len) {
    fault(&f, TVMS_D_wrong_argument_count, span,
          tvms_symbol_text(f.context, member->name), function->params.len,
          tvms_diag_plural(function->params.len), count);
  }
  tvms_safe_call kernel =
      interp->kernel && !packed ? interp->kernel(interp->kernel_state, member) : NULL;
  if (kernel) return call_compiled(&f, kernel, args, count, span);
  const tvms_any *left = packed ? tvms_interp_bind_packed(&f, args, count) : NULL;
  if (!packed) bind_arguments(&f, function, args, span);
  tvms_interp_count_step(&f, span);
  run_body(&f);
  if (packed && f.returned.i != 0) {
    fault(&f, TVMS_D_packed_refused, span, tvms_symbol_text(f.context, member->name),
          "it returned an error code");
  }
  tvms_value result = packed ? from_any(*left) : scalar_result(&f, f.returned);
  if (!packed) take_objects(&f, function, args);
  // Memory of the arguments is not ours: only what has an owner is freed.
  tvms_interp_close_frame(&f);
  return result;
}

tvms_value tvms_interp_call_member(tvms_interp *interp, const tvms_member *member,
                                   const tvms_value *args, uint32_t count,
                                   tvms_span span, const tvms_interp_frame *outer) {
  tvms_mark mark = tvms_arena_mark(&interp->context->scratch);
  bool is_prim = member->function->kind == TVMS_NODE_PRIM_FUNC;
  tvms_interp_event event = {member, args, count, span, true};
  if (interp->observe) interp->observe(interp->observe_state, &event);
  tvms_value result =
      is_prim ? tvms_interp_call_prim_func(interp, member, args, count, span, outer)
              : tvms_interp_call_function(interp, member, args, count, span, outer);
  event.begins = false;
  if (interp->observe) interp->observe(interp->observe_state, &event);
  tvms_arena_reset(&interp->context->scratch, mark);
  return result;
}

typedef struct {
  tvms_interp *interp;
  const tvms_member *member;
  const tvms_value *args;
  uint32_t count;
  tvms_value result;
} call_request;

static void run_request(void *argument) {
  call_request *request = argument;
  request->result =
      tvms_interp_call_member(request->interp, request->member, request->args,
                              request->count, (tvms_span){0, 0}, NULL);
}

tvms_status tvms_interp_call(tvms_interp *interp, const tvms_member *member,
                             const tvms_value *args, uint32_t count,
                             tvms_value *result) {
  tvms_context *context = interp->context;
  tvms_source *source = context->diags.source;
  tvms_mark mark = tvms_arena_mark(&context->scratch);
  call_request request = {interp, member, args, count, {0}};
  context->diags.source = interp->module->source;
  tvms_interp_codes codes, *outer = interp->codes;
  tvms_interp_codes_init(&codes, &context->memory);
  interp->codes = &codes;
  tvms_status status = tvms_memory_protect(&context->memory, run_request, &request);
  interp->codes = outer;
  tvms_interp_codes_fini(&codes);
  context->diags.source = source;
  if (status == TVMS_OK)
    *result = request.result;
  else
    tvms_arena_reset(&context->scratch, mark);
  return status;
}

bool tvms_interp_size_of(const tvms_node *size, const int64_t *sizes, const bool *known,
                         int64_t *value) {
  if (size->kind == TVMS_NODE_INT_IMM) {
    *value = tvms_as_int_imm(size)->value;
    return true;
  }
  if (size->kind == TVMS_NODE_VAR) {
    *value = sizes[size->id];
    return known[size->id];
  }
  int64_t a, b;
  bool sum = size->kind == TVMS_NODE_ADD || size->kind == TVMS_NODE_SUB
             || size->kind == TVMS_NODE_MUL;
  bool division =
      size->kind == TVMS_NODE_FLOOR_DIV || size->kind == TVMS_NODE_FLOOR_MOD;
  if (!sum && !division) return false;
  const tvms_binary *binary = tvms_as_binary(size);
  if (!tvms_interp_size_of(binary->a, sizes, known, &a)) return false;
  if (!tvms_interp_size_of(binary->b, sizes, known, &b)) return false;
  if (division && (a < 0 || b <= 0)) return false;
  switch ((int)size->kind) {
  case TVMS_NODE_ADD: return !__builtin_add_overflow(a, b, value);
  case TVMS_NODE_SUB: return !__builtin_sub_overflow(a, b, value);
  case TVMS_NODE_MUL: return !__builtin_mul_overflow(a, b, value);
  case TVMS_NODE_FLOOR_DIV: *value = a / b; return true;
  default: *value = a % b; return true;
  }
}
