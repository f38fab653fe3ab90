// The value of a statement over several lines: at a bracket of its own if it has one that
// can be split there, in parentheses that are added if not, as black does it.
#ifndef TVMS_FORMAT_VALUE_H
#define TVMS_FORMAT_VALUE_H

#include "format/walk.h"

// Writes an expression where they are not; it gets parentheses if that helps.
void tvms_format_value(tvms_writer *w, tvms_ref ref, uint32_t tail);

// The same for the body of a lambda, which is split at brackets of its own only if it has no
// operators.
void tvms_format_body(tvms_writer *w, tvms_ref ref, uint32_t tail);

#endif
