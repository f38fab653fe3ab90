// Expressions of the syntax check, from operators up to lists. See syntax.h.
#ifndef TVMS_GRAMMAR_SYNTAX_EXPR_H
#define TVMS_GRAMMAR_SYNTAX_EXPR_H

#include "grammar/syntax_reader.h"

// What binds more tightly than what: the least strength of an operator that may stand in an operation.
enum {
  SYNTAX_OR = 1,
  SYNTAX_AND,
  SYNTAX_NOT,
  SYNTAX_COMPARE,
  SYNTAX_BIT_OR,
  SYNTAX_BIT_XOR,
  SYNTAX_BIT_AND,
  SYNTAX_SHIFT,
  SYNTAX_SUM,
  SYNTAX_PRODUCT,
  SYNTAX_SIGN,
};

// Operands with operators between them that are at least so strong.
tvms_syntax_expr tvms_syntax_operation(tvms_syntax *s, int least);

// With a condition or `lambda`.
tvms_syntax_expr tvms_syntax_expression(tvms_syntax *s);

// An expression that may be named: `n := 4`.
tvms_syntax_expr tvms_syntax_named(tvms_syntax *s);

// The same, or a starred one.
tvms_syntax_expr tvms_syntax_item(tvms_syntax *s);

// Expressions with commas between them.
tvms_syntax_expr tvms_syntax_list(tvms_syntax *s);

// The same, or `yield`.
tvms_syntax_expr tvms_syntax_value(tvms_syntax *s);

// Adds an item to a tuple or list: what of it is not a target.
void tvms_syntax_note_item(tvms_syntax_expr *list, const tvms_syntax_expr *item);

// What a loop binds, up to `in`.
tvms_syntax_expr tvms_syntax_loop_targets(tvms_syntax *s);

#endif
