// Migration of calls whose arguments differ between releases: operators that got more of
// them, values of attributes, targets.
#ifndef TVMS_MIGRATE_CALL_H
#define TVMS_MIGRATE_CALL_H

#include "migrate/internal.h"

// The operator of the release that is written which does what T.<path> does; NONE if that is not
// an operator, or the release has none.
tvms_tir_opcode tvms_migrate_same_operator(tvms_migration *migration, const char *path,
                                           size_t len);

// Edits what a call needs whose arguments differ between releases.
void tvms_migrate_call(tvms_migration *migration, tvms_ref call);

#endif
