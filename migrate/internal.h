// What the files of migration share: the edits and helpers on the surface tree.
#ifndef TVMS_MIGRATE_INTERNAL_H
#define TVMS_MIGRATE_INTERNAL_H

#include "ir/tir_op.h"
#include "migrate/migrate.h"
#include "support/edits.h"

// Places in the source, sorted.
typedef TVMS_VEC(uint32_t) tvms_offsets;

typedef struct {
  tvms_context *context;
  const tvms_surface *surface;
  tvms_dialect from;
  tvms_dialect to;
  tvms_edits edits;        // their texts live as long as the context
  tvms_offsets binds;      // where statements begin that bind an immutable value
  tvms_offsets allocs;     // and those that make a buffer
  tvms_offsets functions;  // where functions begin that were read
  TVMS_VEC(tvms_sym) tir_prefixes;
  TVMS_VEC(tvms_sym) relax_prefixes;
  tvms_sym tvm;
  bool in_prim_func;
  const char *prefix;  // of the function at hand: T
  tvms_ref body;       // statements around the one at hand
} tvms_migration;

// Definitions hold a body up to 0.23.
static inline bool tvms_migrates_from_classic(const tvms_migration *migration) {
  return tvms_release_has(migration->from, TVMS_FACT_definitions_hold_bodies);
}
static inline bool tvms_migrates_to_classic(const tvms_migration *migration) {
  return tvms_release_has(migration->to, TVMS_FACT_definitions_hold_bodies);
}

// ---- migrate/edit.c ----

// The name below T that an expression is ("axis.spatial"), or "" if it is not one.
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
