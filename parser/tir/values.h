// What can be done with values of TIR (parser/eval/ops.h), for the rooms above that have
// operations of their own for some nodes.
#ifndef TVMS_PARSER_TIR_VALUES_H
#define TVMS_PARSER_TIR_VALUES_H

#include "parser/eval/ops.h"
#include "parser/tir/operator.h"

// What every node has, as the first initialiser of its operations.
#define TVMS_NODE_OPERATIONS                                                           \
  .rank = TVMS_TIR_ROOM, .describe = tvms_node_describe, .binary = tvms_tir_binary,    \
  .unary = tvms_tir_unary, .logical = tvms_tir_logical, .choose = tvms_tir_choose,     \
  .truth = tvms_node_truth, .print = tvms_node_print

// What a node is, for messages: "buffer 'A'", "variable 'n'", "an expression of type
// int32".
const char *tvms_node_describe(tvms_reader *reader, tvms_eval_value value);

// The truth of a node in the sense of Python; `*known` is false where it has none, as
// for expressions.
bool tvms_node_truth(tvms_eval_value value, bool *known);

// Appends the text that str() gives for a node. False: it has none.
bool tvms_node_print(tvms_reader *reader, tvms_strbuf *out, tvms_eval_value value);

// The operation `attribute` of expressions, buffers and the like.
tvms_eval_value tvms_tir_attribute(tvms_reader *reader, tvms_eval_value object,
                                   tvms_sym name, tvms_ref ref);

// Calls a method of an expression or of another node that knows no other room.
tvms_eval_value tvms_tir_method(tvms_reader *reader, tvms_eval_value receiver,
                                tvms_sym name, tvms_ref call);

#endif
