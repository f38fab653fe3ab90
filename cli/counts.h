// check --statistics: how often each finding occurs.
#ifndef TVMS_CLI_COUNTS_H
#define TVMS_CLI_COUNTS_H

#include "cli/run.h"

// Counts the findings of the file at hand, which are sorted, and drops those of which the run
// only tells the number. Errors and warnings stay counted in the context.
void tvms_run_count_findings(tvms_run *run);

// Shows the counts of all files, the most frequent first, as the result of the run.
TVMS_NODISCARD bool tvms_run_show_counts(tvms_run *run);

#endif
