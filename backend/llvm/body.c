// The body of a PrimFunc as a function of plain pointers and numbers.
//
//   i32 <name>.body(ptr self, ptr result, <one per parameter>, <one per size variable>)
//
// A parameter with a buffer is the data pointer; size variables are what its shape,
// strides and offset name. The entry has checked and loaded all of them.
#include "backend/llvm/body.h"

#include "backend/llvm/buffer.h"
#include "backend/llvm/debug.h"
#include "backend/llvm/emit.h"
#include "backend/llvm/past.h"
#include "backend/llvm/stmt.h"
#include "backend/llvm/symbols.h"
#include "backend/llvm/types.h"

void tvms_emit_collect_sizes(emitter *e, const tvms_prim_func *function,
                             size_vars *sizes) {
  tvms_params_collect(&e->context->memory, function, sizes);
}

LLVMTypeRef tvms_emit_body_type(emitter *e, const tvms_prim_func *function,
                                const size_vars *sizes) {
  uint32_t count = 2 + function->params.len + sizes->len;
  LLVMTypeRef *params = tvms_arena_array(&e->context->scratch, LLVMTypeRef, count);
  uint32_t at = 0;
  params[at++] = e->pointer;
  params[at++] = e->pointer;
  for (uint32_t i = 0; i < function->params.len; i++) {
    const tvms_node *param = function->params.items[i];
    params[at++] = function->buffers.items[i]
                       ? e->pointer
                       : tvms_emit_type(e, param->dtype, param->span);
  }
  for (uint32_t i = 0; i < sizes->len; i++) {
    const tvms_node *size = sizes->items[i];
    params[at++] = tvms_emit_type(e, size->dtype, size->span);
  }
  return LLVMFunctionType(e->i32, params, count, false);
}

static void mark_parameters(emitter *e, const tvms_prim_func *function) {
  unsigned kind = LLVMGetEnumAttributeKindForName("noalias", 7);
  for (uint32_t i = 0; i < function->params.len; i++) {
    if (!tvms_params_alone(function, i)) continue;
    LLVMAddAttributeAtIndex(e->function, i + 3,
                            LLVMCreateEnumAttribute(e->llvm, kind, 0));
  }
}

void tvms_emit_body(emitter *e, const tvms_member *member) {
  const tvms_prim_func *function = tvms_as_prim_func(member->function);
  size_vars sizes = {0};
  tvms_emit_collect_sizes(e, function, &sizes);
  e->function = LLVMGetNamedFunction(e->module, tvms_emit_body_name(e, member));
  e->raised = LLVMGetParam(e->function, 0);
  e->result = LLVMGetParam(e->function, 1);
  e->entry = LLVMAppendBasicBlockInContext(e->llvm, e->function, "entry");
  LLVMPositionBuilderAtEnd(e->builder, e->entry);
  tvms_emit_debug_function(e, tvms_symbol_text(e->context, member->name),
                           function->head.span);
  // Allocas go before this jump.
  LLVMBasicBlockRef start = tvms_emit_block(e, "start");
  LLVMBuildBr(e->builder, start);
  tvms_emit_enter(e, start);
  mark_parameters(e, function);
  uint32_t params = function->params.len;
  for (uint32_t i = 0; i < params; i++) {
    LLVMValueRef value = LLVMGetParam(e->function, i + 2);
    if (!function->buffers.items[i]) e->vars[function->params.items[i]->id] = value;
  }
  for (uint32_t i = 0; i < sizes.len; i++) {
    e->vars[sizes.items[i]->id] = LLVMGetParam(e->function, i + 2 + params);
  }
  for (uint32_t i = 0; i < params; i++) {
    const tvms_node *buffer = function->buffers.items[i];
    if (buffer) tvms_emit_define_buffer(e, buffer, LLVMGetParam(e->function, i + 2));
  }
  tvms_emit_stmt(e, function->body);
  if (tvms_emit_is_open(e)) {
    tvms_emit_order_stores(e);
    LLVMBuildRet(e->builder, LLVMConstNull(e->i32));
  }
  tvms_vec_fini(&e->context->memory, &sizes);
}
