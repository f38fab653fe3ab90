// Objects of TIR that stand beside expressions: ranges, iterators, reducers, index maps.
#ifndef TVMS_PARSER_TIR_OBJECT_H
#define TVMS_PARSER_TIR_OBJECT_H

#include "parser/tir/tir.h"

// The extent of what goes from `begin` to `end`: the folded difference. TVM prints the end
// as a sum of both, so that its text grows when it is read and printed: of printed text
// the extent is taken as it was. NULL after a report.
tvms_node *TVMS_NULLABLE tvms_tir_extent_between(tvms_reader *reader, tvms_node *begin,
                                                 tvms_node *end, tvms_span span);

// A lambda over indices as an INDEX_MAP with one result. NULL after a report.
tvms_node *TVMS_NULLABLE tvms_tir_lambda_operand(tvms_reader *reader,
                                                 tvms_eval_value lambda, tvms_ref ref);

#endif
