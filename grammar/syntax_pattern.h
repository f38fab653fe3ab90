// The cases of `match` in the syntax check. See syntax.h.
#ifndef TVMS_GRAMMAR_SYNTAX_PATTERN_H
#define TVMS_GRAMMAR_SYNTAX_PATTERN_H

#include "grammar/syntax_reader.h"

// The cases of a `match`, from its ':' on.
void tvms_syntax_cases(tvms_syntax *s);

// What stands between `case` and its ':'.
void tvms_syntax_case_head(tvms_syntax *s);

#endif
