// Stages in a row, before they are scheduled: made simple, and cheap ones put where their results
// are used.
#ifndef TVMS_PASSES_TIR_CPU_CHAIN_H
#define TVMS_PASSES_TIR_CPU_CHAIN_H

#include "ir/node_map.h"
#include "passes/tir/cpu/stage.h"

typedef struct {
  tvms_unit *unit;
  tvms_list allocated;  // buffers that the function allocates for itself
  tvms_list before;     // statements in front of the stages
  tvms_list behind;     // and behind them
  tvms_node_map *gone;  // gets the buffers that nothing uses any more
  uint32_t
      mask_bits;  // of vectors whose lanes can be left out of loads and stores; 0: of none
  bool skips;     // windows may leave out padding, whatever infinity times it would be
  tvms_stage *stages;
  uint32_t count;
} tvms_chain;

// What a stage is told apart by, for all that schedules do not know by name.
typedef struct {
  uint32_t loads;   // of the buffer that was asked for
  uint32_t nodes;   // of the expression
  uint32_t calls;   // of functions that take long, and divisions
  uint32_t chosen;  // T.if_then_else
} tvms_chain_cost;

// Axes of one step go, and indices become simple.
void tvms_chain_settle(tvms_unit *unit, tvms_stage *stage);

// Do the axes of `first`, in their order, store where those of `second` do that it does not sum over?
bool tvms_chain_store_alike(tvms_unit *unit, const tvms_stage *first,
                            const tvms_stage *second);

// Takes a stage out of a chain.
void tvms_chain_remove(tvms_chain *chain, uint32_t at);

// Does `first` store one constant wherever `sum`, which has no initial value, adds up, and nowhere else?
bool tvms_chain_begins(tvms_unit *unit, const tvms_stage *first, const tvms_stage *sum);

// A stage that only stores what a sum begins with becomes that sum's initial value.
void tvms_chain_join_initial(tvms_chain *chain);

// Puts the values of element-wise stages in the place of the loads of their results, where that
// computes nothing costly twice. TVM's compute_inline is one such step.
void tvms_chain_inline(tvms_chain *chain);

// Counts what an expression is made of, and its loads of `buffer`.
tvms_chain_cost tvms_chain_cost_of(tvms_unit *unit, tvms_node *expr,
                                   const tvms_node *TVMS_NULLABLE buffer);

// Is a buffer allocated by the function and used by no statement around the stages?
bool tvms_chain_is_inner(const tvms_chain *chain, const tvms_node *buffer);

// Does the stage store independently of the order of its steps, with no other access of what it
// stores than at the place itself?
bool tvms_chain_is_free(tvms_unit *unit, const tvms_stage *stage);

// The same, but that a step may load elsewhere what it alone stores: V[j, i] = V[i, j] from j = i on. Such a stage is not
// inlined.
bool tvms_chain_is_free_but_itself(tvms_unit *unit, const tvms_stage *stage);

#endif
