// Making functions of the values that look like a pattern.
#ifndef TVMS_PASSES_RELAX_FUSE_PATTERN_GROUPS_H
#define TVMS_PASSES_RELAX_FUSE_PATTERN_GROUPS_H

#include "passes/functions.h"
#include "passes/relax/emit.h"
#include "passes/relax/pattern/pattern.h"
#include "structinfo/definitions.h"

typedef struct tvms_fuse_pattern tvms_fuse_pattern;

struct tvms_fuse_pattern {
  const char *name;     // the functions get it as the attribute Composite
  bool keep_constants;  // inside; else they become parameters
  tvms_relax_emitter *TVMS_NULLABLE names;  // drawn so far, as in tvms_fuse_groups
  void *TVMS_NULLABLE data;
  // The pattern, made of parts of `set` and nodes of `unit`; NULL: there is none, and the function
  // stays.
  tvms_pattern *TVMS_NULLABLE (*build)(const tvms_fuse_pattern *self,
                                       tvms_pattern_set *set, tvms_unit *unit);
  // May this match become a function? NULL: any may.
  bool (*TVMS_NULLABLE fits)(const tvms_fuse_pattern *self,
                             const tvms_pattern_match *match,
                             const tvms_relax_definitions *definitions);
};

// `function`, whose nodes lie in `unit`, with a call in the place of each match; the functions are
// added to the module as private ones. What is in a group stays, unless a later match contains all
// of it. The same function if nothing matches, and one that was made of a pattern or of a group
// itself.
tvms_node *tvms_fuse_pattern_groups(tvms_pass_run *run, tvms_unit *unit,
                                    tvms_node *function,
                                    const tvms_fuse_pattern *pattern);

#endif
