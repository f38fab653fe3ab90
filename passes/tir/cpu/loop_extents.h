// Loops that may have less than no steps get none instead, so that what is left over by vectors and tiles is what it seems.
//
// Before: for i in range(n - 5): …    After: for i in range(T.max(n - 5, 0)): …
#ifndef TVMS_PASSES_TIR_CPU_LOOP_EXTENTS_H
#define TVMS_PASSES_TIR_CPU_LOOP_EXTENTS_H

#include "ir/node.h"

// What is known of sizes: those of buffers are not below 0.
typedef struct {
  tvms_list given;      // buffers that the function takes; some may be NULL
  tvms_list allocated;  // those that are allocated around the statements
  tvms_list around;     // loops
  tvms_list axes;       // of blocks around
} tvms_extent_facts;

// Statements with such extents of loops and axes. The list is new, in the unit's arena.
tvms_list tvms_cpu_settle_extents(tvms_unit *unit, const tvms_extent_facts *facts,
                                  tvms_list stmts);

#endif
