// Mistakes that the syntax check finds: one for each statement. See syntax.h.
#ifndef TVMS_GRAMMAR_SYNTAX_FAULT_H
#define TVMS_GRAMMAR_SYNTAX_FAULT_H

#include "grammar/syntax_reader.h"

// Reports row `id` as the mistake of the statement; a throw-away finding if it has one.
tvms_diag *tvms_syntax_fault_at(tvms_syntax *s, tvms_diag_id id, tvms_span span, ...);

// Takes a finding of the lexer for the mistake of the statement.
void tvms_syntax_adopt(tvms_syntax *s, tvms_diag *diag);

// Gives the statement up at the token at hand. `expected` is empty or says what would do: "; expected ':'".
void tvms_syntax_refuse(tvms_syntax *s, const char *expected);

// The statement of the mistake ends where the next one begins.
void tvms_syntax_end_fault(tvms_syntax *s, uint32_t end);

typedef enum { SYNTAX_ASSIGNS, SYNTAX_SINGLE, SYNTAX_DELETES } tvms_syntax_use;

// Reports what is not a target of the use, if anything in the expression is not.
void tvms_syntax_check_target(tvms_syntax *s, const tvms_syntax_expr *expr,
                              tvms_syntax_use use);

#endif
