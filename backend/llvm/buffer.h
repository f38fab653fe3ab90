// Buffers: memory, addresses, loads and stores.
#ifndef TVMS_BACKEND_LLVM_BUFFER_H
#define TVMS_BACKEND_LLVM_BUFFER_H

#include "backend/llvm/emit.h"

// Defines a buffer over memory at `data` and makes that the value of its data variable;
// NULL: over what the variable has. The view belongs to the function in progress.
view *tvms_emit_define_buffer(emitter *e, const tvms_node *buffer,
                              LLVMValueRef TVMS_NULLABLE data);

// The view of a buffer where it is used: the defined one, or one made from its data
// variable. Reports and leaves if there is no memory for it.
view *tvms_emit_use_buffer(emitter *e, const tvms_node *buffer, tvms_span span);

// Defines a buffer over fresh memory of its shape.
void tvms_emit_allocate_buffer(emitter *e, const tvms_node *buffer);

// Memory for `extents` elements: in the frame if it is small and of known size, else from
// the C library, and then it is live until tvms_emit_end_memory. Checked code fills it with
// ones.
LLVMValueRef tvms_emit_allocate(emitter *e, tvms_dtype element, tvms_list extents,
                                tvms_span span);

// Emits the code that frees live memory down to number `mark`; it stays listed, because
// this is one way out of several.
void tvms_emit_free_from(emitter *e, uint32_t mark);

// Ends the block: frees all that is live and returns -1, in blocks that are shared, as each of many
// allocations may fail, and what may fail behind them.
void tvms_emit_leave(emitter *e);

// Ends the scope that began with `mark` allocations: frees what came since, unless the
// current block has left already.
void tvms_emit_end_memory(emitter *e, uint32_t mark);

// The address of an element, which may be outside of the buffer.
LLVMValueRef tvms_emit_address(emitter *e, const tvms_node *buffer, tvms_list indices,
                               tvms_span span);

// The value of a BUFFER_LOAD. Lanes that its predicate excludes are 0 and not touched.
LLVMValueRef tvms_emit_buffer_load(emitter *e, const tvms_node *node);

// Emits a STORE. Its value is computed before anything is written.
void tvms_emit_buffer_store(emitter *e, const tvms_node *node);

#endif
