// Attributes that the body of a class of Python gives it.
#ifndef TVMS_PARSER_EVAL_CLASS_H
#define TVMS_PARSER_EVAL_CLASS_H

#include "parser/eval/eval.h"

// Whether a statement of the file may give an object an attribute of the name.
typedef bool tvms_eval_sets_attribute(const tvms_reader *reader, tvms_sym name);

// An unknown value that has the attributes which are bound in the innermost scope. What else a class is and does only Python knows. `others` says which
// attributes it may have besides. The values live as long as the file is read.
tvms_eval_value tvms_eval_class_make(tvms_reader *reader,
                                     tvms_eval_sets_attribute *others);

// True of what tvms_eval_class_make made.
static inline bool tvms_eval_is_class(tvms_eval_value value) {
  return value.kind == TVMS_EVAL_UNKNOWN && value.flags & TVMS_EVAL_OF_CLASS;
}

// The attribute `name`, or an unknown value. Reports one that is misspelt; `ref` is the whole
// `object.name`.
tvms_eval_value tvms_eval_class_attribute(tvms_reader *reader, tvms_eval_value object,
                                          tvms_sym name, tvms_ref ref);

#endif
