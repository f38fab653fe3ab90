// Layouts of buffers (0.25 on): T.TileLayout, T.S, T.R, axes.
#ifndef TVMS_PARSER_TIR_LAYOUT_H
#define TVMS_PARSER_TIR_LAYOUT_H

#include "parser/tir.h"

// The row-major TILE_LAYOUT of a shape.
tvms_node *tvms_row_major(tvms_reader *reader, tvms_list shape);

// The parameter `layout` of a call that declares a buffer. False after a report.
TVMS_NODISCARD bool tvms_layout_argument(tvms_reader *reader,
                                         const tvms_call_args *call,
                                         tvms_buffer_form *form);

// A method of a layout.
tvms_value tvms_layout_node_method(tvms_reader *reader, tvms_node *layout,
                                   tvms_sym name, tvms_ref call);

#endif
