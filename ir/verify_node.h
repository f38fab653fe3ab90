// What is true of one node whatever surrounds it: part of ir/verify.c.
#ifndef TVMS_IR_VERIFY_NODE_H
#define TVMS_IR_VERIFY_NODE_H

#include "ir/node.h"

// Checks N and R of the list in ir/verify.c. The parts of the node must be of the kinds that
// ir/nodes.def asks for. Returns what is wrong, a constant, or NULL.
const char *TVMS_NULLABLE tvms_verify_node(const tvms_node *node);

#endif
