// Operators: constants of Python, values of TIR, values of Relax.
#ifndef TVMS_PARSER_EVAL_OPERATOR_H
#define TVMS_PARSER_EVAL_OPERATOR_H

#include "parser/eval/eval.h"
#include "parser/eval/internal.h"

// Applies a binary operator or a comparison to two values.
tvms_eval_value tvms_eval_binary(tvms_reader *reader, tvms_surf_op op,
                                 tvms_eval_value a, tvms_eval_value b, tvms_ref ref);

tvms_eval_value tvms_eval_unary(tvms_reader *reader, tvms_surf_op op, tvms_eval_value a,
                                tvms_ref ref);
tvms_eval_value tvms_eval_logical(tvms_reader *reader, bool is_and, tvms_eval_value a,
                                  tvms_eval_value b, tvms_ref ref);
tvms_eval_value tvms_eval_if(tvms_reader *reader, tvms_eval_value test,
                             tvms_eval_value yes, tvms_eval_value no, tvms_ref ref);

// True for nodes that operators of TIR apply to.
bool tvms_eval_is_tir_operand(tvms_eval_value value);

// `left op right` of bits, where one may be a Python int.
tvms_node *TVMS_NULLABLE tvms_eval_bits(tvms_reader *reader, tvms_tir_opcode op,
                                        tvms_eval_value left, tvms_eval_value right,
                                        tvms_ref ref);

#endif
