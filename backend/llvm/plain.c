// A function for C around a body. driver/c_header.c writes its prototype and its structs.
#include "backend/llvm/plain.h"

#include "backend/core/place.h"
#include "backend/core/plain.h"
#include "backend/llvm/body.h"
#include "backend/llvm/expr.h"
#include "backend/llvm/failure.h"
#include "backend/llvm/held.h"
#include "backend/llvm/modules.h"
#include "backend/llvm/stmt.h"
#include "backend/llvm/symbols.h"
#include "backend/llvm/types.h"
#include "ir/contract.h"
#include "runtime/abi.h"

typedef struct {
  LLVMTypeRef *types;
  uint32_t count;
} fields;

static bool is_truth(const tvms_node *node) {
  return tvms_dtype_is_bool(node->dtype);
}

// A tvms_any, of which the address is passed.
static bool is_object(const tvms_prim_func *function, uint32_t at) {
  return !function->buffers.items[at]
         && tvms_dtype_is_handle(function->params.items[at]->dtype);
}

static LLVMTypeRef number_type(emitter *e, const tvms_node *node) {
  return is_truth(node) ? e->i8 : tvms_emit_type(e, node->dtype, node->span);
}

static LLVMValueRef field_at(emitter *e, const fields *f, uint32_t at,
                             LLVMValueRef base) {
  LLVMTypeRef type = LLVMStructTypeInContext(e->llvm, f->types, f->count, false);
  return LLVMBuildStructGEP2(e->builder, type, base, at, "");
}

static LLVMValueRef load_field(emitter *e, const fields *f, uint32_t at,
                               LLVMValueRef base) {
  return LLVMBuildLoad2(e->builder, f->types[at], field_at(e, f, at, base), "");
}

static LLVMValueRef load_number(emitter *e, const fields *f, uint32_t at,
                                LLVMValueRef base, const tvms_node *node) {
  LLVMValueRef value = load_field(e, f, at, base);
  if (!is_truth(node)) return value;
  return LLVMBuildICmp(e->builder, LLVMIntNE, value, LLVMConstNull(e->i8), "");
}

static void open_plain(emitter *e, const tvms_member *member, const char *prefix) {
  LLVMTypeRef params[] = {e->pointer, e->pointer, e->pointer};
  e->function = LLVMAddFunction(e->module, tvms_plain_name(e->program, member, prefix),
                                LLVMFunctionType(e->i32, params, 3, false));
  e->entry = LLVMAppendBasicBlockInContext(e->llvm, e->function, "entry");
  tvms_emit_enter(e, e->entry);
}

void tvms_emit_plain(emitter *e, const tvms_member *member, const char *prefix) {
  const tvms_prim_func *function = tvms_as_prim_func(member->function);
  tvms_contract contract = tvms_call_contract(function);
  size_vars sizes = {0};
  tvms_emit_collect_sizes(e, function, &sizes);
  open_plain(e, member, prefix);
  uint32_t params = function->params.len, count = 2 + params + sizes.len;
  tvms_arena *scratch = &e->context->scratch;
  LLVMValueRef *args = tvms_arena_array(scratch, LLVMValueRef, count);
  fields in = {tvms_arena_array(scratch, LLVMTypeRef, count), 0};
  fields out = {tvms_arena_array(scratch, LLVMTypeRef, count), 0};
  for (uint32_t i = 0; i < contract.inputs; i++)
    in.types[in.count++] = function->buffers.items[i] ? e->pointer
                           : is_object(function, i)
                               ? LLVMArrayType2(e->i64, sizeof(tvms_any) / 8)
                               : number_type(e, function->params.items[i]);
  for (uint32_t i = 0; i < sizes.len; i++)
    in.types[in.count++] = number_type(e, sizes.items[i]);
  for (uint32_t i = 0; i < contract.results; i++)
    out.types[out.count++] = e->pointer;
  LLVMValueRef held = tvms_place_is_relax(&function->head) ? tvms_emit_lend(e) : NULL;
  args[1] = LLVMConstNull(e->pointer);
  args[0] = held ? held : args[1];
  LLVMValueRef input = LLVMGetParam(e->function, 0);
  for (uint32_t i = 0; i < contract.inputs; i++)
    args[2 + i] = is_object(function, i)
                      ? field_at(e, &in, i, input)
                      : load_number(e, &in, i, input, function->params.items[i]);
  for (uint32_t i = 0; i < contract.results; i++)
    args[2 + contract.inputs + i] =
        load_field(e, &out, i, LLVMGetParam(e->function, 1));
  if (contract.has_workspace) args[1 + params] = LLVMGetParam(e->function, 2);
  for (uint32_t i = 0; i < sizes.len; i++)
    args[2 + params + i] = load_number(e, &in, contract.inputs + i,
                                       LLVMGetParam(e->function, 0), sizes.items[i]);
  LLVMTypeRef type = tvms_emit_body_type(e, function, &sizes);
  LLVMValueRef body = tvms_emit_function_named(e, tvms_emit_body_name(e, member));
  LLVMValueRef status = LLVMBuildCall2(e->builder, type, body, args, count, "");
  if (held) {
    failure passed_up = {.held = held};
    LLVMValueRef none = LLVMConstNull(e->i32);
    tvms_emit_check(e, LLVMBuildICmp(e->builder, LLVMIntEQ, status, none, ""),
                    &passed_up);
  }
  LLVMBuildRet(e->builder, status);
  tvms_vec_fini(&e->context->memory, &sizes);
}
