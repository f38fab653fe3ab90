// Loads in steps. Of every second element: those beside each other share what they take.
#ifndef TVMS_BACKEND_LLVM_STRIDED_H
#define TVMS_BACKEND_LLVM_STRIDED_H

#include "backend/core/lanes.h"
#include "backend/llvm/emit.h"

// Every second one of 2 * `lanes` - 1 elements from `place` on. Nothing behind the last one is read.
//
// Where the code in front, without a branch, has loaded as much from the element before on, all
// that lies between is read in two vectors for both: neither reads what the other does not.
LLVMValueRef tvms_emit_load_halves(emitter *e, tvms_dtype element, LLVMValueRef place,
                                   uint32_t lanes, tvms_span span);

// Every `step`-th one of (`lanes` - 1) * `step` + 1 elements from `place` on, of as many vectors as there are
// elements in a step. Nothing behind the last one is read.
LLVMValueRef tvms_emit_load_steps(emitter *e, tvms_dtype element, LLVMValueRef place,
                                  uint32_t lanes, uint32_t step, tvms_span span);

// Elements that lie as `lanes` says, `place` being that of the least; they span two vectors of as many lanes at most.
// Nothing behind the last one is read.
LLVMValueRef tvms_emit_load_picked(emitter *e, tvms_dtype element, LLVMValueRef place,
                                   const tvms_lanes *lanes, tvms_span span);

// As tvms_emit_load_halves for the lanes that are true in `mask`, a constant vector of up to 16; others are 0, and are not
// touched but where a neighbour loads them for itself. The element can be masked (backend/llvm/masked.h).
LLVMValueRef tvms_emit_load_halves_masked(emitter *e, tvms_dtype element,
                                          LLVMValueRef place, LLVMValueRef mask,
                                          tvms_span span);

#endif
