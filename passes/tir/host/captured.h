// What a part of a function uses from outside of it.
#ifndef TVMS_PASSES_TIR_HOST_CAPTURED_H
#define TVMS_PASSES_TIR_HOST_CAPTURED_H

#include "ir/node_map.h"

typedef struct {
  tvms_memory *memory;
  bool pointers;          // a buffer is used as its pointer and its sizes
  tvms_node_map buffers;  // of the whole function: data pointer -> BUFFER
  tvms_node_map seen;     // VAR or BUFFER -> itself: it is defined inside, or listed
  tvms_node_vec used;     // VAR and BUFFER in order of their first use
  tvms_node_vec views;    // with `pointers`: BUFFER in order of their first use
} tvms_host_captured;

// Prepares the search in `function`, in the caller's storage until `fini`. With `pointers`
// buffers are no values of their own, as before 0.26.
void tvms_host_captured_init(tvms_host_captured *captured, tvms_memory *memory,
                             tvms_node *function, bool pointers);

// Frees what it holds.
void tvms_host_captured_fini(tvms_host_captured *captured);

// Fills `used` with what the statements use and do not define: a buffer for each of its uses
// and of its pointer, a variable for anything else. With `pointers` it has variables only, and
// `views` the buffers. TVM: VarUseDefAnalyzer.
void tvms_host_captured_find(tvms_host_captured *captured, tvms_node *const *stmts,
                             uint32_t count);

#endif
