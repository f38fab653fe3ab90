// What has little to do gains by threads only if these need not be woken, and what one thread does alone while the others
// wait leaves its results in the cache of one processor.
#include "passes/tir/cpu/company.h"

#include "ir/walk.h"
#include "passes/tir/cpu/places.h"

typedef struct {
  double steps, most;  // of the loops that are open; of all nests
} nests;

static double steps_of(const tvms_node *loop) {
  enum { UNKNOWN = 64 };
  int64_t extent = tvms_cpu_number(tvms_as_for(loop)->extent);
  return extent > 0 ? (double)extent : extent < 0 ? UNKNOWN : 1;
}

static tvms_walk_step open_loop(void *self, tvms_node *node, tvms_field_role role) {
  nests *n = self;
  (void)role;
  if (node->kind != TVMS_NODE_FOR) return TVMS_WALK_ON;
  n->steps *= steps_of(node);
  if (n->steps > n->most) n->most = n->steps;
  return TVMS_WALK_ON;
}

static void close_loop(void *self, tvms_node *node, tvms_field_role role) {
  nests *n = self;
  (void)role;
  if (node->kind == TVMS_NODE_FOR) n->steps /= steps_of(node);
}

bool tvms_cpu_module_has_threads(const tvms_module *module) {
  nests n = {1, 0};
  tvms_visitor visitor = {.self = &n, .enter = open_loop, .leave = close_loop};
  for (uint32_t i = 0; i < module->member_count && n.most < TVMS_CPU_MANY_STEPS; i++) {
    const tvms_node *function = module->members[i].function;
    if (!function || function->kind != TVMS_NODE_PRIM_FUNC) continue;
    tvms_walk(&module->context->memory, tvms_as_prim_func(function)->body, &visitor);
  }
  return n.most >= TVMS_CPU_MANY_STEPS;
}
