// The findings and the results of a run in the format of --format.
#ifndef TVMS_CLI_FINDINGS_H
#define TVMS_CLI_FINDINGS_H

#include "cli/run.h"

// True if findings are written for people, and results as they are.
bool tvms_findings_are_text(const tvms_run *run);

// Appends the findings of the file at hand as text to `out`, or, in another format, adds
// them to the report of the run. --quiet leaves errors only.
void tvms_findings_add(tvms_run *run, tvms_strbuf *out);

// Shows what the verb gives for a file, or if `file` is NULL for the whole run: on standard
// output, or in a document as one of its results. False if that could not be written.
TVMS_NODISCARD bool tvms_findings_show_result(tvms_run *run,
                                              const char *TVMS_NULLABLE file,
                                              const tvms_strbuf *result);

// Begins the report of a run; text has none.
void tvms_findings_begin(tvms_run *run);

// Ends the report, if there is one, and writes it on standard output.
tvms_status tvms_findings_end(tvms_run *run);

#endif
