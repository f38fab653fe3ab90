// Which loops LoopPartition may cut.
#ifndef TVMS_PASSES_TIR_LOOP_PARTITION_CANDIDATES_H
#define TVMS_PASSES_TIR_LOOP_PARTITION_CANDIDATES_H

#include "arith/analyzer.h"
#include "ir/node_map.h"
#include "passes/manager.h"
#include "support/vec.h"

// A loop around the node at hand.
typedef struct {
  const tvms_node *loop, *var;
  bool used;                      // in a condition
  bool no_split;                  // holds a reduction across threads
  bool compared;                  // in a condition that is not marked
  const char *TVMS_NULLABLE why;  // of no_split
} tvms_active_loop;

typedef struct {
  const tvms_pass_run *TVMS_NULLABLE run;  // gets remarks; NULL: none are wanted
  tvms_unit *unit;
  tvms_analyzer *analyzer;
  bool constant;          // loops of constant bounds may be candidates
  tvms_node_map loops;    // FOR, ATTR_STMT of a grid: those that may be cut
  tvms_node_map hinted;   // VAR: those that a hint names
  tvms_node_map reasons;  // loop with conditions that is no candidate -> why, a text
  TVMS_VEC(tvms_active_loop) active;
  TVMS_VEC(tvms_span) told;  // loops that have a remark: parts are partitioned in turn
  uint32_t likely;           // calls of T.likely around the node at hand
} tvms_partition_candidates;

// Prepares an empty set in the caller's storage; `fini` frees it.
void tvms_partition_candidates_init(tvms_partition_candidates *p, tvms_unit *unit,
                                    bool constant);

// Frees what the set holds.
void tvms_partition_candidates_fini(tvms_partition_candidates *p);

// Adds the candidates in `stmt`.
void tvms_stmt_find_partitions(tvms_partition_candidates *p, tvms_node *stmt);

// Remarks that the FOR became `parts` parts.
void tvms_partition_say_cut(tvms_partition_candidates *p, const tvms_node *loop,
                            uint32_t parts);

// Remarks that the FOR stays whole. why: of a candidate; NULL: it was none, or is nothing to
// speak of.
void tvms_partition_say_whole(tvms_partition_candidates *p, const tvms_node *loop,
                              const char *TVMS_NULLABLE why);

// Does the attribute bind a grid of blocks of threads?
bool tvms_stmt_is_grid(tvms_context *context, const tvms_node *node);

#endif
