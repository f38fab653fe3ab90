// One layout for source text; comments, meaning and dialect stay.
#ifndef TVMS_DRIVER_FORMAT_H
#define TVMS_DRIVER_FORMAT_H

#include "format/format.h"
#include "support/context.h"
#include "support/strbuf.h"

// Appends the formatted text of a source; of a Python file only the definitions that are
// TVMScript are laid out. TVMS_FOUND_ERRORS: it could not be read, which was reported.
// TVMS_INTERNAL: formatting would have changed its meaning, which was reported.
tvms_status tvms_format_source(tvms_context *context, tvms_source *source,
                               tvms_format_options options, tvms_strbuf *text);

// As tvms_format_source, of the lines `first` to `last` (from 1 on) only: what they change, and
// as much around them as the text needs to say the same.
tvms_status tvms_format_source_lines(tvms_context *context, tvms_source *source,
                                     tvms_format_options options, uint32_t first,
                                     uint32_t last, tvms_strbuf *text);

#endif
