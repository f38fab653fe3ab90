// Values against types: what R.match_cast, parameters and results check at run time.
#ifndef TVMS_INTERP_MATCH_H
#define TVMS_INTERP_MATCH_H

#include "interp/frame.h"

// Checks a value against a type, and gives the variables that have no value yet and stand
// alone in it theirs: R.Tensor((n, n * 2)) binds n to the first size, then compares the
// second one. A fault names `name`, what the value is called, and both values.
void tvms_interp_match_type(tvms_interp_frame *f, const tvms_node *type,
                            tvms_value value, const char *name, tvms_span span);

// The first half of it, for several values whose sizes speak of each other: gives variables their values, and checks
// kinds, data types and ranks.
void tvms_interp_bind_sizes(tvms_interp_frame *f, const tvms_node *type,
                            tvms_value value, const char *name, tvms_span span);

// The second half: compares all sizes that are not new variables.
void tvms_interp_compare_sizes(tvms_interp_frame *f, const tvms_node *type,
                               tvms_value value, const char *name, tvms_span span);

// A fresh tensor of the type `sinfo`, whose sizes all have values here, else a fault. Its
// count is the caller's.
tvms_tensor *tvms_interp_make_tensor(tvms_interp_frame *f, const tvms_node *sinfo,
                                     tvms_span span);

#endif
