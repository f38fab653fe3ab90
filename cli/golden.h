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

typedef enum {
  TVMS_GOLDEN_STDOUT,
  TVMS_GOLDEN_FINDINGS,
  TVMS_GOLDEN_CHECKS,  // lines CHECK; judged by cli/golden_check.c
} tvms_golden_stream;

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

// `# CHECK: pattern` and its like.
typedef enum {
  TVMS_CHECK_LINE,
  TVMS_CHECK_NEXT,
  TVMS_CHECK_NOT
} tvms_golden_check_kind;

typedef struct {
  tvms_golden_check_kind kind;
  const char *pattern;
  uint32_t line;
} tvms_golden_check;

// An EXPECT or FINDINGS section, or lines CHECK, which are part of the text.
typedef struct {
  tvms_golden_stream stream;
  uint32_t line;
  tvms_span text;
} tvms_golden_section;

// A program of a golden file. `body` is what its runs get as standard input: the header and
// the program, so that findings have the lines of the file, counted from `first_line`. Each
// run has one section EXPECT, or all of them share one.
typedef struct {
  tvms_context *context;
  tvms_source *source;
  const char *TVMS_NULLABLE name;  // behind PROGRAM
  uint32_t first_line;
  uint32_t begin;  // offset of that line
  TVMS_VEC(tvms_golden_run) runs;
  TVMS_VEC(tvms_golden_finding) findings;
  TVMS_VEC(tvms_golden_section) sections;
  TVMS_VEC(tvms_golden_check) checks;
  tvms_span body;
  bool has_why;
  bool unstable;  // TVM reads another program out of the output than what it wrote
  bool values;    // what opt makes of it computes the same
  const char *TVMS_NULLABLE tolerance;  // of the values
  int status;  // that the run must end with; -1: 1 if an error is expected, else 0
} tvms_golden;

// A golden file as it was read. If it has lines PROGRAM, what stands in front of the first
// is a header for those programs that have none, and not a program.
typedef struct {
  tvms_context *context;
  tvms_source *source;
  TVMS_VEC(tvms_golden) programs;
  uint32_t header_end;  // where the first program begins; 0 without PROGRAM
} tvms_golden_file;

// Reads the directives. What is wrong with them is reported in the context.
void tvms_golden_parse(tvms_golden_file *file, tvms_context *context,
                       tvms_source *source);

#endif
