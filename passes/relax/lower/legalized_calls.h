// Calls of one function that were legalised: the layers of a model call the same operators on
// the same types again and again, and each of those calls would describe, build and compare a
// PrimFunc that is there already.
#ifndef TVMS_PASSES_RELAX_LOWER_LEGALIZED_CALLS_H
#define TVMS_PASSES_RELAX_LOWER_LEGALIZED_CALLS_H

#include "support/vec.h"
#include "te/legalize_call.h"

typedef struct {
  const tvms_call *call;
  tvms_sym symbol;  // of the PrimFunc
  tvms_legalized legalized;
  uint32_t before;  // 1 + place of the call of the same operator before it; 0: none
} tvms_relax_legalized_entry;

typedef struct {
  tvms_memory *memory;
  TVMS_VEC(tvms_relax_legalized_entry) entries;
  uint32_t last[TVMS_OP_COUNT + 1];  // by operator: 1 + place of its last call; 0: none
} tvms_relax_legalized_calls;

// Knows no call yet.
void tvms_relax_legalized_calls_init(tvms_relax_legalized_calls *calls,
                                     tvms_memory *memory);

// Frees what `calls` has of its own; the nodes are their unit's.
void tvms_relax_legalized_calls_fini(tvms_relax_legalized_calls *calls);

// Keeps what `call` became. All nodes belong to the unit of the function that is changed, and
// must stay as they are while `calls` is in use.
void tvms_relax_legalized_calls_keep(tvms_relax_legalized_calls *calls,
                                     const tvms_call *call, tvms_sym symbol,
                                     const tvms_legalized *legalized);

// Finds a call that differs from `call` in the tensors that it is given only, not in their
// types or in which of them are one. Returns true with *symbol of its PrimFunc and *legalized
// of this call but for the function, which may be gone; new nodes lie in `unit`.
TVMS_NODISCARD bool
tvms_relax_legalized_calls_find(const tvms_relax_legalized_calls *calls,
                                tvms_unit *unit, const tvms_call *call,
                                tvms_sym *symbol, tvms_legalized *legalized);

#endif
