// Findings as text for people.
#ifndef TVMS_DRIVER_RENDER_H
#define TVMS_DRIVER_RENDER_H

#include "support/context.h"
#include "support/strbuf.h"

typedef struct {
  bool color;        // escape sequences of terminals
  bool errors_only;  // leave warnings and notes out
} tvms_render_options;

// Appends the findings of the context, in their order, to `out`.
void tvms_render_findings(tvms_context *context, const tvms_render_options *options,
                          tvms_strbuf *out);

// True if a finding is shown: all are, or errors only.
bool tvms_render_shows(const tvms_diag *diag, bool errors_only);

// "error", "warning" or "note".
const char *tvms_render_severity_name(tvms_severity severity);

#endif
