// Reshapes whose sizes are not known, for code that runs.
#ifndef TVMS_TE_LEGALIZE_SHAPE_H
#define TVMS_TE_LEGALIZE_SHAPE_H

#include "te/legalize.h"

// reshape; of unknown sizes by groups of dimensions, so that indices show what TVM's hide.
bool tvms_legalize_reshape_inside(tvms_legal *legal);

#endif
