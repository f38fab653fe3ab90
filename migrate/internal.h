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
  tvms_edits edits;  // their texts lie in `arena`
  tvms_arena arena;
  tvms_offsets binds;      // where statements begin that bind an immutable value
  tvms_offsets allocs;     // and those that make a buffer
  tvms_offsets functions;  // where functions begin that were read
  TVMS_VEC(tvms_sym) tir_prefixes;
  TVMS_VEC(tvms_sym) relax_prefixes;
  TVMS_VEC(uint16_t)
  operators;  // by path: tvms_migrate_same_operator plus 1; 0: not asked
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

#endif
