// JSON text as values of the evaluation.
#ifndef TVMS_PARSER_JSON_H
#define TVMS_PARSER_JSON_H

#include "parser/eval/eval.h"

// The value of a STR that holds JSON, up to a depth that is enough for what TVM writes: dicts,
// lists, texts, integers, booleans and nothing. They live as long as the reader. Unknown, and
// not reported, if the text is something else.
tvms_eval_value tvms_parser_read_json(tvms_reader *reader, tvms_eval_value text);

#endif
