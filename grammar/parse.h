// From text to the surface tree; see surface.h for the entry points.
#ifndef TVMS_GRAMMAR_PARSE_H
#define TVMS_GRAMMAR_PARSE_H

#include "grammar/surface.h"

// Fills the nodes and comments of an empty surface from its source.
void tvms_surface_parse_file(tvms_surface *surface);

// Parses `size` bytes, which end with NULs and count as bytes `offset` and following of
// `text`, as an expression; 0 after reporting an error. Decoded bytes, which do not lie in
// `text`, have not been checked as the source has.
tvms_ref tvms_surface_parse_nested(tvms_surface *surface, const char *bytes,
                                   size_t size, const char *text, uint32_t offset);

#endif
