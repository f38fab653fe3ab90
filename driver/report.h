// What a run gives and finds, for machines: a document that is begun, gets the results and
// the findings of one file after the other, and is ended.
//
// docs/machine-formats.md describes the documents. github has no results: lines of text.
#ifndef TVMS_DRIVER_REPORT_H
#define TVMS_DRIVER_REPORT_H

#include "support/context.h"
#include "support/json.h"

typedef enum {
  TVMS_REPORT_JSON,
  TVMS_REPORT_GITHUB,
  TVMS_REPORT_SARIF,
} tvms_report_format;

// A document in the making. Its parts grow side by side and are joined at the end, because
// a file has results and findings, and a document has all results together.
typedef struct {
  tvms_report_format format;
  tvms_memory *memory;
  tvms_strbuf text;  // github: the lines so far; else empty until the end
  tvms_strbuf results_text, findings_text, notifications_text;
  tvms_json results, findings, notifications;  // arrays in these texts
  bool *used;                                  // by tvms_diag_id: a finding has it
} tvms_report_writer;

// Begins a document whose texts live in `memory`.
void tvms_report_begin(tvms_report_writer *writer, tvms_memory *memory,
                       tvms_report_format format);

// Adds the findings of a context, or its errors only.
void tvms_report_add(tvms_report_writer *writer, tvms_context *context,
                     bool errors_only);

// Adds a finding that has no place in a text: about a file as a whole, or if `file` is NULL
// about the run. `remark`: more to say, or NULL.
void tvms_report_add_placeless(tvms_report_writer *writer, tvms_diag_id id,
                               const char *TVMS_NULLABLE file, const char *text,
                               const char *TVMS_NULLABLE remark);

// Adds what kept the run from its work: row `not_done`, as above.
void tvms_report_add_failure(tvms_report_writer *writer, const char *TVMS_NULLABLE file,
                             const char *text);

// Adds what the verb gives for a file, or if `file` is NULL for the whole run: a text, or
// an object of JSON that is ready.
void tvms_report_add_text(tvms_report_writer *writer, const char *TVMS_NULLABLE file,
                          const char *text, size_t len);

// The same for an object of JSON that is ready: `len` bytes at `object`, copied.
void tvms_report_add_object(tvms_report_writer *writer, const char *object, size_t len);

// Ends the document: `writer->text` is all of it. The numbers are those of all findings
// that there were, and the exit status of the run.
void tvms_report_end(tvms_report_writer *writer, uint32_t errors, uint32_t warnings,
                     int exit_status);

#endif
