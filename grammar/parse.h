// From text to the surface tree; see surface.h for the entry points.
#ifndef TVMS_GRAMMAR_PARSE_H
#define TVMS_GRAMMAR_PARSE_H

#include "grammar/surface.h"

// Fills the nodes and comments of an empty surface from its source.
void tvms_surface_parse_file(tvms_surface *surface);

// Parses one expression that stands in `span` of the source (a field of an f-string). Its
// nodes are added to `surface`, with true places. Returns 0 after reporting an error.
tvms_ref tvms_surface_parse_expression(tvms_surface *surface, tvms_span span);

// Parses the expression that a STRING or STRINGS holds: `"n + 1"` in a shape. The same,
// and 0 with nothing reported for f-strings and bytes.
tvms_ref tvms_surface_parse_string(tvms_surface *surface, tvms_ref string);

#endif
