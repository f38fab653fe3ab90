// What LiftAllocations finds out about a function: its allocations that become parameters, and
// which of them have one together.
#ifndef TVMS_PASSES_TIR_MEMORY_LIFT_PLAN_H
#define TVMS_PASSES_TIR_MEMORY_LIFT_PLAN_H

#include "arith/analyzer.h"
#include "ir/node_map.h"
#include "passes/functions.h"
#include "support/vec.h"

// A statement that allocates: its variable, and what it is for.
typedef struct {
  tvms_node *var;
  tvms_dtype element;
  tvms_list extents;
} tvms_lift_allocation;

// Buffers that have one parameter.
typedef struct {
  tvms_node *param;
  tvms_node *bytes;
  bool busy;
  tvms_node *const *TVMS_NULLABLE
      until;  // busy until this statement of a sequence has ended
} tvms_lift_group;

// A buffer that becomes a parameter, once the statement is reached that uses it first.
typedef struct {
  tvms_lift_allocation what;
  tvms_node *bytes;
  tvms_node *const *TVMS_NULLABLE first;  // NULL: it was reached
  tvms_node *const *last;
} tvms_lift_waiting;

// A function in progress. Nodes are made in its unit.
typedef struct {
  tvms_context *context;
  tvms_unit *unit;
  const tvms_prim_func *source;
  TVMS_VEC(tvms_lift_group) groups;
  TVMS_VEC(tvms_lift_waiting) waiting;
  tvms_node_map places;  // data variable of a buffer: the parameter that it gets
  tvms_node_map given;   // what is known when the function begins
  tvms_analyzer *sizes;  // knows of sizes what holds everywhere
  uint32_t skips;        // statements around that may do nothing
  int64_t frame;         // bytes on the stack
  bool given_up;         // an allocation stands in two places
} tvms_lift_plan;

// Prepares the plan of a function.
void tvms_lift_plan_init(tvms_lift_plan *plan, tvms_unit *unit,
                         const tvms_prim_func *source);

// Frees what the plan holds; nodes stay with the unit.
void tvms_lift_plan_fini(tvms_lift_plan *plan);

// Finds the buffers that become parameters.
void tvms_lift_plan_make(tvms_lift_plan *plan);

// True if a statement allocates memory without gaps.
bool tvms_lift_allocation_of(const tvms_node *stmt, tvms_lift_allocation *found);

// Do buffers have variables of their own, which a declaration lays over a pointer (since 0.26)?
bool tvms_lift_has_own_variables(const tvms_lift_plan *plan);

// ---- Sizes ----

// A number of 64 bits.
tvms_node *tvms_lift_number(const tvms_lift_plan *plan, int64_t value);
// An operation on two sizes, simplified.
tvms_node *tvms_lift_binary(const tvms_lift_plan *plan, tvms_node_kind kind,
                            tvms_node *a, tvms_node *b);

// The least multiple of the alignment of memory that is not less.
tvms_node *tvms_lift_aligned(const tvms_lift_plan *plan, tvms_node *bytes);

// Is a size known when the function begins?
bool tvms_lift_is_known(const tvms_lift_plan *plan, tvms_node *size);

// May what stands in a statement be left out: in a branch, or in a loop without steps?
bool tvms_lift_may_skip(const tvms_node *stmt);

// Bytes as they are computed where the function begins, though what needs them may be left out: not less than 0, so that
// they take nothing from what lies behind them. NULL: a division could fail that is not done then.
tvms_node *TVMS_NULLABLE tvms_lift_beforehand(const tvms_lift_plan *plan,
                                              tvms_node *bytes);

// Tells an analyzer that no size is negative of what the parameters of a function point to. What is declared in a branch
// has its sizes there only.
void tvms_lift_mark_sizes(tvms_memory *memory, tvms_analyzer *analyzer,
                          const tvms_prim_func *function);

#endif
