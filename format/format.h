// The formatter: source text in one layout, with its comments and its meaning kept.
//
// It works on the surface tree, so it needs no names to be known and changes no spelling:
// the dialect stays. Layout is black's: 88 columns, four spaces, double quotes, trailing
// commas that keep a list open, `# fmt: off`, `# fmt: on`, `# fmt: skip`
// (docs/formatting.md has the rules).
#ifndef TVMS_FORMAT_FORMAT_H
#define TVMS_FORMAT_FORMAT_H

#include "grammar/surface.h"
#include "support/strbuf.h"

typedef struct {
  uint32_t width;  // columns of a line; 0: 88
} tvms_format_options;

// Appends the formatted text of a surface that was parsed without errors. Call it inside
// tvms_memory_protect_deep.
void tvms_format(const tvms_surface *surface, tvms_format_options options,
                 tvms_strbuf *out);

// As tvms_format, with a proof: the result is parsed again, which must give the same tree
// and the same comments, and formatted again, which must give the same text. On
// TVMS_FOUND_ERRORS (the surface has syntax errors, which were reported) and
// TVMS_INTERNAL (the proof failed; reported) nothing was appended.
TVMS_NODISCARD tvms_status tvms_format_checked(const tvms_surface *surface,
                                               tvms_format_options options,
                                               tvms_strbuf *out);

// True if two surfaces say the same: equal trees but for redundant parentheses, trailing
// commas and the spelling of literals, and the same comments in the same order. If not,
// `where` is a place in `a` where they part.
bool tvms_surface_same(const tvms_surface *a, const tvms_surface *b, tvms_span *where);

#endif
