// Operands of the syntax check: names, literals and brackets. See syntax.h.
#ifndef TVMS_GRAMMAR_SYNTAX_OPERAND_H
#define TVMS_GRAMMAR_SYNTAX_OPERAND_H

#include "grammar/syntax_reader.h"

// A name, literal, bracket or `await` with what is called, indexed and taken of it, or a sign in
// front of such.
tvms_syntax_expr tvms_syntax_operand(tvms_syntax *s, int least);

// The rest of a round bracket; `items`: of `with`, whose targets are read and counted.
tvms_syntax_expr tvms_syntax_group(tvms_syntax *s, uint32_t *TVMS_NULLABLE items);

// `for … in … if …`, once or more.
void tvms_syntax_comprehension(tvms_syntax *s);

#endif
