// How many parameters of a function come at run time; those behind them are weights.
#ifndef TVMS_PASSES_RELAX_ANALYSIS_NUM_INPUT_H
#define TVMS_PASSES_RELAX_ANALYSIS_NUM_INPUT_H

#include "ir/node.h"

// The attribute num_input of a FUNCTION; -1: it has none, or one that its parameters cannot have.
int64_t tvms_relax_num_input(const tvms_node *function);

// The same where the number matters: -2 after a report, since the function says a number that it
// cannot have (TVM stops there, too).
int64_t tvms_relax_num_input_checked(tvms_context *context, const tvms_node *function);

// Sets the attribute of a FUNCTION, a copy that lies in `unit`.
void tvms_relax_set_num_input(tvms_unit *unit, tvms_node *function, int64_t count);

#endif
