// The text says blocks by their first and last bindings only, so two neighbours of one kind are
// the same program as one block.
#include "passes/relax/blocks.h"

#include "ir/rewrite.h"

#include <string.h>

static bool is_merged(tvms_list blocks) {
  for (uint32_t i = 0; i < blocks.len; i++) {
    if (tvms_as_binding_block(blocks.items[i])->bindings.len == 0) return false;
    if (i > 0 && blocks.items[i]->flags == blocks.items[i - 1]->flags) return false;
  }
  return true;
}

static tvms_node *block_of(tvms_unit *unit, const tvms_node *like,
                           const tvms_node_vec *bindings) {
  tvms_binding_block *block = tvms_node_make(unit, BINDING_BLOCK, like->span);
  block->head.flags = like->flags;
  block->bindings = tvms_list_copy(unit, bindings->items, bindings->len);
  return &block->head;
}

tvms_node *tvms_relax_merge_blocks(tvms_unit *unit, tvms_node *sequence) {
  tvms_list old = tvms_as_seq_expr(sequence)->blocks;
  if (is_merged(old)) return sequence;
  tvms_memory *memory = &unit->context->memory;
  tvms_node_vec blocks = {0}, bindings = {0};
  for (uint32_t i = 0; i < old.len; i++) {
    tvms_list part = tvms_as_binding_block(old.items[i])->bindings;
    for (uint32_t k = 0; k < part.len; k++)
      tvms_vec_push(memory, &bindings, part.items[k]);
    bool goes_on = i + 1 < old.len && old.items[i + 1]->flags == old.items[i]->flags;
    if (goes_on) continue;
    if (bindings.len)
      tvms_vec_push(memory, &blocks, block_of(unit, old.items[i], &bindings));
    bindings.len = 0;
  }
  tvms_node *made = tvms_node_copy(unit, sequence);
  tvms_as_seq_expr(made)->blocks = tvms_list_copy(unit, blocks.items, blocks.len);
  tvms_vec_fini(memory, &blocks);
  tvms_vec_fini(memory, &bindings);
  // Neighbours of a block that was empty are neighbours now.
  return tvms_relax_merge_blocks(unit, made);
}

tvms_node *tvms_relax_append_binding(tvms_unit *unit, const tvms_node *sequence,
                                     tvms_node *binding, tvms_node *body) {
  tvms_binding_block *block = tvms_node_make(unit, BINDING_BLOCK, binding->span);
  block->bindings = tvms_list_copy(unit, &binding, 1);
  tvms_node *made = tvms_node_copy(unit, sequence);
  tvms_seq_expr *copy = tvms_as_seq_expr(made);
  tvms_list blocks = copy->blocks;
  copy->blocks = (tvms_list){
      tvms_arena_array(&unit->arena, tvms_node *, blocks.len + 1), blocks.len + 1};
  if (blocks.len)
    memcpy(copy->blocks.items, blocks.items, blocks.len * sizeof *blocks.items);
  copy->blocks.items[blocks.len] = &block->head;
  copy->body = body;
  made->sinfo = body->sinfo;
  return tvms_relax_merge_blocks(unit, made);
}
