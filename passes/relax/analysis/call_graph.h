// Which functions of a module call which.
#ifndef TVMS_PASSES_RELAX_ANALYSIS_CALL_GRAPH_H
#define TVMS_PASSES_RELAX_ANALYSIS_CALL_GRAPH_H

#include "ir/module.h"

// By index of a member. Good as long as the module is.
typedef struct {
  tvms_memory *memory;
  uint32_t count;
  struct tvms_relax_callees {
    TVMS_VEC(uint32_t) members;  // that the function mentions, each once
  } * callees;
} tvms_relax_call_graph;

// Looks at all defined functions of the module.
void tvms_relax_call_graph_init(tvms_relax_call_graph *graph,
                                const tvms_module *module);

// Frees what was found.
void tvms_relax_call_graph_fini(tvms_relax_call_graph *graph);

// Sets the flags, one per member, of those that may come to call themselves.
void tvms_relax_call_graph_recursive(const tvms_relax_call_graph *graph,
                                     bool *recursive);

// A flag for each member of the module: does a function mention it? The caller frees it.
bool *tvms_relax_call_graph_called(const tvms_module *module);

#endif
