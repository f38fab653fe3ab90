// DeadCodeElimination: bindings whose value nobody uses and functions that nobody reaches.
#ifndef TVMS_PASSES_RELAX_GRAPH_DEAD_CODE_ELIMINATION_H
#define TVMS_PASSES_RELAX_GRAPH_DEAD_CODE_ELIMINATION_H

#include "passes/functions.h"

// What DeadCodeElimination does; `entry` names functions to keep, ';' between them.
void tvms_dead_code_eliminate(tvms_pass_run *run, const char *entry);

// `function`, whose nodes lie in `unit`, without the bindings that nothing uses and with one block for
// neighbours of one kind; the same node if there is nothing to do.
tvms_node *tvms_dead_code_clean(tvms_pass_run *run, tvms_unit *unit,
                                tvms_node *function);

#endif
