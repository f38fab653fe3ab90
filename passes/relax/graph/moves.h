// Chains of operators that only move elements: permute_dims, reshape, expand_dims, squeeze and flatten.
#ifndef TVMS_PASSES_RELAX_GRAPH_MOVES_H
#define TVMS_PASSES_RELAX_GRAPH_MOVES_H

#include "ir/op.h"
#include "structinfo/definitions.h"

enum { TVMS_MOST_MOVED_AXES = 8 };

// Sizes of a tensor.
typedef struct {
  int64_t sizes[TVMS_MOST_MOVED_AXES];
  uint32_t count;
} tvms_moved_shape;

// Reads the sizes of a tensor, which are numbers from 1 on; false: they are not, or there are more axes than these.
TVMS_NODISCARD bool tvms_relax_moves_shape(const tvms_node *value,
                                           tvms_moved_shape *shape);

// Is an operator computed element by element of its only tensor?
bool tvms_relax_moves_is_unary(tvms_opcode op);

// Where axis i of a permute_dims comes from, in axes[i]; false: it is none of a tensor with known axes.
TVMS_NODISCARD bool tvms_relax_moves_axes(const tvms_node *value, int64_t *axes);

// The value furthest up from `value` whose elements permute_dims of `value` by `axes` gives in the order that they have
// there, so that it is a reshape of that; which may be `value` itself; NULL: there is none.
tvms_node *TVMS_NULLABLE tvms_relax_moves_origin(
    const tvms_relax_definitions *definitions, tvms_node *value, const int64_t *axes);

#endif
