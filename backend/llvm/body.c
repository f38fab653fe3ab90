// The body of a PrimFunc as a function of plain pointers and numbers.
//
//   i32 <name>.body(ptr self, ptr result, <one per parameter>, <one per size variable>)
//
// A parameter with a buffer is the data pointer; size variables are what its shape,
// strides and offset name. The entry has checked and loaded all of them.
#include "backend/llvm/body.h"

#include "backend/llvm/buffer.h"
#include "backend/llvm/emit.h"
#include "backend/llvm/stmt.h"
#include "backend/llvm/symbols.h"
#include "backend/llvm/types.h"

static bool is_listed(const size_vars *sizes, const tvms_node *var) {
  for (uint32_t i = 0; i < sizes->len; i++) {
    if (sizes->items[i] == var) return true;
  }
  return false;
}

static void collect(emitter *e, const tvms_prim_func *function, const tvms_node *node,
                    size_vars *sizes) {
  if (!node || node->kind != TVMS_NODE_VAR || is_listed(sizes, node)) return;
  for (uint32_t i = 0; i < function->params.len; i++) {
    if (function->params.items[i] == node) return;
  }
  tvms_vec_push(&e->context->memory, sizes, node);
}

void tvms_emit_collect_sizes(emitter *e, const tvms_prim_func *function,
                             size_vars *sizes) {
  for (uint32_t i = 0; i < function->buffers.len; i++) {
    if (!function->buffers.items[i]) continue;
    const tvms_buffer *buffer = tvms_as_buffer(function->buffers.items[i]);
    for (uint32_t j = 0; j < buffer->shape.len; j++) {
      collect(e, function, buffer->shape.items[j], sizes);
    }
    for (uint32_t j = 0; j < buffer->strides.len; j++) {
      collect(e, function, buffer->strides.items[j], sizes);
    }
    collect(e, function, buffer->elem_offset, sizes);
  }
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

// True if an attribute whose name ends in "noalias" promises that buffers do not overlap.
static bool promises_noalias(const tvms_prim_func *function) {
  if (!function->attrs) return false;
  const tvms_object_map *map = tvms_as_object_map(function->attrs);
  for (uint32_t i = 0; i < map->keys.len; i++) {
    if (map->keys.items[i]->kind != TVMS_NODE_OBJECT_STR) continue;
    tvms_bytes key = tvms_as_object_str(map->keys.items[i])->value;
    const tvms_node *value = map->values.items[i];
    bool named =
        tvms_bytes_is(key, "tir.noalias") || tvms_bytes_is(key, "tirx.noalias");
    if (!named) continue;
    if (value->kind == TVMS_NODE_OBJECT_BOOL) return tvms_as_object_bool(value)->value;
    if (value->kind == TVMS_NODE_OBJECT_INT)
      return tvms_as_object_int(value)->value != 0;
    return value->kind == TVMS_NODE_INT_IMM && tvms_as_int_imm(value)->value != 0;
  }
  return false;
}

static void mark_parameters(emitter *e, const tvms_prim_func *function) {
  unsigned kind = LLVMGetEnumAttributeKindForName("noalias", 7);
  if (!promises_noalias(function)) return;
  for (uint32_t i = 0; i < function->params.len; i++) {
    if (!function->buffers.items[i]) continue;
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
  if (tvms_emit_is_open(e)) LLVMBuildRet(e->builder, LLVMConstNull(e->i32));
  tvms_vec_fini(&e->context->memory, &sizes);
}
