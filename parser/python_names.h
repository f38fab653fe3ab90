// Which names Python binds around the definitions of a file.
#ifndef TVMS_PARSER_PYTHON_NAMES_H
#define TVMS_PARSER_PYTHON_NAMES_H

#include "parser/eval/eval.h"

// The unknown value of a name that Python binds: in a function that is called while a definition
// is read it is a result, and nothing else says what it may be.
tvms_eval_value tvms_python_names_unknown(const tvms_reader *reader);

// Binds every name that the statements from `body` on bind in their scope, as unknown, in
// the innermost scope; what the statements say of it comes when they are read. Names that
// functions and classes below bind in scopes of their own are not among them.
void tvms_python_names_bind(tvms_reader *reader, tvms_ref body);

// Binds the names of an assignment's target, or of what is like one, in the same way.
void tvms_python_names_bind_target(tvms_reader *reader, tvms_ref target);

// Makes the names that the statements from `body` on bind unknown.
void tvms_python_names_forget(tvms_reader *reader, tvms_ref body);

// The same for the scope of the file: its statements, and what functions bind in it by
// `global` and expressions by `:=`. Where anything may be bound (a star import, exec), the
// reader takes every name for bound from here on.
void tvms_python_names_bind_file(tvms_reader *reader);

// True if something of the file binds the name, in whatever scope.
bool tvms_python_names_has(const tvms_surface *surface, tvms_sym name);

#endif
