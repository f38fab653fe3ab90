// Which parameters of a PrimFunc it writes to.
#ifndef TVMS_DRIVER_WRITTEN_H
#define TVMS_DRIVER_WRITTEN_H

#include "ir/module.h"
#include "support/context.h"

// Says of each parameter of a PrimFunc whether it writes to its buffer: then it is a result. `written` has a place for
// each.
void tvms_inputs_find_written(tvms_context *context, const tvms_member *entry,
                              bool *written);

#endif
