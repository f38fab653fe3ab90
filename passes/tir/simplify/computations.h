// What a statement or an expression computes, and how often: the largest parts that may be bound.
#ifndef TVMS_PASSES_TIR_SIMPLIFY_COMPUTATIONS_H
#define TVMS_PASSES_TIR_SIMPLIFY_COMPUTATIONS_H

#include "arith/analyzer.h"
#include "support/vec.h"

// An expression, and how often it is computed.
typedef struct {
  tvms_node *expr;
  uint32_t count;
  uint32_t size;  // nodes
  uint64_t hash;  // of what equal ones have in common
} tvms_value_computation;

typedef TVMS_VEC(tvms_value_computation) tvms_value_computations;

// How computations are found and compared.
typedef struct {
  tvms_unit *unit;
  tvms_memory *memory;
  tvms_analyzer *TVMS_NULLABLE
      analyzer;  // NULL: equal are those that are written alike
} tvms_value_finder;

// May an expression be bound to a variable? Atoms, vectors of one value or of steps, and what
// calls or loads may not.
bool tvms_value_may_be_bound(const tvms_value_finder *finder, tvms_node *expr);

// Do two expressions compute the same?
bool tvms_value_is_same(const tvms_value_finder *finder, tvms_node *a, tvms_node *b);

// What `node`, an expression or a statement, computes; the largest first, else in the order of the
// text. In branches and loops counts only what at least two of the parts compute. The caller frees
// the vector. TVM 0.22: ComputationsDoneBy.
void tvms_value_computations_of(const tvms_value_finder *finder, tvms_node *node,
                                tvms_value_computations *out);

// Adds the largest parts of `expr`, one use each, where they belong by their size.
void tvms_value_computations_add_parts(const tvms_value_finder *finder,
                                       tvms_value_computations *all, tvms_node *expr);

#endif
