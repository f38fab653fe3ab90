// Two dimensions that cannot be proved equal: numbers for which they are not.
#ifndef TVMS_STRUCTINFO_COUNTER_H
#define TVMS_STRUCTINFO_COUNTER_H

#include "structinfo/dims.h"

enum { TVMS_MOST_COUNTER_VARS = 8 };

// What the symbolic variables of two dimensions are given, and what the two are then.
typedef struct {
  const tvms_node *vars[TVMS_MOST_COUNTER_VARS];
  int64_t values[TVMS_MOST_COUNTER_VARS];
  uint32_t count;
  int64_t left, right;
} tvms_counter_example;

// Looks for small positive sizes for which `a` and `b` differ and neither is negative. False
// if none is found: they may be equal all the same, or have too many variables.
bool tvms_dim_counter_example(tvms_prover *prover, tvms_node *a, tvms_node *b,
                              tvms_counter_example *example);

// "n = 1, m = 2", in the arena of the unit.
const char *tvms_dim_example_text(const tvms_unit *unit,
                                  const tvms_counter_example *example);

#endif
