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

void tvms_prover_init(tvms_prover *prover, tvms_unit *unit);
void tvms_prover_fini(tvms_prover *prover);

// Takes every variable that is a dimension in `sinfo` as not negative.
void tvms_prover_assume(tvms_prover *prover, const tvms_node *sinfo);

// True only if it is proved.
bool tvms_dim_equal(tvms_prover *prover, tvms_node *a, tvms_node *b);
bool tvms_dim_differ(tvms_prover *prover, tvms_node *a, tvms_node *b);
bool tvms_dim_less(tvms_prover *prover, tvms_node *a, tvms_node *b);
bool tvms_dim_proved(tvms_prover *prover, tvms_node *condition);

tvms_node *tvms_dim_simplify(tvms_prover *prover, tvms_node *dim);

// Replaces variables by expressions: `lookup` returns the expression for a variable, or
// NULL to leave it. Nothing is simplified.
typedef tvms_node *TVMS_NULLABLE tvms_dim_lookup(void *data, tvms_node *var);
tvms_node *tvms_dim_substitute(tvms_unit *unit, tvms_node *dim, tvms_dim_lookup *lookup,
                               void *data);

// Arithmetic with TVM's folding. Constants are int64. NULL after a report (division by a
// constant zero).
tvms_node *TVMS_NULLABLE tvms_dim_binary(tvms_prover *prover, tvms_node_kind kind,
                                         tvms_node *a, tvms_node *b);
tvms_node *TVMS_NULLABLE tvms_dim_binary_int(tvms_prover *prover, tvms_node_kind kind,
                                             tvms_node *a, int64_t b);

// The product of all dimensions, 1 for none.
tvms_node *TVMS_NULLABLE tvms_dim_product(tvms_prover *prover, tvms_list dims);

#endif
