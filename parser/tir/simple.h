// Statements that hold for what follows them: attributes and lets; what is said of the
// function; and the small ones that stand alone.
#ifndef TVMS_PARSER_TIR_SIMPLE_H
#define TVMS_PARSER_TIR_SIMPLE_H

#include "parser/tir/stmt.h"

// Reports a statement outside a PrimFunc, and returns false then.
TVMS_NODISCARD bool tvms_tir_inside_function(tvms_reader *reader,
                                             const tvms_call_args *call);

// An attribute that holds for what follows.
tvms_node *tvms_tir_attr_new(tvms_reader *reader, tvms_node *node, const char *key,
                             uint32_t key_len, tvms_node *value, tvms_ref ref);

// The frame of an assertion; `kind` is its error kind, or NONE.
tvms_eval_value tvms_tir_assert_frame(tvms_reader *reader, tvms_eval_value condition,
                                      tvms_eval_value message, tvms_eval_value kind,
                                      tvms_ref ref);

#endif
