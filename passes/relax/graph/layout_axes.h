// Rules of layout.def for operators with axes among their attributes.
#ifndef TVMS_PASSES_RELAX_GRAPH_LAYOUT_AXES_H
#define TVMS_PASSES_RELAX_GRAPH_LAYOUT_AXES_H

#include "passes/relax/graph/layout_query.h"

// The rules, one per name in the column of layout.def.
tvms_relax_layout_rule tvms_relax_layout_axes_one_axis, tvms_relax_layout_axes_quantize,
    tvms_relax_layout_axes_prelu, tvms_relax_layout_axes_batch_norm,
    tvms_relax_layout_axes_norm, tvms_relax_layout_axes_reduction,
    tvms_relax_layout_axes_squeeze, tvms_relax_layout_axes_expand_dims,
    tvms_relax_layout_axes_permute_dims, tvms_relax_layout_axes_repeat,
    tvms_relax_layout_axes_tile, tvms_relax_layout_axes_pad,
    tvms_relax_layout_axes_strided_slice, tvms_relax_layout_axes_gather_elements,
    tvms_relax_layout_axes_scatter_elements, tvms_relax_layout_axes_scatter_nd;

#endif
