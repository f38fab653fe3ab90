// Simple statements in the syntax check. See syntax.h.
#ifndef TVMS_GRAMMAR_SYNTAX_STMT_H
#define TVMS_GRAMMAR_SYNTAX_STMT_H

#include "grammar/syntax_reader.h"

// Simple statements up to and with the end of their line.
void tvms_syntax_simples(tvms_syntax *s);

// What follows an expression that begins a line of simple statements: '=', an annotation, more statements.
void tvms_syntax_after_value(tvms_syntax *s, tvms_syntax_expr value);

#endif
