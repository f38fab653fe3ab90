// What is known of the file while its statements are read.
#ifndef TVMS_PARSER_FILE_STATE_H
#define TVMS_PARSER_FILE_STATE_H

#include "grammar/surface.h"
#include "parser/read.h"

typedef struct tvms_file_state {
  tvms_ref statement;  // of the file: what is being read
  // Of a .py file:
  const tvms_span *TVMS_NULLABLE script;  // TVMScript not yet read, in order
  uint32_t script_count;                  // (parser/python_file.h)
  const struct tvms_needed_names *TVMS_NULLABLE needed;  // by that TVMScript
  const tvms_read_options *TVMS_NULLABLE
      releases;  // not NULL: every definition has its own, and these choose it
  uint32_t constant_steps;  // that the constants of Python took so far
} tvms_file_state;

#endif
