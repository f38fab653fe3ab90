// Where the indices of an access stand in the text, and what is wrong with how they are written.
#ifndef TVMS_PARSER_TIR_INDICES_H
#define TVMS_PARSER_TIR_INDICES_H

#include "parser/eval/eval.h"

// What is indexed: the target of an assignment, or `ref` itself.
tvms_ref tvms_tir_indexed_at(const tvms_reader *reader, tvms_ref ref);

// Where the first index stands: `ref` is a subscript, or an assignment to one. 0: not known.
tvms_ref tvms_tir_first_index(const tvms_reader *reader, tvms_ref ref);

// Where index number `i` stands, or what is indexed if that is not known.
tvms_ref tvms_tir_index_at(const tvms_reader *reader, tvms_ref ref, uint32_t i);

// Reports a region that is used as a value: a slice, or too few indices, as in `A[i]` and
// `A[i][j]`. `ref` is where the value is wanted.
void tvms_tir_report_region(tvms_reader *reader, const tvms_node *region, tvms_ref ref);

#endif
