// What operators of TIR become for the machine of a target.
#ifndef TVMS_PASSES_TIR_HOST_INTRINSIC_RULES_H
#define TVMS_PASSES_TIR_HOST_INTRINSIC_RULES_H

#include "ir/node.h"

// The call of an operator as one that code generation for a target knows: an intrinsic of
// LLVM, a function of C, or an expression of other operators, which the caller lowers in its
// turn. `call` itself if there is no rule. `is_llvm`: the target is of kind "llvm".
// Rules: passes/tir/host/intrinsics.def.
tvms_node *tvms_intrinsic_lower(tvms_unit *unit, tvms_node *call, bool is_llvm);

// T.fma(a, b, c) as the intrinsic of LLVM that may be one instruction. TVM: the rule of
// tirx.fma for llvm.
tvms_node *tvms_intrinsic_fma(tvms_unit *unit, tvms_node *a, tvms_node *b,
                              tvms_node *c);

#endif
