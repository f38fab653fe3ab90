// Tile programs: layouts, scope ids, tile primitives, and buffers that are views of others.
#ifndef TVMS_PRINTER_TILE_H
#define TVMS_PRINTER_TILE_H

#include "printer/state.h"

// A tile primitive, T.copy(…) and its like, with its line.
void tvms_print_tile_call(tvms_printer *p, const tvms_node *stmt);

// bx, by = T.cta_id([…]) and its like, with its line; defines the variables.
void tvms_print_scope_id(tvms_printer *p, const tvms_node *stmt);

// T.TileLayout(…), T.ComposeLayout(…), or any other object.
void tvms_print_layout_value(tvms_printer *p, const tvms_node *layout);

#endif
