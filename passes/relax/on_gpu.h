// Which device a value is on.
#ifndef TVMS_PASSES_RELAX_ON_GPU_H
#define TVMS_PASSES_RELAX_ON_GPU_H

#include "ir/build.h"

// Whether a type, or one in its tuple, names a virtual device whose target is a GPU. `unit` is
// for what is read of the target.
bool tvms_relax_is_on_gpu(tvms_unit *unit, const tvms_node *TVMS_NULLABLE sinfo);

#endif
