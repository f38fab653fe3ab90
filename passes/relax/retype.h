// Keeping StructInfo true while the values of a Relax function are rewritten.
//
//   tvms_rewriter_init(&rewriter, unit, &state);
//   tvms_relax_retype(&rewriter);             // first, then the hooks of the pass
//   rewriter.leave[TVMS_NODE_CALL] = legalize;
//
// A hook gives each new value its type; what follows from it is done here, as TVM's
// ExprMutator and BlockBuilder do: a variable whose value changed has the type of the new
// one, tuples, their items, branches and sequences have the types of their parts, and a
// function returns what its body gives. Where no value changed, no type of a value does,
// whatever the source says it is.
#ifndef TVMS_PASSES_RELAX_RETYPE_H
#define TVMS_PASSES_RELAX_RETYPE_H

#include "ir/rewrite.h"

// Installs leave hooks for VAR_BINDING, TUPLE, TUPLE_GET_ITEM, IF, SEQ_EXPR and FUNCTION.
void tvms_relax_retype(tvms_rewriter *rewriter);

#endif
