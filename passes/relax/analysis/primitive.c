// Functions that passes over graphs take as one operator.
#include "passes/relax/analysis/primitive.h"

#include "ir/object.h"

bool tvms_relax_is_primitive(const tvms_node *function) {
  if (!function || function->kind != TVMS_NODE_FUNCTION) return false;
  int64_t primitive;
  const tvms_node *attrs = tvms_as_function(function)->attrs;
  return tvms_object_as_int(tvms_object_map_get(attrs, "Primitive"), &primitive)
         && primitive;
}
