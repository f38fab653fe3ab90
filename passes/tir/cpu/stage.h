// Stages of a PrimFunc: what one nest of loops computes, whatever order its loops have.
#ifndef TVMS_PASSES_TIR_CPU_STAGE_H
#define TVMS_PASSES_TIR_CPU_STAGE_H

#include "ir/node_map.h"

enum { TVMS_MOST_STAGE_AXES = 16 };

// An axis of a stage: a variable that runs from 0 to `extent` - 1.
typedef struct {
  tvms_node *var;
  tvms_node *extent;
  bool sums;  // the store does not depend on it: values of all its steps are combined
} tvms_stage_axis;

// One store for all steps of the axes, in the order of the loops.
typedef struct {
  tvms_node *nest;   // the statement that was read
  const char *name;  // of its block; "" if it has none
  uint32_t count;
  tvms_stage_axis axes[TVMS_MOST_STAGE_AXES];
  const tvms_store *store;
  tvms_node *TVMS_NULLABLE init;  // what is stored before the first step; NULL: nothing
} tvms_stage;

// What becomes of a stage: statements in order, and the buffers between them.
typedef struct {
  tvms_list stmts, buffers;
} tvms_replacement;

// Reads a nest of plain serial loops around one store, or around one block whose variables are
// the loops' and which holds one store, with an initial value or without. Returns NULL, or why
// the nest is something else: a sentence's end, "a loop is scheduled already".
const char *TVMS_NULLABLE tvms_stage_read(tvms_unit *unit, tvms_node *nest,
                                          tvms_stage *stage);

// The loops and the block of such a nest alone: what it holds is `body`, and `init`, if the block begins
// with something, else NULL. Without a block (`blocked` is false) no axis is known to be summed over.
const char *TVMS_NULLABLE tvms_stage_read_nest(tvms_unit *unit, tvms_node *nest,
                                               tvms_stage *stage, tvms_node **body,
                                               tvms_node **init, bool *blocked);

// Do annotations of a block say what it is, and not how it runs? NULL: there are none.
bool tvms_stage_only_describes(const tvms_node *TVMS_NULLABLE annotations);

// Do both store at the same place?
bool tvms_stage_same_place(const tvms_store *a, const tvms_store *b);

// Does an expression load what the store stores, without a predicate?
bool tvms_stage_loads_place(const tvms_store *store, const tvms_node *node);

// Is an expression what lies at the place where the stage stores?
bool tvms_stage_is_result(const tvms_stage *stage, const tvms_node *node);

// What an operation of that kind (ADD, MAX, MIN) combines with the result, on either side. NULL: the
// stage stores something else.
tvms_node *TVMS_NULLABLE tvms_stage_term(const tvms_stage *stage, tvms_node_kind kind);

// A nest of loops around one block that does `store` in all steps of the stage's axes, for which there
// are fresh variables, and `init`, a store, before the first one. It stands where the stage's nest stands.
tvms_node *tvms_stage_write(tvms_unit *unit, const tvms_stage *stage, const char *name,
                            tvms_node *store, tvms_node *TVMS_NULLABLE init);

// The same without the axes that are summed over, on which `store` does not depend.
tvms_node *tvms_stage_write_each(tvms_unit *unit, const tvms_stage *stage,
                                 const char *name, tvms_node *store);

// The axis of a variable, or TVMS_MOST_STAGE_AXES.
uint32_t tvms_stage_axis_of(const tvms_stage *stage, const tvms_node *var);

// A stage's value where something else stands in the place of its axes, by `at`: indices of any integer type.
tvms_node *tvms_stage_value_at(tvms_unit *unit, tvms_node *value,
                               const tvms_node_map *at);

// Is the float 0 stored before the first step?
bool tvms_stage_begins_with_zero(const tvms_stage *stage);

// Does the stage combine the values of the steps of an axis?
bool tvms_stage_has_sums(const tvms_stage *stage);

// Steps of all axes together; those whose number is not known count as 64, and `*known` says whether there are none. -1: too
// many.
int64_t tvms_stage_steps(const tvms_stage *stage, bool *known);

// Is the extent of an axis known to be 1?
bool tvms_stage_axis_is_single(const tvms_stage_axis *axis);

#endif
