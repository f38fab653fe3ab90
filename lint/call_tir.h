// PrimFuncs against the calls of them.
#ifndef TVMS_LINT_CALL_TIR_H
#define TVMS_LINT_CALL_TIR_H

#include "lint/lint.h"

// Reports output_never_written and input_overwritten of the PrimFuncs that the Relax function
// at hand calls by R.call_tir, once for each.
void tvms_lint_check_call_tir(tvms_lint *lint);

#endif
