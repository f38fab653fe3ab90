// One look at all bindings of a Relax function.
#ifndef TVMS_LINT_RELAX_H
#define TVMS_LINT_RELAX_H

#include "lint/lint.h"

// RELAX: unused_binding, unused_relax_parameter, and those of tvms_lint_check_calls.
void tvms_lint_relax(tvms_lint *lint);

#endif
