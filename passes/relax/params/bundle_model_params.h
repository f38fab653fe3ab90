// BundleModelParams: the weights of a function come as one tuple.
#ifndef TVMS_PASSES_RELAX_PARAMS_BUNDLE_MODEL_PARAMS_H
#define TVMS_PASSES_RELAX_PARAMS_BUNDLE_MODEL_PARAMS_H

#include "passes/manager.h"

// What BundleModelParams makes of a FUNCTION whose nodes lie in `unit`; the same node if it does not
// say which parameters are weights. `name` is that of the tuple.
tvms_node *tvms_relax_bundle_params(tvms_pass_run *run, tvms_unit *unit,
                                    tvms_node *function, const char *name);

#endif
