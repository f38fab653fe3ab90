// What a format of driver/report_formats.def is made of.
#ifndef TVMS_DRIVER_REPORT_OPS_H
#define TVMS_DRIVER_REPORT_OPS_H

#include "driver/report.h"
#include "driver/report_item.h"

typedef struct {
  uint32_t errors;
  uint32_t warnings;
  int exit_status;
} tvms_report_totals;

// A member that is NULL does nothing.
typedef struct {
  // Adds a finding; `failure`: it is what kept the run from its work.
  void (*add)(tvms_report_writer *writer, const tvms_report_item *item, bool failure);
  // Comes before the findings of a file; `seconds` is negative if nobody measured.
  void (*add_file)(tvms_report_writer *writer, const char *file, double seconds);
  // Adds what the verb gives: `len` bytes, as an object of JSON or as text.
  void (*add_result)(tvms_report_writer *writer, const char *TVMS_NULLABLE file,
                     const char *text, size_t len, bool object);
  // Writes the document into `writer->text`. The arrays are closed.
  void (*end)(tvms_report_writer *writer, const tvms_report_totals *totals);
} tvms_report_ops;

#define FORMAT(id, name, word, shape) extern const tvms_report_ops tvms_report_##name;
#include "driver/report_formats.def"

// Adds what the verb gives to `writer->results` as JSON.
void tvms_report_put_result(tvms_report_writer *writer, const char *TVMS_NULLABLE file,
                            const char *text, size_t len, bool object);

// The same to an array or a line of JSON.
void tvms_report_put_result_to(tvms_json *json, const char *TVMS_NULLABLE file,
                               const char *text, size_t len, bool object);

#endif
