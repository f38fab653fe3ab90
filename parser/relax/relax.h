// What the rest of parser/ asks of the reading of Relax (relax*.c).
//
// R and everything below it is a TVMS_EVAL_RELAX or a row of ir/calls.def; a value of
// Relax is a TVMS_EVAL_NODE whose node has StructInfo (tvms_relax_is_expr).
#ifndef TVMS_PARSER_RELAX_RELAX_H
#define TVMS_PARSER_RELAX_RELAX_H

#include "parser/eval/eval.h"

#endif
