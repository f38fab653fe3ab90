// One store per slot: H[1] = H[0] + T.int64(1). The function runs on the host.
#include "passes/relax/lower/shape_func.h"

#include "ir/build.h"
#include "ir/clone.h"
#include "ir/object.h"
#include "ir/rewrite.h"

static tvms_node *int64_of(tvms_unit *unit, int64_t value) {
  return tvms_int_imm_new(unit, TVMS_DTYPE(INT, 64), value, TVMS_NO_SPAN);
}

static tvms_node *heap_buffer(tvms_unit *unit, uint32_t size) {
  tvms_sym name = tvms_symbol_intern(unit->context, "H", 1);
  tvms_dtype dtype = TVMS_DTYPE(INT, 64);
  tvms_node *extent = int64_of(unit, size);
  tvms_buffer *buffer = tvms_node_make(unit, BUFFER, TVMS_NO_SPAN);
  buffer->name = name;
  buffer->data = tvms_pointer_var_new(unit, name, dtype, 0, TVMS_NO_SPAN);
  buffer->element = dtype;
  buffer->shape = tvms_list_copy(unit, &extent, 1);
  buffer->elem_offset = int64_of(unit, 0);
  buffer->align = 64;
  buffer->offset_factor = 1;
  return &buffer->head;
}

static tvms_node *stores(tvms_unit *unit, tvms_node *heap,
                         const tvms_relax_slots *slots, const uint32_t *indices,
                         uint32_t count) {
  tvms_memory *memory = &unit->context->memory;
  tvms_node_map loads;
  tvms_node_map_init(&loads, memory);
  for (uint32_t i = 0; i < slots->slots.len; i++) {
    tvms_node *expr = slots->slots.items[i].expr;
    if (expr->kind != TVMS_NODE_VAR) continue;
    tvms_node *place = int64_of(unit, i);
    tvms_node_map_put(&loads, expr,
                      tvms_buffer_load_new(unit, heap, &place, 1, NULL, TVMS_NO_SPAN));
  }
  tvms_node_vec list = {0};
  for (uint32_t i = 0; i < count; i++) {
    tvms_node *place = int64_of(unit, indices[i]);
    tvms_store *store = tvms_node_make(unit, STORE, TVMS_NO_SPAN);
    store->buffer = heap;
    store->value = tvms_clone(unit, slots->slots.items[indices[i]].expr, &loads);
    store->indices = tvms_list_copy(unit, &place, 1);
    tvms_vec_push(memory, &list, &store->head);
  }
  tvms_node *body = tvms_stmt_seq(unit, &list, TVMS_NO_SPAN);
  tvms_vec_fini(memory, &list);
  tvms_node_map_fini(&loads);
  return body;
}

tvms_sym tvms_relax_add_shape_func(tvms_pass_run *run, const tvms_relax_slots *slots,
                                   const uint32_t *indices, uint32_t count) {
  tvms_unit *unit = tvms_functions_open_unit(run);
  tvms_node *heap = heap_buffer(unit, slots->slots.len);
  tvms_node *param =
      tvms_pointer_var_new(unit, tvms_symbol_intern(unit->context, "var_H", 5),
                           (tvms_dtype){0}, 0, TVMS_NO_SPAN);
  tvms_prim_func *function = tvms_node_make(unit, PRIM_FUNC, TVMS_NO_SPAN);
  function->head.flags = TVMS_FLAG_PRIVATE | TVMS_FLAG_S_TIR;
  function->params = tvms_list_copy(unit, &param, 1);
  function->buffers = tvms_list_copy(unit, &heap, 1);
  const char *key = tvms_release_has(unit->dialect, TVMS_FACT_tir_is_tirx)
                        ? "tirx.is_host_func"
                        : "tir.is_host_func";
  function->attrs = tvms_object_map_with(
      unit, NULL, key, tvms_object_bool_new(unit, true, TVMS_NO_SPAN));
  function->body = stores(unit, heap, slots, indices, count);
  return tvms_functions_add_unique(run, "shape_func", unit, &function->head);
}
