// Methods and attributes of layouts and their parts: layout.tile(…), layout.shard,
// Axis.laneid.is_thread(). What they compute stands in arith/layout.h.
#ifndef TVMS_PARSER_TILE_LAYOUT_METHOD_H
#define TVMS_PARSER_TILE_LAYOUT_METHOD_H

#include "parser/tile/layout.h"

// `num` elements become one, and one `num`. NULL with `why` where the layout does not
// allow it.
tvms_node *TVMS_NULLABLE tvms_tile_layout_pack(tvms_reader *reader,
                                               tvms_layouts *layouts, tvms_node *layout,
                                               int64_t num);
tvms_node *TVMS_NULLABLE tvms_tile_layout_unpack(tvms_reader *reader,
                                                 tvms_layouts *layouts,
                                                 tvms_node *layout, int64_t num);

// Fields of TILE_LAYOUT, COMPOSE_LAYOUT and LAYOUT_ITER. False: there is no such field.
bool tvms_tile_layout_attribute(tvms_reader *reader, tvms_node *node, tvms_sym name,
                                tvms_eval_value *value);
bool tvms_tile_layout_has_method(const tvms_node *layout, tvms_sym name);

// A method that the layout has.
tvms_eval_value tvms_tile_layout_method(tvms_reader *reader, tvms_node *layout,
                                        tvms_sym name, tvms_ref call);
tvms_eval_value tvms_tile_axis_method(tvms_reader *reader, tvms_sym axis, tvms_sym name,
                                      tvms_ref call);

#endif
