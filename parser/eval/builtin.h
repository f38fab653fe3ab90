// Python's own functions on constants: len, min, range, enumerate, …
#ifndef TVMS_PARSER_EVAL_BUILTIN_H
#define TVMS_PARSER_EVAL_BUILTIN_H

#include "parser/eval/eval.h"

// The function of Python's builtins under this name, as a value; unknown if the
// evaluation does not have it. Some belong to Python files only.
tvms_eval_value tvms_builtin_find(const tvms_reader *reader, tvms_sym name);

// The function that a misspelt name was meant to be, or NULL.
const char *TVMS_NULLABLE tvms_builtin_nearest(const tvms_reader *reader,
                                               const char *name);

// The name of a value of the kind BUILTIN.
tvms_sym tvms_builtin_name(tvms_eval_value builtin);

// Calls a function of Python's builtins with the arguments of the CALL node `call`,
// by CPython's rules. Unknown after a report.
tvms_eval_value tvms_builtin_call(tvms_reader *reader, tvms_eval_value builtin,
                                  tvms_ref call);

#endif
