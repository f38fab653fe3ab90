// Reading a module: its class or function, decorators, members.
#ifndef TVMS_PARSER_MODULE_H
#define TVMS_PARSER_MODULE_H

#include "parser/eval/eval.h"

// The definition at `ref` of the file: a class or a function. Adds modules to the program.
void tvms_definition_read(tvms_reader *reader, tvms_ref ref);

#endif
