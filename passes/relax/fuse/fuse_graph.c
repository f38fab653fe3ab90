// TVM's fusion: a value may join the operator in which all its uses come together (its
// post-dominator) if everything on the way is simple enough.
//
// Two rounds: matrix products and element-wise operators first, then operators that only
// move elements, so that products find their partners before those do. A third one, which TVM
// does not have, is for what moves and decodes weights.
#include "passes/relax/fuse/fuse_graph.h"

#include <string.h>

enum { NONE = -1 };

typedef struct {
  tvms_fuse_graph *graph;
  uint32_t count;
  // Post-dominator tree.
  int32_t *parent;  // NONE: a root
  uint32_t *depth;
  tvms_op_pattern *path;  // the widest pattern on the way to the parent
  // Groups as a forest with path compression.
  uint32_t *leader;
  uint32_t *size;
  tvms_op_pattern *pattern;  // of the group, at its leader
  bool *anchored;            // it has a matrix product, at its leader
  uint32_t *seen;            // stamp of the last search that came by
  uint32_t stamp;
} partition;

void tvms_fuse_graph_init(tvms_fuse_graph *graph, tvms_memory *memory) {
  *graph = (tvms_fuse_graph){.memory = memory};
}

void tvms_fuse_graph_fini(tvms_fuse_graph *graph) {
  tvms_vec_fini(graph->memory, &graph->nodes);
  tvms_vec_fini(graph->memory, &graph->edges);
}

uint32_t tvms_fuse_graph_add_node(tvms_fuse_graph *graph, tvms_op_pattern pattern,
                                  bool outer) {
  tvms_fuse_node node = {pattern, outer, false, UINT32_MAX, UINT32_MAX};
  tvms_vec_push(graph->memory, &graph->nodes, node);
  return graph->nodes.len - 1;
}

void tvms_fuse_graph_fix(tvms_fuse_graph *graph, uint32_t node) {
  graph->nodes.items[node].fixed = true;
}

void tvms_fuse_graph_add_edge(tvms_fuse_graph *graph, uint32_t node, uint32_t user,
                              tvms_op_pattern pattern) {
  uint32_t index = graph->edges.len;
  tvms_vec_push(graph->memory, &graph->edges,
                ((tvms_fuse_edge){user, UINT32_MAX, pattern}));
  tvms_fuse_node *from = &graph->nodes.items[node];
  if (from->first_edge == UINT32_MAX) {
    from->first_edge = index;
  } else {
    graph->edges.items[from->last_edge].next = index;
  }
  from->last_edge = index;
}

static tvms_op_pattern wider(tvms_op_pattern a, tvms_op_pattern b) {
  return a > b ? a : b;
}

// The nearest node on all ways from a and b; widens *path by what lies on them.
static int32_t meet(const partition *p, int32_t a, int32_t b, tvms_op_pattern *path) {
  while (a != b) {
    if (a == NONE || b == NONE) return NONE;
    bool step_a = p->depth[a] >= p->depth[b], step_b = p->depth[b] >= p->depth[a];
    if (step_a) {
      *path = wider(*path, p->path[a]);
      a = p->parent[a];
    }
    if (step_b) {
      *path = wider(*path, p->path[b]);
      b = p->parent[b];
    }
  }
  return a;
}

static void find_dominator(partition *p, uint32_t i) {
  const tvms_fuse_node *node = &p->graph->nodes.items[i];
  p->parent[i] = NONE;
  p->depth[i] = 1;
  p->path[i] = TVMS_PATTERN_OPAQUE;
  if (node->outer) return;
  p->path[i] = TVMS_PATTERN_ELEMENTWISE;
  bool first = true;
  for (uint32_t e = node->first_edge; e != UINT32_MAX;) {
    const tvms_fuse_edge *edge = &p->graph->edges.items[e];
    int32_t user = (int32_t)edge->to;
    p->parent[i] = first ? user : meet(p, p->parent[i], user, &p->path[i]);
    p->path[i] = wider(p->path[i], edge->pattern);
    first = false;
    e = edge->next;
  }
  if (p->parent[i] != NONE) p->depth[i] = p->depth[p->parent[i]] + 1;
}

static uint32_t leader_of(partition *p, uint32_t i) {
  uint32_t root = i;
  while (p->leader[root] != root)
    root = p->leader[root];
  while (p->leader[i] != root) {
    uint32_t next = p->leader[i];
    p->leader[i] = root;
    i = next;
  }
  return root;
}

// How simple the operators between a value and the one it wants to join must be.
typedef bool (*condition)(tvms_op_pattern pattern, bool is_sink);

static bool at_most_broadcast(tvms_op_pattern pattern, bool is_sink) {
  (void)is_sink;
  return pattern <= TVMS_PATTERN_BROADCAST;
}
static bool at_most_injective(tvms_op_pattern pattern, bool is_sink) {
  (void)is_sink;
  return pattern <= TVMS_PATTERN_INJECTIVE;
}
static bool takes_operand(tvms_op_pattern pattern, bool is_sink) {
  return is_sink ? pattern == TVMS_PATTERN_OUT_FUSABLE
                 : pattern <= TVMS_PATTERN_INJECTIVE;
}
static bool takes_elementwise(tvms_op_pattern pattern, bool is_sink) {
  return pattern <= TVMS_PATTERN_INJECTIVE
         || (is_sink && pattern <= TVMS_PATTERN_OUT_FUSABLE);
}

// What to do with each node on the ways from a source to a sink, both not included.
typedef struct {
  partition *p;
  uint32_t sink;
  condition fits;  // NULL: do not ask
  bool merge;      // into the group of the sink
  uint32_t nodes;  // in the groups on the way, counted
} search;

static void merge_into(partition *p, uint32_t child, uint32_t parent) {
  child = leader_of(p, child);
  parent = leader_of(p, parent);
  if (child == parent) return;
  p->size[parent] += p->size[child];
  p->leader[child] = parent;
  if (!p->anchored[child]) return;
  p->anchored[parent] = true;
  p->pattern[parent] = wider(p->pattern[child], p->pattern[parent]);
}

// Goes through all nodes on the ways to the sink, with a stack of its own: chains are
// long. Returns false when one does not fit.
static bool walk_ways(search *s, uint32_t source) {
  partition *p = s->p;
  TVMS_VEC(uint32_t) stack = {0};
  tvms_memory *memory = p->graph->memory;
  p->stamp++;
  tvms_vec_push(memory, &stack, source);
  bool fine = true;
  while (stack.len && fine) {
    uint32_t i = stack.items[--stack.len];
    if (p->seen[i] == p->stamp) continue;
    p->seen[i] = p->stamp;
    bool at_source = i == source, at_sink = i == s->sink;
    if (s->fits && !at_source) fine = s->fits(p->pattern[leader_of(p, i)], at_sink);
    if (at_sink) continue;
    s->nodes += p->size[i];
    if (s->merge) merge_into(p, i, s->sink);
    for (uint32_t e = p->graph->nodes.items[i].first_edge; e != UINT32_MAX;
         e = p->graph->edges.items[e].next) {
      tvms_vec_push(memory, &stack, p->graph->edges.items[e].to);
    }
  }
  tvms_vec_fini(memory, &stack);
  return fine;
}

static void fuse_if(partition *p, uint32_t i, condition fits) {
  search ask = {.p = p, .sink = (uint32_t)p->parent[i], .fits = fits};
  if (!walk_ways(&ask, i)) return;
  search merge = {.p = p, .sink = (uint32_t)p->parent[i], .merge = true};
  walk_ways(&merge, i);
}

static bool is_too_large(partition *p, uint32_t i, uint32_t max_depth) {
  search count = {.p = p, .sink = (uint32_t)p->parent[i]};
  walk_ways(&count, i);
  return p->size[leader_of(p, count.sink)] + count.nodes > max_depth;
}

static void try_node(partition *p, uint32_t i, uint32_t max_depth, int round) {
  tvms_op_pattern own = p->pattern[i], path = p->path[i];
  if (own == TVMS_PATTERN_OPAQUE || p->parent[i] == NONE) return;
  if (is_too_large(p, i, max_depth)) return;
  if (leader_of(p, i) == leader_of(p, (uint32_t)p->parent[i])) return;
  if (own == TVMS_PATTERN_OUT_FUSABLE) {
    if (round == 0 && path == TVMS_PATTERN_ELEMENTWISE)
      fuse_if(p, i, at_most_broadcast);
  } else if (own <= TVMS_PATTERN_BROADCAST) {
    if (path <= TVMS_PATTERN_REDUCTION) fuse_if(p, i, takes_elementwise);
  } else if (own == TVMS_PATTERN_INJECTIVE) {
    if (round == 1) fuse_if(p, i, at_most_injective);
    if (round == 2 && p->graph->nodes.items[i].fixed) fuse_if(p, i, takes_operand);
  }
}

static tvms_fuse_reason reason_of(partition *p, uint32_t i, uint32_t max_depth) {
  if (p->graph->nodes.items[i].pattern == TVMS_PATTERN_OPAQUE) return TVMS_FUSE_OPAQUE;
  if (p->graph->nodes.items[i].outer) return TVMS_FUSE_OUTER;
  if (p->parent[i] == NONE) return TVMS_FUSE_APART;
  if (leader_of(p, i) == leader_of(p, (uint32_t)p->parent[i])) return TVMS_FUSE_JOINED;
  return is_too_large(p, i, max_depth) ? TVMS_FUSE_TOO_LARGE : TVMS_FUSE_PATTERN;
}

void tvms_fuse_graph_partition(tvms_fuse_graph *graph, uint32_t max_depth,
                               bool operands, uint32_t *groups,
                               tvms_fuse_reason *TVMS_NULLABLE reasons) {
  uint32_t n = graph->nodes.len;
  tvms_arena arena;
  tvms_arena_init(&arena, graph->memory);
  partition p = {
      .graph = graph,
      .count = n,
      .parent = tvms_arena_array(&arena, int32_t, n),
      .depth = tvms_arena_array(&arena, uint32_t, n),
      .path = tvms_arena_array(&arena, tvms_op_pattern, n),
      .leader = tvms_arena_array(&arena, uint32_t, n),
      .size = tvms_arena_array(&arena, uint32_t, n),
      .pattern = tvms_arena_array(&arena, tvms_op_pattern, n),
      .anchored = tvms_arena_array(&arena, bool, n),
      .seen = tvms_arena_array(&arena, uint32_t, n),
  };
  for (uint32_t i = n; i > 0; i--)
    find_dominator(&p, i - 1);
  for (uint32_t i = 0; i < n; i++) {
    p.leader[i] = i;
    p.size[i] = 1;
    p.pattern[i] = graph->nodes.items[i].pattern;
    p.anchored[i] = p.pattern[i] == TVMS_PATTERN_OUT_FUSABLE;
  }
  for (int round = 0; round < (operands ? 3 : 2); round++) {
    for (uint32_t i = 0; i < n; i++)
      try_node(&p, i, max_depth, round);
  }
  for (uint32_t i = 0; i < n; i++)
    groups[i] = leader_of(&p, i);
  for (uint32_t i = 0; reasons && i < n; i++)
    reasons[i] = reason_of(&p, i, max_depth);
  tvms_arena_fini(&arena);
}
