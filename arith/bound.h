// Constant bounds of integer expressions.
#ifndef TVMS_ARITH_BOUND_H
#define TVMS_ARITH_BOUND_H

#include "arith/analyzer.h"
#include "arith/internal.h"

// The least interval of constants that tvms can show for `expr`, with the facts that
// hold here. TVM: ConstIntBoundAnalyzer.
tvms_bound tvms_analyzer_const_int_bound(tvms_analyzer *analyzer,
                                         const tvms_node *expr);

// The parts of a conjunction that hold each on their own.
void tvms_analyzer_enter_bounds(tvms_analyzer *analyzer, tvms_node *condition);

#endif
