// What the files that write loops of rows share: one element at a time.
#ifndef TVMS_PASSES_TIR_CPU_ROWS_ELEMENT_H
#define TVMS_PASSES_TIR_CPU_ROWS_ELEMENT_H

#include "ir/fold.h"
#include "ir/stmt.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/padding.h"
#include "passes/tir/cpu/rows_plan.h"

// A part of a line that is computed at once: tile x vectors x lanes elements.
typedef struct {
  tvms_node *begin;                     // in the line
  tvms_node *TVMS_NULLABLE tile_begin;  // in the axis around; NULL: there is no tile
  int64_t tile, vectors, lanes;
  tvms_node *TVMS_NULLABLE fresh;  // lanes from this one on are new; NULL: all are
} tvms_line_chunk;

typedef struct {
  tvms_unit *unit;
  const tvms_line_group *g;
  const tvms_line_plan *plan;
  tvms_node *row_now[TVMS_MOST_STAGE_AXES];  // variables of the rows
  tvms_node *own_now[TVMS_MOST_STAGE_AXES];  // what the axes of the pass are
  tvms_node_map now;                         // axes of members -> what they are
  tvms_node
      *locals[TVMS_MOST_LINE_MEMBERS];  // buffers in the place of results; NULL: none
  tvms_node *lanes[TVMS_MOST_LINE_MEMBERS];  // of folds in the pass at hand
  tvms_node *like;                           // a node of the dtype of axes
  tvms_node *TVMS_NULLABLE inverse;          // of the pass's divisor, as a load
  tvms_node *TVMS_NULLABLE square;  // buffer: what was loaded along the other axis
  tvms_node *TVMS_NULLABLE
      turned;  // buffer: what rows share, as words have their bytes
  uint32_t pass;
  // Of the outermost axis of the line, where conditions are known.
  tvms_line_range segment;
  tvms_line_range
      lines;  // steps of the axis in front of the line, where conditions are known
  tvms_line_range tile;  // steps of the axis around the line that the chunk may be at
  tvms_line_range segment_inside, tile_inside;  // see tvms_line_part
  tvms_node *TVMS_NULLABLE guard;  // of each step of a tile, as it is there
  tvms_line_chunk chunk;
  // Rows that are done together: how many, how far apart, where the first one is, and which is at hand.
  int64_t streams;
  int64_t apart;
  tvms_node *TVMS_NULLABLE first_row, *TVMS_NULLABLE stream;
  tvms_node *TVMS_NULLABLE turn;  // which of the rows that take turns is at hand
  tvms_node *place;               // of the element at hand in the chunk
  tvms_node *TVMS_NULLABLE lane;  // its variable
} tvms_line_writer;

// Loops over the elements of the chunk: rows and vectors written out, lanes as one.
typedef struct {
  tvms_node *TVMS_NULLABLE stream, *TVMS_NULLABLE step, *TVMS_NULLABLE vector,
      *TVMS_NULLABLE lane;
} tvms_line_element;

// The first member of the pass at hand, whose loops are those of the pass.
const tvms_line_member *tvms_line_first(const tvms_line_writer *w);

// The step that many from the end: count - 1 - step.
tvms_node *tvms_line_from_end(const tvms_line_writer *w, tvms_node *count,
                              tvms_node *step);

// Begins an element: all axes are what they are there.
tvms_line_element tvms_line_open(tvms_line_writer *w);

// The loops around what is done with each element; in order if they are serial.
tvms_node *tvms_line_close(tvms_line_writer *w, const tvms_line_element *element,
                           bool serial, tvms_node *body);

// Begins one of the rows that are done together, whose variable is returned; NULL: there is only one.
tvms_node *TVMS_NULLABLE tvms_line_open_row(tvms_line_writer *w);

// The loop over these rows around `body`; `stream` is what tvms_line_open_row gave.
tvms_node *tvms_line_close_row(tvms_line_writer *w, tvms_node *TVMS_NULLABLE stream,
                               tvms_node *body);

// Sets what the axes of all members are whose loops are those of the pass.
void tvms_line_set_axes(tvms_line_writer *w);

// The axis around the line, if the pass has tiles of it.
const tvms_stage_axis *TVMS_NULLABLE tvms_line_around(const tvms_line_writer *w);

// An expression as it is at the element: axes replaced, and results where they are stored now.
tvms_node *tvms_line_as_now(tvms_line_writer *w, tvms_node *expr);

// Stores what member `at` makes of the element.
tvms_node *tvms_line_store(tvms_line_writer *w, uint32_t at, tvms_node *value);

// The result of member `at` as a load; of a fold, of its row.
tvms_node *tvms_line_load(tvms_line_writer *w, uint32_t at);

// What is done with one chunk by all members of the pass.
tvms_node *tvms_line_write_chunk(tvms_line_writer *w);

// ---- Short names ----

static inline tvms_node *tvms_line_number(const tvms_line_writer *w, int64_t value) {
  return tvms_int_imm_new(w->unit, w->like->dtype, value, TVMS_NO_SPAN);
}

static inline tvms_node *tvms_line_build(const tvms_line_writer *w, tvms_node_kind kind,
                                         tvms_node *a, tvms_node *b) {
  return tvms_build_binary(w->unit, kind, a, b, TVMS_NO_SPAN);
}

#endif
