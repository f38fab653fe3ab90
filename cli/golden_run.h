// Running golden files: this program again, with the body as standard input, its output
// and its findings compared with what the file expects.
#ifndef TVMS_CLI_GOLDEN_RUN_H
#define TVMS_CLI_GOLDEN_RUN_H

#include "cli/golden.h"

// The row of a verb, or NULL.
const tvms_golden_kind *TVMS_NULLABLE tvms_golden_kind_of(const char *name);

// Runs the programs of the file and appends what differs to `said`. With `--bless` in the
// options writes the expectations anew. Returns whether the file holds.
bool tvms_golden_judge(tvms_run *run, tvms_golden_file *file, tvms_strbuf *said);

#endif
