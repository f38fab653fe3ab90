// A PrimFunc as a whole: what its decorator says, its signature, its body.
#ifndef TVMS_PARSER_TIR_FUNCTION_H
#define TVMS_PARSER_TIR_FUNCTION_H

#include "parser/tir/tir.h"

// Reads the function into member->function; leaves it NULL when something is unknown.
void tvms_tir_function(tvms_reader *reader, const tvms_def *def, tvms_member *member);

#endif
