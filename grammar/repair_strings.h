// Where a string of a statement may begin or end.
#ifndef TVMS_GRAMMAR_REPAIR_STRINGS_H
#define TVMS_GRAMMAR_REPAIR_STRINGS_H

#include "grammar/repair_edits.h"

// Adds to `edits` the changes of quotes on the line of the refused token, if a string of it has no end or is
// refused.
void tvms_surface_propose_strings(tvms_stretch *stretch, tvms_memory *memory);

#endif
