// Names that nothing binds, in the Python around the definitions of a file.
#ifndef TVMS_PARSER_PYTHON_UNDEFINED_H
#define TVMS_PARSER_PYTHON_UNDEFINED_H

#include "parser/eval/eval.h"

// Reports names of the file that nothing binds, wherever they stand outside of its definitions of
// TVMScript, whose reading reports their own. The innermost scope must hold all names of the file
// (tvms_python_names_bind_file); nothing is reported where any name may be bound.
void tvms_python_undefined_report(tvms_reader *reader);

#endif
