// The spelling of the prototype of 2022: reported, and read as what it means.
#ifndef TVMS_PARSER_PROTOTYPE_H
#define TVMS_PARSER_PROTOTYPE_H

#include "parser/eval/eval.h"

// What the prototype called `name`, if the text is read as the prototype and the name was
// renamed since; else the unknown value, without a report. `ref` is the ATTRIBUTE.
tvms_eval_value tvms_prototype_name(tvms_reader *reader, tvms_namespace namespace_,
                                    tvms_sym name, tvms_ref ref);

// Before the arguments of CALL are evaluated: defines the variables of the shape in
// `R.match_shape(x, shape)`, and names what is spelled otherwise today.
void tvms_prototype_call(tvms_reader *reader, const tvms_row *row, tvms_ref call);

// Says that a decorator is usually spelled otherwise today.
void tvms_prototype_decorator(tvms_reader *reader, tvms_sym name, tvms_ref callee);

#endif
