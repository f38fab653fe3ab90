// Systems of linear inequalities over integers, solved to one range per variable.
#ifndef TVMS_ARITH_SOLVE_H
#define TVMS_ARITH_SOLVE_H

#include "arith/analyzer.h"

// A variable and what is known of it: [min, min + extent), or nothing (both NULL).
typedef struct {
  tvms_node *var;
  tvms_node *TVMS_NULLABLE min;
  tvms_node *TVMS_NULLABLE extent;
} tvms_var_range;

// Narrows the ranges by the relations (comparisons of integers) with Fourier-Motzkin
// elimination, as TVM does for conditions. Returns true if the ranges say all that the
// relations say; otherwise the ranges are left as they were. Relations that are not
// linear are not understood; there may be at most TVMS_MOST_RELATIONS of them.
enum { TVMS_MOST_RELATIONS = 16 };

// Solves `relations` for `vars`, in place; the head of this file has the method. TVM:
// arith/solve_linear_inequality.cc.
bool tvms_arith_solve_inequalities(tvms_unit *unit, tvms_var_range *vars,
                                   uint32_t var_count, tvms_node *const *relations,
                                   uint32_t relation_count);

#endif
