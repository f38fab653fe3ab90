// The room of intrinsics among the others: its number, its kinds of values and their
// operations.
#ifndef TVMS_PARSER_DEVICE_ROOM_H
#define TVMS_PARSER_DEVICE_ROOM_H

#include "parser/tir/room.h"

enum { TVMS_DEVICE_ROOM = 3 };

enum {
  TVMS_DEVICE_BEFORE_KINDS = TVMS_EVAL_KINDS_OF(TVMS_DEVICE_ROOM) - 1,
#define VALUE(kind, member, text, ops) TVMS_EVAL_##kind,
#include "parser/device/values.def"
  TVMS_DEVICE_END_OF_KINDS,
};

#define COLUMNS_DECLARE
#include "parser/device/values.def"

#endif
