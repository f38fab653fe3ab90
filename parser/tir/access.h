// Using buffers: indices, regions, loads, stores.
#ifndef TVMS_PARSER_TIR_ACCESS_H
#define TVMS_PARSER_TIR_ACCESS_H

#include "parser/tir/stmt.h"
#include "parser/tir/tir.h"

// Emits the store of a value that has the dtype of its place.
void tvms_tir_store_stmt(tvms_reader *reader, tvms_node *buffer,
                         tvms_node *const *indices, uint32_t count, tvms_node *value,
                         tvms_node *TVMS_NULLABLE predicate, tvms_ref ref);

// The operation `subscript` (parser/eval/ops.h) of buffers, regions and expressions.
// Unknown after a report.
tvms_eval_value tvms_tir_subscript(tvms_reader *reader, tvms_eval_value object,
                                   tvms_eval_value index, tvms_ref ref);

// `buffer[index]`: an element, a vector or a region, by what the indices are. Unknown
// after a report.
tvms_eval_value tvms_tir_buffer_subscript(tvms_reader *reader, tvms_node *buffer,
                                          tvms_eval_value index, tvms_ref ref);

// A region where a value is expected: its slices become ramps. NULL after a report.
tvms_node *TVMS_NULLABLE tvms_tir_region_load(tvms_reader *reader, tvms_node *region,
                                              tvms_ref ref);

// Emits `buffer[indices] = value`; indices may hold slices. After a report the function has
// failed.
void tvms_tir_store_into(tvms_reader *reader, tvms_node *buffer,
                         tvms_eval_value indices, tvms_eval_value value,
                         tvms_node *TVMS_NULLABLE predicate, tvms_ref ref);

// An access `buffer[indices]`, checked against the rank. NULL after a report.
tvms_node *TVMS_NULLABLE tvms_tir_load(tvms_reader *reader, tvms_node *buffer,
                                       tvms_node *const *indices, uint32_t count,
                                       tvms_node *TVMS_NULLABLE predicate,
                                       tvms_ref ref);

// Whether `node` is a buffer of shape (1,).
bool tvms_tir_is_one_element(const tvms_node *node);

// Whether the name of the buffer stands for its element, too: from 0.25 on that of a buffer of
// one element does.
bool tvms_tir_is_scalar_buffer(const tvms_reader *reader, const tvms_node *node);

// All of a buffer, as a region.
tvms_node *tvms_tir_whole_region(tvms_reader *reader, tvms_node *buffer, tvms_ref ref);

// 1 in the scalar dtype of an index.
tvms_node *tvms_tir_one_like(tvms_reader *reader, const tvms_node *node);

// A buffer, region or element as a region. NULL after a report that `what` must be one.
tvms_node *TVMS_NULLABLE tvms_tir_to_region(tvms_reader *reader, tvms_eval_value value,
                                            const char *what, tvms_ref ref);

#endif
