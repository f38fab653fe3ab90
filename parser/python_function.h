// Functions of Python that a file defines: their calls are followed.
#ifndef TVMS_PARSER_PYTHON_FUNCTION_H
#define TVMS_PARSER_PYTHON_FUNCTION_H

#include "parser/eval/eval.h"

// A value for the DEF at `ref`, which sees what is visible now; unknown if nothing asks for it
// or a decorator makes something else of it.
tvms_eval_value tvms_python_function_make(tvms_reader *reader, tvms_ref ref);

// Calls a function of Python's with the arguments of the CALL node: its value, unknown if it
// does more than to compute one. Nothing is reported.
tvms_eval_value tvms_python_function_call(tvms_reader *reader, tvms_eval_value callee,
                                          tvms_ref call);

// Reports arguments of the CALL node that Python refuses, of a function that has no decorator and
// that the file defines once.
void tvms_python_function_check(tvms_reader *reader, tvms_eval_value callee,
                                tvms_ref call);

// Follows the body of the DEF at `ref` as if it was called by who is not in the file: with
// what pytest's parametrize says, and the defaults of parameters; all else is unknown.
void tvms_python_function_run(tvms_reader *reader, tvms_ref ref);

// Reads the definitions in the body of the DEF at `ref`, once for each of its calls that were
// gathered; `every`: once, with nothing known, whatever is reached.
void tvms_python_function_read(tvms_reader *reader, tvms_ref ref, bool every);

#endif
