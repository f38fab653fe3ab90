// Functions that passes over graphs take as one operator.
#ifndef TVMS_PASSES_RELAX_ANALYSIS_PRIMITIVE_H
#define TVMS_PASSES_RELAX_ANALYSIS_PRIMITIVE_H

#include "ir/node.h"

// Is it a FUNCTION whose attribute Primitive is a number other than 0? NULL is not.
bool tvms_relax_is_primitive(const tvms_node *TVMS_NULLABLE function);

#endif
