// The room of Relax among the others: its number, its kinds of values and their operations.
#ifndef TVMS_PARSER_RELAX_ROOM_H
#define TVMS_PARSER_RELAX_ROOM_H

#include "parser/tir/room.h"

enum { TVMS_RELAX_ROOM = 4 };

enum {
  TVMS_RELAX_BEFORE_KINDS = TVMS_EVAL_KINDS_OF(TVMS_RELAX_ROOM) - 1,
#define VALUE(kind, member, text, ops) TVMS_EVAL_##kind,
#include "parser/relax/values.def"
  TVMS_RELAX_END_OF_KINDS,
};

#define COLUMNS_DECLARE
#include "parser/relax/values.def"

#endif
