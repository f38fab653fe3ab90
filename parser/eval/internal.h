// What the files eval*.c share among themselves and with the readers of statements.
#ifndef TVMS_PARSER_EVAL_INTERNAL_H
#define TVMS_PARSER_EVAL_INTERNAL_H

#include "ir/tir_op.h"
#include "parser/calls.h"
#include "parser/relax/relax.h"

typedef TVMS_VEC(tvms_eval_value) tvms_eval_value_vec;

#endif
