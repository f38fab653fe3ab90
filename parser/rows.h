// The rows of ir/calls.def as values: what a namespace has, and what it had.
#ifndef TVMS_PARSER_ROWS_H
#define TVMS_PARSER_ROWS_H

#include "parser/eval/eval.h"

// The releases that have `name` in a namespace: its first row and its last. False if the
// table does not know the name.
bool tvms_row_span(tvms_namespace namespace_, tvms_sym name, tvms_dialect *since,
                   tvms_dialect *until);

// Reports that a namespace has no such name, with near names and the releases that have
// it. Always returns the unknown value.
tvms_eval_value tvms_namespace_report_unknown_name(tvms_reader *reader,
                                                   tvms_namespace namespace_,
                                                   tvms_sym name, tvms_ref ref);

// The value of an attribute of a namespace; reports unknown names.
tvms_eval_value tvms_namespace_attribute(tvms_reader *reader, tvms_namespace namespace_,
                                         tvms_sym name, tvms_ref ref);

// The row that `namespace_` has under `name` in a dialect, or NULL.
const tvms_row *TVMS_NULLABLE tvms_rows_find(tvms_namespace namespace_, tvms_sym name,
                                             tvms_dialect dialect);

// The row with a number from 1 to TVMS_ENTRIES - 1.
const tvms_row *tvms_rows_at(uint32_t index);

#endif
