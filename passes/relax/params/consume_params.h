// The end of LiftTransformParams: functions that transform weights are seen from outside, and may
// release weights.
#ifndef TVMS_PASSES_RELAX_PARAMS_CONSUME_PARAMS_H
#define TVMS_PASSES_RELAX_PARAMS_CONSUME_PARAMS_H

#include "passes/manager.h"

// Makes every function of the module whose name ends in transform_params public. `consume`: it
// releases each field of its tuple of weights when it has taken it.
void tvms_relax_consume_params(tvms_pass_run *run, bool consume);

#endif
