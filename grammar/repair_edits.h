// The changes of a statement that may mend it; see repair.h.
#ifndef TVMS_GRAMMAR_REPAIR_EDITS_H
#define TVMS_GRAMMAR_REPAIR_EDITS_H

#include "grammar/parse.h"

typedef enum {
  TVMS_EDIT_INSERT,   // `kind` in front of token `at`
  TVMS_EDIT_DELETE,   // token `at`
  TVMS_EDIT_REPLACE,  // token `at` by `kind`
  TVMS_EDIT_SWAP,     // token `at` and the one behind it
  TVMS_EDIT_FINISH,   // `kind` and a ':' in front of token `at`, an end of a line
  TVMS_EDIT_PAIR,     // the bracket `at` by `kind`, and `other`, which closes it
  TVMS_EDIT_CLOSE,    // the string `at` ends at `place`
  TVMS_EDIT_OPEN,  // the quote that token `at` begins with ends a string that begins with `other`
  TVMS_EDIT_UNQUOTE,  // without the quote that token `at` begins with
} tvms_edit_way;

typedef struct {
  tvms_edit_way way;
  tvms_token_kind kind;
  uint32_t at;
  uint32_t other;
  uint32_t place;  // of CLOSE, OPEN and UNQUOTE: where the text goes on
  uint32_t cost;   // the less, the more likely
} tvms_edit;

// The tokens of a statement, and of some lines behind it. Numbers of tokens are indexes.
typedef struct {
  const char *text;
  TVMS_VEC(tvms_token) tokens;  // with a NEWLINE for each end of a line that has tokens
  TVMS_VEC(uint32_t)
  inner;  // for each token the innermost bracket around it; or NO_TOKEN
  TVMS_VEC(uint32_t) shut;  // for each bracket that opens what closes it; or NO_TOKEN
  uint32_t refused;
  bool misfit;  // what is refused is a bracket that closes
  bool broken;  // what is refused is a string without an end
  bool header;  // of a definition
  bool block;   // a statement that has a body
  TVMS_VEC(tvms_edit) edits;
} tvms_stretch;

#define TVMS_NO_TOKEN UINT32_MAX

static inline bool tvms_token_opens(tvms_token_kind kind) {
  return kind >= TVMS_TOK_OPEN_ROUND && kind <= TVMS_TOK_OPEN_CURLY;
}
static inline bool tvms_token_shuts(tvms_token_kind kind) {
  return kind >= TVMS_TOK_SHUT_ROUND && kind <= TVMS_TOK_SHUT_CURLY;
}
// What closes the bracket that a token of this kind opens.
static inline tvms_token_kind tvms_token_closing(tvms_token_kind open) {
  return (tvms_token_kind)(open + (TVMS_TOK_SHUT_ROUND - TVMS_TOK_OPEN_ROUND));
}

// Fills `inner` and `shut` from the tokens.
void tvms_surface_pair(tvms_stretch *region, tvms_memory *memory);

// Adds the changes to try to `edits`.
void tvms_surface_propose(tvms_stretch *region, tvms_memory *memory);

#endif
