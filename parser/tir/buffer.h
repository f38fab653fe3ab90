// Declaring buffers: T.Buffer, T.match_buffer, T.alloc_buffer, T.decl_buffer, scalars.
#ifndef TVMS_PARSER_TIR_BUFFER_H
#define TVMS_PARSER_TIR_BUFFER_H

#include "parser/tir/stmt.h"
#include "parser/tir/tir.h"

// Emits the statement that allocates `buffer` (0.24 on).
void tvms_tir_emit_alloc(tvms_reader *reader, tvms_node *buffer,
                         tvms_node *TVMS_NULLABLE annotations, tvms_ref ref);

// Emits the statement that declares `buffer` over `data`.
void tvms_tir_emit_decl(tvms_reader *reader, tvms_node *buffer, tvms_node *data,
                        tvms_ref ref);

// A mutable scalar of 0.25 on: allocates a buffer of one element; the value is its load, marked
// TVMS_TIR_VALUE_SCALAR.
tvms_eval_value tvms_tir_scalar_new(tvms_reader *reader, tvms_dtype dtype,
                                    tvms_sym scope, tvms_ref ref);

#endif
