// Layouts put together and taken apart: tiling, direct sums, and their inverses.
#ifndef TVMS_ARITH_LAYOUT_TILE_H
#define TVMS_ARITH_LAYOUT_TILE_H

#include "arith/layout.h"

// Interleaves the dimensions of two tile layouts: `inner` in each place of `outer`
// (scaled by what the inner one spans), or both as they are.
tvms_node *TVMS_NULLABLE tvms_layout_tile(tvms_layouts *layouts, tvms_node *inner,
                                          tvms_node *outer, tvms_list outer_shape,
                                          tvms_list inner_shape);

// The same without scaling: each dimension of `left` is followed by the one of
// `right`, both with the strides that they have. NULL with `why`. TVM:
// TileLayout::DirectSum.
tvms_node *TVMS_NULLABLE tvms_layout_direct_sum(tvms_layouts *layouts, tvms_node *right,
                                                tvms_node *left, tvms_list left_shape,
                                                tvms_list right_shape);

// What was tiled or summed with `layout`, its inner (right) or outer (left) part, to give
// `whole`; none if it was not.
tvms_node *TVMS_NULLABLE tvms_layout_outer_of(tvms_layouts *layouts, tvms_node *layout,
                                              tvms_node *whole, tvms_list whole_shape,
                                              tvms_list inner_shape);

// The inner part with which `layout` was tiled to give `whole`, or NULL.
tvms_node *TVMS_NULLABLE tvms_layout_inner_of(tvms_layouts *layouts, tvms_node *layout,
                                              tvms_node *whole, tvms_list whole_shape,
                                              tvms_list outer_shape);

// The other summand of a direct sum that gives `whole`: the left one if `is_right`
// says that `layout` is the right one. NULL if there is none.
tvms_node *TVMS_NULLABLE tvms_layout_summand_of(tvms_layouts *layouts,
                                                tvms_node *layout, tvms_node *whole,
                                                tvms_list whole_shape, tvms_list shape,
                                                bool is_right);

#endif
