// Buffers: memory, addresses, loads and stores.
#ifndef TVMS_BACKEND_LLVM_BUFFER_H
#define TVMS_BACKEND_LLVM_BUFFER_H

#include "backend/llvm/emit.h"

// An expression as a 64-bit index.
LLVMValueRef tvms_emit_index(emitter *e, const tvms_node *node);

view *tvms_emit_define_buffer(emitter *e, const tvms_node *buffer, LLVMValueRef data);
view *tvms_emit_use_buffer(emitter *e, const tvms_node *buffer, tvms_span span);
void tvms_emit_allocate_buffer(emitter *e, const tvms_node *buffer);
LLVMValueRef tvms_emit_allocate(emitter *e, tvms_dtype element, tvms_list extents,
                                tvms_span span);
void tvms_emit_free_from(emitter *e, uint32_t mark);

void tvms_emit_end_memory(emitter *e, uint32_t mark);

// Address of an element. Indices are scalars; checked if the options say so.
LLVMValueRef tvms_emit_address(emitter *e, view *v, const tvms_node *buffer,
                               LLVMValueRef const *indices, uint32_t count,
                               tvms_span span);
LLVMValueRef tvms_emit_buffer_load(emitter *e, const tvms_node *node);
void tvms_emit_buffer_store(emitter *e, const tvms_node *node);

#endif
