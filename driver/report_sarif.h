// Findings as a log of SARIF 2.1.0.
#ifndef TVMS_DRIVER_REPORT_SARIF_H
#define TVMS_DRIVER_REPORT_SARIF_H

#include "driver/report_item.h"
#include "support/json.h"

// Adds the result object of one finding to the array at hand.
void tvms_report_put_sarif(tvms_json *json, const tvms_report_item *item);

// Adds the notification object of what kept the run from its work.
void tvms_report_put_sarif_notification(tvms_json *json, const tvms_report_item *item);

// What the parts of a log are made of; the texts are arrays of JSON.
typedef struct {
  const tvms_strbuf *findings;
  const tvms_strbuf *notifications;
  const tvms_strbuf *results;  // what the verb gave
  const bool *used;            // by tvms_diag_id: a finding has this rule
  int exit_status;
} tvms_sarif_parts;

// Writes the whole log.
void tvms_report_write_sarif(tvms_json *json, const tvms_sarif_parts *parts);

#endif
