// RemoveUnusedParameters: private functions lose parameters that they do not use.
#ifndef TVMS_PASSES_RELAX_GRAPH_REMOVE_UNUSED_PARAMETERS_H
#define TVMS_PASSES_RELAX_GRAPH_REMOVE_UNUSED_PARAMETERS_H

#include "passes/functions.h"

// What RemoveUnusedParameters does to the module.
void tvms_relax_remove_unused_parameters(tvms_pass_run *run);

#endif
