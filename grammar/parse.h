// From text to the surface tree; see surface.h for the entry points.
#ifndef TVMS_GRAMMAR_PARSE_H
#define TVMS_GRAMMAR_PARSE_H

#include "grammar/surface.h"

// Fills the nodes and comments of an empty surface from its source.
void tvms_surface_parse_file(tvms_surface *surface);

#endif
