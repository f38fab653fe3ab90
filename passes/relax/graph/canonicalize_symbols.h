// What a match_cast says of its symbols, said again wherever they stand.
#ifndef TVMS_PASSES_RELAX_GRAPH_CANONICALIZE_SYMBOLS_H
#define TVMS_PASSES_RELAX_GRAPH_CANONICALIZE_SYMBOLS_H

#include "passes/functions.h"

// `function`, whose nodes lie in `unit`, with known symbols replaced in types and shapes; the
// same if there are none. With `checks`, match_casts that check a size that is defined elsewhere
// stay. Reports match_casts that contradict each other.
tvms_node *tvms_relax_canonicalize_symbols(tvms_pass_run *run, tvms_unit *unit,
                                           tvms_node *function, bool checks);

#endif
