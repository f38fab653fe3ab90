// Values in functions of TIR that TVM reads and nothing can be made of.
#ifndef TVMS_LINT_TIR_VALUES_H
#define TVMS_LINT_TIR_VALUES_H

#include "lint/lint.h"

// Reports storage_scope, thread_tag, float_index, negative_extent and dtype_width at one node:
// a statement, an expression, an axis or a buffer that is being defined.
void tvms_lint_check_tir_node(tvms_lint *lint, const tvms_node *node);

// Reports `id`, whose text takes a data type, if no machine has values of this one, and returns
// whether it did. Nothing is said without a place.
bool tvms_lint_check_dtype(tvms_lint *lint, tvms_diag_id id, tvms_dtype dtype,
                           tvms_span span);

// Reports dtype_width at a variable that is being defined.
void tvms_lint_check_var(tvms_lint *lint, const tvms_node *var);

#endif
