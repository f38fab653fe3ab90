// Reading one definition of TVMScript of a Python file, and reading it again.
#ifndef TVMS_PARSER_PYTHON_SCRIPT_H
#define TVMS_PARSER_PYTHON_SCRIPT_H

#include "parser/eval/eval.h"

// Reads a definition in the innermost scope, and again for another call of the function around
// it: of several readings the one stays of which most could be read. `number` is its place in
// the file's list of definitions. What it says that an earlier reading said is not said again.
void tvms_python_script_read(tvms_reader *reader, tvms_ref definition, uint32_t number);

#endif
