// Making the variables of a nest of loops equally wide, so that its indices can be compared and vectorised.
#include "passes/tir/cpu/loop_dtypes.h"

#include "ir/fold.h"
#include "ir/index_dtype.h"
#include "ir/walk.h"

typedef struct {
  tvms_memory *memory;
  tvms_node_map narrow;  // VAR -> a variable whose dtype it gets
} widening;

static bool is_plain(const tvms_node *stmt) {
  if (stmt->kind != TVMS_NODE_FOR) return false;
  const tvms_for *loop = tvms_as_for(stmt);
  return loop->for_kind == TVMS_FOR_SERIAL && !loop->annotations;
}

static void compare(const tvms_node *var, tvms_node **widest, bool *differ) {
  if (!*widest) *widest = (tvms_node *)var;
  *differ |= var->dtype.bits != (*widest)->dtype.bits;
  if (var->dtype.bits > (*widest)->dtype.bits) *widest = (tvms_node *)var;
}

static void note(widening *w, tvms_node *var, tvms_node *widest) {
  if (var->dtype.bits < widest->dtype.bits) tvms_node_map_put(&w->narrow, var, widest);
}

// Of the variables of the loops from `nest` on and of the block inside, those that are narrower than another one.
static tvms_walk_step find_narrow(void *self, tvms_node *nest, tvms_field_role role) {
  (void)role;
  widening *w = self;
  if (!is_plain(nest)) return TVMS_WALK_ON;
  tvms_node *widest = NULL, *body = nest;
  bool differ = false;
  for (; is_plain(body); body = tvms_as_for(body)->body)
    compare(tvms_as_for(body)->var, &widest, &differ);
  if (!differ) return TVMS_WALK_ON;
  for (body = nest; is_plain(body); body = tvms_as_for(body)->body)
    note(w, tvms_as_for(body)->var, widest);
  if (body->kind != TVMS_NODE_BLOCK_REALIZE) return TVMS_WALK_ON;
  tvms_list vars = tvms_as_block(tvms_as_block_realize(body)->block)->iter_vars;
  for (uint32_t i = 0; i < vars.len; i++)
    note(w, tvms_as_iter_var(vars.items[i])->var, widest);
  return TVMS_WALK_ON;
}

static tvms_node *enter_var(tvms_rewriter *r, tvms_node *node) {
  tvms_index_dtypes *d = r->self;
  const widening *w = d->self;
  const tvms_node *like = tvms_node_map_get(&w->narrow, node);
  if (!like) return node;
  if (!tvms_node_map_get(&d->vars, node))
    tvms_index_dtypes_replace(d, node, like->dtype);
  tvms_node *wide = tvms_index_dtypes_var(d, node);
  return d->enabled ? wide : tvms_build_cast(r->unit, node->dtype, wide, node->span);
}

// What a function takes keeps its dtype, within an index, too.
static tvms_node *enter_call(tvms_rewriter *r, tvms_node *node) {
  tvms_index_dtypes *d = r->self;
  bool outer = d->enabled;
  d->enabled = false;
  node = tvms_rewrite_below(r, node);
  d->enabled = outer;
  return node;
}

tvms_node *tvms_cpu_widen_loops(tvms_unit *unit, tvms_node *body) {
  widening w = {.memory = &unit->context->memory};
  tvms_node_map_init(&w.narrow, w.memory);
  tvms_visitor visitor = {.self = &w, .enter = find_narrow};
  tvms_walk(w.memory, body, &visitor);
  if (w.narrow.count) {
    tvms_index_dtypes d;
    tvms_index_dtypes_init(&d, unit, &w);
    d.rewriter.enter[TVMS_NODE_VAR] = enter_var;
    d.rewriter.enter[TVMS_NODE_CALL] = enter_call;
    d.rewriter.leave[TVMS_NODE_CALL] = NULL;
    body = tvms_rewrite(&d.rewriter, body);
    tvms_index_dtypes_fini(&d);
  }
  tvms_node_map_fini(&w.narrow);
  return body;
}
