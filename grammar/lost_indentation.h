// Indentation that is lost, as in a listing copied from a page: recognised and rebuilt.
#ifndef TVMS_GRAMMAR_LOST_INDENTATION_H
#define TVMS_GRAMMAR_LOST_INDENTATION_H

#include "grammar/surface.h"

// Looks at a surface with blocks that are missing. Where several lines in a row have lost their
// indentation, one finding takes the place of all that the parser said of them, and the
// statements that it made of them are ERROR; where only the block of one statement is
// missing, its finding stays. Either gets the edits that put the indentation back, if
// what stands there leaves no doubt that is not said.
void tvms_surface_mend_indentation(tvms_surface *surface);

#endif
