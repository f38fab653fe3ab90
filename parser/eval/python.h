// Operators on constants, as Python has them: numbers, text, sequences.
#ifndef TVMS_PARSER_EVAL_PYTHON_H
#define TVMS_PARSER_EVAL_PYTHON_H

#include "parser/eval/eval.h"

// Truth of a value in the sense of Python. Returns false in `*known` for values that have
// none (IR expressions, unknown).
bool tvms_eval_value_truth(const tvms_reader *reader, tvms_eval_value value,
                           bool *known);

// Python's equality of two values that are not IR expressions.
bool tvms_eval_values_equal(const tvms_reader *reader, tvms_eval_value a,
                            tvms_eval_value b);

// A unary operator of Python's own values. Unknown after a report.
tvms_eval_value tvms_eval_python_unary(tvms_reader *reader, tvms_surf_op op,
                                       tvms_eval_value a, tvms_ref ref);

// A binary operator of Python's own values, by CPython's rules in 64 bits. Unknown
// after a report.
tvms_eval_value tvms_eval_python_binary(tvms_reader *reader, tvms_surf_op op,
                                        tvms_eval_value a, tvms_eval_value b,
                                        tvms_ref ref);

// The constant that `value` counts as where Python wants one, or `value` itself.
tvms_eval_value tvms_eval_constant_of(const tvms_reader *reader, tvms_eval_value value);

#endif
