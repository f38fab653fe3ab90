// Operators that LegalizeOps writes in terms of other values of Relax, before or instead of a
// PrimFunc: of a size, of collectives, of what only a packed function can do.
#ifndef TVMS_PASSES_RELAX_LOWER_EXPAND_OPS_H
#define TVMS_PASSES_RELAX_LOWER_EXPAND_OPS_H

#include "passes/relax/mutator.h"
#include "structinfo/definitions.h"
#include "te/legalize_call.h"

typedef struct tvms_expansion tvms_expansion;

// What an expansion needs of the pass.
struct tvms_expansion {
  tvms_relax_mutator *mutator;
  const tvms_relax_definitions *definitions;  // of the function as it was
  const tvms_node *old;                       // the call as it was
  // Legalises a call that was made on the way; the same call if that cannot be done.
  tvms_node *(*legalize)(tvms_expansion *e, tvms_node *call);
  // A call of the PrimFunc for `call`, or for a part of it; NULL: there is none.
  tvms_node *TVMS_NULLABLE (*compute)(tvms_expansion *e, tvms_node *call,
                                      tvms_legal_part part);
};

// What takes the place of `call`: a leaf or a call in A-normal form, whose parts are bound and
// legalised, but which is not itself. NULL: the operator has no expansion, or not in this form.
tvms_node *TVMS_NULLABLE tvms_relax_expand_op(tvms_expansion *e, tvms_node *call);

// Binds a value to a new variable in front of the binding that is rewritten.
tvms_node *tvms_relax_expansion_bind(tvms_expansion *e, tvms_node *value);

// Is what takes the place of `call` a constant? Then nothing computes it.
bool tvms_relax_becomes_constant(const tvms_node *call);

// The call with its tuple of operands written out, where the operator takes its items one
// by one: items of a tuple that is bound elsewhere are bound to variables. `call` itself if
// there is nothing to do.
tvms_node *tvms_relax_open_operands(tvms_expansion *e, tvms_node *call);

// A call of the packed function that TVM has for an operator without PrimFunc, or NULL.
tvms_node *TVMS_NULLABLE tvms_relax_expand_to_packed(tvms_expansion *e,
                                                     tvms_node *call);

#endif
