// What goes into and comes out of the groups of a block, for the functions that are made of
// them.
#ifndef TVMS_PASSES_RELAX_FUSE_GROUP_COLLECT_H
#define TVMS_PASSES_RELAX_FUSE_GROUP_COLLECT_H

#include "passes/relax/fuse/group_functions.h"
#include "structinfo/definitions.h"
#include "support/strbuf.h"

// An argument of the call of a group. Of a tuple that is taken apart inside there is one
// for each item that is taken.
typedef struct {
  tvms_node *value;         // of the caller
  bool items_only;          // a tuple of which only items are taken …
  TVMS_VEC(int64_t) items;  // … these, in the order in which they are
} tvms_fuse_argument;

// Nodes are the caller's.
typedef struct {
  tvms_node_vec bindings;  // those of the block at hand
  TVMS_VEC(tvms_fuse_argument) args;
  tvms_node_vec outputs;     // variables used outside the group
  TVMS_VEC(uint32_t) needs;  // groups whose values it uses
  tvms_strbuf name;
  uint32_t constants;  // parameters that have no name of their own
  bool written;
} tvms_fuse_group;

typedef struct {
  tvms_pass_run *run;
  const tvms_fuse_groups *given;
  tvms_relax_definitions definitions;  // of the function
  tvms_fuse_group *groups;
} tvms_fuse_collector;

// Fills in the groups that have bindings among these, those of one block.
void tvms_fuse_groups_collect(tvms_fuse_collector *f, tvms_list bindings);

// Frees what a group holds; it counts as written from now on.
void tvms_fuse_group_drop(tvms_fuse_collector *f, tvms_fuse_group *g);

// The group of a variable, or UINT32_MAX.
uint32_t tvms_fuse_group_of(const tvms_fuse_collector *f, const tvms_node *var);

// Does a group become a function? UINT32_MAX does not.
bool tvms_fuse_group_is_made(const tvms_fuse_collector *f, uint32_t index);

// Is the variable bound in the group?
bool tvms_fuse_group_defines(const tvms_fuse_group *g, const tvms_node *var);

// Is it one of the group's outputs?
bool tvms_fuse_group_gives(const tvms_fuse_group *g, const tvms_node *var);

// The literal that a variable from outside is bound to, or NULL.
tvms_node *TVMS_NULLABLE tvms_fuse_group_literal(const tvms_fuse_collector *f,
                                                 tvms_node *var);

#endif
