// CanonicalizeBindings: bindings that only give another name to something.
#ifndef TVMS_PASSES_RELAX_GRAPH_CANONICALIZE_BINDINGS_H
#define TVMS_PASSES_RELAX_GRAPH_CANONICALIZE_BINDINGS_H

#include "passes/functions.h"

// What CanonicalizeBindings makes of a FUNCTION whose nodes lie in `unit`; the same node if
// there is nothing to do.
tvms_node *tvms_relax_canonicalize(tvms_pass_run *run, tvms_unit *unit,
                                   tvms_node *function);

// The same, but match_casts that check a size that is defined elsewhere stay.
tvms_node *tvms_relax_canonicalize_checked(tvms_pass_run *run, tvms_unit *unit,
                                           tvms_node *function);

#endif
