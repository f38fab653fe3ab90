// Buffers made from another one without a statement: A.get_flattened_buffer(),
// A.with_dtype(…), A.with_data(…), A.with_allocated_addr(…).
#ifndef TVMS_PARSER_TIR_COPY_H
#define TVMS_PARSER_TIR_COPY_H

#include "parser/tir/stmt.h"

// A.get_flattened_buffer(), A.with_dtype(…), A.with_data(…), A.with_allocated_addr(…): a
// buffer that no statement declares. Unknown after a report.
tvms_eval_value tvms_tir_copy_method(tvms_reader *reader, tvms_node *buffer,
                                     tvms_sym name, tvms_ref call);

#endif
