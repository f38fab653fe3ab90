// Findings for machines: a document that is begun, gets the findings of one file after the
// other, and is ended.
#ifndef TVMS_DRIVER_REPORT_H
#define TVMS_DRIVER_REPORT_H

#include "support/context.h"
#include "support/json.h"

typedef enum {
  TVMS_REPORT_JSON,
  TVMS_REPORT_GITHUB,
  TVMS_REPORT_SARIF,
} tvms_report_format;

// A document in the making; `text` is what is written of it.
typedef struct {
  tvms_report_format format;
  tvms_strbuf text;
  tvms_json json;
  tvms_memory *places;  // of the context whose findings are added
} tvms_report_writer;

// Begins a document whose text lives in `memory`.
void tvms_report_begin(tvms_report_writer *writer, tvms_memory *memory,
                       tvms_report_format format);

// Adds the findings of a context, or its errors only.
void tvms_report_add(tvms_report_writer *writer, tvms_context *context,
                     bool errors_only);

// Ends the document; the numbers are those of all findings that there were.
void tvms_report_end(tvms_report_writer *writer, uint32_t errors, uint32_t warnings);

#endif
