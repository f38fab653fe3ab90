// race: elements that iterations share which run at the same time.
#ifndef TVMS_LINT_BODY_RACE_H
#define TVMS_LINT_BODY_RACE_H

#include "lint/body.h"

// An element is written.
void tvms_lint_body_race_store(tvms_lint_body *body, const tvms_store *store);

#endif
