// The proof of the formatter: what was written says the same and is final.
#ifndef TVMS_FORMAT_CHECK_H
#define TVMS_FORMAT_CHECK_H

#include "format/format.h"

// As tvms_format, with a proof: the result is parsed again, which must give the same tree
// and the same comments, and formatted again, which must give the same text. On
// TVMS_FOUND_ERRORS (the surface has syntax errors, which were reported) and
// TVMS_INTERNAL (the proof failed; reported) nothing was appended.
TVMS_NODISCARD tvms_status tvms_format_checked(const tvms_surface *surface,
                                               tvms_format_options options,
                                               tvms_strbuf *out);

// As tvms_format_checked, of a definition: appends what its lines become. The text around it
// may have errors; what is reported is not about the source, but says that there is none.
TVMS_NODISCARD tvms_status tvms_format_checked_definition(
    const tvms_surface *surface, tvms_format_options options,
    const tvms_format_definition *definition, tvms_strbuf *out);

// True if two surfaces say the same: equal trees but for redundant parentheses, trailing
// commas and the spelling of literals, and the same comments in the same order. If not,
// `where` is a place in `a` where they part.
bool tvms_surface_same(const tvms_surface *a, const tvms_surface *b, tvms_span *where);

#endif
