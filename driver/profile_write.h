// A profile as files: events for viewers, and a page.
#ifndef TVMS_DRIVER_PROFILE_WRITE_H
#define TVMS_DRIVER_PROFILE_WRITE_H

#include "driver/profile.h"

// Appends the calls as trace events in JSON, for chrome://tracing and Perfetto.
void tvms_profile_trace(const tvms_profile *profile, tvms_strbuf *out);

// Appends a page in HTML that needs nothing else: the table, a time line, memory over time, the
// graph of `entry`'s bindings, and what static planning would make of its memory.
void tvms_profile_page(const tvms_profile *profile, const tvms_member *entry,
                       tvms_strbuf *out);

#endif
