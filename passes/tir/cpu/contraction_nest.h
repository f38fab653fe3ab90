// The loops of a tiled contraction.
#ifndef TVMS_PASSES_TIR_CPU_CONTRACTION_NEST_H
#define TVMS_PASSES_TIR_CPU_CONTRACTION_NEST_H

#include "passes/tir/cpu/tile.h"

// A stage behind a contraction that goes through its results once, element by element, and
// `from`, the buffer that it reads them from.
typedef struct {
  tvms_stage stage;
  const tvms_node *from;
  uint32_t axis_of
      [TVMS_MOST_STAGE_AXES];  // axis of the contraction for each axis of the stage
  bool in_place;               // it may load what the last one stores
} tvms_epilogue;

// What a nest does: all, or all but what follows the sums, which are stored where the last epilogue stores, or that.
typedef enum { TVMS_NEST_WHOLE, TVMS_NEST_SUMS, TVMS_NEST_END } tvms_nest_part;

// Of columns whose number is not known, which ones: whole strips, and behind these what they leave over, which takes columns of the
// last one, too, and does all that is to be done for them.
typedef enum {
  TVMS_NEST_ALL_COLUMNS,
  TVMS_NEST_STRIPS,
  TVMS_NEST_REST
} tvms_nest_columns;

// The statement that computes the contraction tile by tile, and what is done with each tile while it
// is in registers; the last epilogue stores. Every element is added up in the order of the stage,
// so results have the same bits.
//
//   for j0: [P = panel of B]             P if tile->packs
//     for i0:
//       acc = init                       rows x vectors, unrolled and vectorised
//       for k: acc += A * P
//       C = epilogues of acc
//
// Rows and columns that are left over get tiles of their own size, which are one more step of a loop on threads; where a
// number of rows is not known, each number that may be left over has a tile. Where columns are not known, either, or
// `tile->rows_overlap`, the last tile overlaps the one before, and a plain nest serves sizes below one tile.
tvms_node *tvms_contraction_nest(tvms_unit *unit, const tvms_contraction *contraction,
                                 const tvms_tile *tile, const tvms_epilogue *epilogues,
                                 uint32_t epilogue_count, tvms_nest_part part,
                                 tvms_nest_columns columns);

#endif
