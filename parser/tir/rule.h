// Calls of operators by the rule of their row in ir/calls.def: how the arguments become
// nodes, and which type the call has.
#ifndef TVMS_PARSER_TIR_RULE_H
#define TVMS_PARSER_TIR_RULE_H

#include "parser/tir/tir.h"

// Where the dtype of an OP row comes from.
//
// TVM has a Python function per operator (tirx/op.py) that makes arguments of what it is given
// and says the type of the result. Nearly all of them do one of few things, which a row of
// ir/calls.def names; the others have handlers of their own (parser/tir/intrinsic.c). Example:
//
//   OP(T, exp, "x", 22, ever, exp, SAME)       T.exp(x): a call of `exp` with the dtype of x
//
// A rule is applied after the arguments are bound to the signature of the row, so it may
// count on their number; what it says holds for every release that the row spans.
typedef enum {
  TVMS_RULE_NONE,
  TVMS_RULE_SAME,        // arguments become values; dtype of the first
  TVMS_RULE_SAME_FLOAT,  // as SAME, and it must be a float (from 0.25 on)
  TVMS_RULE_ARG0,
  TVMS_RULE_ARG1,
  TVMS_RULE_INT32,
  TVMS_RULE_UINT32,
  TVMS_RULE_BOOL,
  TVMS_RULE_VOID,
  TVMS_RULE_HANDLE,
  TVMS_RULE_STACK,   // tvm_stack_alloca: by the kind of what is allocated
  TVMS_RULE_SHAPE,   // a pointer to int64
  TVMS_RULE_FIRST,   // given as first argument
  TVMS_RULE_PACKED,  // int32; buffers become T.tvm_stack_make_array
  TVMS_RULE_LLVM,  // given first; the second argument is the name of an LLVM intrinsic
} tvms_rule;

// Replaces buffers among the arguments of a packed call by T.tvm_stack_make_array.
tvms_node *TVMS_NULLABLE tvms_tir_pack_buffer(tvms_reader *reader, tvms_node *buffer,
                                              tvms_ref ref);

#endif
