// What is true of statements whatever stands in them.
#ifndef TVMS_IR_STMT_H
#define TVMS_IR_STMT_H

#include "ir/node.h"

// Does what `stmt` defines hold a body in this release? Then its scope is that body, and the
// text may write it as `with …:`. Otherwise it stands in a row and holds to the end of its
// sequence.
bool tvms_stmt_holds_body(const tvms_node *stmt, tvms_dialect dialect);

// Does it hold a body in every release that has such a statement?
bool tvms_stmt_always_holds_body(const tvms_node *stmt);

#endif
