// Statements that hold for what follows them: attributes and lets; what is said of the
// function; and the small ones that stand alone.
#ifndef TVMS_PARSER_TIR_SIMPLE_H
#define TVMS_PARSER_TIR_SIMPLE_H

#include "parser/tir/stmt.h"

// False after a report that the call stands outside a PrimFunc.
TVMS_NODISCARD bool tvms_tir_inside_function(tvms_reader *reader,
                                             const tvms_call_args *call);

// The statement of an attribute of `node` that holds for what follows; nothing is emitted.
tvms_node *tvms_tir_attr_new(tvms_reader *reader, tvms_node *node, const char *key,
                             uint32_t key_len, tvms_node *value, tvms_ref ref);

// The frame of an assertion; `kind` is its error kind, or NONE. Unknown after a report.
tvms_eval_value tvms_tir_assert_frame(tvms_reader *reader, tvms_eval_value condition,
                                      tvms_eval_value message, tvms_eval_value kind,
                                      tvms_ref ref);

#endif
