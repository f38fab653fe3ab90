// Methods of buffers and expressions: `A.vload(…)`, `A.access_ptr("r")`, `x.astype(…)`.
#ifndef TVMS_PARSER_TIR_METHOD_H
#define TVMS_PARSER_TIR_METHOD_H

#include "parser/tir/tir.h"

// `node.name(…)` for a name that the node has as an attribute; unknown after a report.
tvms_eval_value tvms_tir_call_node_method(tvms_reader *reader, tvms_node *node,
                                          tvms_sym name, tvms_ref call);

#endif
