// Modular sets: every value of an expression is coeff * k + base.
#ifndef TVMS_ARITH_MODULAR_H
#define TVMS_ARITH_MODULAR_H

#include "arith/analyzer.h"
#include "arith/internal.h"

// The modular set of `expr` with the facts that hold here; {1, 0} if nothing is
// known. TVM: ModularSetAnalyzer.
tvms_modular tvms_analyzer_modular_set(tvms_analyzer *analyzer, const tvms_node *expr);

// The parts of a conjunction that hold each on their own.
void tvms_analyzer_enter_modular(tvms_analyzer *analyzer, const tvms_node *condition);

#endif
