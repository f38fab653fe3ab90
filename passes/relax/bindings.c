// Blocks are rewritten binding by binding into a list that hooks may add to.
#include "passes/relax/bindings.h"

#include "ir/build.h"

#include <stdio.h>
#include <string.h>

static tvms_memory *memory_of(tvms_relax_binder *binder) {
  return &binder->unit->context->memory;
}

void tvms_binder_add(tvms_relax_binder *binder, tvms_node *binding) {
  tvms_vec_push(memory_of(binder), &binder->bindings, binding);
  if (binding->kind != TVMS_NODE_VAR_BINDING) return;
  const tvms_var_binding *bound = tvms_as_var_binding(binding);
  tvms_node_map_put(&binder->values, bound->var, bound->value);
}

// Rewrites the bindings of one block into a fresh list, and restores the outer one.
static tvms_node *rewrite_block(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_relax_binder *binder = rewriter->self;
  tvms_binding_block *old = tvms_as_binding_block(node);
  tvms_binding_vec outer = binder->bindings;
  bool outer_dataflow = binder->dataflow;
  binder->bindings = (tvms_binding_vec){0};
  binder->dataflow = node->flags & TVMS_FLAG_DATAFLOW;
  bool same = true;
  for (uint32_t i = 0; i < old->bindings.len; i++) {
    tvms_node *binding = tvms_rewrite(rewriter, old->bindings.items[i]);
    if (binding) tvms_binder_add(binder, binding);
    same &= binding == old->bindings.items[i];
  }
  same &= binder->bindings.len == old->bindings.len;
  tvms_node *result = node;
  if (!same) {
    tvms_binding_block *block = tvms_node_make(binder->unit, BINDING_BLOCK, node->span);
    block->head.flags = node->flags;
    block->bindings =
        tvms_list_copy(binder->unit, binder->bindings.items, binder->bindings.len);
    result = &block->head;
  }
  tvms_vec_fini(memory_of(binder), &binder->bindings);
  binder->bindings = outer;
  binder->dataflow = outer_dataflow;
  return result;
}

void tvms_binder_init(tvms_relax_binder *binder, tvms_unit *unit, void *self) {
  *binder = (tvms_relax_binder){.unit = unit, .self = self};
  tvms_rewriter_init(&binder->rewriter, unit, binder);
  tvms_node_map_init(&binder->values, &unit->context->memory);
  binder->rewriter.enter[TVMS_NODE_BINDING_BLOCK] = rewrite_block;
}

void tvms_binder_fini(tvms_relax_binder *binder) {
  tvms_rewriter_fini(&binder->rewriter);
  tvms_node_map_fini(&binder->values);
  tvms_vec_fini(memory_of(binder), &binder->bindings);
  tvms_vec_fini(memory_of(binder), &binder->names);
}

// TVM counts the uses of each name: alloc, alloc1, alloc2 …
static tvms_sym fresh_name(tvms_relax_binder *binder, const char *name) {
  tvms_context *context = binder->unit->context;
  tvms_sym sym = tvms_symbol_intern(context, name, strlen(name));
  uint32_t count = 0;
  for (uint32_t i = 0; i < binder->names.len; i++)
    count += binder->names.items[i] == sym;
  tvms_vec_push(memory_of(binder), &binder->names, sym);
  if (count == 0) return sym;
  char text[96];
  int len = snprintf(text, sizeof text, "%s%u", name, count);
  return tvms_symbol_intern(context, text, (size_t)len);
}

tvms_node *tvms_binder_emit(tvms_relax_binder *binder, tvms_node *value,
                            const char *name) {
  tvms_node *var = tvms_var_new(binder->unit, fresh_name(binder, name), (tvms_dtype){0},
                                value->span);
  var->sinfo = value->sinfo;
  if (binder->dataflow) var->flags |= TVMS_FLAG_DATAFLOW;
  tvms_var_binding *binding = tvms_node_make(binder->unit, VAR_BINDING, value->span);
  binding->value = value;
  binding->var = var;
  tvms_binder_add(binder, &binding->head);
  return var;
}

const tvms_node *tvms_value_of(const tvms_relax_binder *binder, const tvms_node *node) {
  while (node->kind == TVMS_NODE_VAR) {
    const tvms_node *value = tvms_node_map_get(&binder->values, node);
    if (!value) break;
    node = value;
  }
  return node;
}
