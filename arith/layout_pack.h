// Layouts of elements that are made wider, several into one, or narrower.
#ifndef TVMS_ARITH_LAYOUT_PACK_H
#define TVMS_ARITH_LAYOUT_PACK_H

#include "arith/layout.h"

// `layout`, tiled or swizzled, where `num` neighbouring elements become one. NULL with `why`
// where it does not keep them together.
tvms_node *TVMS_NULLABLE tvms_layout_pack(tvms_layouts *layouts, tvms_node *layout,
                                          int64_t num);

// `layout`, tiled or swizzled, where an element becomes `num` neighbours. NULL with `why`
// where it does not allow it.
tvms_node *TVMS_NULLABLE tvms_layout_unpack(tvms_layouts *layouts, tvms_node *layout,
                                            int64_t num);

#endif
