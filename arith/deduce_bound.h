// The interval of one variable in which a condition is known to hold.
#ifndef TVMS_ARITH_DEDUCE_BOUND_H
#define TVMS_ARITH_DEDUCE_BOUND_H

#include "arith/int_set.h"

// An interval of `var` in which `condition`, a comparison that mentions it once, holds
// whatever the variables of `relax` are in their domains. `hint` has domains that may be
// used to tell the sign of a factor. `empty`: none was found. TVM: DeduceBound.
tvms_int_set tvms_domains_deduce_bound(const tvms_domains *hint,
                                       const tvms_domains *relax, tvms_node *var,
                                       tvms_node *condition);

#endif
