// What the files of the syntax check share: the token at hand and what surrounds it. See syntax.h.
#ifndef TVMS_GRAMMAR_SYNTAX_READER_H
#define TVMS_GRAMMAR_SYNTAX_READER_H

#include "grammar/indentation.h"
#include "grammar/syntax.h"

// What an expression is, as far as targets and arguments ask. Two of one kind are told by their text.
typedef enum {
  SYNTAX_NAME,
  SYNTAX_ATTRIBUTE,
  SYNTAX_SUBSCRIPT,
  SYNTAX_TUPLE,
  SYNTAX_LIST,
  SYNTAX_STAR,
  SYNTAX_CALL,
  SYNTAX_LITERAL,
  SYNTAX_CONSTANT,  // True, False, None, ...
  SYNTAX_OPERATION,
  SYNTAX_COMPARISON,
  SYNTAX_CONDITIONAL,
  SYNTAX_LAMBDA,
  SYNTAX_COMPREHENSION,
  SYNTAX_DISPLAY,
  SYNTAX_WALRUS,
  SYNTAX_AWAIT,
  SYNTAX_YIELD,
} tvms_syntax_kind;

typedef struct {
  tvms_span span;
  uint8_t kind;      // tvms_syntax_kind
  uint8_t bad_kind;  // of the item below that is not a target
  bool parens;
  tvms_span bad;  // that item, of a tuple or list; empty if all are targets
} tvms_syntax_expr;

typedef struct {
  tvms_context *context;
  tvms_source *source;
  const char *text;
  tvms_surface scratch;  // takes the comments
  tvms_indentation layout;
  tvms_token token;  // at hand
  tvms_token ahead;  // the one behind it, if `has_ahead`
  bool has_ahead;
  uint32_t depth;  // brackets around the token at hand
  uint32_t end;    // of the token before it
  const tvms_diag *TVMS_NULLABLE
      seen;  // the last finding of the lexer that was looked at
  tvms_syntax_faults *faults;
  const tvms_span *skipped;
  uint32_t skipped_count;
  uint32_t next_skipped;
  tvms_token first;  // of the logical line at hand
  bool failed;       // the token at hand cannot be: the statement is given up
  bool faulty;       // the statement has a mistake already
  bool open_fault;   // the last mistake does not know yet where its statement ends
  bool adopted;      // the last mistake is the lexer's, of the token at …
  uint32_t adopted_at;
  bool stopped;  // nested too deeply
  bool field;    // an expression in an f-string
  bool in_function;
  uint32_t functions;  // around, and around the classes around
  bool in_loop;
  bool has_given;  // `given` was read already and is the next operand
  tvms_syntax_expr given;
} tvms_syntax;

// Begins to read the text from `offset` on; `field`: behind the brace of an f-string.
void tvms_syntax_open(tvms_syntax *s, uint32_t offset, bool field);

// Frees what the reading took.
void tvms_syntax_close(tvms_syntax *s);

// Goes on to the next token. What lexer and layout say of it is a mistake of the statement.
void tvms_syntax_advance(tvms_syntax *s);

// The token behind the one at hand.
tvms_token tvms_syntax_peek(tvms_syntax *s);

// Goes on behind a token of this kind and says true; false if there is another one.
static inline bool tvms_syntax_take(tvms_syntax *s, tvms_token_kind kind) {
  if (s->token.kind != kind || s->failed) return false;
  tvms_syntax_advance(s);
  return true;
}

// The same, but another token is refused; `expected` is what would do, as in refuse.
bool tvms_syntax_expect(tvms_syntax *s, tvms_token_kind kind, const char *expected);

// Whether the token at hand is the name `word`, which has a meaning at some places only.
bool tvms_syntax_is_word(const tvms_syntax *s, const char *word);

// Whether an expression may begin with the token.
bool tvms_syntax_begins(tvms_token_kind kind);

// True at the open bracket of a group, whatever stands in front of it.
static inline bool tvms_syntax_is_round(tvms_token_kind kind) {
  return kind == TVMS_TOK_OPEN_ROUND || kind == TVMS_TOK_OPEN_ITEMS;
}

// An expression of the kind that ends before the token at hand.
static inline tvms_syntax_expr tvms_syntax_made(const tvms_syntax *s, uint32_t begin,
                                                tvms_syntax_kind kind) {
  return (tvms_syntax_expr){.span = {begin, s->end}, .kind = (uint8_t)kind};
}

#endif
