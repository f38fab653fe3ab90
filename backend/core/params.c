// What the body of a PrimFunc takes, for every emitter.
#include "backend/core/params.h"

#include "ir/contract.h"

static bool is_listed(const tvms_params_sizes *sizes, const tvms_node *var) {
  for (uint32_t i = 0; i < sizes->len; i++) {
    if (sizes->items[i] == var) return true;
  }
  return false;
}

static void collect(tvms_memory *memory, const tvms_prim_func *function,
                    const tvms_node *node, tvms_params_sizes *sizes) {
  if (!node || node->kind != TVMS_NODE_VAR || is_listed(sizes, node)) return;
  for (uint32_t i = 0; i < function->params.len; i++) {
    if (function->params.items[i] == node) return;
  }
  tvms_vec_push(memory, sizes, node);
}

void tvms_params_collect(tvms_memory *memory, const tvms_prim_func *function,
                         tvms_params_sizes *sizes) {
  for (uint32_t i = 0; i < function->buffers.len; i++) {
    if (!function->buffers.items[i]) continue;
    const tvms_buffer *buffer = tvms_as_buffer(function->buffers.items[i]);
    for (uint32_t j = 0; j < buffer->shape.len; j++) {
      collect(memory, function, buffer->shape.items[j], sizes);
    }
    for (uint32_t j = 0; j < buffer->strides.len; j++) {
      collect(memory, function, buffer->strides.items[j], sizes);
    }
    collect(memory, function, buffer->elem_offset, sizes);
  }
}

const tvms_prim_func *tvms_params_callee(tvms_memory *memory, const tvms_member *member,
                                         uint32_t count) {
  bool callable =
      member && member->function && member->function->kind == TVMS_NODE_PRIM_FUNC;
  if (!callable) return NULL;
  const tvms_prim_func *function = tvms_as_prim_func(member->function);
  tvms_params_sizes sizes = {0};
  tvms_params_collect(memory, function, &sizes);
  bool said = function->params.len == count && !sizes.len;
  tvms_vec_fini(memory, &sizes);
  return said ? function : NULL;
}

tvms_dtype tvms_params_dtype(const tvms_prim_func *function, uint32_t at) {
  if (function->buffers.items[at]) return TVMS_DTYPE(HANDLE, 64);
  return function->params.items[at]->dtype;
}

static bool buffers_are_apart(const tvms_prim_func *function) {
  if (!function->attrs) return false;
  const tvms_object_map *map = tvms_as_object_map(function->attrs);
  for (uint32_t i = 0; i < map->keys.len; i++) {
    if (map->keys.items[i]->kind != TVMS_NODE_OBJECT_STR) continue;
    tvms_bytes key = tvms_as_object_str(map->keys.items[i])->value;
    const tvms_node *value = map->values.items[i];
    bool named =
        tvms_bytes_is(key, "tir.noalias") || tvms_bytes_is(key, "tirx.noalias");
    if (!named) continue;
    if (value->kind == TVMS_NODE_OBJECT_BOOL) return tvms_as_object_bool(value)->value;
    if (value->kind == TVMS_NODE_OBJECT_INT)
      return tvms_as_object_int(value)->value != 0;
    return value->kind == TVMS_NODE_INT_IMM && tvms_as_int_imm(value)->value != 0;
  }
  return false;
}

bool tvms_params_alone(const tvms_prim_func *function, uint32_t at) {
  if (at >= function->params.len - tvms_call_scratch(function)) return true;
  bool points = function->buffers.items[at]
                || tvms_dtype_is_handle(function->params.items[at]->dtype);
  return points && buffers_are_apart(function);
}
