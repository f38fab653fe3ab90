// Operators: what they mean is the business of one of the operands.
#ifndef TVMS_PARSER_EVAL_OPERATOR_H
#define TVMS_PARSER_EVAL_OPERATOR_H

#include "parser/eval/eval.h"

// Applies a binary operator or a comparison to two values.
tvms_eval_value tvms_eval_binary(tvms_reader *reader, tvms_surf_op op,
                                 tvms_eval_value a, tvms_eval_value b, tvms_ref ref);

// Applies a unary operator to a value; the room of the value decides what it means.
// Unknown after a report.
tvms_eval_value tvms_eval_unary(tvms_reader *reader, tvms_surf_op op, tvms_eval_value a,
                                tvms_ref ref);

// `a and b` or `a or b` of two values, both evaluated: of constants as in Python, of
// expressions as the room of the operands has it.
tvms_eval_value tvms_eval_logical(tvms_reader *reader, bool is_and, tvms_eval_value a,
                                  tvms_eval_value b, tvms_ref ref);

// `and` and `or` as Python has them, by the truth of `a`.
tvms_eval_value tvms_eval_python_logical(tvms_reader *reader, bool is_and,
                                         tvms_eval_value a, tvms_eval_value b,
                                         tvms_ref ref);

// Reports that the operator does not apply to the two. Always unknown.
tvms_eval_value tvms_eval_report_bad_operands(tvms_reader *reader, tvms_surf_op op,
                                              tvms_eval_value a, tvms_eval_value b,
                                              tvms_ref ref);

// Where the sign of the operation at `ref` stands; the whole of one without two operands.
tvms_span tvms_eval_operator_span(const tvms_reader *reader, tvms_ref ref,
                                  tvms_surf_op op);

#endif
