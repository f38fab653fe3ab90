// What an outer axis does not change, or a line, computed beforehand.
#ifndef TVMS_PASSES_TIR_CPU_TABLES_H
#define TVMS_PASSES_TIR_CPU_TABLES_H

#include "passes/tir/cpu/stage.h"

enum { TVMS_MOST_TABLES = 16 };

typedef struct {
  tvms_stage stages
      [TVMS_MOST_TABLES];  // each computes one table, in the order in which they are needed
  tvms_node *buffers[TVMS_MOST_TABLES];  // what they store
  uint32_t count;
} tvms_cpu_tables;

// Takes what is costly and the same in all steps of an outer axis, or else functions that are the same all along a
// line, out of a settled stage whose steps may be done in any order: `tables` gets the stages that compute it, for the caller to put in front, and the stage loads it.
// Results keep their bits. False: nothing gains, and nothing is changed.
bool tvms_cpu_tabulate(tvms_unit *unit, tvms_stage *stage, tvms_cpu_tables *tables);

#endif
