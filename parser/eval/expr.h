// Expressions: one function for each kind of surface node.
#ifndef TVMS_PARSER_EVAL_EXPR_H
#define TVMS_PARSER_EVAL_EXPR_H

#include "parser/eval/eval.h"

// Evaluates an expression. Everything wrong in it is reported, once; then the value is
// unknown.
tvms_eval_value tvms_eval(tvms_reader *reader, tvms_ref expr);

// The same of what gets another name: an imported name stays what it is, wherever it leads.
tvms_eval_value tvms_eval_alias(tvms_reader *reader, tvms_ref expr);

// Reports, once for a text, that it is nested too deeply; the unknown value.
tvms_eval_value tvms_eval_report_too_deep(tvms_reader *reader, tvms_ref ref);

// The same for an operand of an operator: a slice inside of it has a step, as in a
// value.
tvms_eval_value tvms_eval_operand(tvms_reader *reader, tvms_ref ref);

// An index as in `object[index]`: slices become SLICE values.
tvms_eval_value tvms_eval_index(tvms_reader *reader, tvms_ref index, bool operand);

// Evaluates an item of a list, spreading `*item`. False: something is unknown.
bool tvms_eval_push_starred(tvms_reader *reader, tvms_ref item,
                            tvms_eval_value_vec *items);

#endif
