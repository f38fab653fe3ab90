// The room of layouts and views among the others: its number, its kinds of values and their
// operations.
#ifndef TVMS_PARSER_TILE_ROOM_H
#define TVMS_PARSER_TILE_ROOM_H

#include "parser/tir/room.h"

enum { TVMS_TILE_ROOM = 2 };

enum {
  TVMS_TILE_BEFORE_KINDS = TVMS_EVAL_KINDS_OF(TVMS_TILE_ROOM) - 1,
#define VALUE(kind, member, text, ops) TVMS_EVAL_##kind,
#include "parser/tile/values.def"
  TVMS_TILE_END_OF_KINDS,
};

#define COLUMNS_DECLARE
#include "parser/tile/values.def"

#endif
