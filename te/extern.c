// Flat places become indices as in TVM's T.buffer_proxy: remainders from the last dimension to
// the second, and what is left for the first.
#include "te/extern.h"

#include "ir/object.h"
#include "te/element.h"
#include "te/nest.h"

#include <stdio.h>
#include <string.h>

static tvms_sym symbol(tvms_te *te, const char *text) {
  return tvms_symbol_intern(te->unit->context, text, strlen(text));
}

static void let_float(tvms_te *te, tvms_node *tensor) {
  tvms_as_buffer(tensor)->elem_offset = tvms_var_new(
      te->unit, symbol(te, "elem_offset"), TVMS_DTYPE(INT, 64), TVMS_NO_SPAN);
}

void tvms_te_extern_input(tvms_te *te, tvms_node *tensor) {
  for (uint32_t i = 0; i < te->buffers.len; i++) {
    if (te->buffers.items[i] == tensor) let_float(te, tensor);
  }
}

tvms_node *tvms_te_extern_output(tvms_te *te, const char *name, tvms_list shape,
                                 tvms_dtype dtype, bool floats) {
  tvms_node *tensor = tvms_te_tensor(te, name, shape, dtype);
  if (floats) let_float(te, tensor);
  return tensor;
}

void tvms_te_extern_rename(tvms_te *te, tvms_node *tensor, const char *name) {
  tvms_buffer *buffer = tvms_as_buffer(tensor);
  buffer->name = symbol(te, name);
  tvms_as_var(buffer->data)->name = buffer->name;
}

void tvms_te_extern_close(tvms_te *te, tvms_node *output, const char *name,
                          tvms_node *const *stmts, uint32_t count) {
  tvms_unit *unit = te->unit;
  tvms_block *block = tvms_node_make(unit, BLOCK, TVMS_NO_SPAN);
  const char *text = tvms_te_block_name(te, name);
  block->name = tvms_bytes_copy(unit, text, strlen(text));
  block->body = tvms_te_sequence(te, stmts, count);
  tvms_block_realize *realize = tvms_node_make(unit, BLOCK_REALIZE, TVMS_NO_SPAN);
  realize->predicate = tvms_bool_imm_new(unit, true, TVMS_NO_SPAN);
  realize->block = &block->head;
  te->named[0] = output;
  te->names[0] = name;
  te->named[1] = te->named[2] = NULL;
  tvms_vec_push(&unit->context->memory, &te->stages, &realize->head);
}

void tvms_te_extern_number(tvms_te *te, tvms_node *const *outputs, uint32_t count,
                           const char *name, uint32_t first) {
  for (uint32_t i = 0; i < 3 && i < count; i++) {
    size_t room = strlen(name) + 13;
    char *text = tvms_arena_alloc(&te->unit->arena, room);
    snprintf(text, room, "%s_v%u", name, first + i);
    te->named[i] = outputs[i];
    te->names[i] = text;
  }
}

static bool allocates_pointers(const tvms_te *te) {
  return tvms_release_has(te->unit->dialect, TVMS_FACT_externs_name_loops);
}

tvms_node *tvms_te_cell(tvms_te *te, tvms_dtype dtype) {
  return tvms_te_named_cell(te, "buffer", dtype);
}

tvms_node *tvms_te_named_cell(tvms_te *te, const char *name, tvms_dtype dtype) {
  bool pointer = allocates_pointers(te);
  tvms_node *one = INDEX(1);
  tvms_list shape = tvms_list_copy(te->unit, &one, 1);
  tvms_node *cell =
      tvms_te_scratch(te, pointer ? name : "buffer", shape, dtype, "local");
  if (pointer) tvms_as_buffer(cell)->shape.items[0] = INT32(1);
  return cell;
}

// The statement that allocates the memory behind the pointer of a buffer.
static tvms_node *pointer_allocation(tvms_te *te, const tvms_buffer *buffer) {
  tvms_allocate *alloc = tvms_node_make(te->unit, ALLOCATE, TVMS_NO_SPAN);
  alloc->extents = tvms_list_copy(te->unit, buffer->shape.items, buffer->shape.len);
  for (uint32_t i = 0; i < alloc->extents.len; i++)
    alloc->extents.items[i] =
        tvms_te_convert(te, TVMS_DTYPE(INT, 64), alloc->extents.items[i]);
  alloc->condition = tvms_bool_imm_new(te->unit, true, TVMS_NO_SPAN);
  alloc->var = buffer->data;
  alloc->element = buffer->element;
  return &alloc->head;
}

tvms_node *tvms_te_allocation(tvms_te *te, tvms_node *buffer) {
  if (allocates_pointers(te)) return pointer_allocation(te, tvms_as_buffer(buffer));
  tvms_alloc_buffer *alloc = tvms_node_make(te->unit, ALLOC_BUFFER, TVMS_NO_SPAN);
  alloc->buffer = buffer;
  return &alloc->head;
}

tvms_node *tvms_te_cell_get(tvms_te *te, tvms_node *cell) {
  return tvms_te_flat_load(te, cell, INDEX(0));
}

tvms_node *tvms_te_cell_set(tvms_te *te, tvms_node *cell, tvms_node *value) {
  return tvms_te_flat_store(te, cell, INDEX(0), value);
}

// One index per dimension.
static tvms_list indices_of(tvms_te *te, tvms_node *tensor, tvms_node *place) {
  tvms_list shape = tvms_te_shape(tensor);
  tvms_list indices = tvms_list_copy(te->unit, shape.items, shape.len);
  for (uint32_t i = shape.len; i > 1; i--) {
    indices.items[i - 1] = FLOOR_MOD(place, shape.items[i - 1]);
    place = FLOOR_DIV(place, shape.items[i - 1]);
  }
  if (shape.len) indices.items[0] = place;
  return indices;
}

tvms_node *tvms_te_flat_load(tvms_te *te, tvms_node *tensor, tvms_node *place) {
  if (!place) return NULL;
  tvms_list indices = indices_of(te, tensor, place);
  return tvms_te_load(te, tensor, indices.items, indices.len);
}

tvms_node *tvms_te_flat_store(tvms_te *te, tvms_node *tensor, tvms_node *place,
                              tvms_node *value) {
  value = tvms_te_convert(te, tvms_te_dtype(tensor), value);
  if (!place || !value) return NULL;
  tvms_store *store = tvms_node_make(te->unit, STORE, TVMS_NO_SPAN);
  store->buffer = tensor;
  store->value = value;
  store->indices = indices_of(te, tensor, place);
  return &store->head;
}

tvms_node *tvms_te_store(tvms_te *te, tvms_node *tensor, tvms_node *const *indices,
                         uint32_t count, tvms_node *value) {
  value = tvms_te_convert(te, tvms_te_dtype(tensor), value);
  if (!value) return NULL;
  tvms_store *store = tvms_node_make(te->unit, STORE, TVMS_NO_SPAN);
  store->buffer = tensor;
  store->value = value;
  store->indices = tvms_list_copy(te->unit, indices, count);
  return &store->head;
}

tvms_node *tvms_te_when(tvms_te *te, tvms_node *condition, tvms_node *body) {
  if (!condition || !body) return NULL;
  tvms_if_then_else *branch = tvms_node_make(te->unit, IF_THEN_ELSE, TVMS_NO_SPAN);
  branch->condition = condition;
  branch->then_case = body;
  return &branch->head;
}

tvms_node *tvms_te_extern_scope(tvms_te *te) {
  static const char key[] = "pragma_scope", value[] = "seq";
  tvms_attr_stmt *mark = tvms_node_make(te->unit, ATTR_STMT, TVMS_NO_SPAN);
  mark->node = tvms_object_int_new(te->unit, 0, TVMS_NO_SPAN);
  mark->key = tvms_bytes_copy(te->unit, key, sizeof key - 1);
  mark->value = tvms_string_imm_new(te->unit, value, sizeof value - 1, TVMS_NO_SPAN);
  return &mark->head;
}

tvms_node *tvms_te_product(tvms_te *te, tvms_list shape, uint32_t from, uint32_t to) {
  tvms_node *result = INT32(1);
  for (uint32_t i = from; i < to; i++)
    result = MUL(result, shape.items[i]);
  return result;
}

tvms_node *tvms_te_loop_var(tvms_te *te, const char *name, tvms_node *extent) {
  bool named = tvms_release_has(te->unit->dialect, TVMS_FACT_externs_name_loops);
  return tvms_var_new(te->unit, symbol(te, named ? name : "v"), extent->dtype,
                      TVMS_NO_SPAN);
}

tvms_node *tvms_te_loop(tvms_te *te, tvms_for_kind kind, tvms_node *var,
                        tvms_node *extent, tvms_node *body) {
  if (!body) return NULL;
  if (!tvms_release_has(te->unit->dialect, TVMS_FACT_externs_name_loops)) {
    extent = tvms_analyzer_simplify(te->analyzer, extent);
  }
  tvms_for *loop = tvms_node_make(te->unit, FOR, TVMS_NO_SPAN);
  loop->min = tvms_int_imm_new(te->unit, extent->dtype, 0, TVMS_NO_SPAN);
  loop->extent = extent;
  loop->var = var;
  loop->for_kind = (uint8_t)kind;
  loop->body = body;
  return &loop->head;
}

tvms_node *tvms_te_sequence(tvms_te *te, tvms_node *const *stmts, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (!stmts[i]) return NULL;
  }
  return count == 1 ? stmts[0] : tvms_seq_new(te->unit, stmts, count, TVMS_NO_SPAN);
}
