// Scopes: which value a name has.
#ifndef TVMS_PARSER_EVAL_SCOPE_H
#define TVMS_PARSER_EVAL_SCOPE_H

#include "parser/eval/eval.h"

// Opens a scope whose expressions the same evaluates as those around it, or `evaluator`.
void tvms_scope_push(tvms_reader *reader);

// The same for a scope whose expressions `evaluator` evaluates.
void tvms_scope_push_for(tvms_reader *reader, tvms_evaluator evaluator);

// Closes the innermost scope: its names are gone, and what they hid is visible again.
void tvms_scope_pop(tvms_reader *reader);

// Who evaluates the expressions of the innermost scope.
static inline tvms_evaluator tvms_scope_evaluator(const tvms_reader *reader) {
  return reader->scopes.items[reader->scopes.len - 1].evaluator;
}

// True if operators of the innermost scope are those of Python.
static inline bool tvms_scope_is_python(const tvms_reader *reader) {
  return tvms_scope_evaluator(reader) != TVMS_EVALUATOR_TVM;
}

// Binds `name` in the innermost scope; a binding that this scope has already is replaced.
void tvms_scope_bind(tvms_reader *reader, tvms_sym name, tvms_eval_value value,
                     tvms_span span);

// Binds the words of a place that could not be read, as unknown, but for those that are
// bound already: any of them may be a name that was to be bound there.
void tvms_scope_bind_words(tvms_reader *reader, tvms_span span);

// The innermost visible binding of `name`, or NULL.
tvms_binding *TVMS_NULLABLE tvms_scope_lookup(const tvms_reader *reader, tvms_sym name);

// True if the innermost scope itself binds `name`.
bool tvms_scope_binds_here(const tvms_reader *reader, tvms_sym name);

#endif
