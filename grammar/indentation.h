// Lines, indentation and brackets: what stands between the lexer and the grammar.
//
// Layout turns line ends and columns into NEWLINE, INDENT and DEDENT, keeps the stack of
// open brackets, and gives words that mean two things a token each (see README.md): `in`
// of a for-loop, `if` of a comprehension, `is not`, `not in`, the bracket after `with`.
// Wrong indentation and brackets that do not match are reported here, and what follows is
// mended so that the rest can be parsed.
#ifndef TVMS_GRAMMAR_INDENTATION_H
#define TVMS_GRAMMAR_INDENTATION_H

#include "grammar/lexer.h"
#include "support/vec.h"

// `both` is begin and end in one word: compilers that build a struct of small fields in
// memory and read it back as a large one stall there, once a token.
typedef struct {
  union {
    struct {
      uint32_t begin;
      uint32_t end;
    };
    uint64_t both;
  };
  tvms_token_kind kind;
} tvms_token;

static inline tvms_token tvms_token_make(uint32_t begin, uint32_t end,
                                         tvms_token_kind kind) {
  return (tvms_token){.both = begin | (uint64_t)end << 32, .kind = kind};
}

typedef struct {
  uint32_t begin;   // of the bracket
  uint32_t height;  // for parse.c: size of its stack with the bracket on top
  uint8_t shut;     // kind of token that closes it
  bool wants_in;    // after `for`: the next `in` belongs to it
  bool in_comp;     // a comprehension's `for` was seen: each `if` filters
} tvms_bracket;

typedef struct {
  uint32_t column;  // tabs go to multiples of 8
  uint32_t narrow;  // a tab counts one: differs in order from `column` if tabs mislead
  uint32_t moved_from;  // the column before a line between two levels moved it; or 0
  bool silent;          // an unexpected indent: the grammar does not know of it
  bool skipped;  // parse.c gave the statement up that stands before the current line
} tvms_indent_level;

// Tokens that are read instead of the text's, as they come from tvms_lexer_scan: a statement that is
// read again, mended. Line ends inside brackets are among them and count for nothing.
typedef struct {
  const tvms_token *TVMS_NULLABLE tokens;  // NULL: none
  uint32_t count;
  uint32_t next;
  uint32_t resume;  // where the text goes on behind them
  bool whole;       // nothing goes on: END follows
} tvms_replay;

typedef struct {
  tvms_lexer lexer;
  TVMS_VEC(tvms_indent_level) indents;  // [0]: column 0
  TVMS_VEC(tvms_bracket) brackets;  // [0]: no bracket; popped ones stay behind `len`
  tvms_token pending;               // valid if has_pending and nothing is replayed
  bool has_pending;                 // the next token is not the lexer's
  bool strict;  // brackets that do not match are MISFITs, and nothing is said
  bool hushed;  // nothing is said of brackets that do not match
  tvms_replay replay;
  bool at_line_start;
  bool dedenting;          // `column` below the innermost level: more DEDENTs come
  bool after_with;         // the last token was `with`
  tvms_indent_level line;  // of the logical line that begins
  bool begun;              // the logical line has given a token
  tvms_token first;        // first token of the logical line that has begun last
  tvms_token before;       // the same of the line before it
  tvms_diag *TVMS_NULLABLE prompt;  // the finding about prompts of Python's shell
  uint32_t seen;  // where tvms_indentation_line was asked last, and what it said
  uint32_t seen_line;
} tvms_indentation;

// Reads `size` bytes at `text`. `nested`: an expression inside a string, line ends do not count.
void tvms_indentation_init(tvms_indentation *layout, tvms_surface *surface,
                           const char *text, size_t size, uint32_t offset, bool nested);

// The next token. After END every call gives END.
tvms_token tvms_indentation_next(tvms_indentation *layout);

// Number of open brackets.
static inline uint32_t tvms_indentation_depth(const tvms_indentation *layout) {
  return layout->lexer.depth;
}

// Forgets open brackets and goes back to `line`, the start of a physical line, which then
// begins a logical line.
void tvms_indentation_restart(tvms_indentation *layout, uint32_t line);

// Goes back to `line` as restart does, and reads `replay` from there on.
void tvms_indentation_replay(tvms_indentation *layout, uint32_t line,
                             const tvms_replay *replay);

// Tells that the INDENT just given fits nowhere: its DEDENT will not be given.
void tvms_indentation_silence(tvms_indentation *layout);

// Start of the physical line that holds `offset`.
uint32_t tvms_indentation_line(tvms_indentation *layout, uint32_t offset);

// Column of the first token of the physical line that starts at `line`; `*first` is its
// offset.
uint32_t tvms_indentation_column(const tvms_indentation *layout, uint32_t line,
                                 uint32_t *first);

// True if a line that begins in `column` belongs to an open block.
bool tvms_indentation_is_level(const tvms_indentation *layout, uint32_t column);

// `text` has `size` bytes, which count as bytes `offset` and following of the source.
void tvms_lexer_init(tvms_lexer *lexer, tvms_surface *surface, const char *text,
                     size_t size, uint32_t offset);

// The next token of the lexer alone: NEWLINE for each end of a line, kinds of the rules in lexer.re.
tvms_token tvms_lexer_scan(tvms_lexer *lexer);

// Text of a row of tokens.def.
const char *tvms_token_text(tvms_token_kind kind);

// Is it a reserved word?
bool tvms_token_is_keyword(tvms_token_kind kind);

#endif
