// Arguments of an operator of Relax as nodes, each by the kind of its parameter.
#ifndef TVMS_PARSER_RELAX_ARGUMENT_H
#define TVMS_PARSER_RELAX_ARGUMENT_H

#include "parser/relax/state.h"

// A call being bound: parameters by index, then what the node will hold.
typedef struct {
  tvms_reader *reader;
  tvms_opcode op;
  tvms_ref ref;
  const tvms_op_signature *signature;
  tvms_eval_value values[TVMS_MAX_PARAMS];
  tvms_ref refs[TVMS_MAX_PARAMS];
  TVMS_VEC(tvms_node *) args;
  TVMS_VEC(tvms_span) spans;  // of args
  tvms_node *attrs[16];
  tvms_list type_args;
  bool sound;  // everything is known
} tvms_relax_op_call;

// Adds an argument of the node; NULL makes the call unsound.
void tvms_relax_give(tvms_relax_op_call *call, tvms_node *TVMS_NULLABLE node,
                     tvms_ref ref);

// Parameter `i` as a node. NULL after a report, or if it is unknown.
tvms_node *TVMS_NULLABLE tvms_relax_argument(tvms_relax_op_call *call, uint32_t i);

// The size of a storage.
tvms_node *TVMS_NULLABLE tvms_relax_storage_size(tvms_relax_op_call *call,
                                                 tvms_eval_value value, tvms_ref ref);

// Parameter `i` as types of the result: one, or (`several`) a list of them. False after a
// report.
bool tvms_relax_take_types(tvms_relax_op_call *call, uint32_t i, bool several);

// Parameter `i` as the attribute that it is.
void tvms_relax_take_attr(tvms_relax_op_call *call, uint32_t i);

// All parameters from `first` on, in order: arguments, attributes, types.
void tvms_relax_bind_params(tvms_relax_op_call *call, uint32_t first);

#endif
