// The logical lines of a text whose indentation is lost: what each begins with, which names
// it uses and binds.
#ifndef TVMS_GRAMMAR_LOST_LINES_H
#define TVMS_GRAMMAR_LOST_LINES_H

#include "grammar/indentation.h"

typedef struct {
  uint32_t begin;  // first token
  uint32_t end;    // of the last one
  uint32_t column;
  tvms_token_kind first;
  bool header;          // ends with ':' and wants a block
  uint32_t first_name;  // of the names that it mentions …
  uint32_t name_count;  // … attributes and keywords left out
  uint32_t bound;       // of them, from the first on: those that it binds
  uint32_t first_row;   // of the physical lines that it begins …
  uint32_t row_count;   // … where tokens begin; lines inside a text do not
} tvms_lost_line;

typedef struct {
  TVMS_VEC(tvms_lost_line) lines;
  TVMS_VEC(tvms_span) names;
  TVMS_VEC(uint32_t) rows;  // offsets
} tvms_lost_lines;

// Reads the lines of the whole source. Reports nothing. The lists belong to the context's
// memory until tvms_surface_drop_lines.
void tvms_surface_read_lines(tvms_lost_lines *lines, tvms_context *context,
                             tvms_source *source);

// Frees the lists.
void tvms_surface_drop_lines(tvms_lost_lines *lines, tvms_memory *memory);

#endif
