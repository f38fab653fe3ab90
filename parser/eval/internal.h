// What the files eval*.c share among themselves and with the readers of statements.
#ifndef TVMS_PARSER_EVAL_INTERNAL_H
#define TVMS_PARSER_EVAL_INTERNAL_H

#include "parser/calls.h"
#include "parser/eval/ops.h"

typedef TVMS_VEC(tvms_eval_value) tvms_eval_value_vec;

#endif
