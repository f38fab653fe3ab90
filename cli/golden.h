// Golden files: a program with what a run of tvms must make of it.
//
//   # RUN: opt --passes fold-constant
//   # WHY: adding zero must vanish before fusion counts operators
//   @I.ir_module
//   class Module: ...
//   # EXPECT:
//   @I.ir_module
//   class Module: ...
//
// docs/testing.md has the whole format.
#ifndef TVMS_CLI_GOLDEN_H
#define TVMS_CLI_GOLDEN_H

#include "cli/run.h"
#include "support/vec.h"

typedef enum { TVMS_GOLDEN_STDOUT, TVMS_GOLDEN_FINDINGS } tvms_golden_stream;

// A row of the table of what RUN may name (cli/golden_run.c).
typedef struct {
  const char *name;  // of the verb
  // The verb that must reproduce the output from itself; NULL: the output is not
  // TVMScript, and EXPECT has it behind "# ".
  const char *TVMS_NULLABLE again;
  bool verifies;  // knows --verify-each: every golden file is read and changed under it
  bool keeps_header;  // the comments of the header come out again
} tvms_golden_kind;

// A line RUN.
typedef struct {
  const tvms_golden_kind *kind;
  tvms_texts words;  // of the command line, the verb first
  uint32_t line;
} tvms_golden_run;

// `# error: text` on the guilty line.
typedef struct {
  uint32_t line;
  tvms_severity severity;
  const char *text;
  const char *TVMS_NULLABLE code;  // "E0201" if written
  bool prefix;                     // text ended with "..."
  bool met;
} tvms_golden_finding;

// An EXPECT or FINDINGS section.
typedef struct {
  tvms_golden_stream stream;
  uint32_t line;
  tvms_span text;
} tvms_golden_section;

// A golden file as it was read. `body` is what its runs get as standard input: the header
// and the program, so that findings have the lines of the file. Each run has one section
// EXPECT, or all of them share one.
typedef struct {
  tvms_context *context;
  tvms_source *source;
  TVMS_VEC(tvms_golden_run) runs;
  TVMS_VEC(tvms_golden_finding) findings;
  TVMS_VEC(tvms_golden_section) sections;
  tvms_span body;
  bool has_why;
  int status;  // that the run must end with; -1: 1 if an error is expected, else 0
} tvms_golden;

// Reads the directives. What is wrong with them is reported in the context.
void tvms_golden_parse(tvms_golden *golden, tvms_context *context, tvms_source *source);

#endif
