// reads_contradict, writes_contradict: what blocks say that they read and write.
#ifndef TVMS_LINT_BODY_REGIONS_H
#define TVMS_LINT_BODY_REGIONS_H

#include "lint/body.h"

// An element is read or written, perhaps inside of blocks that have lists.
void tvms_lint_body_regions_access(tvms_lint_body *body,
                                   const tvms_lint_access *access);

#endif
