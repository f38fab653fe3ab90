// Buffers of C text: memory, addresses, loads and stores.
#ifndef TVMS_BACKEND_C_MEMORY_H
#define TVMS_BACKEND_C_MEMORY_H

#include "backend/c/emit.h"

// Defines a buffer over memory at `data`; NULL: over what its data variable has.
void tvms_c_define_buffer(c_emitter *e, const tvms_node *buffer,
                          const char *TVMS_NULLABLE data);

// Defines a buffer over fresh memory of its shape.
void tvms_c_allocate_buffer(c_emitter *e, const tvms_node *buffer);

// Memory for `extents` elements, which the variable `data` names: variables if that does
// (registers.h), in the frame if it is small and of known size, else from the C library, and then it
// is live until tvms_c_end_memory.
const char *tvms_c_allocate(c_emitter *e, const tvms_node *data, tvms_dtype element,
                            tvms_list extents, tvms_span span);

// Ends the scope that began with `mark` allocations; frees what came since if `open`.
void tvms_c_end_memory(c_emitter *e, uint32_t mark, bool open);

// The value of a BUFFER_LOAD. Lanes that its predicate excludes are 0 and not touched.
const char *tvms_c_load(c_emitter *e, const tvms_node *node);

// Writes a STORE. Its value is computed before anything is written.
void tvms_c_store(c_emitter *e, const tvms_node *node);

// The address of the element that a BUFFER_LOAD of one lane names.
const char *tvms_c_address(c_emitter *e, const tvms_node *load);

#endif
