// What a run gives and finds, for machines: a report that is begun, gets the results and
// the findings of one file after the other, and is ended.
//
// docs/machine-formats.md describes the formats, driver/report_formats.def lists them.
#ifndef TVMS_DRIVER_REPORT_H
#define TVMS_DRIVER_REPORT_H

#include "support/context.h"
#include "support/json.h"
#include "support/vec.h"

typedef enum {
#define FORMAT(id, name, word, shape) TVMS_REPORT_##id,
#include "driver/report_formats.def"
} tvms_report_format;

// A file that was looked at, or (`file` NULL) the run; texts of what was said of it.
typedef struct {
  const char *TVMS_NULLABLE file;
  double seconds;       // negative: not measured
  uint32_t errors;      // among the findings
  bool broken;          // something kept the run from its work
  tvms_strbuf wrong;    // errors, a line or more each
  tvms_strbuf remarks;  // other findings
  tvms_strbuf given;    // what the verb gives
} tvms_report_case;

// A report in the making. Its parts grow side by side and are joined at the end, because
// a file has results and findings, and a document has all results together.
typedef struct {
  tvms_report_format format;
  tvms_memory *memory;
  tvms_strbuf text;  // formats of lines: the lines so far; else empty until the end
  tvms_strbuf results_text, findings_text, notifications_text;
  tvms_json results, findings, notifications;  // arrays in these texts
  bool *used;                                  // by tvms_diag_id: a finding has it
  TVMS_VEC(uint64_t) fingerprints;             // gitlab: of the findings so far
  TVMS_VEC(tvms_report_case) cases;            // junit
} tvms_report_writer;

// The format that a word of --format means. False: none for machines.
bool tvms_report_find(const char *word, tvms_report_format *format);

// Begins a report whose texts live in `memory`.
void tvms_report_begin(tvms_report_writer *writer, tvms_memory *memory,
                       tvms_report_format format);

// True if the report stands alone on standard output, false if it is lines that may stand
// among others.
bool tvms_report_is_document(const tvms_report_writer *writer);

// True if what a verb gives may be an object of JSON.
bool tvms_report_takes_objects(const tvms_report_writer *writer);

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

// Says what looking at a file took; comes before its findings.
void tvms_report_add_time(tvms_report_writer *writer, const char *file, double seconds);

// Adds what the verb gives for a file, or if `file` is NULL for the whole run.
void tvms_report_add_text(tvms_report_writer *writer, const char *TVMS_NULLABLE file,
                          const char *text, size_t len);

// The same for an object of JSON that is ready: `len` bytes at `object`, copied. A format that
// does not take objects leaves it out.
void tvms_report_add_object(tvms_report_writer *writer, const char *object, size_t len);

// Ends the report: `writer->text` is all of it. The numbers are those of all findings
// that there were, and the exit status of the run.
void tvms_report_end(tvms_report_writer *writer, uint32_t errors, uint32_t warnings,
                     int exit_status);

#endif
