// Which parts of a workspace are in use at a statement, and so which are free.
#ifndef TVMS_PASSES_TIR_MEMORY_LIFT_GAPS_H
#define TVMS_PASSES_TIR_MEMORY_LIFT_GAPS_H

#include "ir/node.h"
#include "support/vec.h"

// A tensor of the workspace, between the statements of the body that define it and use it last.
typedef struct {
  tvms_node *var;      // its data
  int64_t begin, end;  // in bytes
  uint32_t first, last;
  uint32_t over;  // number of the tensor that it lies over; its own: of none
  bool handed;    // a packed function gets it, and may return it
} tvms_lift_tensor;

// The statements of the body that hold a node, the first and the last one.
typedef struct {
  uint32_t first, last;
  bool found;
} tvms_lift_span;

// The tensors of a function's workspace, by statements of its body. It holds nothing if a place or a size
// is not a number, or if somebody else is given memory of the workspace.
typedef struct {
  tvms_memory *memory;
  tvms_list stmts;  // of the body
  TVMS_VEC(tvms_lift_tensor) tensors;
  TVMS_VEC(const tvms_node *) bases;  // variables that are the workspace itself
  uint32_t ids;
  uint32_t *tensor_of;    // by id of a variable: the tensor whose data it is + 1
  tvms_lift_span *spans;  // by id of a node
  uint32_t at;            // the statement that is looked at
  int64_t size;           // of the workspace; 0: nothing is known
} tvms_lift_gaps;

// Looks at a function of `unit` whose last parameter is the workspace.
void tvms_lift_gaps_init(tvms_lift_gaps *gaps, const tvms_unit *unit,
                         const tvms_prim_func *function);

// Frees what was found.
void tvms_lift_gaps_fini(tvms_lift_gaps *gaps);

// The number of the tensor whose data a variable is; that of all tensors: of none.
uint32_t tvms_lift_gaps_tensor(const tvms_lift_gaps *gaps, const tvms_node *var);

// The first and the last statement in which `node`, a part of the body, runs; all of them if it is not there.
tvms_lift_span tvms_lift_gaps_span(const tvms_lift_gaps *gaps, const tvms_node *node);

// The first place where `bytes` are free while `node`, a part of the body, runs; it may reach beyond
// the workspace.
int64_t tvms_lift_gaps_find(const tvms_lift_gaps *gaps, const tvms_node *node,
                            int64_t bytes);

#endif
