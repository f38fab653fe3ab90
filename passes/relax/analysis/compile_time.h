// Which variables of a function can be computed before it is called.
#ifndef TVMS_PASSES_RELAX_ANALYSIS_COMPILE_TIME_H
#define TVMS_PASSES_RELAX_ANALYSIS_COMPILE_TIME_H

#include "ir/node_map.h"

// Puts into `known` (VAR → itself) the parameters behind the first `num_input`, which are
// weights, and the variables that are computed from nothing else. Without that attribute
// nothing is known. TVM: ComputableAtCompileTime.
void tvms_relax_compile_time(tvms_node_map *known, const tvms_node *function);

#endif
