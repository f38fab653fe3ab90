// New bindings of Relax functions, under the names that TVM's BlockBuilder gives them.
#ifndef TVMS_PASSES_RELAX_EMIT_H
#define TVMS_PASSES_RELAX_EMIT_H

#include "ir/rewrite.h"
#include "support/counts.h"

// Names given so far: the n-th variable asked for as `alloc` is alloc, alloc1, alloc2 …
typedef struct {
  tvms_unit *unit;
  tvms_memory *memory;  // of the names; units come and go
  tvms_counts names;    // how often each was asked for
} tvms_relax_emitter;

// Prepares an emitter in the caller's storage; `fini` frees what it holds.
void tvms_relax_emitter_init(tvms_relax_emitter *emitter, tvms_unit *unit);

// Frees what the emitter holds; nodes stay with the unit.
void tvms_relax_emitter_fini(tvms_relax_emitter *emitter);

// A VAR_BINDING of `value`, which has its StructInfo, to a new variable; `dataflow`: one
// that only its dataflow block sees.
tvms_node *tvms_relax_bind(tvms_relax_emitter *emitter, tvms_node *value,
                           const char *name, bool dataflow);

// A MATCH_CAST of `value` to `type`, which a new variable has; `dataflow` as in tvms_relax_bind.
tvms_node *tvms_relax_bind_cast(tvms_relax_emitter *emitter, tvms_node *value,
                                tvms_node *type, const char *name, bool dataflow);

// Binds `value` in front of the binding that the rewriter is at, and returns the variable.
// In a dataflow block it is one of the block.
tvms_node *tvms_relax_emit(tvms_relax_emitter *emitter, tvms_rewriter *rewriter,
                           tvms_node *value, const char *name);

#endif
