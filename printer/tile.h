// Tile programs: layouts, scope ids, tile primitives, and buffers that are views of others.
#ifndef TVMS_PRINTER_TILE_H
#define TVMS_PRINTER_TILE_H

#include "printer/state.h"

// A line that binds the data of a DECL_BUFFER, where its source is not a pointer that up to
// 0.25 could stand after `data=`.
void tvms_print_tile_call(tvms_printer *p, const tvms_node *stmt);
void tvms_print_scope_id(tvms_printer *p, const tvms_node *stmt);

// `lambda i, j: value` of an INDEX_MAP with one result.
void tvms_print_layout_value(tvms_printer *p, const tvms_node *layout);

#endif
