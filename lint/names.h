// Rules about names in the text of a definition.
#ifndef TVMS_LINT_NAMES_H
#define TVMS_LINT_NAMES_H

#include "lint/lint.h"

// Reports shadowed_name and name_style. SURFACE.
void tvms_lint_names(tvms_lint *lint);

#endif
