// Scopes: which value a name has.
#ifndef TVMS_PARSER_EVAL_NAMES_H
#define TVMS_PARSER_EVAL_NAMES_H

#include "parser/eval/eval.h"

void tvms_scope_push(tvms_reader *reader);
void tvms_scope_pop(tvms_reader *reader);

// Binds `name` in the innermost scope; a binding that this scope has already is replaced.
void tvms_scope_bind(tvms_reader *reader, tvms_sym name, tvms_eval_value value,
                     tvms_span span);

// The innermost visible binding of `name`, or NULL.
tvms_binding *TVMS_NULLABLE tvms_scope_lookup(const tvms_reader *reader, tvms_sym name);

// True if the innermost scope itself binds `name`.
bool tvms_scope_binds_here(const tvms_reader *reader, tvms_sym name);

#endif
