// Loops and branches: T.serial … T.grid, T.While, T.If.
#ifndef TVMS_PARSER_TIR_LOOP_H
#define TVMS_PARSER_TIR_LOOP_H

#include "parser/tir/stmt.h"
#include "parser/tir/tir.h"

// False after a report that `while` cannot have this condition.
TVMS_NODISCARD bool tvms_tir_check_while(tvms_reader *reader,
                                         const tvms_node *condition, tvms_ref ref);

// `for … in range(…)`: the frame of a serial loop. Unknown after a report.
tvms_eval_value tvms_tir_range_loop(tvms_reader *reader, tvms_ref call);

// The simplifier of arith/ over the unit being read.
tvms_node *tvms_tir_simplified(tvms_reader *reader, tvms_node *node);

#endif
