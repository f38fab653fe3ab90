// From text to the surface tree; see surface.h for the entry points.
#ifndef TVMS_GRAMMAR_PARSE_H
#define TVMS_GRAMMAR_PARSE_H

#include "grammar/build.h"
#include "grammar/indentation.h"
#include "grammar/surface.h"

// Fills the nodes and comments of an empty surface from its source.
void tvms_surface_parse_file(tvms_surface *surface);

// Parses `size` bytes, which end with NULs and count as bytes `offset` and following of
// `text`, as an expression; 0 after reporting an error. Decoded bytes, which do not lie in
// `text`, have not been checked as the source has.
tvms_ref tvms_surface_parse_nested(tvms_surface *surface, const char *bytes,
                                   size_t size, const char *text, uint32_t offset);

// Where the last logical line begins, for reading it again.
typedef struct {
  uint32_t begin;    // of its first token; UINT32_MAX: it is not known
  uint32_t height;   // of the stack in front of that
  uint32_t indents;  // levels of indentation, and the innermost of them
  tvms_indent_level level;
  tvms_token before;  // first token of the line before it
} tvms_line_begin;

// What is fed to the generated parser, whose stack parse.c keeps behind it.
typedef struct {
  surf_build build;
  tvms_indentation layout;
  const char *text;   // that has the bytes of the tokens
  uint32_t no_colon;  // begin of the last line whose ':' was missed; UINT32_MAX: none
  // Begin of the last line that was refused at once or in the header of a loop: what is
  // refused behind that follows from it. UINT32_MAX: none.
  uint32_t refused;
  bool nested;  // an expression in a string
  tvms_line_begin line;
  uint32_t mended;  // begin of the last line that was read again; UINT32_MAX: none
  uint32_t effort;  // tokens that were read for looking how to mend something
  TVMS_VEC(tvms_token) replay;  // what is read again
} surf_parser;

// States of the generated parser, as far as a trial comes: which token would be refused, without
// any nodes.
typedef TVMS_VEC(uint16_t) tvms_states;

/* The stack, for recovery */

// Feeds a terminal of the generated grammar/tvmscript.h that spans the bytes from `begin` to
// `end`; `build.failed` tells that it was refused.
void tvms_surface_push(surf_parser *p, int terminal, uint32_t begin, uint32_t end,
                       uint32_t value);

// Feeds the terminal of a token without a value, which takes no bytes at `at`.
void tvms_surface_push_mark(surf_parser *p, tvms_token_kind kind, uint32_t at);

// True if the parser would shift the terminal, after whatever reductions.
bool tvms_surface_takes(const surf_parser *p, int terminal);

// Number of entries above the lowest one.
uint32_t tvms_surface_height(const surf_parser *p);

// Drops the entries above `entries`. They come back when the height is set to what it was, as long
// as nothing has been pushed.
void tvms_surface_set_height(surf_parser *p, uint32_t entries);

// Where the bytes of the highest entry end, which must be a token.
uint32_t tvms_surface_top_end(const surf_parser *p);

// The stack is as it was in front of `line`.
void tvms_surface_rewind(surf_parser *p);

// The states of the lowest `height` entries and the one below them.
void tvms_surface_states(surf_parser *p, uint32_t height, tvms_states *states);

// Moves the states over a token; false if it is refused.
bool tvms_surface_try(surf_parser *p, tvms_states *states, tvms_token_kind kind);

// Drops what stands above the innermost list of statements.
void tvms_surface_pop_to_statement(surf_parser *p);

#endif
