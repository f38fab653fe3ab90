// From values to expressions of TIR.
#ifndef TVMS_PARSER_TIR_CONVERT_H
#define TVMS_PARSER_TIR_CONVERT_H

#include "parser/eval/eval.h"

// A value of TIR: int32 (int64 if it does not fit), float32, bool, string, region → load.
// Returns NULL after a report, or silently if the value is unknown.
tvms_node *TVMS_NULLABLE tvms_eval_to_expr(tvms_reader *reader, tvms_eval_value value,
                                           tvms_ref ref);

// The same for each item of a sequence (or for one value that is not a sequence).
TVMS_NODISCARD bool tvms_eval_to_exprs(tvms_reader *reader, tvms_eval_value value,
                                       tvms_ref ref, tvms_list *list);

#endif
