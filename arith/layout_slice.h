// The layout of a region of what has a layout.
#ifndef TVMS_ARITH_LAYOUT_SLICE_H
#define TVMS_ARITH_LAYOUT_SLICE_H

#include "arith/layout.h"

// The elements of a region (RANGEs) of a shape; none if they have no layout of their own.
tvms_node *TVMS_NULLABLE tvms_layout_slice(tvms_layouts *layouts, tvms_node *layout,
                                           tvms_list shape, tvms_list region);

#endif
