// One run of the program: what every verb works with.
#ifndef TVMS_CLI_RUN_H
#define TVMS_CLI_RUN_H

#include "cli/options.h"
#include "config/config.h"
#include "driver/program.h"
#include "driver/report.h"
#include "interp/foreign.h"
#include "support/context.h"

// What `test --bless --interactive` has been told.
typedef enum { TVMS_BLESS_ASK, TVMS_BLESS_ALL, TVMS_BLESS_NONE } tvms_blessing;

typedef struct tvms_settings tvms_settings;

// Findings of a kind, and those among them that --fix would mend.
typedef struct {
  uint32_t count;
  uint32_t mended;
} tvms_found;

// The state of a run. Two lives meet in it: that of the run (options, the report, counts,
// the status) and that of the file at hand, whose context holds all that it took, so that a
// file that fails or has a limit costs only itself.
//
// A verb hands tvms_files_each a function that looks at one source; it reports findings in
// `context`, and writes its result to `result`. Both are shown after it has returned, never
// before: as text, findings on standard error and the result on standard output, or both
// in the one document of the run (cli/findings.h).
//
//   tvms print a.tvms b.tvms        a: context opened, read, printed to `result`, shown,
//                                      context closed; b: the same; then the report
//
// Invariants:
//   - `status` only gets worse. Errors among findings make it 1; 2 and 3 are said by
//     tvms_run_complain and its like, so that the report has them too.
//   - While a document is written (`reports`), nothing but it goes to standard output.
typedef struct {
  char **argv;  // of the program
  tvms_options options;
  tvms_memory *memory;                  // of the whole run
  tvms_context *TVMS_NULLABLE context;  // of the file at hand
  tvms_region *TVMS_NULLABLE pages;     // that the file before has left
  const tvms_foreign *TVMS_NULLABLE
      foreign;                // functions of --plugin, while the verb runs
  tvms_strbuf result;         // of the file at hand, in its context's memory
  bool result_is_json;        // the result is an object, for a document
  tvms_report_writer report;  // --format: of all files so far
  bool reports;               // `report` is open
  bool color_findings;
  bool color_result;
  uint32_t errors;  // of all files
  uint32_t warnings;
  tvms_load_counts counts;  // what was read, verb by verb
  uint32_t files;           // so far
  uint32_t python_files;    // of them .py files
  uint32_t changed;         // fmt: files whose layout is another
  uint32_t failed;          // fmt: files that could not be laid out
  uint32_t first_line;      // --lines
  uint32_t last_line;       // 0: not given
  tvms_status status;       // the worst so far
  bool lints;               // check: rules of lint/ are run
  const char *TVMS_NULLABLE
      blamed;                       // a wrong word of the configuration, if it was said
  tvms_found *TVMS_NULLABLE found;  // check --statistics: by tvms_diag_id
  tvms_settings *TVMS_NULLABLE settings;    // configuration; NULL: the verb has none
  const tvms_config *TVMS_NULLABLE config;  // of the file at hand
  const char *TVMS_NULLABLE config_path;    // its absolute path
  bool reads_python;    // the verb takes the .py files of folders, too
  bool mended;          // check --fix: this round changed the file
  bool last_round;      // check --fix: show what is left
  uint32_t suppressed;  // check --add-noqa: findings so far
  bool blessed;         // test --bless: the file at hand was written anew
  tvms_blessing blessing;
} tvms_run;

// Looks at one source. Returns TVMS_OK, or the status beyond what the findings say.
typedef tvms_status (*tvms_file_visit)(tvms_run *run, tvms_source *source);

#define VERB(name, arguments, summary) tvms_status tvms_verb_##name(tvms_run *run);
#include "cli/options.def"

// Keeps the worse of the run's status and `status`.
void tvms_run_worsen(tvms_run *run, tvms_status status);

// Says on standard error what the user may want to know: "tvms: text".
void tvms_run_tell(tvms_run *run, const char *format, ...) TVMS_PRINTF(2, 3);

// Says what keeps the run from its work, on standard error and in the report: "tvms: text".
// Returns TVMS_FAILED_IO.
tvms_status tvms_run_complain(tvms_run *run, const char *format, ...) TVMS_PRINTF(2, 3);

// The same about a file: "tvms: FILE: text".
tvms_status tvms_run_complain_about(tvms_run *run, const char *file, const char *format,
                                    ...) TVMS_PRINTF(3, 4);

// As tvms_run_complain_about, with the reason of errno.
tvms_status tvms_run_complain_io(tvms_run *run, const char *file);

// As tvms_run_complain, and says where the use of the verb is explained.
tvms_status tvms_run_misused(tvms_run *run, const char *format, ...) TVMS_PRINTF(2, 3);

// Writes all bytes to a file descriptor, or says why not and returns false.
bool tvms_run_write(tvms_run *run, int file, const char *name, const char *text,
                    size_t len);

#endif
