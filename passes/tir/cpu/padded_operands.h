// Operands of products that are 0 outside of an image.
#ifndef TVMS_PASSES_TIR_CPU_PADDED_OPERANDS_H
#define TVMS_PASSES_TIR_CPU_PADDED_OPERANDS_H

#include "passes/tir/cpu/stage.h"

// A choice between something and 0.
typedef struct {
  tvms_node *condition, *value;
  bool holds_not;  // the value is taken where the condition does not hold
} tvms_zero_choice;

// Reads a T.if_then_else or T.Select of which one side is 0; false: it is something else.
bool tvms_cpu_read_zero_choice(tvms_node *node, tvms_zero_choice *choice);

// Splits a sum of products in which one operand counts as 0 where a condition on its indices does not hold, in two
// statements: a copy of the operand with its padding, and the sum, which is a contraction then. `buffer` is the copy, for
// the root block to allocate. `reorders`: a condition on the whole product may be one on the operand, whatever 0
// times infinity is. Returns false if the sum is something else or a contraction already.
TVMS_NODISCARD bool tvms_cpu_take_padding_out(tvms_unit *unit, const tvms_stage *stage,
                                              bool reorders, tvms_node *stmts[2],
                                              tvms_node **buffer);

#endif
