// Methods of layouts: layout.tile(…), layout.size(). What they compute stands in arith/layout.h and its like.
#ifndef TVMS_PARSER_TILE_LAYOUT_METHOD_H
#define TVMS_PARSER_TILE_LAYOUT_METHOD_H

#include "parser/tile/layout.h"

// Whether the layout has the method.
bool tvms_tile_layout_has_method(const tvms_node *layout, tvms_sym name);

// Calls a method that the layout has; unknown after a report.
tvms_eval_value tvms_tile_layout_method(tvms_reader *reader, tvms_node *layout,
                                        tvms_sym name, tvms_ref call);

#endif
