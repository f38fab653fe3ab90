// Values: one LLVM value per TIR value, vectors as LLVM vectors.
#ifndef TVMS_BACKEND_LLVM_EXPR_H
#define TVMS_BACKEND_LLVM_EXPR_H

#include "backend/llvm/emit.h"

// Reports what cannot be compiled and leaves.
TVMS_NORETURN void tvms_emit_give_up(emitter *e);

// Reports at `span` that `what` cannot be compiled, and leaves.
TVMS_NORETURN void tvms_emit_refuse(emitter *e, tvms_span span, const char *what);

// A constant of 64 bits.
LLVMValueRef tvms_emit_int(emitter *e, int64_t value);

// The value of an expression of TIR in its register form.
LLVMValueRef tvms_emit_expr(emitter *e, const tvms_node *node);

// A condition: bool, or an integer that is true unless it is zero.
LLVMValueRef tvms_emit_condition(emitter *e, const tvms_node *node);

// A value of a lane, and a vector of scalars.
LLVMValueRef tvms_emit_lane(emitter *e, LLVMValueRef vector, uint32_t lane);

// A vector of `lanes` times the same scalar.
LLVMValueRef tvms_emit_splat(emitter *e, LLVMValueRef scalar, uint32_t lanes);

// The value of yes(e, yes_what) or no(e, no_what), of which only the one that
// `condition` picks is computed.
LLVMValueRef tvms_emit_choose(emitter *e, LLVMValueRef condition, choice *yes,
                              const void *yes_what, choice *no, const void *no_what);

// True if computing it early can do no harm: no loads, divisions or calls.
bool tvms_emit_is_safe(const tvms_node *node);

#endif
