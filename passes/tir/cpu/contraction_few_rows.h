// Nests of a contraction for few rows, where their number is not known.
#ifndef TVMS_PASSES_TIR_CPU_CONTRACTION_FEW_ROWS_H
#define TVMS_PASSES_TIR_CPU_CONTRACTION_FEW_ROWS_H

#include "ir/target.h"
#include "passes/tir/cpu/contraction_nest.h"

enum { TVMS_FEW_ROWS = TVMS_FEWEST_ROWS_IN_PLACE - 1 };

// The contraction for 1 up to TVMS_FEW_ROWS rows, and its tiles.
typedef struct {
  bool wanted;  // else the tile that was chosen serves any number of rows
  bool blocks;  // one of them takes the sum in blocks
  tvms_contraction *items;
  tvms_tile *tiles;
} tvms_few_rows;

// Plans the nests for few rows of a contraction that `tile` has been chosen for; they lie in the unit's arena.
tvms_few_rows tvms_contraction_plan_few_rows(tvms_unit *unit, const tvms_target *target,
                                             const tvms_contraction *contraction,
                                             const tvms_tile *tile, bool reorders);

// These nests and the one for more rows by `tile`, each where the number of rows is one of its own. `room`: sums that are not
// ready may lie where the last epilogue stores.
tvms_node *tvms_contraction_few_rows_nest(tvms_unit *unit, const tvms_few_rows *few,
                                          const tvms_contraction *contraction,
                                          const tvms_tile *tile,
                                          const tvms_epilogue *epilogues,
                                          uint32_t epilogue_count, bool room);

#endif
