// Definitions that could not be read whole are read again with assumptions.
#ifndef TVMS_PARSER_PYTHON_ASSUME_H
#define TVMS_PARSER_PYTHON_ASSUME_H

#include "parser/eval/eval.h"

// Reads `definition`, of which the program's newest module was made, again with what its uses
// say of values that only Python knows (parser/eval/assume.h). If nothing is wrong with one
// of the readings, its module takes the place of the newest one, whose members are
// `assumed` then; nothing is reported of it.
void tvms_python_assume(tvms_reader *reader, tvms_ref definition);

#endif
