// What was meant by text that the grammar refuses: habits of other languages, and typography.
#ifndef TVMS_GRAMMAR_MEANT_H
#define TVMS_GRAMMAR_MEANT_H

#include "grammar/indentation.h"
#include "grammar/lexer.h"

// Where the mistake is, what to do, and a replacement. Without a note nothing is known.
typedef struct {
  tvms_span span;                   // of the finding
  const char *TVMS_NULLABLE note;   // "write 'and'"
  const char *TVMS_NULLABLE fixed;  // replaces `fix`; NULL: no replacement
  tvms_span fix;
} tvms_token_meaning;

// `token` is refused in the logical line that begins with `first`; `inside` a bracket, where a
// comma would do if `comma`. The text ends with a NUL.
tvms_token_meaning tvms_token_meant(const char *text, tvms_token token,
                                    tvms_token first, bool inside, bool comma);

// Adds to the report of the lexer's token that a name does not begin with a digit.
void tvms_lexer_explain_numbered(tvms_lexer *lexer, tvms_diag *diag);

// Adds to the report of the number at the lexer's token, whose digits stop at `end`, that a suffix
// of C behind it is to be left out.
void tvms_lexer_explain_suffix(tvms_lexer *lexer, tvms_diag *diag, const char *end);

// Adds to the report of a character what stands for it in a script. `at` is its place, `c` it.
// If it is a quote with a partner on its line, that is what both are replaced for, and the
// result is where the text goes on behind the partner; else `after`.
const char *tvms_lexer_explain_stray(tvms_lexer *lexer, tvms_diag *diag, uint32_t c,
                                     const char *after);

#endif
