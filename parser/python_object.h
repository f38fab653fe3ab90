// Objects of the classes of a Python file: what `__init__` gives them.
#ifndef TVMS_PARSER_PYTHON_OBJECT_H
#define TVMS_PARSER_PYTHON_OBJECT_H

#include "parser/eval/eval.h"

// What `self` is in the methods of a class whose body begins at `body`: an unknown value with the
// attributes that `__init__` sets in its own statements, if no other statement of the file sets
// one of the name. Its parameters have their defaults, as in functions that nothing calls.
// Unknown if there are none. The values live as long as the file is read.
tvms_eval_value tvms_python_object_of(tvms_reader *reader, tvms_ref body);

#endif
