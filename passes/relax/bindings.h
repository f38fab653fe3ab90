// Rewriting the bindings of Relax functions: values replaced, bindings put before them.
#ifndef TVMS_PASSES_RELAX_BINDINGS_H
#define TVMS_PASSES_RELAX_BINDINGS_H

#include "ir/rewrite.h"
#include "passes/edit.h"
#include "support/vec.h"

typedef struct {
  tvms_node **items;
  uint32_t len;
  uint32_t cap;
} tvms_binding_vec;

// A rewriter that knows the block it is in. `rewriter.self` is the binder; set hooks for
// CALL and so on, which may call tvms_binder_emit.
typedef struct {
  tvms_rewriter rewriter;
  tvms_unit *unit;
  void *self;                 // of the pass
  tvms_binding_vec bindings;  // of the block being made
  bool dataflow;              // it is a dataflow block
  tvms_node_map values;       // VAR → the value that it is bound to, so far
  // Names given to emitted variables: how often each was asked for.
  struct {
    tvms_sym *items;
    uint32_t len;
    uint32_t cap;
  } names;
} tvms_relax_binder;

void tvms_binder_init(tvms_relax_binder *binder, tvms_unit *unit, void *self);
void tvms_binder_fini(tvms_relax_binder *binder);

// Binds `value`, which has its StructInfo, to a new variable before the binding being
// rewritten, and returns the variable. Its name is `name`, name1, name2 …
tvms_node *tvms_binder_emit(tvms_relax_binder *binder, tvms_node *value,
                            const char *name);

// Adds a finished binding to the block being made.
void tvms_binder_add(tvms_relax_binder *binder, tvms_node *binding);

// The value behind a variable that is bound in the block, through copies; else the node.
const tvms_node *tvms_value_of(const tvms_relax_binder *binder, const tvms_node *node);

#endif
