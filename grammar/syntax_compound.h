// Compound statements in the syntax check. See syntax.h.
#ifndef TVMS_GRAMMAR_SYNTAX_COMPOUND_H
#define TVMS_GRAMMAR_SYNTAX_COMPOUND_H

#include "grammar/syntax_reader.h"

// Begins a compound statement with the token? `match` is told apart below.
bool tvms_syntax_is_compound(const tvms_syntax *s);

// A compound statement with its blocks.
void tvms_syntax_compound(tvms_syntax *s);

// The statement that begins with the word `match`, which may be a name; false if another word is at hand.
bool tvms_syntax_match(tvms_syntax *s);

// A clause (`else:`, `except E:`, `case 1:`), of whatever statement.
void tvms_syntax_clause(tvms_syntax *s);

#endif
