// Which parts of a workspace are in use at a statement, and so which are free.
#ifndef TVMS_PASSES_TIR_MEMORY_LIFT_GAPS_H
#define TVMS_PASSES_TIR_MEMORY_LIFT_GAPS_H

#include "ir/node_map.h"
#include "support/vec.h"

// A tensor of the workspace, between the statements of the body that define it and use it last.
typedef struct {
  tvms_node *var;      // its data
  int64_t begin, end;  // in bytes
  uint32_t first, last;
  uint32_t over;  // number of the tensor that it lies over; its own: of none
  bool handed;    // a packed function gets it, and may return it
} tvms_lift_tensor;

// The tensors of a function's workspace, by statements of its body. It holds nothing if a place or a size
// is not a number, or if somebody else is given memory of the workspace.
typedef struct {
  tvms_memory *memory;
  tvms_list stmts;  // of the body
  TVMS_VEC(tvms_lift_tensor) tensors;
  TVMS_VEC(const tvms_node *) bases;  // variables that are the workspace itself
  uint32_t at;                        // the statement that is looked at
  int64_t size;                       // of the workspace; 0: nothing is known
} tvms_lift_gaps;

// Looks at a function whose last parameter is the workspace.
void tvms_lift_gaps_init(tvms_lift_gaps *gaps, tvms_memory *memory,
                         const tvms_prim_func *function);

// Frees what was found.
void tvms_lift_gaps_fini(tvms_lift_gaps *gaps);

// The first and the last statement in which `node`, a part of the body, runs; all of them if it is not there.
void tvms_lift_gaps_span(const tvms_lift_gaps *gaps, tvms_node *node, uint32_t *first,
                         uint32_t *last);

// The first place where `bytes` are free while `node`, a part of the body, runs; it may reach beyond
// the workspace.
int64_t tvms_lift_gaps_find(const tvms_lift_gaps *gaps, tvms_node *node, int64_t bytes);

#endif
