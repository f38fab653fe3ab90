// Dimensions of shapes: what can be proved about them, and arithmetic on them.
//
// One prover serves one function: symbolic variables that stand in the types of its
// definitions are known not to be negative.
#ifndef TVMS_STRUCTINFO_DIMS_H
#define TVMS_STRUCTINFO_DIMS_H

#include "ir/build.h"

typedef struct tvms_prover {
  tvms_unit *unit;
  struct tvms_analyzer *TVMS_NULLABLE analyzer;
} tvms_prover;

// Prepares a prover of the unit's function in the storage of the caller; it makes its
// analyzer when it is asked first.
void tvms_prover_init(tvms_prover *prover, tvms_unit *unit);

// Frees what the prover holds.
void tvms_prover_fini(tvms_prover *prover);

// Takes every variable that is a dimension in `sinfo` as not negative.
void tvms_prover_assume(tvms_prover *prover, const tvms_node *sinfo);

// Takes the dimensions of a tensor that are variables as not negative.
void tvms_prover_assume_dims(tvms_prover *prover, tvms_list dims);

// True only if it is proved that the two are equal.
bool tvms_dim_equal(tvms_prover *prover, tvms_node *a, tvms_node *b);

// True only if it is proved that they are not.
bool tvms_dim_differ(tvms_prover *prover, tvms_node *a, tvms_node *b);

// True only if a < b is proved.
bool tvms_dim_less(tvms_prover *prover, tvms_node *a, tvms_node *b);

// True only if the condition is proved.
bool tvms_dim_proved(tvms_prover *prover, tvms_node *condition);

// The dimension as TVM's analyzer leaves it; nodes of the unit.
tvms_node *tvms_dim_simplify(tvms_prover *prover, tvms_node *dim);

// Replaces variables by expressions: `lookup` returns the expression for a variable, or
// NULL to leave it. Nothing is simplified.
typedef tvms_node *TVMS_NULLABLE tvms_dim_lookup(void *data, tvms_node *var);

// Replaces the variables of a dimension so. Returns `dim` itself if nothing changes.
tvms_node *tvms_dim_substitute(tvms_unit *unit, tvms_node *dim, tvms_dim_lookup *lookup,
                               void *data);

// Arithmetic with TVM's folding. Constants are int64. NULL after a report (division by a
// constant zero).
tvms_node *TVMS_NULLABLE tvms_dim_binary(tvms_prover *prover, tvms_node_kind kind,
                                         tvms_node *a, tvms_node *b);

// The same with a number on the right.
tvms_node *TVMS_NULLABLE tvms_dim_binary_int(tvms_prover *prover, tvms_node_kind kind,
                                             tvms_node *a, int64_t b);

// tvms_arith_map_shape (arith/index_map.h) with what the prover knows.
TVMS_NODISCARD bool tvms_dim_map_shape(tvms_prover *prover, const tvms_node *map,
                                       tvms_list shape, tvms_node **extents,
                                       bool *at_zero);

// The product of all dimensions, 1 for none.
tvms_node *TVMS_NULLABLE tvms_dim_product(tvms_prover *prover, tvms_list dims);

#endif
