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

#include "ir/module.h"
#include "ir/rewrite.h"

// Installs leave hooks for VAR_BINDING, TUPLE, TUPLE_GET_ITEM, IF, SEQ_EXPR and FUNCTION.
void tvms_relax_retype(tvms_rewriter *rewriter);

// Gives the variable of a VAR_BINDING, a copy that an enter hook made, the type of its value.
tvms_node *tvms_relax_retype_binding(tvms_rewriter *r, tvms_node *node);

// Gives an IF, a copy that an enter hook made, the type that its branches have in common.
tvms_node *tvms_relax_retype_if(tvms_rewriter *r, tvms_node *node);

// The same for a SEQ_EXPR: what its body says to the outside.
tvms_node *tvms_relax_retype_sequence(tvms_rewriter *r, tvms_node *node);

// For a hook that leaves CALL: `node` with the type that its operator or callee gives it for
// the arguments that it has now, if they are not those of the old node. A type that cannot
// be inferred stays as it was.
tvms_node *tvms_relax_retype_call(tvms_rewriter *rewriter, const tvms_module *module,
                                  tvms_node *node);

// Is there an argument whose type the text leaves out, and have all arguments the types that they
// had? Then a call has the type that it had: no rule finds it.
bool tvms_relax_keeps_type(tvms_context *context, tvms_list old, tvms_list now);

#endif
