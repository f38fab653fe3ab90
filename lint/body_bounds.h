// index_outside: elements outside of their buffer.
#ifndef TVMS_LINT_BODY_BOUNDS_H
#define TVMS_LINT_BODY_BOUNDS_H

#include "lint/body.h"

// An element is read or written.
void tvms_lint_body_bounds_access(tvms_lint_body *body, const tvms_lint_access *access);

#endif
