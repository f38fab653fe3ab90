// Floats of which the text shows the range.
#include "backend/core/clamped.h"

#include "ir/build.h"

#include <math.h>

bool tvms_clamped_to(const tvms_node *node, tvms_dtype to) {
  bool high_first = node->kind == TVMS_NODE_MIN;
  tvms_node_kind other = high_first ? TVMS_NODE_MAX : TVMS_NODE_MIN;
  if (!high_first && node->kind != TVMS_NODE_MAX) return false;
  const tvms_binary *outer = tvms_as_binary(node);
  if (!tvms_dtype_is_real(node->dtype) || outer->a->kind != other || to.bits > 32
      || (to.code != TVMS_INT && to.code != TVMS_UINT))
    return false;
  const tvms_binary *inner = tvms_as_binary(outer->a);
  double ends[2], least = to.code == TVMS_INT ? -ldexp(1, to.bits - 1) : 0;
  double most = ldexp(1, to.code == TVMS_INT ? to.bits - 1 : to.bits) - 1;
  bool known = tvms_node_float_in_lanes(outer->b, &ends[high_first])
               && (tvms_node_float_in_lanes(inner->b, &ends[!high_first])
                   || tvms_node_float_in_lanes(inner->a, &ends[!high_first]));
  return known && least <= ends[0] && ends[0] <= ends[1] && ends[1] <= most;
}
