// A PrimFunc under schedule: its loops and blocks, and how statements are replaced in it.
//
// A schedule works on a copy of a function of its own (one unit, nobody else looks at it), whose blocks
// have a number each in head.spare. Numbers survive copying, and so does the variable of a loop: so a
// reference (tvms_sched_ref) finds its block or loop again however the statements around were
// rewritten, as the references of TVM's Schedule do. A block that is duplicated gets a number of
// its own.
//
// Blocks and loops are the sites of a function, in the order of the text. Pointers to sites and
// their indices hold until the next replacement.
#ifndef TVMS_SCHEDULE_STATE_H
#define TVMS_SCHEDULE_STATE_H

#include "arith/analyzer.h"
#include "ir/rewrite.h"
#include "ir/stmt.h"
#include "support/strbuf.h"

// A BLOCK or a FOR, and where it stands.
typedef struct {
  tvms_node *node;
  tvms_node *TVMS_NULLABLE realize;  // of a BLOCK
  int32_t parent;                    // index of the site around it; -1: none
  uint32_t end;                      // first site that is not below this one
} tvms_site;

enum { TVMS_NO_SITE = -1 };

// What is known of a block (schedule/flags.h).
typedef struct {
  bool affine, cover, pipeline;
} tvms_sched_flags;

// One function under schedule.
typedef struct tvms_sched {
  tvms_context *context;
  tvms_unit *unit;
  tvms_node *function;  // PRIM_FUNC
  tvms_sym name;        // of the GlobalVar
  TVMS_VEC(tvms_site) sites;
  uint16_t numbers;  // given to blocks so far
  bool keeps_flags;  // of blocks, by their numbers
  TVMS_VEC(tvms_sched_flags) flags;
  const char *step;  // what is being done, for messages
  tvms_span span;    // and where the schedule says so
  tvms_source *TVMS_NULLABLE
      script;  // that `span` is in; NULL: the schedule is not a text
  bool quiet;  // refusals are not reported: a scheduler tries
  const char *TVMS_NULLABLE reason;  // of the last refusal, in the context's arena
} tvms_sched;

// Where a block is computed that a search leaves where it is, or puts into those that read of it.
typedef enum { TVMS_MARK_NONE, TVMS_MARK_ROOT, TVMS_MARK_INLINE } tvms_sched_mark;

// A block or a loop, whatever becomes of the function around it.
typedef struct {
  tvms_sched *sched;
  uint16_t block;                 // number of a block; 0: a loop
  tvms_node *TVMS_NULLABLE loop;  // the variable of a loop
  tvms_sched_mark mark;           // no loop, but what a block is to do
} tvms_sched_ref;

// Prepares `sched`, in the caller's storage, for a PRIM_FUNC whose nodes lie in `unit` and that nobody else
// uses. Its blocks get their numbers.
void tvms_sched_init(tvms_sched *sched, tvms_unit *unit, tvms_sym name,
                     tvms_node *function);

// Frees what the state holds; the function, with its numbers taken off, stays with the unit.
void tvms_sched_fini(tvms_sched *sched);

// Reports why the step at hand cannot be done, and returns false. The text is a reason:
// "the block is not the only writer of 'B'".
TVMS_NODISCARD bool tvms_sched_refuse(tvms_sched *sched, const char *format, ...)
    TVMS_PRINTF(2, 3);

// Adds a name to a list of names in such a reason: "'A', 'B'".
void tvms_sched_quote(tvms_strbuf *list, const char *name);

// ---- Sites ----

// Site of what a reference names, or TVMS_NO_SITE: it is gone.
int32_t tvms_sched_find(const tvms_sched *sched, tvms_sched_ref ref);

// Site of a BLOCK or FOR node, or TVMS_NO_SITE.
int32_t tvms_sched_site_of(const tvms_sched *sched, const tvms_node *node);

// A reference to the block or loop at a site.
tvms_sched_ref tvms_sched_ref_of(tvms_sched *sched, int32_t site);

static inline const tvms_site *tvms_sched_at(const tvms_sched *sched, int32_t site) {
  return &sched->sites.items[site];
}
static inline bool tvms_sched_is_loop(const tvms_sched *sched, int32_t site) {
  return sched->sites.items[site].node->kind == TVMS_NODE_FOR;
}
// The FOR or BLOCK at a site of which that is known.
static inline tvms_for *tvms_sched_loop(const tvms_sched *sched, int32_t site) {
  return tvms_as_for(sched->sites.items[site].node);
}
static inline tvms_block *tvms_sched_block(const tvms_sched *sched, int32_t site) {
  return tvms_as_block(sched->sites.items[site].node);
}
static inline tvms_block_realize *tvms_sched_realize(const tvms_sched *sched,
                                                     int32_t site) {
  return tvms_as_block_realize(sched->sites.items[site].realize);
}
static inline int32_t tvms_sched_parent(const tvms_sched *sched, int32_t site) {
  return sched->sites.items[site].parent;
}
// Is `site` below `above`, or that site itself?
static inline bool tvms_sched_is_in(const tvms_sched *sched, int32_t site,
                                    int32_t above) {
  return site >= above && (uint32_t)site < sched->sites.items[above].end;
}

// The block around a site, whose scope it is in; TVMS_NO_SITE for the root block.
int32_t tvms_sched_scope(const tvms_sched *sched, int32_t site);

// ---- Replacing ----

// A statement to be replaced: `old` by identity. `made` NULL: it goes, and so do the loops that have
// no other statement.
typedef struct {
  const tvms_node *old;
  tvms_node *TVMS_NULLABLE made;
} tvms_sched_edit;

// Replaces statements of the function; the sites are found anew.
void tvms_sched_replace(tvms_sched *sched, const tvms_sched_edit *edits,
                        uint32_t count);

// The same for one statement.
void tvms_sched_replace_one(tvms_sched *sched, const tvms_node *old, tvms_node *made);

// `root` with statements below it replaced; nothing else changes.
tvms_node *TVMS_NULLABLE tvms_sched_edited(tvms_unit *unit, tvms_node *root,
                                           const tvms_sched_edit *edits,
                                           uint32_t count);

// Puts back the function as it was before.
void tvms_sched_restore(tvms_sched *sched, tvms_node *function);

// A copy of a statement that is another one: its blocks will get numbers of their own, its variables are
// its own, too.
tvms_node *tvms_sched_duplicate(tvms_unit *unit, tvms_node *stmt);

#endif
