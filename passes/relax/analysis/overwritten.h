// Which variables of a Relax function lie in memory that a call may write over.
//
// Calls that write are those in place (call_tir_inplace, call_inplace_packed), those of packed
// functions that are not said to be pure, and those of functions in which there is one of these.
// What may share memory with what they get (passes/relax/analysis/aliases.def) is written over, too.
#ifndef TVMS_PASSES_RELAX_ANALYSIS_OVERWRITTEN_H
#define TVMS_PASSES_RELAX_ANALYSIS_OVERWRITTEN_H

#include "ir/module.h"
#include "ir/node_map.h"
#include "support/vec.h"

typedef struct {
  const tvms_module *module;
  tvms_node_map shares;  // VAR → one that may lie in the same memory, up to one without
  tvms_node_map callees;  // FUNCTION → itself, or its body: it writes nothing
  tvms_node_map written;  // VAR without another in `shares` → itself
} tvms_relax_overwritten;

// Looks at a FUNCTION and the local ones in it, in the caller's storage.
void tvms_relax_overwritten_init(tvms_relax_overwritten *o, tvms_memory *memory,
                                 const tvms_module *module, tvms_node *function);

// Frees what it holds.
void tvms_relax_overwritten_fini(tvms_relax_overwritten *o);

// May a call write over the value of this variable?
bool tvms_relax_is_overwritten(tvms_relax_overwritten *o, tvms_node *var);

#endif
