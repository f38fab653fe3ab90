// Which variables of a Relax function lie in memory that a call may write over.
//
// Which calls write is said by passes/relax/analysis/writers.h. What may share memory with what they get (passes/relax/analysis/aliases.def) is written over, too.
#ifndef TVMS_PASSES_RELAX_ANALYSIS_OVERWRITTEN_H
#define TVMS_PASSES_RELAX_ANALYSIS_OVERWRITTEN_H

#include "ir/node_map.h"
#include "passes/manager.h"

typedef struct {
  tvms_node_map shares;  // VAR → one that may lie in the same memory, up to one without
  tvms_node_map written;  // VAR without another in `shares` → itself
} tvms_relax_overwritten;

// Looks at a FUNCTION and the local ones in it, in the caller's storage.
void tvms_relax_overwritten_init(tvms_relax_overwritten *o, tvms_pass_run *run,
                                 tvms_node *function);

// Frees what it holds.
void tvms_relax_overwritten_fini(tvms_relax_overwritten *o);

// May a call write over the value of this variable?
bool tvms_relax_is_overwritten(tvms_relax_overwritten *o, tvms_node *var);

#endif
