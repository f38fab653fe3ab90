// How a call of the text becomes a node, for each operator.
#ifndef TVMS_PARSER_RELAX_BIND_H
#define TVMS_PARSER_RELAX_BIND_H

#include "parser/relax/argument.h"

// Gives the node of a bound call its arguments, attributes and types, as the operator wants
// them.
void tvms_relax_bind_operator(tvms_relax_op_call *call);

#endif
