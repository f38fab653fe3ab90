// f-strings in the syntax check. See syntax.h.
#ifndef TVMS_GRAMMAR_SYNTAX_FSTRING_H
#define TVMS_GRAMMAR_SYNTAX_FSTRING_H

#include "grammar/syntax_reader.h"

// The fields of the f-string that the token is.
void tvms_syntax_fstring(tvms_syntax *s, tvms_token token);

#endif
