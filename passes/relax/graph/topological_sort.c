// TopologicalSort: the bindings of dataflow blocks in another order.
//
// Before: a = f(x); b = g(x); c = h(a)   After (depth-first, from-inputs): a, c, b
//
// Depth-first goes on with what was made available last, breadth-first with what has been
// available longest; from-inputs begins with the parameters, from-outputs with the results
// and goes backwards. Other blocks stay as they are.
// TVM: relax.transform.TopologicalSort.
#include "ir/build.h"
#include "ir/walk.h"
#include "passes/functions.h"
#include "structinfo/definitions.h"

#include <stdio.h>
#include <string.h>

enum { INPUT, OUTPUT, FIRST_VAR };

typedef struct {
  TVMS_VEC(uint32_t) items;
} edges;

typedef struct {
  tvms_pass_run *run;
  tvms_arena arena;
  uint32_t *node_of;           // by id of a variable: its node, 0: none
  TVMS_VEC(tvms_node *) vars;  // by node, from FIRST_VAR on
  TVMS_VEC(uint32_t) bound;    // nodes of variables that are bound, in order
  edges *users;                // by node
  edges *needs;
  uint32_t room;
  uint32_t node;  // of the binding at hand
  TVMS_VEC(uint32_t) outer;
  bool depth_first;
  bool from_outputs;
  uint32_t *visited;  // by node: stamp of the block
  uint32_t stamp;
} sorter;

static tvms_memory *memory_of(const sorter *s) {
  return &s->run->context->memory;
}

// ---- The graph of a function ----

static uint32_t add_var(sorter *s, tvms_node *var) {
  tvms_vec_push(memory_of(s), &s->vars, var);
  uint32_t node = FIRST_VAR + s->vars.len - 1;
  s->node_of[var->id] = node;
  return node;
}

static void add_edge(sorter *s, uint32_t from, uint32_t to) {
  tvms_vec_push(memory_of(s), &s->users[from].items, to);
  tvms_vec_push(memory_of(s), &s->needs[to].items, from);
}

static tvms_walk_step enter(void *self, tvms_node *node, tvms_field_role role) {
  sorter *s = self;
  if (node->kind == TVMS_NODE_FUNCTION) {
    tvms_list params = tvms_as_function(node)->params;
    for (uint32_t i = 0; i < params.len; i++)
      add_edge(s, INPUT, add_var(s, params.items[i]));
  } else if (node->kind == TVMS_NODE_VAR_BINDING
             || node->kind == TVMS_NODE_MATCH_CAST) {
    tvms_vec_push(memory_of(s), &s->outer, s->node);
    s->node = add_var(s, tvms_relax_binding_var(node));
    tvms_vec_push(memory_of(s), &s->bound, s->node);
  } else if (node->kind == TVMS_NODE_VAR && role == TVMS_ROLE_USE
             && s->node_of[node->id]) {
    add_edge(s, s->node_of[node->id], s->node);
  }
  return TVMS_WALK_ON;
}

static void leave(void *self, tvms_node *node, tvms_field_role role) {
  sorter *s = self;
  (void)role;
  if (node->kind == TVMS_NODE_VAR_BINDING || node->kind == TVMS_NODE_MATCH_CAST)
    s->node = s->outer.items[--s->outer.len];
}

static void push_front(sorter *s, edges *list, uint32_t node) {
  tvms_vec_push(memory_of(s), &list->items, node);
  memmove(list->items.items + 1, list->items.items,
          (list->items.len - 1) * sizeof *list->items.items);
  list->items.items[0] = node;
}

static void reverse(edges *list) {
  for (uint32_t i = 0, k = list->items.len; i + 1 < k; i++) {
    uint32_t other = list->items.items[--k];
    list->items.items[k] = list->items.items[i];
    list->items.items[i] = other;
  }
}

// What needs nothing needs the input, what nobody uses is an output.
static void close_graph(sorter *s) {
  TVMS_VEC(uint32_t) unused = {0};
  for (uint32_t i = 0; i < s->bound.len; i++) {
    uint32_t node = s->bound.items[i];
    if (s->users[node].items.len == 0) tvms_vec_push(memory_of(s), &unused, node);
    if (s->needs[node].items.len == 0) add_edge(s, INPUT, node);
  }
  for (uint32_t i = unused.len; i > 0; i--) {
    push_front(s, &s->needs[OUTPUT], unused.items[i - 1]);
    push_front(s, &s->users[unused.items[i - 1]], OUTPUT);
  }
  tvms_vec_fini(memory_of(s), &unused);
  for (uint32_t i = 0; s->depth_first && i < s->room; i++)
    reverse(&s->users[i]);
}

// ---- Blocks ----

typedef TVMS_VEC(uint32_t) worklist;

static bool is_ready(const sorter *s, uint32_t node) {
  if (s->visited[node] == s->stamp) return false;
  const edges *before = s->from_outputs ? &s->users[node] : &s->needs[node];
  for (uint32_t i = 0; i < before->items.len; i++) {
    if (s->visited[before->items.items[i]] != s->stamp) return false;
  }
  return true;
}

static void push_ready(sorter *s, worklist *work, uint32_t node) {
  const edges *next = s->from_outputs ? &s->needs[node] : &s->users[node];
  for (uint32_t i = 0; i < next->items.len; i++) {
    if (is_ready(s, next->items.items[i]))
      tvms_vec_push(memory_of(s), work, next->items.items[i]);
  }
}

// Visits the whole graph; bindings of the block that are met go into `order`.
static void visit_all(sorter *s, tvms_node *const *binding_of, tvms_node_vec *order) {
  worklist work = {0};
  s->stamp++;
  tvms_vec_push(memory_of(s), &work, s->from_outputs ? OUTPUT : INPUT);
  for (uint32_t first = 0; first < work.len;) {
    uint32_t node = s->depth_first ? work.items[--work.len] : work.items[first++];
    if (s->visited[node] == s->stamp) continue;
    s->visited[node] = s->stamp;
    if (binding_of[node]) tvms_vec_push(memory_of(s), order, binding_of[node]);
    push_ready(s, &work, node);
  }
  tvms_vec_fini(memory_of(s), &work);
}

static tvms_node *sort_block(tvms_rewriter *r, tvms_node *node) {
  sorter *s = r->self;
  if (!(node->flags & TVMS_FLAG_DATAFLOW)) return TVMS_REWRITE_BELOW;
  tvms_list old = tvms_as_binding_block(node)->bindings;
  tvms_mark mark = tvms_arena_mark(&s->arena);
  tvms_node **binding_of = tvms_arena_array(&s->arena, tvms_node *, s->room);
  for (uint32_t i = 0; i < old.len; i++)
    binding_of[s->node_of[tvms_relax_binding_var(old.items[i])->id]] = old.items[i];
  tvms_node_vec order = {0};
  visit_all(s, binding_of, &order);
  tvms_arena_reset(&s->arena, mark);
  bool same = order.len != old.len;  // then something is not reached, and all stays
  if (!same) {
    tvms_node *made = tvms_node_copy(r->unit, node);
    tvms_list list = tvms_list_copy(r->unit, order.items, order.len);
    for (uint32_t i = 0; i < list.len && s->from_outputs; i++)
      list.items[i] = order.items[order.len - 1 - i];
    same = memcmp(list.items, old.items, old.len * sizeof *old.items) == 0;
    tvms_as_binding_block(made)->bindings = list;
    if (!same) node = made;
  }
  tvms_vec_fini(memory_of(s), &order);
  return tvms_rewrite_below(r, node);
}

static void build_graph(sorter *s, tvms_unit *unit, tvms_node *function) {
  s->room = unit->next_id + FIRST_VAR;
  s->node_of = tvms_arena_array(&s->arena, uint32_t, unit->next_id);
  s->users = tvms_arena_array(&s->arena, edges, s->room);
  s->needs = tvms_arena_array(&s->arena, edges, s->room);
  s->visited = tvms_arena_array(&s->arena, uint32_t, s->room);
  s->node = OUTPUT;
  tvms_visitor visitor = {.self = s, .enter = enter, .leave = leave};
  tvms_walk(memory_of(s), function, &visitor);
  close_graph(s);
}

static tvms_node *sort_function(tvms_pass_run *run, tvms_unit *unit,
                                tvms_node *function) {
  sorter s = {.run = run};
  s.depth_first =
      strcmp(TVMS_OPTION(run, TopologicalSort, order).text, "breadth-first") != 0;
  s.from_outputs =
      strcmp(TVMS_OPTION(run, TopologicalSort, direction).text, "from-outputs") == 0;
  tvms_arena_init(&s.arena, memory_of(&s));
  build_graph(&s, unit, function);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &s);
  rewriter.enter[TVMS_NODE_BINDING_BLOCK] = sort_block;
  tvms_node *result = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  for (uint32_t i = 0; i < s.room; i++) {
    tvms_vec_fini(memory_of(&s), &s.users[i].items);
    tvms_vec_fini(memory_of(&s), &s.needs[i].items);
  }
  tvms_vec_fini(memory_of(&s), &s.vars);
  tvms_vec_fini(memory_of(&s), &s.bound);
  tvms_vec_fini(memory_of(&s), &s.outer);
  tvms_arena_fini(&s.arena);
  return result;
}

void tvms_pass_topological_sort(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, sort_function);
}
