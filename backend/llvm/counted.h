// Addresses that are counted along the innermost loop of a register tile, and of vectors that go downwards.
#ifndef TVMS_BACKEND_LLVM_COUNTED_H
#define TVMS_BACKEND_LLVM_COUNTED_H

#include "backend/llvm/emit.h"

// Says whether the loop that was just entered is one whose addresses are worth counting: a straight line of
// vectors that are kept in the frame from step to step, or of any that go downwards. In front of it is a jump to
// its first block, which the counter of the loop (from 0 in steps of one) is the only phi of.
void tvms_emit_counted_begin(emitter *e, const tvms_for *source, loop_target *loop);

// The address of an element, or of the first lane of a ramp of step one, as one that the loop counts up plus a
// number of bytes. NULL if the loop is not of that kind or does not change the address, or an index is more than a sum of
// products of variables with numbers.
LLVMValueRef TVMS_NULLABLE tvms_emit_counted(emitter *e, const view *v,
                                             tvms_list indices, tvms_dtype element,
                                             tvms_span span);

// Counts up at the end of a step, in the block `next`.
void tvms_emit_counted_end(emitter *e, const loop_target *loop, LLVMBasicBlockRef next);

#endif
