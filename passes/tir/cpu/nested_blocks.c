// Taking away blocks that say no more than which step of the loops around they are.
#include "passes/tir/cpu/nested_blocks.h"

#include "ir/build.h"
#include "ir/node_map.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/stage.h"

// A block that is to go: what is bound inside of it.
typedef struct {
  const tvms_block_realize *realize;
  const tvms_block *block;
} outer_block;

// Is a block without memory or conditions of its own?
static bool is_plain(const tvms_block_realize *realize) {
  const tvms_block *block = tvms_as_block(realize->block);
  return tvms_node_is_true(realize->predicate) && !block->alloc_buffers.len
         && !block->match_buffers.len && tvms_stage_only_describes(block->annotations);
}

typedef struct {
  uint32_t blocks;
  bool fits;
} contents;

static tvms_walk_step see(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  contents *c = self;
  if (node->kind == TVMS_NODE_BLOCK_REALIZE) {
    c->blocks++;
    c->fits &= is_plain(tvms_as_block_realize(node));
    return TVMS_WALK_SKIP;
  }
  bool known = node->kind == TVMS_NODE_SEQ || node->kind == TVMS_NODE_FOR
               || node->kind == TVMS_NODE_STORE;
  if (tvms_node_class_of(node) == TVMS_CLASS_STMT) c->fits &= known;
  return tvms_node_class_of(node) == TVMS_CLASS_STMT ? TVMS_WALK_ON : TVMS_WALK_SKIP;
}

static bool can_go(tvms_unit *unit, const tvms_block_realize *realize) {
  const tvms_block *block = tvms_as_block(realize->block);
  if (!is_plain(realize) || block->init || !block->iter_vars.len) return false;
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *iter = tvms_as_iter_var(block->iter_vars.items[i]);
    if (iter->iter_type != TVMS_ITER_DATA_PAR) return false;
  }
  contents c = {.fits = true};
  tvms_visitor visitor = {.self = &c, .enter = see};
  tvms_walk(&unit->context->memory, block->body, &visitor);
  return c.fits && c.blocks == 1;
}

// The block inside with axes of its own for those of the one around.
static tvms_node *take_axes(tvms_rewriter *r, tvms_node *node) {
  const outer_block *outer = r->self;
  const tvms_block_realize *inner = tvms_as_block_realize(node);
  const tvms_block *old = tvms_as_block(inner->block);
  tvms_list iters = {0}, values = {0};
  tvms_node_map fresh, bound;
  tvms_node_map_init(&fresh, &r->unit->context->memory);
  tvms_node_map_init(&bound, &r->unit->context->memory);
  for (uint32_t i = 0; i < outer->block->iter_vars.len; i++) {
    const tvms_iter_var *iter = tvms_as_iter_var(outer->block->iter_vars.items[i]);
    tvms_node *value = outer->realize->iter_values.items[i];
    tvms_node *copy = tvms_node_copy(r->unit, &iter->head);
    tvms_as_iter_var(copy)->var = tvms_var_like(r->unit, iter->var);
    tvms_node_map_put(&fresh, iter->var, tvms_as_iter_var(copy)->var);
    tvms_node_map_put(&bound, iter->var, value);
    iters = tvms_list_with(r->unit, iters, copy);
    values = tvms_list_with(r->unit, values, value);
  }
  tvms_node *block = tvms_substitute(r->unit, inner->block, &fresh);
  if (block == inner->block) block = tvms_node_copy(r->unit, block);
  for (uint32_t i = 0; i < old->iter_vars.len; i++) {
    iters = tvms_list_with(r->unit, iters, tvms_as_block(block)->iter_vars.items[i]);
    tvms_node *value = inner->iter_values.items[i];
    values = tvms_list_with(r->unit, values, tvms_substitute(r->unit, value, &bound));
  }
  tvms_as_block(block)->iter_vars = iters;
  tvms_node *made = tvms_node_copy(r->unit, node);
  tvms_as_block_realize(made)->block = block;
  tvms_as_block_realize(made)->iter_values = values;
  tvms_node_map_fini(&bound);
  tvms_node_map_fini(&fresh);
  return made;
}

static tvms_node *drop_block(tvms_rewriter *r, tvms_node *node) {
  outer_block outer = {.realize = tvms_as_block_realize(node)};
  outer.block = tvms_as_block(outer.realize->block);
  if (!can_go(r->unit, outer.realize)) return node;
  tvms_rewriter inner;
  tvms_rewriter_init(&inner, r->unit, &outer);
  inner.enter[TVMS_NODE_BLOCK_REALIZE] = take_axes;
  for (uint32_t i = 0; i < outer.block->iter_vars.len; i++) {
    const tvms_iter_var *iter = tvms_as_iter_var(outer.block->iter_vars.items[i]);
    tvms_node_map_put(&inner.known, iter->var, outer.realize->iter_values.items[i]);
  }
  tvms_node *made = tvms_rewrite(&inner, outer.block->body);
  tvms_rewriter_fini(&inner);
  return made;
}

static tvms_walk_step find_marked(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  if (tvms_node_class_of(node) != TVMS_CLASS_STMT) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_FOR) return TVMS_WALK_ON;
  const tvms_for *loop = tvms_as_for(node);
  return loop->for_kind == TVMS_FOR_SERIAL && !loop->annotations ? TVMS_WALK_ON
                                                                 : TVMS_WALK_STOP;
}

tvms_node *tvms_cpu_join_nested_blocks(tvms_unit *unit, tvms_node *stmt) {
  // Loops that are marked are a schedule, and so are blocks around several others.
  tvms_visitor visitor = {.enter = find_marked};
  if (!tvms_walk(&unit->context->memory, stmt, &visitor)) return stmt;
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, NULL);
  // Inner ones first: then what a block holds are no blocks around others.
  r.leave[TVMS_NODE_BLOCK_REALIZE] = drop_block;
  tvms_node *made = tvms_rewrite(&r, stmt);
  tvms_rewriter_fini(&r);
  return made;
}
