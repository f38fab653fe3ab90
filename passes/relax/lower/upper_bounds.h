// Upper bounds of sizes, which a function states for the variables of its signature:
// R.func_attr({"tir_var_upper_bound": {"n": 1024}}).
#ifndef TVMS_PASSES_RELAX_LOWER_UPPER_BOUNDS_H
#define TVMS_PASSES_RELAX_LOWER_UPPER_BOUNDS_H

#include "arith/int_set.h"

typedef struct {
  tvms_analyzer *analyzer;
  tvms_domains domains;
} tvms_relax_bounds;

// What the attributes of a FUNCTION of `unit` say: tir_var_upper_bound, tir_var_lower_bound and
// tir_non_negative_var. `fini` frees it.
void tvms_relax_bounds_init(tvms_relax_bounds *bounds, tvms_unit *unit,
                            tvms_node *function);

// Frees what the bounds hold; nodes stay with the unit.
void tvms_relax_bounds_fini(tvms_relax_bounds *bounds);

// The largest that a size can be; the size itself where no bound is known.
tvms_node *tvms_relax_bounds_largest(tvms_relax_bounds *bounds, tvms_node *size);

#endif
