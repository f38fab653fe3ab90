// What reading, each pass, verification and printing of a run took, as a tree.
#ifndef TVMS_DRIVER_TIMING_H
#define TVMS_DRIVER_TIMING_H

#include "passes/manager.h"
#include "support/strbuf.h"

// Something that takes time, and its parts in the order in which they began.
typedef struct tvms_timing_node tvms_timing_node;
struct tvms_timing_node {
  const char *name;
  bool is_group;   // takes what its parts take: what is shown between passes is not its
  double seconds;  // of all its runs; of a group, unused
  double began;
  tvms_timing_node *TVMS_NULLABLE parent;
  tvms_timing_node *TVMS_NULLABLE first;
  tvms_timing_node *TVMS_NULLABLE last;
  tvms_timing_node *TVMS_NULLABLE next;
  // The part that comes next when the same is done again, for another module.
  tvms_timing_node *TVMS_NULLABLE due;
};

typedef struct {
  tvms_arena *arena;
  tvms_timing_node all, reading, passes, verification, printing;
  tvms_timing_node *at;
} tvms_timing;

// Begins to measure; nodes live in `arena`. `timing` must stay where it is.
void tvms_timing_init(tvms_timing *timing, tvms_arena *arena);

// Starts one of the members `reading`, `passes`, `printing`.
void tvms_timing_start(tvms_timing *timing, tvms_timing_node *node);

// Stops it. Parts of passes are measured between the two.
void tvms_timing_stop(tvms_timing *timing, tvms_timing_node *node);

// For the hook `begin` of passes/manager.h; `self` is a tvms_timing. Verification counts apart
// from the pass behind which it happens.
void tvms_timing_begin(void *self, tvms_pass_phase phase, const char *name);

// For the hook `end`.
void tvms_timing_end(void *self);

// Appends the tree: milliseconds, share of all, name, indented by depth.
void tvms_timing_show(const tvms_timing *timing, tvms_strbuf *out);

// Appends the tree as an object of JSON: {"file": …, "timing": {"name", "microseconds",
// "parts"}}.
void tvms_timing_json(const tvms_timing *timing, const char *file, tvms_strbuf *out);

#endif
