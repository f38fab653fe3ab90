// Layouts of Trainium: which dimensions lie across the partitions, and which along them.
#ifndef TVMS_ARITH_LAYOUT_TRAINIUM_H
#define TVMS_ARITH_LAYOUT_TRAINIUM_H

#include "arith/layout.h"

// The layout that a letter for each dimension stands for, "PF", in psum or not; NULL if it
// does not fit.
tvms_node *TVMS_NULLABLE tvms_layout_trainium(tvms_unit *unit, const char *axes,
                                              tvms_list shape, bool psum);

// A tile layout of Trainium with banks of psum for its free dimensions; NULL if it does not
// fit them.
tvms_node *TVMS_NULLABLE tvms_layout_to_psum(tvms_unit *unit, tvms_node *layout);

#endif
