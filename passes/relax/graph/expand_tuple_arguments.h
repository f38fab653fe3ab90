// ExpandTupleArguments: private functions take the fields of tuples one by one.
#ifndef TVMS_PASSES_RELAX_GRAPH_EXPAND_TUPLE_ARGUMENTS_H
#define TVMS_PASSES_RELAX_GRAPH_EXPAND_TUPLE_ARGUMENTS_H

#include "passes/functions.h"

// What ExpandTupleArguments does to the module. With `checks`, match_casts that check a size that is
// defined elsewhere stay.
void tvms_relax_expand_tuple_arguments(tvms_pass_run *run, bool checks);

#endif
