// The types of tensors whose values the text leaves out (ir/omitted.h).
//
// An annotation says them, or the function that takes the tensor: a text after LegalizeOps
// says all of them.
#include "structinfo/omitted.h"

#include "ir/build.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

static bool is_untold(const tvms_node *node) {
  return node->kind == TVMS_NODE_CONSTANT && tvms_node_omitted(node)
         && tvms_dtype_is_void(tvms_as_constant(node)->element);
}

static void learn_tensor(tvms_unit *unit, tvms_node *value, const tvms_node *type) {
  tvms_list sizes;
  if (!tvms_sinfo_is_tensor(type) || tvms_dtype_is_void(type->dtype)
      || !tvms_sinfo_tensor_dims(type, &sizes))
    return;
  tvms_list dims = tvms_list_copy(unit, sizes.items, sizes.len);
  for (uint32_t i = 0; i < dims.len; i++) {
    int64_t size;
    if (!tvms_sinfo_dim_int(sizes.items[i], &size)) return;
    dims.items[i] = tvms_sinfo_dim_new(unit, size);
  }
  tvms_constant *constant = tvms_as_constant(value);
  constant->element = type->dtype;
  constant->shape = dims;
  tvms_node *shape =
      tvms_sinfo_shape_value_new(unit, dims.items, dims.len, TVMS_NO_SPAN);
  value->sinfo = tvms_sinfo_tensor_new(unit, shape, type->dtype, NULL);
}

static void learn_fields(tvms_unit *unit, tvms_node *tuple, const tvms_node *type) {
  if (type->kind != TVMS_NODE_SINFO_TUPLE || !tvms_sinfo_is_untold(tuple)) return;
  tvms_list fields = tvms_as_tuple(tuple)->fields;
  tvms_list wanted = tvms_as_sinfo_tuple(type)->fields;
  tvms_list types = tvms_list_copy(unit, fields.items, fields.len);
  for (uint32_t i = 0; i < fields.len; i++) {
    if (i < wanted.len) tvms_sinfo_learn(unit, fields.items[i], wanted.items[i]);
    types.items[i] = tvms_sinfo_of(unit, fields.items[i]);
  }
  tuple->sinfo = tvms_sinfo_tuple_new(unit, types.items, types.len);
}

void tvms_sinfo_learn(tvms_unit *unit, tvms_node *value, const tvms_node *type) {
  if (value->kind == TVMS_NODE_TUPLE)
    learn_fields(unit, value, type);
  else if (is_untold(value))
    learn_tensor(unit, value, type);
}

bool tvms_sinfo_is_untold(const tvms_node *value) {
  if (value->kind != TVMS_NODE_TUPLE) return is_untold(value);
  tvms_list fields = tvms_as_tuple(value)->fields;
  for (uint32_t i = 0; i < fields.len; i++) {
    if (tvms_sinfo_is_untold(fields.items[i])) return true;
  }
  return false;
}
