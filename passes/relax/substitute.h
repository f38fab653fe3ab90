// Putting values in the place of symbols: shapes are simplified, and types that mention no
// symbol any more become the one type that is equal to them.
#ifndef TVMS_PASSES_RELAX_SUBSTITUTE_H
#define TVMS_PASSES_RELAX_SUBSTITUTE_H

#include "ir/rewrite.h"
#include "structinfo/dims.h"

// `node` with each variable that `map` knows replaced everywhere, in types too.
tvms_node *tvms_relax_substitute(tvms_unit *unit, tvms_node *node,
                                 const tvms_node_map *map);

// For hooks of a pass that replaces symbols by itself. Both get what a node became after its
// parts were rewritten, and `old`, what it was: a SHAPE_EXPR …
tvms_node *tvms_relax_substituted_shape(tvms_rewriter *r, tvms_prover *prover,
                                        tvms_node *node, const tvms_node *old);

// … and StructInfo.
tvms_node *tvms_relax_substituted_type(tvms_rewriter *r, tvms_prover *prover,
                                       tvms_node *node, const tvms_node *old);

#endif
