// Comprehensions and targets: what Python itself evaluates.
#ifndef TVMS_PARSER_EVAL_COMPREHENSION_H
#define TVMS_PARSER_EVAL_COMPREHENSION_H

#include "parser/eval/eval.h"

// The value of a comprehension or generator expression at `ref`, in scopes of its
// own. Steps and size are limited; then the value is unknown.
tvms_eval_value tvms_eval_comprehension(tvms_reader *reader, tvms_ref ref);

// Binds the names of a comprehension target (NAME, TUPLE, LIST, STAR) to the parts of a value.
bool tvms_eval_bind_target(tvms_reader *reader, tvms_ref target, tvms_eval_value value);

#endif
