// Blocks that tiles take a sum in, rather than all of it at once.
#ifndef TVMS_PASSES_TIR_CPU_TILE_SUMS_H
#define TVMS_PASSES_TIR_CPU_TILE_SUMS_H

#include "passes/tir/cpu/tile_machine.h"

// Steps of the sum that go through all rows and columns together, in equal blocks whose panels are a part of the second
// cache; 0: all of them, or there are no such blocks.
int64_t tvms_tile_even_block(const tvms_tile_machine *machine,
                             const tvms_contraction *contraction,
                             const tvms_tile *tile);

// The same for a tile whose strips and rows are chosen, in blocks of any kind; `rows` are those of the contraction,
// negative if they are not known.
int64_t tvms_tile_sum_block(const tvms_tile_machine *machine,
                            const tvms_contraction *contraction, const tvms_tile *tile,
                            int64_t rows);

// Chooses how one row goes through an operand that memory streams to it. With `reorders` sums may be taken in another order.
void tvms_tile_plan_stream(tvms_unit *unit, const tvms_target *target,
                           const tvms_contraction *contraction, tvms_tile *tile,
                           bool reorders);

#endif
