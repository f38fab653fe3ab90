// What tiles fetch into the caches before it is needed.
#ifndef TVMS_PASSES_TIR_CPU_TILE_FETCH_H
#define TVMS_PASSES_TIR_CPU_TILE_FETCH_H

#include "passes/tir/cpu/tile_machine.h"

// Chooses what tiles fetch of the result, of the resting operand, of the next panel and of the one at hand. All else of
// the tile is settled; `rows` are those of the contraction, negative if they are not known.
void tvms_tile_plan_fetches(tvms_unit *unit, const tvms_tile_machine *machine,
                            const tvms_contraction *contraction, int64_t rows,
                            tvms_tile *tile);

// Is it worth while that tiles of rows fetch the panel of the next strip, if panels are laid out beforehand?
bool tvms_tile_fetches_ahead(const tvms_tile_machine *machine,
                             const tvms_contraction *contraction,
                             const tvms_tile *tile);

#endif
