// Running register code.
#ifndef TVMS_INTERP_CODE_RUN_H
#define TVMS_INTERP_CODE_RUN_H

#include "interp/code.h"

// Runs the code of the function of `f` to its end; what it returned is in the frame. The
// variables of the frame must have room for all slots of the code.
void tvms_interp_run_code(tvms_interp_frame *f, const tvms_interp_code *code);

#endif
