// Attributes of layouts and their parts: layout.shard, layout.swizzle_len, iter.extent.
#include "parser/tile/layout_attribute.h"

#include "arith/layout.h"

static tvms_eval_value parts_value(tvms_reader *reader, tvms_list list) {
  tvms_eval_value *items =
      tvms_arena_array(&reader->values, tvms_eval_value, list.len + 1);
  for (uint32_t i = 0; i < list.len; i++) {
    items[i] = tvms_eval_value_node(list.items[i]);
  }
  return tvms_eval_value_items(TVMS_EVAL_LIST, items, list.len);
}

static tvms_eval_value axis_value(tvms_sym axis) {
  return (tvms_eval_value){.kind = TVMS_EVAL_AXIS, .as.sym = axis};
}

// Offsets as a dict from axes to values.
static tvms_eval_value offset_value(tvms_reader *reader, tvms_list offset) {
  tvms_eval_value *items =
      tvms_arena_array(&reader->values, tvms_eval_value, 2 * offset.len + 1);
  for (uint32_t i = 0; i < offset.len; i++) {
    const tvms_layout_iter *term = tvms_as_layout_iter(offset.items[i]);
    items[2 * i] = axis_value(term->axis);
    items[2 * i + 1] = tvms_eval_value_node(term->stride);
  }
  return tvms_eval_value_items(TVMS_EVAL_DICT, items, 2 * offset.len);
}

static bool compose_attribute(tvms_reader *reader, tvms_node *node, tvms_sym name,
                              tvms_eval_value *value) {
  const tvms_compose_layout *layout = tvms_as_compose_layout(node);
  bool old = tvms_release_has(reader->dialect, TVMS_FACT_swizzles_are_layouts);
  if (layout->tile_layout && name == TVMS_SYM_tile_layout) {
    *value = tvms_eval_value_node(layout->tile_layout);
    return true;
  }
  if (old && layout->tile_layout) {
    if (name != TVMS_SYM_swizzle) return false;
    *value = tvms_eval_value_node(tvms_layout_compose_with(reader->unit, node, NULL));
    return true;
  }
  switch (name) {
  case TVMS_SYM_per_element:
    *value = tvms_eval_value_int(layout->per_element);
    return true;
  case TVMS_SYM_swizzle_len:
    *value = tvms_eval_value_int(layout->swizzle_len);
    return true;
  case TVMS_SYM_atom_len: *value = tvms_eval_value_int(layout->atom_len); return true;
  case TVMS_SYM_swizzle_inner:
    *value = tvms_eval_value_bool(layout->swizzle_inner);
    return true;
  default: return false;
  }
}

bool tvms_tile_layout_attribute(tvms_reader *reader, tvms_node *node, tvms_sym name,
                                tvms_eval_value *value) {
  if (node->kind == TVMS_NODE_COMPOSE_LAYOUT) {
    return compose_attribute(reader, node, name, value);
  }
  if (node->kind == TVMS_NODE_TILE_LAYOUT) {
    const tvms_tile_layout *layout = tvms_as_tile_layout(node);
    if (name == TVMS_SYM_shard) *value = parts_value(reader, layout->shard);
    if (name == TVMS_SYM_replica) *value = parts_value(reader, layout->replica);
    if (name == TVMS_SYM_offset) *value = offset_value(reader, layout->offset);
    return name == TVMS_SYM_shard || name == TVMS_SYM_replica
           || name == TVMS_SYM_offset;
  }
  const tvms_layout_iter *iter = tvms_as_layout_iter(node);
  if (name == TVMS_SYM_extent) *value = tvms_eval_value_node(iter->extent);
  if (name == TVMS_SYM_stride) *value = tvms_eval_value_node(iter->stride);
  if (name == TVMS_SYM_axis) *value = axis_value(iter->axis);
  return name == TVMS_SYM_extent || name == TVMS_SYM_stride || name == TVMS_SYM_axis;
}
