// EliminateCommonSubexpr: a value that was computed before is not computed again.
#ifndef TVMS_PASSES_RELAX_GRAPH_ELIMINATE_COMMON_SUBEXPR_H
#define TVMS_PASSES_RELAX_GRAPH_ELIMINATE_COMMON_SUBEXPR_H

#include "passes/functions.h"

// What EliminateCommonSubexpr makes of a FUNCTION whose nodes lie in `unit`; the same node if
// there is nothing to do. With keep_objects, what is computed with objects of unknown kind is not shared:
// caches change, and neither is what calls write over.
tvms_node *tvms_relax_share_values(tvms_pass_run *run, tvms_unit *unit,
                                   tvms_node *function, bool keep_objects);

#endif
