// Functions and constants of Python's module math and of numpy that only compute a number.
#ifndef TVMS_PARSER_PYTHON_MATH_H
#define TVMS_PARSER_PYTHON_MATH_H

#include "parser/eval/eval.h"

// The value of the name `path`, as "math.pi"; unknown if it is none of them.
tvms_eval_value tvms_python_math_constant(const char *path);

// True if `path`, as "math.sqr", is a name that Python's math does not have; `*near` is the
// nearest one that it has, or NULL.
bool tvms_python_math_lacks(const char *path, const char *TVMS_NULLABLE *near);

// What the function `path`, as "math.ceil", returns for the arguments of `call`; unknown if
// it is none of them, or Python alone knows. Nothing is reported.
tvms_eval_value tvms_python_math_call(tvms_reader *reader, const char *path,
                                      tvms_ref call);

#endif
