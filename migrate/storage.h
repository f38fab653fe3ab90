// Migration of what makes buffers: allocations, declarations, and buffers over pointers.
#ifndef TVMS_MIGRATE_STORAGE_H
#define TVMS_MIGRATE_STORAGE_H

#include "migrate/internal.h"

// `p = T.allocate(…)` becomes T.alloc_buffer, together with the statement that lays a buffer
// over all of it if there is one.
void tvms_migrate_allocate(tvms_migration *migration, tvms_ref stmt);

// The same for `with T.allocate(…) as p:`, whose body moves to the level of the `with`.
void tvms_migrate_allocate_scope(tvms_migration *migration, tvms_ref with,
                                 tvms_ref item);

// The call of a statement that binds the name of a buffer.
void tvms_migrate_buffer(tvms_migration *migration, tvms_ref call);

#endif
