// Changing the dtypes of indices: what NarrowDataType, ForceNarrowIndexToInt32 and the tensorize step share.
//
// A rewriter with all hooks that keep a function well typed while variables, constants and
// casts in indices change their width: operands are brought together again, loops and
// bindings follow their variable. Which of them change is for the pass to say.
#ifndef TVMS_IR_INDEX_DTYPE_H
#define TVMS_IR_INDEX_DTYPE_H

#include "ir/rewrite.h"

typedef struct tvms_index_dtypes tvms_index_dtypes;
struct tvms_index_dtypes {
  tvms_rewriter rewriter;  // its `self` is this
  bool enabled;            // at an index, at bounds of a loop, in what defines a buffer
  bool condition;          // inside a condition, where comparisons count as indices
  // Operands that differ afterwards are rewritten once more with `enabled`, and comparisons
  // are no exception (NarrowDataType); otherwise comparisons are enabled in conditions only.
  bool retries;
  tvms_node_map vars;  // VAR -> what stands for it
  void *self;          // of the pass
};

// Prepares the hooks of statements and of what combines expressions, in the caller's
// storage; the pass adds those of VAR, INT_IMM and CAST. `fini` frees what it holds.
void tvms_index_dtypes_init(tvms_index_dtypes *d, tvms_unit *unit, void *self);

// Frees what `d` holds; the nodes it made stay with the unit.
void tvms_index_dtypes_fini(tvms_index_dtypes *d);

// `node` rewritten with `enabled` as given.
tvms_node *tvms_index_dtypes_rewrite(tvms_index_dtypes *d, tvms_node *node,
                                     bool enabled);

// What stands for a variable; the variable itself if nothing does.
tvms_node *tvms_index_dtypes_var(const tvms_index_dtypes *d, tvms_node *var);

// A variable of that dtype stands for `var` from now on.
void tvms_index_dtypes_replace(tvms_index_dtypes *d, tvms_node *var, tvms_dtype dtype);

#endif
