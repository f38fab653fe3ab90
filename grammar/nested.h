// Expressions in strings.
#ifndef TVMS_GRAMMAR_NESTED_H
#define TVMS_GRAMMAR_NESTED_H

#include "grammar/surface.h"

// Parses one expression that stands in `span` of the source (a field of an f-string). Its
// nodes are added to `surface`, with true places. Returns 0 after reporting an error.
tvms_ref tvms_surface_parse_expression(tvms_surface *surface, tvms_span span);

// Parses the expression that a STRING or STRINGS holds: `"n + 1"` in a shape. The same,
// and 0 with nothing reported for f-strings and bytes.
tvms_ref tvms_surface_parse_string(tvms_surface *surface, tvms_ref string);

#endif
