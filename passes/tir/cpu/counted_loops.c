// Loops whose numbers of steps are known to be none or more.
#include "passes/tir/cpu/counted_loops.h"

#include "arith/analyzer.h"
#include "ir/walk.h"
#include "passes/tir/cpu/places.h"

typedef struct {
  tvms_analyzer *analyzer;
  tvms_memory *memory;
  bool loops;
} loop_search;

static tvms_walk_step find_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  return node->kind == TVMS_NODE_BUFFER_LOAD ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// Has a loop steps less than none, or may have, or as many as memory says, which may change?
static tvms_walk_step find_uncounted(void *self, tvms_node *node,
                                     tvms_field_role role) {
  (void)role;
  loop_search *l = self;
  if (tvms_node_class_of(node) != TVMS_CLASS_STMT) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_FOR) return TVMS_WALK_ON;
  const tvms_for *loop = tvms_as_for(node);
  l->loops = true;
  tvms_visitor loads = {.enter = find_load};
  if (!tvms_walk(l->memory, loop->extent, &loads)
      || !tvms_analyzer_can_prove_ge(l->analyzer, loop->extent, 0))
    return TVMS_WALK_STOP;
  tvms_analyzer_bind_range(l->analyzer, loop->var, loop->min, loop->extent);
  return TVMS_WALK_ON;
}

bool tvms_cpu_loops_are_counted(tvms_unit *unit, tvms_list around, tvms_node *body) {
  loop_search l = {tvms_analyzer_new(unit), &unit->context->memory, false};
  for (uint32_t i = 0; i < around.len; i++) {
    const tvms_for *loop = tvms_as_for(around.items[i]);
    tvms_analyzer_bind_range(l.analyzer, loop->var, loop->min, loop->extent);
  }
  tvms_visitor visitor = {.self = &l, .enter = find_uncounted};
  bool fine = tvms_walk(l.memory, body, &visitor) && l.loops;
  tvms_analyzer_free(l.analyzer);
  return fine;
}

typedef struct {
  tvms_unit *unit;
  const tvms_node *var;
  uint32_t along, across;
} ways;

static void note_access(ways *w, tvms_list indices) {
  int64_t step;
  if (!indices.len || !tvms_cpu_depends(w->unit, indices, w->var)) return;
  tvms_list outer = {indices.items, indices.len - 1};
  bool next =
      !tvms_cpu_depends(w->unit, outer, w->var)
      && tvms_cpu_index_step(w->unit, indices.items[indices.len - 1], w->var, &step)
      && (step == 1 || step == -1);
  if (next)
    w->along++;
  else
    w->across++;
}

static tvms_walk_step find_ways(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  if (node->kind == TVMS_NODE_FOR) return TVMS_WALK_STOP;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind == TVMS_NODE_STORE) note_access(self, tvms_as_store(node)->indices);
  if (node->kind == TVMS_NODE_BUFFER_LOAD)
    note_access(self, tvms_as_buffer_load(node)->indices);
  return TVMS_WALK_ON;
}

bool tvms_cpu_loop_goes_across(tvms_unit *unit, tvms_node *stmt) {
  if (stmt->kind != TVMS_NODE_FOR) return false;
  ways w = {unit, tvms_as_for(stmt)->var, 0, 0};
  tvms_visitor visitor = {.self = &w, .enter = find_ways};
  bool innermost = tvms_walk(&unit->context->memory, tvms_as_for(stmt)->body, &visitor);
  return innermost && w.across > w.along;
}
