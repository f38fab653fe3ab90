// Tile programs of 0.25 on: views of buffers and tile primitives.
#ifndef TVMS_PARSER_TILE_TILE_H
#define TVMS_PARSER_TILE_TILE_H

#include "parser/tir/tir.h"

void tvms_tile_exit_compose(tvms_reader *reader, tvms_frame *frame);

#endif
