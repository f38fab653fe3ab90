// Types in the messages of checks that run.
#ifndef TVMS_PASSES_RELAX_LOWER_TYPE_TEXT_H
#define TVMS_PASSES_RELAX_LOWER_TYPE_TEXT_H

#include "ir/node.h"

// Text of a type as TVM writes it into such messages; it lives as long as the context.
const char *tvms_relax_type_text(const tvms_unit *unit, const tvms_node *type);

#endif
