// Layouts of buffers (0.25 on): T.TileLayout, T.S, T.R, axes.
#ifndef TVMS_PARSER_TILE_LAYOUT_H
#define TVMS_PARSER_TILE_LAYOUT_H

#include "arith/layout.h"
#include "parser/tir/tir.h"

// The row-major TILE_LAYOUT of a shape.
tvms_node *tvms_tile_row_major(tvms_reader *reader, tvms_list shape);

// The parameter `layout` of a call that declares a buffer. False after a report.
TVMS_NODISCARD bool tvms_tile_layout_argument(tvms_reader *reader,
                                              const tvms_call_args *call,
                                              tvms_buffer_form *form);

// An axis: Axis.name or its name as text. False after a report.
TVMS_NODISCARD bool tvms_tile_layout_axis(tvms_reader *reader, tvms_eval_value value,
                                          tvms_ref ref, tvms_sym *axis);

// ---- parser/tile/trainium.c ----

// The layout that a letter for each dimension stands for, "PF"; NULL if it does not fit.
tvms_node *TVMS_NULLABLE tvms_tile_trainium_layout(tvms_reader *reader,
                                                   const char *axes, tvms_list shape,
                                                   bool psum);
// A layout of Trainium with banks of psum for its free dimensions; NULL if it does not
// fit them.
tvms_node *TVMS_NULLABLE tvms_tile_layout_to_psum(tvms_reader *reader,
                                                  tvms_node *layout);

// ---- parser/tile/layout_method.c ----

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
