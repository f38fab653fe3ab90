// Values of TIR as variables of C.
#ifndef TVMS_BACKEND_C_EXPR_H
#define TVMS_BACKEND_C_EXPR_H

#include "backend/c/emit.h"
#include "backend/core/lanes.h"

// The value of an expression, in its register form.
const char *tvms_c_expr(c_emitter *e, const tvms_node *node);

// An integer expression as an index. Its arithmetic may assume that nothing overflows.
const char *tvms_c_index(c_emitter *e, const tvms_node *node);

// A condition as a truth: a bool, or an integer that is true unless it is zero.
const char *tvms_c_condition(c_emitter *e, const tvms_node *node);

// Are these floats of 32 or 64 bits which are integers that numbers decide, and exact? `lanes` has them.
bool tvms_c_are_numbers(const tvms_cast *cast, tvms_lanes *lanes);

// A sum or a difference of floats that takes a product without rounding it.
typedef struct {
  const tvms_binary *times;
  const tvms_node *added;  // the other side
  bool first;              // the product comes first
} tvms_contraction;

// Is the node one, if that is asked for? Of two products the first one is taken, as by LLVM.
bool tvms_c_contracts(const c_emitter *e, const tvms_node *node, tvms_contraction *sum);

// The truth that 0 < T.Cast("int64", truth) asks for; NULL for anything else.
const tvms_node *TVMS_NULLABLE tvms_c_truth_of(const tvms_node *node);

#endif
