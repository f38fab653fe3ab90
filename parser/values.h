// The tables that the evaluation works with.
#ifndef TVMS_PARSER_VALUES_H
#define TVMS_PARSER_VALUES_H

#include "parser/eval/ops.h"

extern const tvms_eval_tables tvms_parser_tables;

#endif
