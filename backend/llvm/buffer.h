// Buffers: memory, addresses, loads and stores.
#ifndef TVMS_BACKEND_LLVM_BUFFER_H
#define TVMS_BACKEND_LLVM_BUFFER_H

#include "backend/llvm/emit.h"

// An expression as a 64-bit index.
LLVMValueRef tvms_emit_index(emitter *e, const tvms_node *node);

// Makes the buffer known over `data`; NULL: its data variable has the address.
view *tvms_emit_define_buffer(emitter *e, const tvms_node *buffer, LLVMValueRef data);

// The buffer as it stands, defined now if no definition was met.
view *tvms_emit_use_buffer(emitter *e, const tvms_node *buffer, tvms_span span);

// Allocates what a buffer describes and defines it.
void tvms_emit_allocate_buffer(emitter *e, const tvms_node *buffer);

// Memory for `extents` elements, freed at the end of the scope that is open: on the
// stack if it is small and of constant size. Its address.
LLVMValueRef tvms_emit_allocate(emitter *e, tvms_dtype element, tvms_list extents,
                                tvms_span span);

// Code that frees what was allocated since `mark`, the youngest first. The emitter
// still knows of it, for other ways out.
void tvms_emit_free_from(emitter *e, uint32_t mark);

// Ends the scope that began at `mark`: what was allocated in it is freed, unless the
// block has ended already, and forgotten.
void tvms_emit_end_memory(emitter *e, uint32_t mark);

// Address of an element. Indices are scalars; checked if the options say so.
LLVMValueRef tvms_emit_address(emitter *e, view *v, const tvms_node *buffer,
                               LLVMValueRef const *indices, uint32_t count,
                               tvms_span span);

// The value of a BUFFER_LOAD, scalar or vector.
LLVMValueRef tvms_emit_buffer_load(emitter *e, const tvms_node *node);

// Code for a STORE, lane by lane where the index is a vector that is not dense.
void tvms_emit_buffer_store(emitter *e, const tvms_node *node);

#endif
