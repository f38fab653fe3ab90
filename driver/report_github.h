// Findings as workflow commands of GitHub.
#ifndef TVMS_DRIVER_REPORT_GITHUB_H
#define TVMS_DRIVER_REPORT_GITHUB_H

#include "driver/report_item.h"
#include "support/strbuf.h"

// Appends the line of one finding: ::error file=...,line=...,title=CODE::text
void tvms_report_put_github(tvms_strbuf *out, const tvms_report_item *item);

#endif
