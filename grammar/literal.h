// Strings, numbers and comments: their ends, and what is wrong with them.
#ifndef TVMS_GRAMMAR_LITERAL_H
#define TVMS_GRAMMAR_LITERAL_H

#include "grammar/lexer.h"

// Notes the comment that begins at `begin` for the surface; `end` is as far as it is known to
// go. Returns where it ends.
const unsigned char *tvms_lexer_take_comment(tvms_lexer *lexer,
                                             const unsigned char *begin,
                                             const unsigned char *end);
// The parts of rules. Each is called with the token begun and `cursor` after what the rule
// matched; it moves `cursor` to the end of the token and reports what Python would refuse.

// A backslash that does not join lines. Reported.
tvms_token_kind tvms_lexer_take_backslash(tvms_lexer *lexer);

// A number of the kind with letters behind it: sound if they are a keyword that may follow a
// number at once (`1if x else y`).
tvms_token_kind tvms_lexer_take_number(tvms_lexer *lexer, tvms_token_kind kind);

// A decimal number that begins with 0 and is not 0. Reported.
tvms_token_kind tvms_lexer_take_leading_zero(tvms_lexer *lexer);

// A whole string on one line with a backslash in it: checks its escapes.
tvms_token_kind tvms_lexer_take_escapes(tvms_lexer *lexer);

// A string of which prefix and opening quotes were matched: finds its end, over lines if they
// are joined or the quotes are triple, and checks its escapes. One without an end takes the
// rest of its line, or of the text.
tvms_token_kind tvms_lexer_take_string(tvms_lexer *lexer);

// The same for an f-string, whose end depends on the brackets and strings in it (PEP 701).
tvms_token_kind tvms_lexer_take_fstring(tvms_lexer *lexer);

#endif
