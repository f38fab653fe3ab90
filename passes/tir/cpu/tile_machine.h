// The numbers of a machine that a tile is chosen by.
#ifndef TVMS_PASSES_TIR_CPU_TILE_MACHINE_H
#define TVMS_PASSES_TIR_CPU_TILE_MACHINE_H

#include "passes/tir/cpu/tile.h"

typedef struct {
  int64_t lanes, registers;
  int64_t cache;         // bytes of the second one
  int64_t last_cache;    // of the third one
  int64_t ways, period;  // of the first one: lines that many bytes apart share its ways
  int64_t most_rows;     // that do not drive each other out of it
  bool near;             // it holds the moving operand, which is one wide tile
  bool shares_ways;      // rows of the resting operand do, and vectors are short
} tvms_tile_machine;

#endif
