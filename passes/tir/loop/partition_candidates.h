// Which loops LoopPartition may cut.
#ifndef TVMS_PASSES_TIR_LOOP_PARTITION_CANDIDATES_H
#define TVMS_PASSES_TIR_LOOP_PARTITION_CANDIDATES_H

#include "arith/analyzer.h"
#include "ir/node_map.h"
#include "support/vec.h"

// A loop around the node at hand.
typedef struct {
  const tvms_node *loop, *var;
  bool used;      // in a condition
  bool no_split;  // holds a reduction across threads
} tvms_active_loop;

typedef struct {
  tvms_unit *unit;
  tvms_analyzer *analyzer;
  bool constant;         // loops of constant bounds may be candidates
  tvms_node_map loops;   // FOR, ATTR_STMT of a grid: those that may be cut
  tvms_node_map hinted;  // VAR: those that a hint names
  TVMS_VEC(tvms_active_loop) active;
  uint32_t likely;  // calls of T.likely around the node at hand
} tvms_partition_candidates;

// Prepares an empty set in the caller's storage; `fini` frees it.
void tvms_partition_candidates_init(tvms_partition_candidates *p, tvms_unit *unit,
                                    bool constant);

// Frees what the set holds.
void tvms_partition_candidates_fini(tvms_partition_candidates *p);

// Adds the candidates in `stmt`.
void tvms_stmt_find_partitions(tvms_partition_candidates *p, tvms_node *stmt);

// Does the attribute bind a grid of blocks of threads?
bool tvms_stmt_is_grid(tvms_context *context, const tvms_node *node);

#endif
