// Symbolic variables that the annotations of a signature define.
#ifndef TVMS_PARSER_RELAX_SYMBOLS_H
#define TVMS_PARSER_RELAX_SYMBOLS_H

#include "parser/relax/state.h"

// Symbolic variables that the annotation of a parameter defines: strings in shapes that
// are names, and type variables. They are bound in the innermost scope.
void tvms_relax_define_symbols(tvms_reader *reader, tvms_ref annotation);

// The same for the annotation of the result, where only the parameters of a function type
// define variables.
void tvms_relax_define_result_symbols(tvms_reader *reader, tvms_ref annotation);

#endif
