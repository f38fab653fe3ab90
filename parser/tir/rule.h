// Calls of operators by the rule of their row in ir/calls.def: how the arguments become
// nodes, and which type the call has.
#ifndef TVMS_PARSER_TIR_RULE_H
#define TVMS_PARSER_TIR_RULE_H

#include "parser/tir/tir.h"

// Replaces buffers among the arguments of a packed call by T.tvm_stack_make_array.
tvms_node *TVMS_NULLABLE tvms_tir_pack_buffer(tvms_reader *reader, tvms_node *buffer,
                                              tvms_ref ref);

#endif
