// What shows that a text was printed by an older release than those that could read it.
#ifndef TVMS_PARSER_PRINTED_MARKS_H
#define TVMS_PARSER_PRINTED_MARKS_H

#include "grammar/surface.h"
#include "ir/dialect.h"

// The last release, `first` or later, whose printer writes the text as it stands, or
// TVMS_DIALECT_NONE: nothing in it shows one, or it was not printed. This is evidence and no
// bound: a newer release reads such text as well, and a person may have written it. Reports
// nothing.
tvms_dialect tvms_printed_marks_last(const tvms_surface *surface, tvms_dialect first);

#endif
