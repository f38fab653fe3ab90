// Attributes that the body of a class of Python gives it.
#ifndef TVMS_PARSER_EVAL_CLASS_H
#define TVMS_PARSER_EVAL_CLASS_H

#include "parser/eval/eval.h"

// An unknown value that has the attributes which are bound in the innermost scope and known.
// What else a class is and does only Python knows. The values live as long as the file is
// read.
tvms_eval_value tvms_eval_class_make(tvms_reader *reader);

// True of what tvms_eval_class_make made.
static inline bool tvms_eval_is_class(tvms_eval_value value) {
  return value.kind == TVMS_EVAL_UNKNOWN && value.flags & TVMS_EVAL_OF_CLASS;
}

// The attribute `name`, or an unknown value.
tvms_eval_value tvms_eval_class_attribute(tvms_eval_value object, tvms_sym name);

#endif
