// Spellings that the release of the file reads with a warning.
#ifndef TVMS_LINT_DEPRECATED_H
#define TVMS_LINT_DEPRECATED_H

#include "lint/lint.h"

// Reports deprecated_spelling. SURFACE.
void tvms_lint_deprecated(tvms_lint *lint);

#endif
