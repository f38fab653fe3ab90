// Mends what the grammar refuses.
#ifndef TVMS_GRAMMAR_RECOVER_H
#define TVMS_GRAMMAR_RECOVER_H

#include "grammar/parse.h"

// Mends after `token` was refused, with a report unless it follows from an earlier one. Returns
// true if `token` is what to go on with; false: read the next one. `token` is no longer the end of
// the text where that is read again.
bool tvms_surface_recover(surf_parser *p, tvms_token *token);

// Reports the refused token of an expression in a string, behind which nothing is read.
void tvms_surface_refuse(surf_parser *p, tvms_token token);

// Reports a token of the statement at hand as one that cannot stand there, in words of what was meant if
// that is known. `expected` is what is said behind it; NULL: what the parser would have taken instead.
tvms_diag *tvms_surface_report_refused(surf_parser *p, tvms_token token,
                                       const char *TVMS_NULLABLE expected);

#endif
