// Whole texts and single definitions, and what of them is proved.
#ifndef TVMS_FORMAT_FILE_H
#define TVMS_FORMAT_FILE_H

#include "format/walk.h"

// As tvms_format, and tells of which pieces the text is made. Returns false if something
// was nested too deeply and left out.
TVMS_NODISCARD bool tvms_format_with(const tvms_surface *surface,
                                     tvms_format_options options, tvms_strbuf *out,
                                     tvms_pieces *pieces);

// As tvms_format_with, of a definition: its lines, at the indentation that it has.
TVMS_NODISCARD bool tvms_format_lone(const tvms_surface *surface,
                                     tvms_format_options options,
                                     const tvms_format_definition *definition,
                                     tvms_strbuf *out);

// The definition as a piece, but for its place in the text.
tvms_piece tvms_format_piece_of(const tvms_surface *surface,
                                const tvms_format_definition *definition);

// What ends the lines of a source: "\n" or "\r\n".
const char *tvms_format_line_end(const tvms_source *source);

// Formats a definition only to compare: true if its lines are `expected`.
TVMS_NODISCARD bool tvms_format_lone_is(const tvms_surface *surface,
                                        tvms_format_options options,
                                        const tvms_format_definition *definition,
                                        const char *expected, size_t len);

// Formats only to compare: true if the text is `expected`.
TVMS_NODISCARD bool tvms_format_is(const tvms_surface *surface,
                                   tvms_format_options options, const char *expected,
                                   size_t len);

// Begins a piece at `ref`, or ends the one that overlaps it, if it is time.
void tvms_format_cut(tvms_writer *w, tvms_ref ref);

// Compares the lines written so far, which are whole, with what they should be, and forgets
// them.
void tvms_format_compare(tvms_writer *w);

#endif
