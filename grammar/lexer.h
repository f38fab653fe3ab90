// The lexer: bytes to tokens of tokens.def, by Python 3.12's lexical rules.
//
// lexer.re has the rules, literal.c and identifier.c what is longer than one line. Lines
// and indentation are layout.c's: the lexer skips newlines inside brackets only because
// `depth` says so. A token that Python would reject is reported here and lexing goes on.
#ifndef TVMS_GRAMMAR_LEXER_H
#define TVMS_GRAMMAR_LEXER_H

#include "grammar/surface.h"

typedef enum {
#define TOKEN(KIND, spelling, terminal, value) TVMS_TOK_##KIND,
#include "grammar/tokens.def"
} tvms_token_kind;

typedef struct {
  tvms_surface *surface;  // takes the comments
  tvms_context *context;
  uintptr_t base;      // address that has offset 0
  const char *end;     // one past the text; 16 NULs follow
  const char *token;   // where the current token begins
  const char *cursor;  // where the next one does
  uint32_t depth;      // open brackets
  tvms_sym symbol;     // of a WIDE_NAME: what it is called after NFKC
  bool unfinished;  // a string without end was reported; brackets may stay open by it
} tvms_lexer;

// `text` has `size` bytes, which count as bytes `offset` and following of the source.
void tvms_lexer_init(tvms_lexer *lexer, tvms_surface *surface, const char *text,
                     size_t size, uint32_t offset);

static inline uint32_t tvms_lexer_offset(const tvms_lexer *lexer, const char *at) {
  return (uint32_t)((uintptr_t)at - lexer->base);
}
// The current token's bytes in the source.
static inline tvms_span tvms_lexer_span(const tvms_lexer *lexer) {
  return (tvms_span){tvms_lexer_offset(lexer, lexer->token),
                     tvms_lexer_offset(lexer, lexer->cursor)};
}

// Text of a row of tokens.def.
const char *tvms_token_text(tvms_token_kind kind);
bool tvms_token_is_keyword(tvms_token_kind kind);

// The end of the name (PEP 3131) that begins at `begin`; `begin` if none does.
const char *tvms_lexer_name_end(const tvms_lexer *lexer, const char *begin);

// Reports every byte sequence that is not UTF-8, and every run of NULs. Done once per source.
void tvms_lexer_check_text(tvms_lexer *lexer);

// The parts of rules. Each is called with the token begun and `cursor` after what the rule
// matched; it moves `cursor` to the end of the token.
const unsigned char *tvms_lexer_take_comment(tvms_lexer *lexer,
                                             const unsigned char *begin,
                                             const unsigned char *end);
tvms_token_kind tvms_lexer_take_stray(tvms_lexer *lexer);
tvms_token_kind tvms_lexer_take_backslash(tvms_lexer *lexer);
tvms_token_kind tvms_lexer_take_wide_name(tvms_lexer *lexer);
tvms_token_kind tvms_lexer_take_number(tvms_lexer *lexer,
                                       tvms_token_kind kind);  // and more
tvms_token_kind tvms_lexer_take_leading_zero(tvms_lexer *lexer);
tvms_token_kind
tvms_lexer_take_escapes(tvms_lexer *lexer);                 // a whole string with a '\'
tvms_token_kind tvms_lexer_take_string(tvms_lexer *lexer);  // begun by prefix and quote
tvms_token_kind
tvms_lexer_take_fstring(tvms_lexer *lexer);  // the same, prefix with 'f'

#endif
