// A Relax function: its signature, declared before bodies are read, and its body.
#ifndef TVMS_PARSER_RELAX_FUNCTION_H
#define TVMS_PARSER_RELAX_FUNCTION_H

#include "parser/eval/eval.h"
#include "parser/relax/state.h"

// The local function at `def`: the value of a binding. NULL if something of it is unknown.
// `*reserved` is the variable that it knows itself by if it calls itself, else NULL.
tvms_node *TVMS_NULLABLE tvms_relax_local_function(tvms_reader *reader, tvms_ref def,
                                                   tvms_decoration decoration,
                                                   tvms_node **reserved);

// Declares the function at `def`: evaluates its signature so that other functions can
// call it (member->function may become a FUNCTION without body). Called for all functions
// of a module before any body is read; reader->unit is the member's.
void tvms_relax_declare(tvms_reader *reader, const tvms_def *def, tvms_member *member);

// Reads the function at `def` into member->function; leaves it NULL when something of it
// is unknown. reader->unit is the member's.
void tvms_relax_function(tvms_reader *reader, const tvms_def *def, tvms_member *member);

#endif
