// What the files of the algebra of layouts share.
#ifndef TVMS_ARITH_LAYOUT_INTERNAL_H
#define TVMS_ARITH_LAYOUT_INTERNAL_H

#include "arith/layout.h"

// An operator of integers, folded; NULL with `why` where TVM cannot build it.
tvms_node *TVMS_NULLABLE tvms_layouts_op(tvms_layouts *layouts, tvms_node_kind kind,
                                         tvms_node *TVMS_NULLABLE a,
                                         tvms_node *TVMS_NULLABLE b);

// An integer literal as TVM makes one: int32, or int64 where it does not fit.
tvms_node *tvms_layouts_int(tvms_layouts *layouts, int64_t value);
// The same, simplified.
tvms_node *TVMS_NULLABLE tvms_layouts_simple(tvms_layouts *layouts, tvms_node_kind kind,
                                             tvms_node *TVMS_NULLABLE a,
                                             tvms_node *TVMS_NULLABLE b);

// True if `divisor` is proved to divide `value`; false also if that is not known, or
// one is missing.
bool tvms_layouts_divides(tvms_layouts *layouts, tvms_node *TVMS_NULLABLE divisor,
                          tvms_node *TVMS_NULLABLE value);

// True if the two integers are proved equal; false also if that is not known.
bool tvms_layouts_equal(tvms_layouts *layouts, tvms_node *a, tvms_node *b);

// The offsets of two layouts, added on each axis; `op` is ADD or SUB.
TVMS_NODISCARD bool tvms_layouts_offsets(tvms_layouts *layouts, tvms_node_kind op,
                                         tvms_list a, tvms_list b, bool simplified,
                                         tvms_list *result);

#endif
