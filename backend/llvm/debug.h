// Lines of the program in machine code, for debuggers and profilers.
#ifndef TVMS_BACKEND_LLVM_DEBUG_H
#define TVMS_BACKEND_LLVM_DEBUG_H

#include "backend/llvm/emit.h"

// Begins the debug information of the module, if the options name a source; else this and the
// functions below do nothing.
void tvms_emit_debug_open(emitter *e);

// Ends it, when all functions are emitted. Their code may be optimised afterwards.
void tvms_emit_debug_close(emitter *e);

// Frees what is still open after an error.
void tvms_emit_debug_dispose(emitter *e);

// Code from here on is of the function in progress, which stands at `span`.
void tvms_emit_debug_function(emitter *e, const char *name, tvms_span span);

// Code from here on has no lines: it is not in the program.
void tvms_emit_debug_none(emitter *e);

// Code from here on is made of what stands at `span`; one without a place keeps the last.
// Returns what tvms_emit_debug_back goes back to.
LLVMMetadataRef TVMS_NULLABLE tvms_emit_debug_at(emitter *e, tvms_span span);

// Code from here on is of the place that was the last one before tvms_emit_debug_at.
void tvms_emit_debug_back(emitter *e, LLVMMetadataRef TVMS_NULLABLE before);

#endif
