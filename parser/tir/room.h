// The room of TIR among the others: its number, its kinds of values and their operations.
#ifndef TVMS_PARSER_TIR_ROOM_H
#define TVMS_PARSER_TIR_ROOM_H

#include "parser/eval/ops.h"

enum { TVMS_TIR_ROOM = 1 };

enum {
  TVMS_TIR_BEFORE_KINDS = TVMS_EVAL_KINDS_OF(TVMS_TIR_ROOM) - 1,
#define VALUE(kind, member, text, ops) TVMS_EVAL_##kind,
#include "parser/tir/values.def"
  TVMS_TIR_END_OF_KINDS,
};

// Flags of values that TIR makes.
enum {
  // NODE: a load that stands for a mutable scalar.
  TVMS_TIR_VALUE_SCALAR = TVMS_EVAL_ROOM_FLAG,
  // NODE: `a == b` or `a != b` of Python, which has a truth …
  TVMS_TIR_VALUE_EQUALITY = TVMS_EVAL_ROOM_FLAG << 1,
  // … namely whether the operands are the same (are not, for !=).
  TVMS_TIR_VALUE_SAME = TVMS_EVAL_ROOM_FLAG << 2,
  // NODE: `x.buffer`, the buffer and not its one element.
  TVMS_TIR_VALUE_WHOLE = TVMS_EVAL_ROOM_FLAG << 3,
  // LIST, TUPLE: an array of TVM, which no single name stands for.
  TVMS_TIR_VALUE_ARRAY = TVMS_EVAL_ROOM_FLAG << 4,
};

#define COLUMNS_DECLARE
#include "parser/tir/values.def"

#endif
