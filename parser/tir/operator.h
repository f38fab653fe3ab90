// Operators on values of TIR.
#ifndef TVMS_PARSER_TIR_OPERATOR_H
#define TVMS_PARSER_TIR_OPERATOR_H

#include "ir/tir_op.h"
#include "parser/eval/eval.h"

// True for values that operators of TIR apply to: expressions, loop variables and buffers
// of one element, which stand for it.
bool tvms_eval_is_tir_operand(tvms_eval_value value);

// The operation `binary` (parser/eval/ops.h) where an operand is a node.
tvms_eval_value tvms_tir_binary(tvms_reader *reader, tvms_surf_op op, tvms_eval_value a,
                                tvms_eval_value b, tvms_ref ref);

// The operation `unary` (parser/eval/ops.h) of a node: a negation, `not` or `~` of
// TIR, folded.
tvms_eval_value tvms_tir_unary(tvms_reader *reader, tvms_surf_op op, tvms_eval_value a,
                               tvms_ref ref);

// The operation `logical` of nodes: T.And or T.Or, where Python's `and` and `or` mean
// them. Unknown after a report.
tvms_eval_value tvms_tir_logical(tvms_reader *reader, bool is_and, tvms_eval_value left,
                                 tvms_eval_value right, tvms_ref ref);

// The operation `choose` of `yes if test else no` with a node as test:
// T.if_then_else. Unknown after a report.
tvms_eval_value tvms_tir_choose(tvms_reader *reader, tvms_eval_value test,
                                tvms_eval_value yes, tvms_eval_value no, tvms_ref ref);

// `left op right` of bits, where one may be a Python int. NULL after a report.
tvms_node *TVMS_NULLABLE tvms_eval_bits(tvms_reader *reader, tvms_tir_opcode op,
                                        tvms_eval_value left, tvms_eval_value right,
                                        tvms_ref ref);

#endif
