// The body stays as it is: each buffer is declared in front of it over the pointer that is
// passed.
#include "passes/relax/fuse/unpack_prim_func.h"

#include "ir/build.h"
#include "ir/clone.h"
#include "ir/contract.h"
#include "ir/object.h"
#include "ir/stmt.h"
#include "passes/relax/analysis/call_graph.h"
#include "passes/relax/analysis/symbols.h"
#include "passes/relax/fuse/tir_call_sizes.h"
#include "support/strbuf.h"

#include <string.h>

// Where a caller may say where a tensor begins and how it lies, memory without gaps will do.
static bool is_dense(const tvms_buffer *buffer) {
  for (uint32_t i = 0; i < buffer->strides.len; i++) {
    if (!tvms_relax_is_symbol(buffer->strides.items[i])) return false;
  }
  return tvms_node_is_int(buffer->elem_offset, 0)
         || tvms_relax_is_symbol(buffer->elem_offset);
}

// The offset and the strides of a buffer are those of memory without gaps.
static void settle_layout(tvms_unit *unit, const tvms_buffer *buffer,
                          tvms_node_map *known) {
  const tvms_node *offset = buffer->elem_offset;
  if (tvms_relax_is_symbol(offset))
    tvms_node_map_put(known, offset,
                      tvms_int_imm_new(unit, offset->dtype, 0, TVMS_NO_SPAN));
  tvms_node *compact = NULL;
  for (uint32_t i = buffer->strides.len; i > 0; i--) {
    const tvms_node *stride = buffer->strides.items[i - 1];
    if (!compact) compact = tvms_int_imm_new(unit, stride->dtype, 1, TVMS_NO_SPAN);
    tvms_node_map_put(known, stride, compact);
    tvms_node *size = tvms_clone(unit, buffer->shape.items[i - 1], known);
    compact = tvms_node_is_int(compact, 1)
                  ? size
                  : tvms_binary_new(unit, TVMS_NODE_MUL, size, compact, TVMS_NO_SPAN);
  }
}

const char *tvms_fuse_unpack_obstacle(const tvms_prim_func *function,
                                      bool passes_pointers) {
  for (uint32_t i = 0; i < function->params.len; i++) {
    const tvms_node *buffer = function->buffers.items[i];
    if (buffer && !is_dense(tvms_as_buffer(buffer)))
      return "its callee takes tensors with strides or offsets";
    if (!buffer && !passes_pointers
        && tvms_dtype_is_handle(function->params.items[i]->dtype))
      return "its callee takes a pointer of which nothing is known";
  }
  return NULL;
}

tvms_node *tvms_fuse_dense_buffer(tvms_unit *unit, const tvms_node *node,
                                  tvms_list shape, tvms_node_map *known,
                                  const char *name) {
  const tvms_buffer *like = tvms_as_buffer(node);
  tvms_sym symbol = tvms_symbol_intern(unit->context, name, strlen(name));
  tvms_buffer *made = tvms_node_make(unit, BUFFER, TVMS_NO_SPAN);
  made->name = symbol;
  made->element = like->element;
  made->shape = tvms_list_copy(unit, shape.items, shape.len);
  for (uint32_t i = 0; i < shape.len; i++)
    made->shape.items[i] = tvms_clone(unit, shape.items[i], known);
  made->data = tvms_pointer_var_new(unit, symbol, like->element, 0, TVMS_NO_SPAN);
  made->elem_offset = tvms_int_imm_new(unit, like->elem_offset->dtype, 0, TVMS_NO_SPAN);
  made->align = 64;
  made->offset_factor = 1;
  return &made->head;
}

static tvms_sym joined_name(tvms_context *context, tvms_sym name, const char *suffix) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &context->memory);
  tvms_strbuf_printf(&text, "%s%s", tvms_symbol_text(context, name), suffix);
  tvms_sym made = tvms_symbol_intern(context, text.text, text.len);
  tvms_strbuf_fini(&text);
  return made;
}

// A pointer to what the buffer holds.
static tvms_node *pointer_for(tvms_unit *unit, const tvms_buffer *buffer) {
  const tvms_node *type = buffer->data->sinfo;
  bool typed = type && type->kind == TVMS_NODE_SINFO_POINTER;
  tvms_sym name = joined_name(unit->context, buffer->name, "_data");
  return tvms_pointer_var_new(unit, name, buffer->element,
                              typed ? tvms_as_sinfo_pointer(type)->scope : 0,
                              TVMS_NO_SPAN);
}

// Since 0.26 a buffer has a variable of its own, which a declaration lays over the pointer;
// before, the pointer is that variable.
static tvms_node *declare(tvms_unit *unit, tvms_node *buffer, tvms_node *pointer) {
  tvms_decl_buffer *made = tvms_node_make(unit, DECL_BUFFER, TVMS_NO_SPAN);
  made->buffer = buffer;
  if (tvms_release_has(unit->dialect, TVMS_FACT_buffers_are_variables))
    made->source = pointer;
  return &made->head;
}

// The body behind the declarations, inside of its root block if it has one.
static tvms_node *body_behind(tvms_unit *unit, const tvms_node_vec *declared,
                              tvms_node *body) {
  tvms_memory *memory = &unit->context->memory;
  tvms_node *inner = body;
  bool root = body->kind == TVMS_NODE_BLOCK_REALIZE;
  if (root) inner = tvms_as_block(tvms_as_block_realize(body)->block)->body;
  tvms_node_vec stmts = {0};
  for (uint32_t i = 0; i < declared->len; i++)
    tvms_vec_push(memory, &stmts, declared->items[i]);
  tvms_stmt_push_last(memory, &stmts, inner);
  inner = tvms_stmt_seq(unit, &stmts, TVMS_NO_SPAN);
  if (!root) return inner;
  tvms_node *realize = tvms_node_copy(unit, body);
  tvms_node *block = tvms_node_copy(unit, tvms_as_block_realize(body)->block);
  tvms_as_block(block)->body = inner;
  tvms_as_block_realize(realize)->block = block;
  return realize;
}

// The attributes without those that speak of the parameters (ir/contract.h); what was a Relax function is known
// by its name.
static tvms_node *TVMS_NULLABLE attrs_of(tvms_unit *unit, const tvms_node *attrs,
                                         const char *name, tvms_node_map *known) {
  static const char *const packed[] = {TVMS_CONTRACT_INPUTS, TVMS_CONTRACT_INPUT_COUNT,
                                       TVMS_CONTRACT_RESULT};
  tvms_node *made = tvms_clone(unit, attrs, known);
  for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++) {
    if (tvms_object_map_get(made, packed[i]))
      made = tvms_object_map_with(unit, made, packed[i], NULL);
  }
  if (tvms_object_map_get(attrs, TVMS_CONTRACT_RESULT))
    made = tvms_object_map_with(
        unit, made, TVMS_CONTRACT_DIRECT,
        tvms_object_str_new(unit, name, (uint32_t)strlen(name), TVMS_NO_SPAN));
  return tvms_object_map_count(made) ? made : NULL;
}

static tvms_node *unpacked(tvms_unit *unit, const tvms_member *member) {
  const tvms_node *old = member->function;
  const char *name = tvms_symbol_text(unit->context, member->name);
  tvms_memory *memory = &unit->context->memory;
  const tvms_prim_func *function = tvms_as_prim_func(old);
  tvms_node_map known;
  tvms_node_map_init(&known, memory);
  bool same_variable =
      !tvms_release_has(unit->dialect, TVMS_FACT_buffers_are_variables);
  tvms_node_vec params = {0}, declared = {0}, sizes = {0};
  tvms_fuse_sizes_of(memory, function, &sizes);
  for (uint32_t i = 0; i < sizes.len; i++)
    tvms_node_map_put(&known, sizes.items[i], tvms_var_like(unit, sizes.items[i]));
  for (uint32_t i = 0; i < function->params.len; i++) {
    if (function->buffers.items[i])
      settle_layout(unit, tvms_as_buffer(function->buffers.items[i]), &known);
  }
  for (uint32_t i = 0; i < function->params.len; i++) {
    const tvms_node *buffer = function->buffers.items[i];
    tvms_node *param = buffer ? pointer_for(unit, tvms_as_buffer(buffer))
                              : tvms_clone(unit, function->params.items[i], &known);
    tvms_vec_push(memory, &params, param);
    if (!buffer) continue;
    if (same_variable) tvms_node_map_put(&known, tvms_as_buffer(buffer)->data, param);
    tvms_vec_push(memory, &declared,
                  declare(unit, tvms_clone(unit, buffer, &known), param));
  }
  for (uint32_t i = 0; i < sizes.len; i++)
    tvms_vec_push(memory, &params, tvms_node_map_get(&known, sizes.items[i]));
  tvms_prim_func *made = tvms_node_make(unit, PRIM_FUNC, old->span);
  made->head.flags = old->flags | TVMS_FLAG_PRIVATE;
  made->params = tvms_list_copy(unit, params.items, params.len);
  made->buffers = tvms_list_copy(unit, params.items, params.len);
  for (uint32_t i = 0; i < made->buffers.len; i++)
    made->buffers.items[i] = NULL;
  if (function->ret) made->ret = tvms_clone(unit, function->ret, &known);
  if (function->attrs) made->attrs = attrs_of(unit, function->attrs, name, &known);
  made->body = body_behind(unit, &declared, tvms_clone(unit, function->body, &known));
  tvms_vec_fini(memory, &params);
  tvms_vec_fini(memory, &declared);
  tvms_vec_fini(memory, &sizes);
  tvms_node_map_fini(&known);
  return &made->head;
}

tvms_sym tvms_fuse_unpacked_name(tvms_pass_run *run, uint32_t index) {
  tvms_sym name =
      joined_name(run->context, run->module->members[index].name, "_unpacked");
  return tvms_functions_fresh_name(run, tvms_symbol_text(run->context, name));
}

void tvms_fuse_unpack_as(tvms_pass_run *run, uint32_t index, tvms_sym name) {
  tvms_unit *unit = tvms_functions_open_unit(run);
  tvms_node *function = unpacked(unit, &run->module->members[index]);
  tvms_as_prim_func(function)->name = name;
  tvms_functions_add(run, name, unit, function);
}

tvms_sym tvms_fuse_unpack(tvms_pass_run *run, uint32_t index) {
  const tvms_member *member = &run->module->members[index];
  tvms_sym name = joined_name(run->context, member->name, "_unpacked");
  tvms_unit *unit = tvms_functions_open_unit(run);
  tvms_node *function = unpacked(unit, member);
  return tvms_functions_add_unique(run, tvms_symbol_text(run->context, name), unit,
                                   function);
}

void tvms_fuse_drop_packed(tvms_pass_run *run, const bool *called, uint32_t before) {
  tvms_module *module = run->module;
  tvms_memory *memory = &run->context->memory;
  bool *dead = tvms_memory_alloc(memory, module->member_count + 1);
  bool *now = tvms_relax_call_graph_called(module);
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_node *function = module->members[i].function;
    bool private = function && function->kind == TVMS_NODE_PRIM_FUNC
                   && function->flags & TVMS_FLAG_PRIVATE;
    dead[i] = i < before && private && called[i] && !now[i];
  }
  tvms_functions_remove(run, dead);
  tvms_memory_free(memory, dead);
  tvms_memory_free(memory, now);
}
