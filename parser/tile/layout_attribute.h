// Attributes of layouts and their parts: layout.shard, layout.swizzle_len, iter.extent.
#ifndef TVMS_PARSER_TILE_LAYOUT_ATTRIBUTE_H
#define TVMS_PARSER_TILE_LAYOUT_ATTRIBUTE_H

#include "parser/tile/layout.h"

// Fields of TILE_LAYOUT, COMPOSE_LAYOUT and LAYOUT_ITER. False: there is no such field.
bool tvms_tile_layout_attribute(tvms_reader *reader, tvms_node *node, tvms_sym name,
                                tvms_eval_value *value);

#endif
