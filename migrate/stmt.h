// Migration of what has another shape in another release: decorators, bindings,
// allocations, scopes, asserts.
#ifndef TVMS_MIGRATE_STMT_H
#define TVMS_MIGRATE_STMT_H

#include "migrate/internal.h"

// Edits what a statement itself needs; its parts are visited by the caller. Returns false
// if the parts must not be visited (they have been dealt with).
bool tvms_migrate_statement(tvms_migration *migration, tvms_ref stmt);

// Edits the decorator of a PrimFunc: whether its body is one of blocks is said by some
// releases only.
void tvms_migrate_prim_func(tvms_migration *migration, tvms_ref def);

#endif
