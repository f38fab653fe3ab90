// Findings as people and machines read them.
#ifndef TVMS_CLI_RENDER_H
#define TVMS_CLI_RENDER_H

#include "cli/run.h"

// Appends the findings of the file at hand as text to `out`, or, in another format, adds
// them to the report of the run.
void tvms_report_render(tvms_run *run, tvms_strbuf *out);

// Adds one finding to the report of the run (cli/report.c).
void tvms_report_add(tvms_run *run, const tvms_diag *diag);

// Begins the report of a run, and ends it and writes it. Text has none.
void tvms_report_begin(tvms_run *run);
tvms_status tvms_report_end(tvms_run *run);

// "E0123": letter of the severity and four digits.
typedef struct {
  char text[8];
} tvms_code;
tvms_code tvms_report_code_of(tvms_diag_id id);
const char *tvms_report_severity_name(tvms_severity severity);

#endif
