// Imports of a file.
#ifndef TVMS_LINT_IMPORTS_H
#define TVMS_LINT_IMPORTS_H

#include "lint/lint.h"

// FILE: unused_import.
void tvms_lint_imports(tvms_lint *lint);

#endif
