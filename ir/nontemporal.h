// Stores that go past the caches, to memory: `for … in T.serial(n, annotations={"nontemporal": 1})`.
#ifndef TVMS_IR_NONTEMPORAL_H
#define TVMS_IR_NONTEMPORAL_H

#include "ir/build.h"

// Does a loop say that its vectors are stored past the caches? It is a hint: results do not depend on it, and other
// compilers leave it alone.
bool tvms_stmt_is_nontemporal(const tvms_for *loop);

// Makes a loop, or each one of a sequence, say so; `stmt` was just made.
void tvms_stmt_set_nontemporal(tvms_unit *unit, tvms_node *stmt);

#endif
