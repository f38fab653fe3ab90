// The entry of a PrimFunc: TVM's calling convention around the body. What it checks and
// loads is a list of steps (backend/core/entry.h).
#include "backend/llvm/entry.h"

#include "backend/core/entry.h"
#include "backend/llvm/body.h"
#include "backend/llvm/emit.h"
#include "backend/llvm/expr.h"
#include "backend/llvm/failure.h"
#include "backend/llvm/held.h"
#include "backend/llvm/modules.h"
#include "backend/llvm/optimise.h"
#include "backend/llvm/results.h"
#include "backend/llvm/steps.h"
#include "backend/llvm/stmt.h"
#include "backend/llvm/symbols.h"
#include "backend/llvm/types.h"

// A step's value as a parameter of this type; all lanes of a vector are the number passed.
static LLVMValueRef argument_of(emitter *e, LLVMValueRef value, tvms_dtype dtype,
                                tvms_span span) {
  if (dtype.lanes > 1) {
    tvms_dtype one = {dtype.code, dtype.bits, 1};
    return tvms_emit_splat(e, argument_of(e, value, one, span), (uint32_t)dtype.lanes);
  }
  LLVMTypeRef type = tvms_emit_type(e, dtype, span);
  if (tvms_dtype_is_handle(dtype)) return value;
  if (tvms_dtype_is_real(dtype)) {
    LLVMValueRef real = LLVMBuildBitCast(e->builder, value, e->f64, "");
    return tvms_emit_convert(e, TVMS_DTYPE(FLOAT, 64), dtype, real, span);
  }
  return LLVMBuildIntCast2(e->builder, value, type, LLVMTypeOf(value) == e->i32, "");
}

// Arguments of the body: where errors go, where it returns a number, parameters, sizes.
static LLVMValueRef *body_args(emitter *e, const tvms_entry *entry,
                               LLVMValueRef const *values, const size_vars *sizes,
                               LLVMValueRef errors, LLVMValueRef slot) {
  const tvms_prim_func *function = entry->function;
  uint32_t params = function->params.len;
  LLVMValueRef *args =
      tvms_arena_array(&e->context->scratch, LLVMValueRef, 2 + params + sizes->len);
  args[0] = errors;
  args[1] = slot;
  for (uint32_t i = 0; i < entry->contract.inputs; i++) {
    const tvms_node *param = function->params.items[i];
    LLVMValueRef value = values[entry->params[i]];
    bool tensor = function->buffers.items[i] != NULL;
    args[i + 2] = tensor ? value : argument_of(e, value, param->dtype, param->span);
  }
  for (uint32_t i = 0; i < sizes->len; i++) {
    const tvms_node *size = sizes->items[i];
    LLVMValueRef value = values[entry->vars[size->id] - 1];
    args[i + 2 + params] = argument_of(e, value, size->dtype, size->span);
  }
  return args;
}

static void call_body(emitter *e, const tvms_member *member, const tvms_entry *entry,
                      LLVMValueRef const *values) {
  const tvms_prim_func *function = entry->function;
  size_vars sizes = {0};
  tvms_emit_collect_sizes(e, function, &sizes);
  bool returns = !tvms_dtype_is_void(e->result_dtype);
  LLVMValueRef slot = LLVMConstNull(e->pointer);
  if (returns) {
    slot = LLVMBuildAlloca(e->builder, e->i64, "");
    LLVMBuildStore(e->builder, LLVMConstNull(e->i64), slot);
  }
  LLVMValueRef held = tvms_emit_holds(e) ? tvms_emit_lend(e) : NULL;
  LLVMValueRef *args =
      body_args(e, entry, values, &sizes, held ? held : e->raised, slot);
  made_results made = {0};
  if (entry->contract.result_text)
    tvms_emit_make_results(e, entry, values, args + 2, &made);
  LLVMTypeRef type = tvms_emit_body_type(e, function, &sizes);
  LLVMValueRef body = tvms_emit_function_named(e, tvms_emit_body_name(e, member));
  uint32_t count = 2 + function->params.len + sizes.len;
  LLVMValueRef status = LLVMBuildCall2(e->builder, type, body, args, count, "");
  tvms_vec_fini(&e->context->memory, &sizes);
  if (entry->contract.result_text) {
    tvms_emit_give_results(e, entry, &made, held, status);
    return;
  }
  if (!returns && !held) {
    LLVMBuildRet(e->builder, status);
    return;
  }
  failure passed_up = {.held = held};
  LLVMValueRef done =
      LLVMBuildICmp(e->builder, LLVMIntEQ, status, LLVMConstNull(e->i32), "");
  tvms_emit_check(e, done, &passed_up);
  if (returns)
    tvms_emit_store_any(e, e->result_dtype, slot, LLVMGetParam(e->function, 3));
  LLVMBuildRet(e->builder, LLVMConstNull(e->i32));
}

void tvms_emit_entry(emitter *e, const tvms_member *member) {
  const tvms_entry *entry = tvms_entry_new(e->context, member, !e->options->traced);
  LLVMTypeRef types[] = {e->pointer, e->pointer, e->i32, e->pointer};
  // A call by its name may have come before.
  e->function = LLVMGetNamedFunction(e->module, tvms_emit_entry_name(e, member));
  if (!e->function)
    e->function = LLVMAddFunction(e->module, tvms_emit_entry_name(e, member),
                                  LLVMFunctionType(e->i32, types, 4, false));
  // C calls other functions, whose names belong to the object.
  if (e->options->plain_prefix) LLVMSetLinkage(e->function, LLVMWeakAnyLinkage);
  // A call takes 10 ns instead of 7, and compiling it a third of the time.
  tvms_llvm_make_fast(e->function);
  // What a library raises goes to its host.
  e->raised =
      e->options->traced ? LLVMGetParam(e->function, 0) : LLVMConstNull(e->pointer);
  e->entry = LLVMAppendBasicBlockInContext(e->llvm, e->function, "entry");
  LLVMBasicBlockRef refused = tvms_emit_block(e, "refused");
  LLVMValueRef *values =
      tvms_arena_array(&e->context->scratch, LLVMValueRef, entry->count);
  tvms_emit_enter(e, e->entry);
  tvms_emit_steps(e, entry, values, refused);
  call_body(e, member, entry, values);
  tvms_emit_enter(e, refused);
  tvms_emit_refusal(e, entry);
}
