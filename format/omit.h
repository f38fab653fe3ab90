// Values over several lines without parentheses around them: which may be, and how they are
// split then.
//
// The rule is ruff's: a value of at most one operator of its lowest precedence, which begins or
// ends with a bracket that holds something, is split at its brackets if that is enough.
//
//   C[i] = C[i] + T.cast(A[i], dtype="float32") * T.cast(
//       B[i], dtype="float32"
//   )
#ifndef TVMS_FORMAT_OMIT_H
#define TVMS_FORMAT_OMIT_H

#include "format/walk.h"

// Writes an operation so, with `tail` columns free behind it. False, with nothing written, if
// it wants parentheses around the whole.
TVMS_NODISCARD bool tvms_format_omit(tvms_writer *w, tvms_ref ref, uint32_t tail);

// Columns of a node up to where its first bracket opens that can be split; without one, of all
// of it and the `follow` behind it. `bare`: without the parentheses around the whole.
uint32_t tvms_format_lead(tvms_writer *w, tvms_ref ref, bool bare, uint32_t follow);

#endif
