// What Python refuses around the definitions of a file.
#ifndef TVMS_PARSER_PYTHON_CHECK_H
#define TVMS_PARSER_PYTHON_CHECK_H

#include "parser/eval/eval.h"

// Reports names that nothing binds, attributes that a class of the file does not have, keys that
// a dict of it does not have, and arguments that a function of the file does not take, in an expression that Python evaluates to
// get definitions. What was reported within it is not reported again.
void tvms_python_check(tvms_reader *reader, tvms_ref expr);

// The same for a list of expressions.
void tvms_python_check_list(tvms_reader *reader, tvms_ref list);

// The same for the defaults of parameters.
void tvms_python_check_defaults(tvms_reader *reader, tvms_ref params);

// The same for the name that the RETURN statement returns.
void tvms_python_check_return(tvms_reader *reader, tvms_ref ref);

// Like tvms_python_check for a call of a plain name; other expressions are left out.
void tvms_python_check_named_call(tvms_reader *reader, tvms_ref expr);

// The same for the arguments of a CALL node alone, which may have names of its own around it.
void tvms_python_check_call(tvms_reader *reader, tvms_ref call);

// A value as the name at `target` has it: of a TypeVar with another name, which is reported, this one is meant.
tvms_eval_value tvms_python_check_name(tvms_reader *reader, tvms_ref target,
                                       tvms_eval_value value);

// Reports the class `def` if one of the modules that its body made, those from `first` on, waits
// for its name: Python binds it behind the body, so it was to be a module. It has no decorator.
void tvms_python_check_bare_class(tvms_reader *reader, const tvms_surf_definition *def,
                                  uint32_t first);

#endif
