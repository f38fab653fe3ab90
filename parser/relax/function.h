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

// Options of R.function.
enum { TVMS_RELAX_OPTION_IMPURE = TVMS_OPTION_ROOM };

// Relax functions: how they and the expressions in them are read.
extern const tvms_language tvms_relax_language;

// The decorators below R that this room reads.
extern const tvms_decorators tvms_relax_decorators;

#endif
