// Reading and writing the bodies of functions for CPUs.
#include "passes/tir/cpu/body.h"

#include "ir/build.h"
#include "ir/rewrite.h"
#include "ir/walk.h"

#include <string.h>

// The statements of a body behind those that allocate buffers, which are added to a list.
static tvms_node *behind_allocations(tvms_unit *unit, tvms_node *body,
                                     tvms_list *allocated) {
  if (body->kind != TVMS_NODE_SEQ) return body;
  tvms_list stmts = tvms_as_seq(body)->stmts, all = {.len = allocated->len};
  all.items = tvms_arena_array(&unit->arena, tvms_node *, all.len + stmts.len);
  if (all.len) memcpy(all.items, allocated->items, all.len * sizeof *all.items);
  uint32_t count = 0;
  for (; count + 1 < stmts.len; count++) {
    const tvms_node *stmt = stmts.items[count];
    if (stmt->kind != TVMS_NODE_ALLOC_BUFFER || tvms_as_alloc_buffer(stmt)->annotations)
      break;
    all.items[all.len++] = tvms_as_alloc_buffer(stmt)->buffer;
  }
  if (!count) return body;
  *allocated = all;
  return tvms_seq_new(unit, stmts.items + count, stmts.len - count, body->span);
}

tvms_cpu_body tvms_cpu_body_read(tvms_unit *unit, tvms_node *body) {
  tvms_cpu_body b = {.whole = body};
  if (body->kind == TVMS_NODE_BLOCK_REALIZE
      && tvms_as_block_realize(body)->iter_values.len == 0)
    b.root = tvms_as_block(tvms_as_block_realize(body)->block);
  if (b.root) b.allocated = b.root->alloc_buffers;
  b.stages = behind_allocations(unit, b.root ? b.root->body : body, &b.allocated);
  return b;
}

static tvms_walk_step find_block(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  if (tvms_node_class_of(node) != TVMS_CLASS_STMT) return TVMS_WALK_SKIP;
  return node->kind == TVMS_NODE_BLOCK_REALIZE ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

bool tvms_cpu_holds_block(tvms_unit *unit, tvms_node *body) {
  tvms_visitor visitor = {.enter = find_block};
  return !tvms_walk(&unit->context->memory, body, &visitor);
}

static tvms_node *with_root(tvms_unit *unit, tvms_list allocated, tvms_node *body) {
  tvms_block *block = tvms_node_make(unit, BLOCK, TVMS_NO_SPAN);
  block->name = tvms_bytes_copy(unit, "root", 4);
  block->alloc_buffers = allocated;
  block->body = body;
  tvms_block_realize *realize = tvms_node_make(unit, BLOCK_REALIZE, TVMS_NO_SPAN);
  realize->block = &block->head;
  realize->predicate = tvms_bool_imm_new(unit, true, TVMS_NO_SPAN);
  return &realize->head;
}

tvms_node *tvms_cpu_body_write(tvms_unit *unit, const tvms_cpu_body *old,
                               tvms_list allocated, tvms_node *stages) {
  const tvms_block *root = old->root;
  bool plain = !root && !allocated.len && !tvms_cpu_holds_block(unit, stages);
  if (plain) return stages;
  if (!root) return with_root(unit, allocated, stages);
  tvms_node *block = tvms_node_copy(unit, tvms_as_block_realize(old->whole)->block);
  tvms_as_block(block)->body = stages;
  tvms_as_block(block)->alloc_buffers = allocated;
  tvms_node *copy = tvms_node_copy(unit, old->whole);
  tvms_as_block_realize(copy)->block = block;
  return copy;
}

tvms_list tvms_cpu_allocations(tvms_unit *unit, tvms_list added, tvms_list allocated,
                               const tvms_node_map *gone) {
  tvms_list kept = {.len = 0};
  kept.items = tvms_arena_array(&unit->arena, tvms_node *, allocated.len + added.len);
  for (uint32_t i = 0; i < added.len; i++) {
    if (!tvms_node_map_get(gone, added.items[i]))
      kept.items[kept.len++] = added.items[i];
  }
  for (uint32_t i = 0; i < allocated.len; i++) {
    if (!tvms_node_map_get(gone, allocated.items[i]))
      kept.items[kept.len++] = allocated.items[i];
  }
  return kept;
}
