// Values in functions of TIR that TVM reads and nothing can be made of.
#ifndef TVMS_LINT_TIR_VALUES_H
#define TVMS_LINT_TIR_VALUES_H

#include "lint/lint.h"

// Reports storage_scope, thread_tag, float_index, negative_extent and dtype_width at one node:
// a statement, an expression, an axis or a buffer that is being defined.
void tvms_lint_check_tir_node(tvms_lint *lint, const tvms_node *node);

// Reports dtype_width at a variable that is being defined.
void tvms_lint_check_var(tvms_lint *lint, const tvms_node *var);

#endif
