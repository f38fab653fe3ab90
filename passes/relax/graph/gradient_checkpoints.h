// What Gradient keeps of a forward function, and what it computes again.
#ifndef TVMS_PASSES_RELAX_GRAPH_GRADIENT_CHECKPOINTS_H
#define TVMS_PASSES_RELAX_GRAPH_GRADIENT_CHECKPOINTS_H

#include "passes/relax/mutator.h"

typedef struct {
  tvms_node_map kept;  // VAR → itself: its value is kept for the way back
  tvms_node_map
      origin;  // VAR of a start_checkpoint or end_checkpoint → what that marks
} tvms_gradient_checkpoints;

// Prepares an empty set in the caller's storage; `fini` frees it.
void tvms_relax_checkpoints_init(tvms_gradient_checkpoints *checkpoints,
                                 tvms_memory *memory);

// Frees what the set holds.
void tvms_relax_checkpoints_fini(tvms_gradient_checkpoints *checkpoints);

// `function` without R.grad.start_checkpoint and R.grad.end_checkpoint, and in `checkpoints` what
// they say: a value is kept if it is marked by the first, or everything that it is computed from
// is kept or marked by the second. Parameters are kept.
tvms_node *tvms_relax_checkpoints_collect(tvms_pass_run *run, tvms_unit *unit,
                                          tvms_node *function,
                                          tvms_gradient_checkpoints *checkpoints);

#endif
