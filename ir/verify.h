// Our own invariants: what the rest of tvms relies on without asking. A finding is a
// defect of tvms, not of the user's program.
#ifndef TVMS_IR_VERIFY_H
#define TVMS_IR_VERIFY_H

#include "ir/node.h"

// What is wrong below `root`: a text that names the kind of the first bad node, in the
// context's arena; NULL if all is well.
const char *TVMS_NULLABLE tvms_verify(tvms_unit *unit, tvms_node *root);

#endif
