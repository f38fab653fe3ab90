// Functions that are called from outside of their module.
//
// MakePackedAPI and MakeUnpackedAPI ask the same of a function before they change it, and both
// leave one that returns an error code and knows its device.
#include "passes/tir/host/entry_point.h"

#include "ir/build.h"
#include "ir/object.h"
#include "ir/rewrite.h"
#include "ir/stmt.h"
#include "passes/tir/host/function_target.h"

#include <string.h>

const char *TVMS_NULLABLE tvms_host_symbol_of(const tvms_context *context,
                                              const tvms_node *TVMS_NULLABLE function) {
  if (!function || function->kind != TVMS_NODE_PRIM_FUNC) return NULL;
  const tvms_prim_func *prim_func = tvms_as_prim_func(function);
  int64_t convention;
  const tvms_node *given = tvms_object_map_get(prim_func->attrs, "calling_conv");
  if (tvms_object_as_int(given, &convention) && convention) return NULL;
  const char *symbol =
      tvms_object_as_text(tvms_object_map_get(prim_func->attrs, "global_symbol"));
  if (symbol) return symbol;
  return function->flags & TVMS_FLAG_PRIVATE
             ? NULL
             : tvms_symbol_text(context, prim_func->name);
}

tvms_node *TVMS_NULLABLE tvms_host_target_to_be(tvms_unit *unit,
                                                const tvms_node *config) {
  const tvms_node *host = tvms_host_of_target(config);
  if (!host) return NULL;
  tvms_object_target *target = tvms_node_make(unit, OBJECT_TARGET, TVMS_NO_SPAN);
  target->config = (tvms_node *)(uintptr_t)host;
  return &target->head;
}

tvms_node *tvms_host_with_signature(tvms_unit *unit, const tvms_node *function,
                                    tvms_node *const *params, uint32_t count) {
  tvms_node *copy = tvms_node_copy(unit, function);
  tvms_prim_func *changed = tvms_as_prim_func(copy);
  changed->params = tvms_list_copy(unit, params, count);
  changed->buffers =
      (tvms_list){tvms_arena_array(&unit->arena, tvms_node *, count), count};
  tvms_struct_SINFO_PRIM *ret = tvms_node_make(unit, SINFO_PRIM, TVMS_NO_SPAN);
  ret->head.dtype = TVMS_DTYPE(INT, 32);
  changed->ret = &ret->head;
  return copy;
}

tvms_node *tvms_host_attribute(tvms_unit *unit, tvms_node *node, const char *key,
                               tvms_node *value) {
  tvms_attr_stmt *stmt = tvms_node_make(unit, ATTR_STMT, TVMS_NO_SPAN);
  stmt->node = node;
  stmt->key = tvms_bytes_copy(unit, key, strlen(key));
  stmt->value = value;
  return &stmt->head;
}

static tvms_node *int32(tvms_unit *unit, int64_t value) {
  return tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), value, TVMS_NO_SPAN);
}

void tvms_host_push_device(tvms_unit *unit, tvms_node_vec *stmts, tvms_node *device_id,
                           int device_type) {
  tvms_memory *memory = &unit->context->memory;
  tvms_node *node = tvms_object_str_new(unit, "default", 7, TVMS_NO_SPAN);
  tvms_vec_push(memory, stmts, tvms_host_attribute(unit, node, "device_id", device_id));
  tvms_vec_push(
      memory, stmts,
      tvms_host_attribute(unit, node, "device_type", int32(unit, device_type)));
}

tvms_node *tvms_host_return_zero(tvms_unit *unit) {
  return tvms_stmt_return(unit, int32(unit, 0), TVMS_NO_SPAN);
}
