// Making functions of groups of bindings: what FuseOps and fusion by patterns have in common.
#ifndef TVMS_PASSES_RELAX_FUSE_GROUP_FUNCTIONS_H
#define TVMS_PASSES_RELAX_FUSE_GROUP_FUNCTIONS_H

#include "passes/functions.h"
#include "passes/relax/emit.h"

// Which bindings of a function belong together. Groups are numbered from 0.
typedef struct {
  const uint32_t *group_of;  // by id of a variable: its group + 1; 0: it is in none
  uint32_t ids;              // entries of group_of
  uint32_t count;            // of groups
  const uint32_t *sizes;     // by group: values in it. A single one stays as it is …
  // … unless its group has attributes here: an OBJECT_MAP of them, which the function gets
  // beside Primitive. By group; NULL: none has.
  tvms_node *const *TVMS_NULLABLE attrs;
  bool keep_constants;  // they stay inside instead of becoming parameters
  // Names that calls have drawn in the functions before; NULL: each function begins anew.
  tvms_relax_emitter *TVMS_NULLABLE names;
} tvms_fuse_groups;

// `function` with a call in the place of each group of one of its dataflow blocks. The
// functions of the groups are added to the module as private ones with the attribute
// Primitive, equal ones once. A group stands where its first binding did, behind what it
// needs; one whose values nobody uses goes.
// The same function if there is no group to make.
tvms_node *tvms_fuse_groups_apply(tvms_pass_run *run, tvms_unit *unit,
                                  tvms_node *function, const tvms_fuse_groups *groups);

#endif
