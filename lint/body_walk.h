// The rules on bodies of PrimFuncs.
#ifndef TVMS_LINT_BODY_WALK_H
#define TVMS_LINT_BODY_WALK_H

#include "lint/lint.h"

// PRIM_FUNC: all rules on bodies, in one walk.
void tvms_lint_bodies(tvms_lint *lint);

#endif
