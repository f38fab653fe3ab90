// What is known of the file while its statements are read.
#ifndef TVMS_PARSER_FILE_STATE_H
#define TVMS_PARSER_FILE_STATE_H

#include "grammar/surface.h"
#include "parser/python_calls.h"
#include "parser/python_file.h"
#include "parser/read.h"
#include "parser/room.h"

// Errors of the file by place, as far as parser/python_check.c has gone through the findings.
typedef struct {
  const tvms_diag *TVMS_NULLABLE first;  // of the list that was gone through
  const tvms_diag *TVMS_NULLABLE last;   // that was
  tvms_spans errors;                     // in order of their begins; they may overlap
} tvms_reported;

typedef struct tvms_file_state {
  tvms_ref statement;  // of the file: what is being read
  // Of a .py file:
  const tvms_spans *TVMS_NULLABLE script;  // its TVMScript (parser/python_file.h)
  // By definition of `script`: 1 + the number of the module that was made of it in the
  // statement being read, or UINT32_MAX if none was; 0: it was not read.
  uint32_t *TVMS_NULLABLE made;
  uint8_t *TVMS_NULLABLE readings;  // by definition: how often it was read
  uint64_t followed;                // statements of Python so far
  uint32_t unread;                  // definitions of `script` that were not read
  tvms_python_calls calls;          // of functions that make definitions
  tvms_python_stage stage;          // what the statements of Python are followed for
  const tvms_python_instance *TVMS_NULLABLE
      instance;  // the call whose body is followed
  tvms_eval_value
      object;       // `self` in the class whose body is followed; unknown outside
  uint32_t nested;  // calls of Python's functions inside each other
  bool evaluating;  // a constant of Python
  const struct tvms_needed_names *TVMS_NULLABLE needed;  // by that TVMScript
  const tvms_read_options *TVMS_NULLABLE
      releases;  // not NULL: every definition has its own, and these choose it
  TVMS_VEC(void *)
  omitted;                 // by symbol (ir/omitted.h): what parser/metadata.c has of it
  uint64_t assumed_bytes;  // of definitions that were read again with assumptions
  bool assumes;            // they are
  uint64_t constant_steps;  // that the constants of Python took so far
  uint64_t section_bytes;   // of values that a metadata section takes
  tvms_reported reported;
} tvms_file_state;

// The file being read.
static inline tvms_file_state *tvms_file_of(const tvms_reader *reader) {
  return reader->states[TVMS_FILE_ROOM];
}

#endif
