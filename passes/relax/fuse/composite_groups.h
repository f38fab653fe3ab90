// Calls of composite functions of one back end that can run there together.
#ifndef TVMS_PASSES_RELAX_FUSE_COMPOSITE_GROUPS_H
#define TVMS_PASSES_RELAX_FUSE_COMPOSITE_GROUPS_H

#include "passes/functions.h"

typedef struct {
  uint32_t *group_of;  // by id of a variable: its group + 1; 0: it is bound by none
  uint32_t ids;        // entries of group_of
  uint32_t count;      // of groups
  uint32_t *sizes;     // by group: values in it
  tvms_sym *codegen;   // by group: the back end, or 0
} tvms_composite_groups;

// The part of a composite's name that is the back end's: "dnnl" of "dnnl.conv2d_relu"; 0 for a
// function that is not a composite, and for anything else than the name of a function.
tvms_sym tvms_fuse_composite_codegen(const tvms_module *module,
                                     const tvms_node *callee);

// Finds the groups of a FUNCTION of the unit. A call joins the groups of its arguments that have
// its back end, unless another argument needs such a group through values outside of it: there
// would be a circle. Items of tuples join where the tuple is used for nothing else.
void tvms_fuse_composite_groups(const tvms_module *module, const tvms_unit *unit,
                                const tvms_node *function,
                                tvms_composite_groups *groups);

// Frees what was found.
void tvms_fuse_composite_groups_fini(tvms_memory *memory,
                                     tvms_composite_groups *groups);

#endif
