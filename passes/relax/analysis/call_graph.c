// Mutual recursion by strongly connected components (Tarjan).
#include "passes/relax/analysis/call_graph.h"

#include "ir/walk.h"

#include <string.h>

typedef struct {
  tvms_relax_call_graph *graph;
  const tvms_module *module;
  uint32_t *seen;  // by member: the last function that mentioned it, plus one
  uint32_t caller;
} search;

static tvms_walk_step note_mention(void *self, tvms_node *node, tvms_field_role role) {
  search *s = self;
  (void)role;
  const tvms_member *member = tvms_module_named(s->module, node);
  if (!member) return TVMS_WALK_ON;
  uint32_t index = (uint32_t)(member - s->module->members);
  if (s->seen[index] == s->caller + 1) return TVMS_WALK_ON;
  s->seen[index] = s->caller + 1;
  tvms_vec_push(s->graph->memory, &s->graph->callees[s->caller].members, index);
  return TVMS_WALK_ON;
}

void tvms_relax_call_graph_init(tvms_relax_call_graph *graph,
                                const tvms_module *module) {
  tvms_memory *memory = &module->context->memory;
  uint32_t count = module->member_count;
  size_t size = (count + 1) * sizeof *graph->callees;
  *graph = (tvms_relax_call_graph){
      .memory = memory, .count = count, .callees = tvms_memory_alloc(memory, size)};
  memset(graph->callees, 0, size);
  search s = {graph, module, tvms_memory_alloc(memory, (count + 1) * sizeof *s.seen),
              0};
  memset(s.seen, 0, (count + 1) * sizeof *s.seen);
  tvms_visitor visitor = {.self = &s, .enter = note_mention};
  for (; s.caller < count; s.caller++) {
    tvms_node *function = module->members[s.caller].function;
    if (function) tvms_walk(memory, function, &visitor);
  }
  tvms_memory_free(memory, s.seen);
}

void tvms_relax_call_graph_fini(tvms_relax_call_graph *graph) {
  for (uint32_t i = 0; i < graph->count; i++)
    tvms_vec_fini(graph->memory, &graph->callees[i].members);
  tvms_memory_free(graph->memory, graph->callees);
}

typedef struct {
  const tvms_relax_call_graph *graph;
  bool *recursive;
  uint32_t *order;  // in which a member was met, from 1; 0: not yet
  uint32_t *low;    // the earliest member on the stack that it reaches
  bool *open;       // on the stack
  TVMS_VEC(uint32_t) stack;
  uint32_t met;
} component_search;

static void visit(component_search *s, uint32_t member);

static void follow(component_search *s, uint32_t from, uint32_t to) {
  if (from == to) s->recursive[from] = true;
  uint32_t reached = s->order[to];
  if (!reached) {
    visit(s, to);
    reached = s->low[to];
  } else if (!s->open[to]) {
    return;
  }
  if (reached < s->low[from]) s->low[from] = reached;
}

static void visit(component_search *s, uint32_t member) {
  tvms_memory *memory = s->graph->memory;
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  s->order[member] = s->low[member] = ++s->met;
  s->open[member] = true;
  tvms_vec_push(memory, &s->stack, member);
  const struct tvms_relax_callees *callees = &s->graph->callees[member];
  for (uint32_t i = 0; i < callees->members.len; i++)
    follow(s, member, callees->members.items[i]);
  if (s->low[member] == s->order[member]) {
    bool alone = s->stack.items[s->stack.len - 1] == member;
    for (uint32_t last = UINT32_MAX; last != member;) {
      last = s->stack.items[--s->stack.len];
      s->open[last] = false;
      s->recursive[last] |= !alone;
    }
  }
  tvms_memory_leave(memory);
}

void tvms_relax_call_graph_recursive(const tvms_relax_call_graph *graph,
                                     bool *recursive) {
  tvms_arena arena;
  tvms_arena_init(&arena, graph->memory);
  component_search s = {.graph = graph,
                        .recursive = recursive,
                        .order = tvms_arena_array(&arena, uint32_t, graph->count),
                        .low = tvms_arena_array(&arena, uint32_t, graph->count),
                        .open = tvms_arena_array(&arena, bool, graph->count)};
  memset(recursive, 0, graph->count * sizeof *recursive);
  for (uint32_t i = 0; i < graph->count; i++) {
    if (!s.order[i]) visit(&s, i);
  }
  tvms_vec_fini(graph->memory, &s.stack);
  tvms_arena_fini(&arena);
}

bool *tvms_relax_call_graph_called(const tvms_module *module) {
  tvms_memory *memory = &module->context->memory;
  bool *called = tvms_memory_alloc(memory, module->member_count + 1);
  memset(called, 0, module->member_count + 1);
  tvms_relax_call_graph graph;
  tvms_relax_call_graph_init(&graph, module);
  for (uint32_t i = 0; i < graph.count; i++) {
    const struct tvms_relax_callees *callees = &graph.callees[i];
    for (uint32_t k = 0; k < callees->members.len; k++)
      called[callees->members.items[k]] = true;
  }
  tvms_relax_call_graph_fini(&graph);
  return called;
}
