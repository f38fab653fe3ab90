// Errors of Relax functions and of what they call, on their way to the entry.
//
// An entry, or a function for C, lends its Relax function memory for one error, by which nothing is written while all
// goes well: `self` of the function and of all that it calls. Who fails leaves kind and text there, each caller adds
// its name where it finds that what it has called has failed, and the entry raises the whole. What others have raised
// leaves no kind.
#ifndef TVMS_BACKEND_LLVM_HELD_H
#define TVMS_BACKEND_LLVM_HELD_H

#include "backend/llvm/emit.h"

// Is the error of the function in progress left in such memory, with its name?
bool tvms_emit_holds(const emitter *e);

// The memory, in the frame of the function in progress.
LLVMValueRef tvms_emit_lend(emitter *e);

// Raises what has been left, if something has.
void tvms_emit_raise_left(emitter *e, LLVMValueRef held);

// Leaves a text that is made of two numbers.
void tvms_emit_hold_formatted(emitter *e, const failure *what, const char *format);

// Adds to what was left, if something was, and if the function has memory for it: `in` if no function has been named,
// and then `by`.
void tvms_emit_add_place(emitter *e, const char *in, const char *by);

// Says that others have raised the error.
void tvms_emit_hold_nothing(emitter *e);

// Who is told of errors of the run time: a tvms_box_raiser, which a function makes once.
LLVMValueRef tvms_emit_raiser(emitter *e);

#endif
