// Bytes beyond ASCII: names by Unicode's rules, and what is not text at all.
#ifndef TVMS_GRAMMAR_IDENTIFIER_H
#define TVMS_GRAMMAR_IDENTIFIER_H

#include "grammar/lexer.h"

// The end of the name (PEP 3131) that begins at `begin`; `begin` if none does.
const char *tvms_lexer_name_end(const tvms_lexer *lexer, const char *begin);

// Reports every byte sequence that is not UTF-8, and every run of NULs. Done once per source.
void tvms_lexer_check_text(tvms_lexer *lexer);

// The parts of rules. Each is called with the token begun and `cursor` after what the rule
// matched; it moves `cursor` to the end of the token.

// What no rule takes: one character, which is reported, or a run of bytes that are not text,
// which tvms_lexer_check_text has reported.
tvms_token_kind tvms_lexer_take_stray(tvms_lexer *lexer);

// A name with letters beyond ASCII; `symbol` is its NFKC form. A letter that does not begin a
// name is taken as a stray character.
tvms_token_kind tvms_lexer_take_wide_name(tvms_lexer *lexer);

#endif
