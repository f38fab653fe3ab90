// f-strings.
#ifndef TVMS_PARSER_EVAL_STRING_H
#define TVMS_PARSER_EVAL_STRING_H

#include "parser/eval/eval.h"

// The text of the f-string, or of the adjacent strings of which one is such, at `ref`;
// unknown after a report.
tvms_eval_value tvms_eval_fstring(tvms_reader *reader, tvms_ref ref);

#endif
