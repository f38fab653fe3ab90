// The entry of a PrimFunc: TVM's calling convention around the body. What it checks and
// loads is a list of steps (backend/core/entry.h).
#include "backend/llvm/entry.h"

#include "backend/core/entry.h"
#include "backend/llvm/body.h"
#include "backend/llvm/emit.h"
#include "backend/llvm/expr.h"
#include "backend/llvm/failure.h"
#include "backend/llvm/steps.h"
#include "backend/llvm/stmt.h"
#include "backend/llvm/symbols.h"
#include "backend/llvm/types.h"
#include "runtime/abi.h"

static void store_result(emitter *e, LLVMValueRef slot, LLVMValueRef result) {
  tvms_dtype dtype = e->result_dtype;
  LLVMValueRef value = tvms_emit_load(e, dtype, slot, TVMS_NO_SPAN);
  int32_t kind = TVMS_ANY_INT;
  if (tvms_dtype_is_real(dtype)) {
    kind = TVMS_ANY_FLOAT;
    if (dtype.bits != 64) value = LLVMBuildFPExt(e->builder, value, e->f64, "");
  } else if (tvms_dtype_is_handle(dtype)) {
    kind = TVMS_ANY_POINTER;
  } else {
    kind = tvms_dtype_is_bool(dtype) ? TVMS_ANY_BOOL : TVMS_ANY_INT;
    value = LLVMBuildIntCast2(e->builder, value, e->i64, dtype.code == TVMS_INT, "");
  }
  LLVMValueRef at = tvms_emit_int(e, offsetof(tvms_any, v));
  LLVMValueRef place = LLVMBuildGEP2(e->builder, e->i8, result, &at, 1, "");
  // The kind and the zero after it in one word.
  LLVMBuildStore(e->builder, LLVMConstInt(e->i64, (unsigned long long)kind, false),
                 result);
  LLVMBuildStore(e->builder, value, place);
}

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
  return LLVMBuildIntCast2(e->builder, value, type, false, "");
}

static void call_body(emitter *e, const tvms_member *member, const tvms_entry *entry,
                      LLVMValueRef const *values) {
  const tvms_prim_func *function = entry->function;
  size_vars sizes = {0};
  tvms_emit_collect_sizes(e, function, &sizes);
  uint32_t params = function->params.len, count = 2 + params + sizes.len;
  LLVMValueRef *args = tvms_arena_array(&e->context->scratch, LLVMValueRef, count);
  bool returns = !tvms_dtype_is_void(e->result_dtype);
  LLVMValueRef slot = LLVMConstNull(e->pointer);
  if (returns) {
    slot = LLVMBuildAlloca(e->builder, e->i64, "");
    LLVMBuildStore(e->builder, LLVMConstNull(e->i64), slot);
  }
  args[0] = e->raised;
  args[1] = slot;
  for (uint32_t i = 0; i < params; i++) {
    const tvms_node *param = function->params.items[i];
    LLVMValueRef value = values[entry->params[i]];
    bool tensor = function->buffers.items[i] != NULL;
    args[i + 2] = tensor ? value : argument_of(e, value, param->dtype, param->span);
  }
  for (uint32_t i = 0; i < sizes.len; i++) {
    const tvms_node *size = sizes.items[i];
    LLVMValueRef value = values[entry->vars[size->id] - 1];
    args[i + 2 + params] = argument_of(e, value, size->dtype, size->span);
  }
  LLVMTypeRef type = tvms_emit_body_type(e, function, &sizes);
  LLVMValueRef body = LLVMGetNamedFunction(e->module, tvms_emit_body_name(e, member));
  LLVMValueRef status = LLVMBuildCall2(e->builder, type, body, args, count, "");
  tvms_vec_fini(&e->context->memory, &sizes);
  if (!returns) {
    LLVMBuildRet(e->builder, status);
    return;
  }
  failure passed_up = {0};
  LLVMValueRef done =
      LLVMBuildICmp(e->builder, LLVMIntEQ, status, LLVMConstNull(e->i32), "");
  tvms_emit_check(e, done, &passed_up);
  store_result(e, slot, LLVMGetParam(e->function, 3));
  LLVMBuildRet(e->builder, LLVMConstNull(e->i32));
}

void tvms_emit_entry(emitter *e, const tvms_member *member) {
  const tvms_entry *entry = tvms_entry_new(e->context, member);
  LLVMTypeRef types[] = {e->pointer, e->pointer, e->i32, e->pointer};
  e->function = LLVMAddFunction(e->module, tvms_emit_entry_name(e, member),
                                LLVMFunctionType(e->i32, types, 4, false));
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
