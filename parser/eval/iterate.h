// What values yield where Python iterates over them.
#ifndef TVMS_PARSER_EVAL_ITERATE_H
#define TVMS_PARSER_EVAL_ITERATE_H

#include "parser/eval/eval.h"

// What an iterable yields, as a list of items in reader->values. Returns false after a
// report if it is not one.
TVMS_NODISCARD bool tvms_eval_iterate(tvms_reader *reader, tvms_eval_value value,
                                      tvms_ref ref, tvms_eval_items *items);

// Reports that nothing can be iterated over, unless it is unknown. Always false.
bool tvms_eval_report_not_iterable(tvms_reader *reader, tvms_eval_value value,
                                   tvms_ref ref);

// Operations of Python's values.
bool tvms_eval_text_iterate(tvms_reader *reader, tvms_eval_value text, tvms_ref ref,
                            tvms_eval_items *items);

// The numbers of a range, within the limit of steps. False after a report.
bool tvms_eval_range_iterate(tvms_reader *reader, tvms_eval_value range, tvms_ref ref,
                             tvms_eval_items *items);

// The keys of a dict, in order. False after a report.
bool tvms_eval_dict_iterate(tvms_reader *reader, tvms_eval_value dict, tvms_ref ref,
                            tvms_eval_items *items);

// What T.meta_var(x) yields: that of x, each as a meta_var. False after a report.
bool tvms_eval_meta_iterate(tvms_reader *reader, tvms_eval_value meta, tvms_ref ref,
                            tvms_eval_items *items);

#endif
