// A finding on one line.
#ifndef TVMS_DRIVER_REPORT_CONCISE_H
#define TVMS_DRIVER_REPORT_CONCISE_H

#include "driver/report_item.h"
#include "support/strbuf.h"

// Appends FILE:LINE:COLUMN: error[CODE]: text, and ends the line.
void tvms_report_put_concise(tvms_strbuf *out, const tvms_report_item *item);

#endif
