// What the files that write loops of rows share: the lines of a pass.
#ifndef TVMS_PASSES_TIR_CPU_ROWS_LINES_H
#define TVMS_PASSES_TIR_CPU_ROWS_LINES_H

#include "passes/tir/cpu/rows_element.h"

// Is there enough to do for threads?
bool tvms_line_is_large(const tvms_line_writer *w);

// Does the pass at hand combine the elements of a row?
bool tvms_line_has_fold(const tvms_line_writer *w);

// One line, or of the tile at hand as many as it has steps: vectors, and what is left over, in pieces where conditions
// change; `threads`: on threads, if there is enough to do. Axes around it are what w->own_now says.
tvms_node *tvms_line_write(tvms_line_writer *w, bool threads);

// All lines along the axis `own` in front of them, in a loop over `var` of that kind. Those of unknown length are so
// many small pieces that what changes from one line to the next is asked for once for all of them.
tvms_node *tvms_line_write_all(tvms_line_writer *w, uint32_t own, tvms_node *var,
                               uint8_t kind);

// Tiles of the axis around the line, in loops of that kind, and what is left over. The first and the last one stand alone if
// only they have padding.
tvms_node *tvms_line_write_tiles(tvms_line_writer *w, uint8_t kind);

#endif
