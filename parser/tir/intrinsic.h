// Calls of operators of TIR: generic ones by their row's rule, the special ones by hand.
#ifndef TVMS_PARSER_TIR_INTRINSIC_H
#define TVMS_PARSER_TIR_INTRINSIC_H

#include "parser/tir/tir.h"

// Arguments of a call of an operator: values, buffers, strings. False if one is unknown.
TVMS_NODISCARD bool tvms_tir_to_arguments(tvms_reader *reader, tvms_eval_value args,
                                          tvms_ref ref, tvms_list *list);

// T.tvm_access_ptr of five values: type, pointer, offset, extent, mask; unknown after a
// report.
tvms_eval_value tvms_tir_access_ptr(tvms_reader *reader,
                                    const tvms_eval_value values[5],
                                    const tvms_ref refs[5], tvms_ref ref);

// A type given as an argument: text, a data type, or `T.handle("float32").ty`, whose
// pointer type goes to `*sinfo`. False after a report.
TVMS_NODISCARD bool tvms_tir_to_result_type(tvms_reader *reader, tvms_eval_value value,
                                            tvms_ref ref, tvms_dtype *dtype,
                                            tvms_node *TVMS_NULLABLE *sinfo);

// Replaces buffers among the arguments of a packed call by T.tvm_stack_make_array.
tvms_node *TVMS_NULLABLE tvms_tir_pack_buffer(tvms_reader *reader, tvms_node *buffer,
                                              tvms_ref ref);

// T.address_of(value).
tvms_eval_value tvms_tir_address_of(tvms_reader *reader, tvms_eval_value value,
                                    tvms_ref ref);

// A pointer type: SINFO_POINTER.
tvms_node *tvms_tir_pointer_type(tvms_reader *reader, tvms_dtype element,
                                 tvms_sym scope);

#endif
