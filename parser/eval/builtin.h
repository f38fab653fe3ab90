// Python's own functions on constants: len, min, range, enumerate, …
#ifndef TVMS_PARSER_EVAL_BUILTIN_H
#define TVMS_PARSER_EVAL_BUILTIN_H

#include "parser/eval/eval.h"

tvms_eval_value tvms_builtin_find(tvms_sym name);
tvms_eval_value tvms_builtin_call(tvms_reader *reader, tvms_eval_value builtin,
                                  tvms_ref call);

#endif
