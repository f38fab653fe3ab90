// What is said of a change that mends a statement.
#ifndef TVMS_GRAMMAR_REPAIR_REPORT_H
#define TVMS_GRAMMAR_REPAIR_REPORT_H

#include "grammar/repair_edits.h"

// Reports the mistake that `edit` mends, at the token that is wrong or, of a bracket that is missing,
// at the other one of its pair; `token` is the one that was refused.
void tvms_surface_report_edit(surf_parser *p, const tvms_stretch *region,
                              const tvms_edit *edit, tvms_token token);

#endif
