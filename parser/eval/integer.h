// Operators on Python's integers.
#ifndef TVMS_PARSER_EVAL_INTEGER_H
#define TVMS_PARSER_EVAL_INTEGER_H

#include "parser/eval/eval.h"

// True for INT and BOOL.
static inline bool tvms_eval_integer_is(tvms_eval_value value) {
  return value.kind == TVMS_EVAL_INT || value.kind == TVMS_EVAL_BOOL;
}

// `a op b` of two integers: arithmetic, bits and shifts. Unknown after a report: the result
// is not between -2**63 and 2**64 - 1, or the operator does not apply.
tvms_eval_value tvms_eval_integer_binary(tvms_reader *reader, tvms_surf_op op,
                                         tvms_eval_value a, tvms_eval_value b,
                                         tvms_ref ref);

// `-a`, `+a`, `~a`.
tvms_eval_value tvms_eval_integer_unary(tvms_reader *reader, tvms_surf_op op,
                                        tvms_eval_value a, tvms_ref ref);

// -1, 0 or 1: how the two compare.
int tvms_eval_integer_order(tvms_eval_value a, tvms_eval_value b);

// The nearest double.
double tvms_eval_integer_real(tvms_eval_value value);

#endif
