// An expression on one line. Every function gives up as soon as the line is too long, so
// that an attempt costs no more than a line.
#ifndef TVMS_FORMAT_FLAT_H
#define TVMS_FORMAT_FLAT_H

#include "format/walk.h"

// Writes the node on the rest of the line. Returns false, with rubbish behind the old end
// of `out`, if it does not fit `limit`, holds a comment or a list that a trailing comma
// keeps open. `bare`: without the parentheses around the whole.
TVMS_NODISCARD bool tvms_format_flat(tvms_writer *w, tvms_ref ref, bool bare);

// Writes the nodes of a list with ", " between them, as tvms_format_flat.
TVMS_NODISCARD bool tvms_format_flat_list(tvms_writer *w, tvms_ref list);

// Writes what stands in the brackets of a subscript, as tvms_format_flat.
TVMS_NODISCARD bool tvms_format_flat_index(tvms_writer *w, tvms_ref index);

// Does a trailing comma in the source keep the brackets of a node over several lines?
bool tvms_format_is_kept_open(const tvms_writer *w, const tvms_surf *node);

// Whether spaces stand around the colons of a slice.
bool tvms_format_is_spaced(const tvms_writer *w, const tvms_surf *slice);

#endif
