// What is known of the file while its statements are read.
#ifndef TVMS_PARSER_FILE_STATE_H
#define TVMS_PARSER_FILE_STATE_H

#include "grammar/surface.h"
#include "parser/read.h"
#include "parser/room.h"

typedef struct tvms_file_state {
  tvms_ref statement;  // of the file: what is being read
  // Of a .py file:
  const tvms_span *TVMS_NULLABLE script;  // TVMScript not yet read, in order
  uint32_t script_count;                  // (parser/python_file.h)
  const struct tvms_needed_names *TVMS_NULLABLE needed;  // by that TVMScript
  const tvms_read_options *TVMS_NULLABLE
      releases;  // not NULL: every definition has its own, and these choose it
  TVMS_VEC(void *)
  omitted;  // by symbol (ir/omitted.h): what parser/metadata.c has of it
  uint32_t constant_steps;  // that the constants of Python took so far
  uint64_t section_bytes;   // of values that a metadata section takes
} tvms_file_state;

// The file being read.
static inline tvms_file_state *tvms_file_of(const tvms_reader *reader) {
  return reader->states[TVMS_FILE_ROOM];
}

#endif
