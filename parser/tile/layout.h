// Layouts of buffers (0.25 on): T.TileLayout, T.S, T.R, axes.
#ifndef TVMS_PARSER_TILE_LAYOUT_H
#define TVMS_PARSER_TILE_LAYOUT_H

#include "arith/layout.h"
#include "parser/tile/room.h"
#include "parser/tir/tir.h"

// An axis: Axis.name or its name as text. False after a report.
TVMS_NODISCARD bool tvms_tile_layout_axis(tvms_reader *reader, tvms_eval_value value,
                                          tvms_ref ref, tvms_sym *axis);

// `+` of parts of a layout, `@` with an axis, and the comparison of two axes. Unknown
// after a report.
tvms_eval_value tvms_tile_layout_operator(tvms_reader *reader, tvms_surf_op op,
                                          tvms_eval_value a, tvms_eval_value b,
                                          tvms_ref ref);

// T.S[extents] or T.S[extents : strides], and T.R[...]: a part of a layout. Unknown
// after a report.
tvms_eval_value tvms_tile_layout_subscript(tvms_reader *reader, tvms_eval_value part,
                                           tvms_eval_value index, tvms_ref ref);

#endif
