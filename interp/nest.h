// Nests of loops around one store, run by whole rows.
#ifndef TVMS_INTERP_NEST_H
#define TVMS_INTERP_NEST_H

#include "interp/frame.h"

// Runs the body of the function of `f`, whose arguments are bound, if it is such a nest: constants of
// models are moved and scaled by them. False if it is not, or something about it might be a fault; then
// the body is to be run as usual, from its beginning.
bool tvms_interp_run_nest(tvms_interp_frame *f);

#endif
