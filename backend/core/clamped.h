// Floats of which the text shows the range.
#ifndef TVMS_BACKEND_CORE_CLAMPED_H
#define TVMS_BACKEND_CORE_CLAMPED_H

#include "ir/node.h"

// Is it a float between two constants whose whole parts the integer type `to` has? Of a NaN, T.min and T.max give
// the second operand, so it is a constant here.
bool tvms_clamped_to(const tvms_node *node, tvms_dtype to);

#endif
