// Attributes and methods of nodes: `A.data`, `A.shape`, `x.dtype`, `A.vload(…)` …
#ifndef TVMS_PARSER_TIR_ATTRIBUTE_H
#define TVMS_PARSER_TIR_ATTRIBUTE_H

#include "parser/tir/tir.h"

// Attributes and methods of nodes.
tvms_eval_value tvms_tir_node_attribute(tvms_reader *reader, tvms_node *node,
                                        tvms_sym name, tvms_ref ref);
tvms_eval_value tvms_tir_call_node_method(tvms_reader *reader, tvms_node *node,
                                          tvms_sym name, tvms_ref call);

#endif
