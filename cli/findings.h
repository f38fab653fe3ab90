// The findings of a run in the format of --format.
#ifndef TVMS_CLI_FINDINGS_H
#define TVMS_CLI_FINDINGS_H

#include "cli/run.h"

// Appends the findings of the file at hand as text to `out`, or, in another format, adds
// them to the report of the run. --quiet leaves errors only.
void tvms_findings_add(tvms_run *run, tvms_strbuf *out);

// Begins the report of a run, and ends it and writes it on standard output. Text has none.
void tvms_findings_begin(tvms_run *run);
tvms_status tvms_findings_end(tvms_run *run);

#endif
