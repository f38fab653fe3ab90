// What the surface tree says of names and arguments.
#ifndef TVMS_MIGRATE_NAMES_H
#define TVMS_MIGRATE_NAMES_H

#include "migrate/internal.h"

enum { TVMS_MIGRATE_LONGEST_PATH = 160 };

// Is a symbol one of a list?
bool tvms_migrate_has(const tvms_sym *syms, uint32_t count, tvms_sym sym);

// Writes the dotted names of an attribute chain without its first one to `path`, and returns
// that one. 0 if the chain begins with something else or is too long.
tvms_sym tvms_migrate_chain(const tvms_migration *migration, tvms_ref ref,
                            char path[TVMS_MIGRATE_LONGEST_PATH]);

// The name below T that an expression is ("axis.spatial"), or "" if it is not one. It lives
// as long as the context.
const char *tvms_migrate_tir_path(tvms_migration *migration, tvms_ref ref);

// True if `ref` is a call of T.<name>.
bool tvms_migrate_is_tir_call(tvms_migration *migration, tvms_ref ref,
                              const char *name);

// The value of a keyword argument, or of the positional one at `index`; 0: not given.
tvms_ref tvms_migrate_call_argument(const tvms_migration *migration, tvms_ref call,
                                    const char *keyword, uint32_t index);

// The node of that keyword argument, or 0.
tvms_ref tvms_migrate_call_keyword(const tvms_migration *migration, tvms_ref call,
                                   const char *keyword);

// True if one of the statements begins in `span`.
bool tvms_migrate_begins_in(const tvms_offsets *offsets, tvms_span span);

#endif
