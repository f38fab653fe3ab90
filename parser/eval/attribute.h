// `object.name`, and the methods of text, lists and dicts.
#ifndef TVMS_PARSER_EVAL_ATTRIBUTE_H
#define TVMS_PARSER_EVAL_ATTRIBUTE_H

#include "parser/eval/eval.h"

// An attribute of a value, as `object.name` in the text; unknown names are reported.
tvms_eval_value tvms_eval_attribute(tvms_reader *reader, tvms_eval_value object,
                                    tvms_sym name, tvms_ref ref);

// The METHOD `receiver.name`.
tvms_eval_value tvms_bound_method(tvms_reader *reader, tvms_eval_value receiver,
                                  tvms_sym name);

// Calls a METHOD.
tvms_eval_value tvms_eval_call_method(tvms_reader *reader, tvms_eval_value method,
                                      tvms_ref call);

// Reports that the object has no such attribute. Always unknown.
tvms_eval_value tvms_no_attribute(tvms_reader *reader, tvms_eval_value object,
                                  tvms_sym name, tvms_ref ref);

// `bits`, `lanes` and `dtype` of a DTYPE or DTYPE_NAME. False: it is another name.
bool tvms_dtype_part(tvms_eval_value object, tvms_sym name, tvms_eval_value *value);

// Operations of Python's values.
tvms_eval_value tvms_text_attribute(tvms_reader *reader, tvms_eval_value text,
                                    tvms_sym name, tvms_ref ref);
tvms_eval_value tvms_text_method(tvms_reader *reader, tvms_eval_value text,
                                 tvms_sym name, tvms_ref call);
tvms_eval_value tvms_list_attribute(tvms_reader *reader, tvms_eval_value list,
                                    tvms_sym name, tvms_ref ref);
tvms_eval_value tvms_list_method(tvms_reader *reader, tvms_eval_value list,
                                 tvms_sym name, tvms_ref call);
tvms_eval_value tvms_dict_attribute(tvms_reader *reader, tvms_eval_value dict,
                                    tvms_sym name, tvms_ref ref);
tvms_eval_value tvms_dict_method(tvms_reader *reader, tvms_eval_value dict,
                                 tvms_sym name, tvms_ref call);
tvms_eval_value tvms_slice_attribute(tvms_reader *reader, tvms_eval_value slice,
                                     tvms_sym name, tvms_ref ref);
tvms_eval_value tvms_dtype_attribute(tvms_reader *reader, tvms_eval_value dtype,
                                     tvms_sym name, tvms_ref ref);
tvms_eval_value tvms_meta_attribute(tvms_reader *reader, tvms_eval_value meta,
                                    tvms_sym name, tvms_ref ref);

#endif
