// Values: one LLVM value per TIR value, vectors as LLVM vectors.
#ifndef TVMS_BACKEND_LLVM_EXPR_H
#define TVMS_BACKEND_LLVM_EXPR_H

#include "backend/llvm/emit.h"

// Leaves to the entry point of the plug-in, which returns TVMS_FOUND_ERRORS; something was
// reported.
TVMS_NORETURN void tvms_emit_give_up(emitter *e);

// Reports that `what` cannot be compiled, and leaves.
TVMS_NORETURN void tvms_emit_refuse(emitter *e, tvms_span span, const char *what);

// A constant of 64 bits.
LLVMValueRef tvms_emit_int(emitter *e, int64_t value);

// The value of an expression, in its register form (backend/llvm/types.h).
LLVMValueRef tvms_emit_expr(emitter *e, const tvms_node *node);

// A condition as i1, or a vector of i1: a bool, or an integer that is true unless it is
// zero.
LLVMValueRef tvms_emit_condition(emitter *e, const tvms_node *node);

// One lane of a vector; of a scalar the scalar.
LLVMValueRef tvms_emit_lane(emitter *e, LLVMValueRef vector, uint32_t lane);

// A vector with the scalar in every lane.
LLVMValueRef tvms_emit_splat(emitter *e, LLVMValueRef scalar, uint32_t lanes);

// One of two values by a condition; the code of each runs only where it is wanted.
LLVMValueRef tvms_emit_choose(emitter *e, LLVMValueRef condition, choice *yes,
                              const void *yes_what, choice *no, const void *no_what);

// True if computing it early can do no harm: no loads, divisions or calls.
bool tvms_emit_is_safe(const tvms_node *node);

#endif
