// Simplifying all expressions of a function, for passes that leave that to StmtSimplify.
#ifndef TVMS_PASSES_TIR_SIMPLIFY_STMT_SIMPLIFY_H
#define TVMS_PASSES_TIR_SIMPLIFY_STMT_SIMPLIFY_H

#include "arith/analyzer.h"

// `function`, a PRIM_FUNC whose nodes lie in `unit`, with every expression simplified and
// without branches that are never taken. `extensions` are those of tvms_analyzer_extend.
tvms_node *tvms_stmt_simplify(tvms_unit *unit, tvms_node *function,
                              uint32_t extensions);

#endif
