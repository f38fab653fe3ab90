// What was meant by a refused token, where the shape of its line tells it.
#ifndef TVMS_GRAMMAR_MEANT_LINE_H
#define TVMS_GRAMMAR_MEANT_LINE_H

#include "grammar/meant.h"

// As tvms_token_meant (grammar/meant.h), which asks it first.
tvms_token_meaning tvms_token_meant_by_line(const char *text, tvms_token token,
                                            tvms_token first, bool inside);

#endif
