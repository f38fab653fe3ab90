// Stacks for the arguments of packed calls.
//
// A call of a packed function takes its arguments from an array of TVMFFIAny, and tensors and
// shapes that it makes live next to that. Calls that are not inside of each other use the same
// places.
#ifndef TVMS_PASSES_TIR_HOST_BUILTIN_STACK_H
#define TVMS_PASSES_TIR_HOST_BUILTIN_STACK_H

#include "ir/rewrite.h"
#include "ir/tir_op.h"

typedef struct {
  int64_t shape;  // -1: no shape was made, not even one without dimensions
  int64_t array;
  int64_t any;
} tvms_builtin_sizes;

typedef struct {
  tvms_unit *unit;
  tvms_node *any;  // VAR, and so on
  tvms_node *array;
  tvms_node *shape;         // BUFFER
  tvms_builtin_sizes now;   // in use
  tvms_builtin_sizes most;  // at any time
} tvms_builtin_stack;

// Empty stacks with variables of their own. `scheduled`: of an s_tir function.
void tvms_builtin_stack_init(tvms_builtin_stack *stack, tvms_unit *unit,
                             bool scheduled);

// Appends the statements that make the stacks which were used.
void tvms_builtin_stack_declare(tvms_builtin_stack *stack, tvms_node_vec *out);

// A packed call, whose arguments are rewritten and then stored in front of the statement at
// hand, as a call of `opcode`. TVM: BuiltinLower::MakeCallPackedGeneric.
tvms_node *tvms_builtin_stack_call(tvms_builtin_stack *stack, tvms_rewriter *r,
                                   tvms_node *node, tvms_tir_opcode opcode);

// T.anylist_setitem_call_packed and its like: the same of what stands behind the list and its
// index, done in front of the statement at hand, and the call that moves the result into the
// list. TVM: BuiltinLower::MakeAnyListSetItemCallPacked.
tvms_node *tvms_builtin_stack_set_item(tvms_builtin_stack *stack, tvms_rewriter *r,
                                       tvms_node *node, tvms_tir_opcode opcode);

// T.tvm_stack_make_shape: the address of the dimensions.
tvms_node *tvms_builtin_stack_shape(tvms_builtin_stack *stack, tvms_rewriter *r,
                                    tvms_node *node);

// T.tvm_stack_make_array: the address of a tensor on this device.
tvms_node *tvms_builtin_stack_array(tvms_builtin_stack *stack, tvms_rewriter *r,
                                    tvms_node *node, tvms_node *device_id,
                                    tvms_node *device_type);

#endif
