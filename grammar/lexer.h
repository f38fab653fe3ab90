// The lexer: bytes to tokens of tokens.def, by Python 3.12's lexical rules.
//
// lexer.re has the rules, literal.c and identifier.c what is longer than one line. Lines
// and indentation are indentation.c's: the lexer skips newlines inside brackets only because
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
  const char *begin;   // of the text, which may be a part of its source
  const char *end;     // one past the text; 16 NULs follow
  const char *token;   // where the current token begins
  const char *cursor;  // where the next one does
  uint32_t depth;      // open brackets
  tvms_sym symbol;     // of a WIDE_NAME: what it is called after NFKC
  bool unfinished;  // a string without end was reported; brackets may stay open by it
} tvms_lexer;

static inline uint32_t tvms_lexer_offset(const tvms_lexer *lexer, const char *at) {
  return (uint32_t)((uintptr_t)at - lexer->base);
}
// The current token's bytes in the source.
static inline tvms_span tvms_lexer_span(const tvms_lexer *lexer) {
  return (tvms_span){tvms_lexer_offset(lexer, lexer->token),
                     tvms_lexer_offset(lexer, lexer->cursor)};
}

#endif
