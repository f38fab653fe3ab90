// Stages behind a contraction that are computed while a tile of its result is in registers.
#ifndef TVMS_PASSES_TIR_CPU_EPILOGUES_H
#define TVMS_PASSES_TIR_CPU_EPILOGUES_H

#include "passes/tir/cpu/contraction_nest.h"

enum { TVMS_MOST_EPILOGUES = 16 };

// How many of the statements from `at` on are such stages of a contraction with this tile, and what is known of
// them, in `all`, which has room for TVMS_MOST_EPILOGUES. Each reads the result of the one before,
// element by element, from a buffer among `allocated` that nothing behind it uses; axes that the contraction
// has in groups are split in them likewise.
uint32_t tvms_cpu_read_epilogues(tvms_unit *unit, const tvms_contraction *contraction,
                                 const tvms_tile *tile, tvms_list allocated,
                                 tvms_list stmts, uint32_t at, tvms_epilogue *all);

// May a contraction with `count` such stages store an element a second time? None of them loads where the last one stores.
bool tvms_cpu_may_store_twice(tvms_unit *unit, const tvms_epilogue *all,
                              uint32_t count);

// May sums that are not ready lie where the last of `count` such stages stores? It stores each of them once, side
// by side along the columns, in their dtype, and nothing behind the contraction reads what was there.
bool tvms_cpu_result_has_room(tvms_unit *unit, const tvms_contraction *contraction,
                              const tvms_epilogue *all, uint32_t count);

#endif
