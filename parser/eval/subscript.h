// `object[index]` of constants.
#ifndef TVMS_PARSER_EVAL_SUBSCRIPT_H
#define TVMS_PARSER_EVAL_SUBSCRIPT_H

#include "parser/eval/eval.h"

// `object[index]`: the operation `subscript` of the room that owns the object.
// Reports what cannot be indexed.
tvms_eval_value tvms_eval_subscript(tvms_reader *reader, tvms_eval_value object,
                                    tvms_eval_value index, tvms_ref ref);

// Reports that the object has no subscript. Always unknown.
tvms_eval_value tvms_eval_report_no_subscript(tvms_reader *reader,
                                              tvms_eval_value object, tvms_ref ref);

// `receiver.name[index]`: the operation `subscript_method` of the receiver, if it has one.
tvms_eval_value tvms_eval_method_subscript(tvms_reader *reader, tvms_eval_value method,
                                           tvms_eval_value index, tvms_ref ref);

// The value under a key of a dict. False if there is none; unknown if the key, or one that
// stands before it, is known to Python only.
bool tvms_eval_dict_find(const tvms_reader *reader, tvms_eval_value dict,
                         tvms_eval_value key, tvms_eval_value *found);

// Operations of Python's values.
tvms_eval_value tvms_eval_sequence_subscript(tvms_reader *reader,
                                             tvms_eval_value object,
                                             tvms_eval_value index, tvms_ref ref);

// The value under a key. A key that is not there is reported; an unknown key gives
// the unknown value.
tvms_eval_value tvms_eval_dict_subscript(tvms_reader *reader, tvms_eval_value dict,
                                         tvms_eval_value key, tvms_ref ref);

// An element of a range, or for a slice the list of its elements.
tvms_eval_value tvms_eval_range_subscript(tvms_reader *reader, tvms_eval_value range,
                                          tvms_eval_value index, tvms_ref ref);

// An element of T.meta_var(x): that of x.
tvms_eval_value tvms_eval_meta_subscript(tvms_reader *reader, tvms_eval_value meta,
                                         tvms_eval_value index, tvms_ref ref);

#endif
