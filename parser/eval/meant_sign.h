// Signs that stand in place of another one: `x == value` for `x = value`, `x = T.int32` for
// `x: T.int32`.
#ifndef TVMS_PARSER_EVAL_MEANT_SIGN_H
#define TVMS_PARSER_EVAL_MEANT_SIGN_H

#include "parser/eval/eval.h"

// A statement `x == e`, or `x, y == e`, whose names nothing binds was meant as a binding: reports
// that, and the names are bound, unknown. False if the expression is another one.
bool tvms_eval_report_equality(tvms_reader *reader, tvms_ref expr);

// The same of an ANN_ASSIGN: `x: T.int32 == e`, which is an annotation alone.
bool tvms_eval_report_annotated_equality(tvms_reader *reader, tvms_ref stmt);

// What was meant by the PARAM at `param`, of which `diag` says that its annotation is missing: a
// default in place of the annotation, at whose '=' the finding is then, or Python's `self`. False:
// neither.
bool tvms_eval_explain_untyped(tvms_reader *reader, tvms_diag *diag, tvms_ref param);

#endif
