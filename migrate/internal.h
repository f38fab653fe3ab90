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
  return migration->from < TVMS_DIALECT_24;
}
static inline bool tvms_migrates_to_classic(const tvms_migration *migration) {
  return migration->to < TVMS_DIALECT_24;
}

// ---- migrate/edit.c ----
// Puts `text` before the byte at an offset.
void tvms_migrate_insert(tvms_migration *migration, uint32_t at, const char *text);
// Removes a keyword argument together with the comma that belongs to it, and the brackets
// when nothing is left between them.
void tvms_migrate_remove_keyword(tvms_migration *migration, tvms_ref call,
                                 tvms_ref keyword);
// Moves the body of a `with` to the level of its header. What is left of the header is
// the node `inner` of it between two texts.
void tvms_migrate_unwrap(tvms_migration *migration, tvms_ref with, tvms_ref inner,
                         const char *before, const char *after);
// A copy of source text, to be put elsewhere; the text of a node; three texts as one.
const char *tvms_migrate_copy(tvms_migration *migration, tvms_span span);
const char *tvms_migrate_text_of(tvms_migration *migration, tvms_ref ref);
const char *tvms_migrate_words(tvms_migration *migration, const char *a, const char *b,
                               const char *c);
// Reports that the release cannot say what stands at `ref`.
void tvms_migrate_refuse(tvms_migration *migration, tvms_ref ref, const char *what);

// The name below T that an expression is ("axis.spatial"), or "" if it is none.
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

// ---- migrate/stmt.c ----
// Edits what a statement itself needs; its parts are visited by the caller. Returns false
// if the parts must not be visited (they have been dealt with).
bool tvms_migrate_statement(tvms_migration *migration, tvms_ref stmt);
void tvms_migrate_prim_func(tvms_migration *migration, tvms_ref def);

// ---- migrate/call.c ----
// The operator of the release that is written which does what T.<path> does.
tvms_tir_opcode tvms_migrate_same_operator(const tvms_migration *migration,
                                           const char *path, size_t len);
// Edits what a call needs whose arguments differ between releases.
void tvms_migrate_call(tvms_migration *migration, tvms_ref call);

// ---- migrate/storage.c ----
// `p = T.allocate(…)` and `with T.allocate(…) as p:` become T.alloc_buffer, together with
// the statement that lays a buffer over all of it if there is one.
void tvms_migrate_allocate(tvms_migration *migration, tvms_ref stmt);
void tvms_migrate_allocate_scope(tvms_migration *migration, tvms_ref with,
                                 tvms_ref item);
// The call of a statement that binds the name of a buffer.
void tvms_migrate_buffer(tvms_migration *migration, tvms_ref call);

#endif
