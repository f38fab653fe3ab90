// The room of files and modules among the others: its number, its kinds of values and their
// operations.
#ifndef TVMS_PARSER_ROOM_H
#define TVMS_PARSER_ROOM_H

#include "parser/eval/ops.h"

enum { TVMS_FILE_ROOM = 5 };

enum {
  TVMS_FILE_BEFORE_KINDS = TVMS_EVAL_KINDS_OF(TVMS_FILE_ROOM) - 1,
#define VALUE(kind, member, text, ops) TVMS_EVAL_##kind,
#include "parser/file_values.def"
  TVMS_FILE_END_OF_KINDS,
};

#define COLUMNS_DECLARE
#include "parser/file_values.def"

#endif
