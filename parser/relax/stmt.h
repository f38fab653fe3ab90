// Statements of a Relax function: bindings, dataflow blocks, If, local functions, return.
#ifndef TVMS_PARSER_RELAX_STMT_H
#define TVMS_PARSER_RELAX_STMT_H

#include "parser/eval/eval.h"
#include "parser/relax/state.h"

// Reads the statements of a function into the block builder. What is wrong is
// reported, and reading goes on.
// Reads the statements of a body, `body` being the first, into the open block; what is wrong
// is reported, and then the function has failed.
void tvms_relax_body(tvms_reader *reader, tvms_ref body);

// Expands the body of an R.macro in place; its value is what it returns. How often it was
// expanded before, `calls`, makes no difference.
tvms_eval_value tvms_relax_expand(tvms_reader *reader, tvms_ref body, uint32_t calls,
                                  tvms_ref call);

#endif
