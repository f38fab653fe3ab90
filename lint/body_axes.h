// axis_out_of_range, axis_not_covered, spatial_axis_reduces, reduce_axis_is_spatial: axes of
// blocks against the loops around and the stores in them.
#ifndef TVMS_LINT_BODY_AXES_H
#define TVMS_LINT_BODY_AXES_H

#include "lint/body.h"

// A block begins; its axes are not on the path yet.
void tvms_lint_body_axes_block(tvms_lint_body *body, const tvms_block_realize *realize);

// An element is written, perhaps in a block.
void tvms_lint_body_axes_store(tvms_lint_body *body, const tvms_store *store);

// The function has ended: who writes what is known.
void tvms_lint_body_axes_end(tvms_lint_body *body);

#endif
