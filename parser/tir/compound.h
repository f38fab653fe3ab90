// Statements of a PrimFunc that hold others: loops, If, with.
#ifndef TVMS_PARSER_TIR_COMPOUND_H
#define TVMS_PARSER_TIR_COMPOUND_H

#include "parser/tir/tir.h"

// `for target in loop:`, the statement at `ref`. This and the following read the statements
// inside; what is wrong is reported, and then the function has failed.
void tvms_tir_read_for(tvms_reader *reader, tvms_ref ref);

// `while condition:`.
void tvms_tir_read_while(tvms_reader *reader, tvms_ref ref);

// `if test:`; a test that is known now leaves the branch taken.
void tvms_tir_read_if(tvms_reader *reader, tvms_ref ref);

// `with frame as target, …:`.
void tvms_tir_read_with(tvms_reader *reader, tvms_ref ref);

#endif
