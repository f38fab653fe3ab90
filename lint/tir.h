// One walk over a function of TIR for the rules that need to see every node of it.
#ifndef TVMS_LINT_TIR_H
#define TVMS_LINT_TIR_H

#include "lint/lint.h"

// PRIM_FUNC: unused_tir_value, unused_buffer, unused_tir_parameter, unused_axis, and those of
// tvms_lint_check_tir_node.
void tvms_lint_prim_func(tvms_lint *lint);

#endif
