// Values against types: what R.match_cast, parameters and results check at run time.
#ifndef TVMS_INTERP_MATCH_H
#define TVMS_INTERP_MATCH_H

#include "interp/frame.h"

// Checks a value against a type and binds the variables that are new in it.
void tvms_interp_match_type(tvms_interp_frame *f, const tvms_node *type,
                            tvms_value value, const char *name, tvms_span span);

// A tensor of the type `sinfo`, whose sizes are all known here.
tvms_tensor *tvms_interp_make_tensor(tvms_interp_frame *f, const tvms_node *sinfo,
                                     tvms_span span);

#endif
