// What all declarations of a buffer share: their parameters, read from a bound call, and
// the node that is made of them.
#ifndef TVMS_PARSER_TIR_BUFFER_FORM_H
#define TVMS_PARSER_TIR_BUFFER_FORM_H

#include "parser/tir/tir.h"

// The buffer that a form describes, with TVM's values for what the form does not give.
tvms_node *tvms_tir_buffer_make(tvms_reader *reader, const tvms_buffer_form *form,
                                tvms_ref ref);

// Reads the form from the arguments of a call. False after a report.
TVMS_NODISCARD bool tvms_tir_buffer_form_of(tvms_reader *reader,
                                            const tvms_call_args *call,
                                            tvms_buffer_form *form);

// The form of a mutable scalar: a buffer of one element.
void tvms_tir_scalar_form(tvms_reader *reader, tvms_dtype dtype, tvms_sym scope,
                          tvms_buffer_form *form);

// The same read from the arguments of a call. False after a report.
TVMS_NODISCARD bool tvms_tir_scalar_form_of(tvms_reader *reader,
                                            const tvms_call_args *call,
                                            tvms_buffer_form *form);

#endif
