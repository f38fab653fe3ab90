// `object.name`, and the methods of text, lists and dicts.
#ifndef TVMS_PARSER_EVAL_ATTRIBUTE_H
#define TVMS_PARSER_EVAL_ATTRIBUTE_H

#include "parser/eval/eval.h"
#include "parser/eval/internal.h"

// An attribute of a value, as `object.name` in the text; unknown names are reported.
tvms_eval_value tvms_eval_attribute(tvms_reader *reader, tvms_eval_value object,
                                    tvms_sym name, tvms_ref ref);

tvms_eval_value tvms_eval_call_method(tvms_reader *reader, tvms_eval_value method,
                                      tvms_ref call);

#endif
