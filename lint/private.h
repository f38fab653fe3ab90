// Functions of a module that nothing uses.
#ifndef TVMS_LINT_PRIVATE_H
#define TVMS_LINT_PRIVATE_H

#include "lint/lint.h"

// MODULE: private_never_called.
void tvms_lint_private_functions(tvms_lint *lint);

#endif
