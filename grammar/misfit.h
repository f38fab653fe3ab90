// Closing brackets that do not fit what is open; see misfit.c.
#ifndef TVMS_GRAMMAR_MISFIT_H
#define TVMS_GRAMMAR_MISFIT_H

#include "grammar/indentation.h"

// Reports the bracket, which was read last and does not close the innermost one that is open, and makes
// of it what fits. Returns false if it is to be dropped.
bool tvms_indentation_fit(tvms_indentation *layout, tvms_token *token);

#endif
