// Mends a statement by the one change that makes it whole.
//
// When a token is refused in a statement with brackets, or a string has no end, the mistake often
// stands before the place where it shows, and what is made of the rest depends on where it is thought
// to be. So the changes that may have been meant are tried: a comma, a bracket, a colon or a quote more,
// less or another one (repair_edits.c). Each is read up to some lines behind the refused token,
// without nodes and without a word; of those that make a statement the most likely one is
// reported, and the statement is read again with it. If there is none, recover.c gives up what it must.
#ifndef TVMS_GRAMMAR_REPAIR_H
#define TVMS_GRAMMAR_REPAIR_H

#include "grammar/parse.h"

// `token` was refused. Returns true if a mistake was reported and the statement is read again from
// its begin; false, with nothing said or changed, if it has to be mended in another way.
bool tvms_surface_repair(surf_parser *p, tvms_token token);

#endif
