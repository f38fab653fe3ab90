// Data types that the top of a body declares names with.
#ifndef TVMS_PARSER_EVAL_DECLARED_H
#define TVMS_PARSER_EVAL_DECLARED_H

#include "parser/eval/eval.h"

// The dtype that the assignments at the top of a function's body declare a name with:
// `n = T.int64()`. False if they do not.
bool tvms_reader_declared_dtype(tvms_reader *reader, tvms_ref body, tvms_sym name,
                                tvms_dtype *dtype);

#endif
