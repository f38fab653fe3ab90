// `object.name`, and the methods of text, lists and dicts.
#ifndef TVMS_PARSER_EVAL_ATTRIBUTE_H
#define TVMS_PARSER_EVAL_ATTRIBUTE_H

#include "parser/eval/eval.h"

// An attribute of a value, as `object.name` in the text; unknown names are reported.
tvms_eval_value tvms_eval_attribute(tvms_reader *reader, tvms_eval_value object,
                                    tvms_sym name, tvms_ref ref);

// The METHOD `receiver.name`.
tvms_eval_value tvms_eval_bound_method(tvms_reader *reader, tvms_eval_value receiver,
                                       tvms_sym name);

// Calls a METHOD.
tvms_eval_value tvms_eval_call_method(tvms_reader *reader, tvms_eval_value method,
                                      tvms_ref call);

// Reports that the object has no such attribute. Always unknown.
tvms_eval_value tvms_eval_report_no_attribute(tvms_reader *reader,
                                              tvms_eval_value object, tvms_sym name,
                                              tvms_ref ref);

// The same with near names out of those that the object has, at most 32.
tvms_eval_value tvms_eval_report_no_attribute_of(tvms_reader *reader,
                                                 tvms_eval_value object, tvms_sym name,
                                                 tvms_ref ref, const tvms_sym *known,
                                                 uint32_t count);

// Only the report, for who knows more about it; the definition has failed.
tvms_diag *tvms_eval_report_attribute(tvms_reader *reader, tvms_eval_value object,
                                      tvms_sym name, tvms_ref ref);

// `bits`, `lanes` and `dtype` of a DTYPE or DTYPE_NAME. False: it is another name.
bool tvms_eval_dtype_part(tvms_eval_value object, tvms_sym name,
                          tvms_eval_value *value);

// Operations of Python's values.
tvms_eval_value tvms_eval_text_attribute(tvms_reader *reader, tvms_eval_value text,
                                         tvms_sym name, tvms_ref ref);

// Calls a method of str, as Python has it. Limits of split and replace are not
// supported, which is reported.
tvms_eval_value tvms_eval_text_method(tvms_reader *reader, tvms_eval_value text,
                                      tvms_sym name, tvms_ref call);

// A method of list or tuple as a value that can be called: index, count. Another name
// is reported.
tvms_eval_value tvms_eval_list_attribute(tvms_reader *reader, tvms_eval_value list,
                                         tvms_sym name, tvms_ref ref);

// Calls a method of list or tuple that tvms_eval_list_attribute gave.
tvms_eval_value tvms_eval_list_method(tvms_reader *reader, tvms_eval_value list,
                                      tvms_sym name, tvms_ref call);

// A method of dict as a value that can be called: keys, values, items, get.
tvms_eval_value tvms_eval_dict_attribute(tvms_reader *reader, tvms_eval_value dict,
                                         tvms_sym name, tvms_ref ref);

// Calls a method of dict that tvms_eval_dict_attribute gave.
tvms_eval_value tvms_eval_dict_method(tvms_reader *reader, tvms_eval_value dict,
                                      tvms_sym name, tvms_ref call);

// slice.start, stop and step; None where the slice does not say.
tvms_eval_value tvms_eval_slice_attribute(tvms_reader *reader, tvms_eval_value slice,
                                          tvms_sym name, tvms_ref ref);

// The number of bits or lanes of a data type as an object, or one of its methods.
tvms_eval_value tvms_eval_dtype_attribute(tvms_reader *reader, tvms_eval_value dtype,
                                          tvms_sym name, tvms_ref ref);

// An attribute of T.meta_var(x): that of x.
tvms_eval_value tvms_eval_meta_attribute(tvms_reader *reader, tvms_eval_value meta,
                                         tvms_sym name, tvms_ref ref);

#endif
