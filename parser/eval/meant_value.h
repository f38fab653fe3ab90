// Values of a wrong type that are nearly right: a name in quotes, a set for a dict.
#ifndef TVMS_PARSER_EVAL_MEANT_VALUE_H
#define TVMS_PARSER_EVAL_MEANT_VALUE_H

#include "parser/eval/eval.h"

// Adds to `diag` what the string that stands at `ref` was meant to be: one of those in quotes that
// the finding names, a variable, or a number. False: nothing is known, or no string stands there.
bool tvms_eval_explain_text(tvms_reader *reader, tvms_diag *diag, tvms_ref ref);

// Adds to `diag`, which asks for `expected` and got `value`, what is to be changed about the
// expression at `ref`. False: nothing is known.
bool tvms_eval_explain_value(tvms_reader *reader, tvms_diag *diag, tvms_ref ref,
                             const char *expected, tvms_eval_value value);

// Adds to the report of an operator without an operand in front that `x =+ y` was meant as `x += y`; the
// finding is at the sign then.
void tvms_eval_explain_sign(tvms_reader *reader, tvms_diag *diag, tvms_ref ref);

#endif
