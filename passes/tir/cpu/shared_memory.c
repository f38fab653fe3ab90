// Finding buffers that are views of one memory.
#include "passes/tir/cpu/shared_memory.h"

#include "ir/walk.h"

static bool is_pointer(const tvms_node *node) {
  return node->kind == TVMS_NODE_VAR && tvms_dtype_is_handle(node->dtype);
}

static tvms_node *data_of(const tvms_node *buffer) {
  return tvms_as_buffer(buffer)->data;
}

// ---- Which memory ----

static const tvms_node *root_of(const tvms_cpu_views *v, const tvms_node *pointer) {
  const tvms_node *up;
  while ((up = tvms_node_map_get(&v->parents, pointer)))
    pointer = up;
  return pointer;
}

static void join(tvms_cpu_views *v, const tvms_node *a, const tvms_node *b) {
  const tvms_node *top = root_of(v, a), *under = root_of(v, b);
  if (top != under) tvms_node_map_put(&v->parents, under, (tvms_node *)(uintptr_t)top);
  v->any = true;
}

typedef struct {
  tvms_cpu_views *views;
  const tvms_node *pointer;
} derived;

static tvms_walk_step see_source(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const derived *d = self;
  if (node->kind == TVMS_NODE_BUFFER) join(d->views, data_of(node), d->pointer);
  if (is_pointer(node)) join(d->views, node, d->pointer);
  return node->kind == TVMS_NODE_BUFFER ? TVMS_WALK_SKIP : TVMS_WALK_ON;
}

// `pointer` is made from what stands in an expression.
static void derive(tvms_cpu_views *v, const tvms_node *pointer, tvms_node *from) {
  derived d = {v, pointer};
  tvms_visitor visitor = {.self = &d, .enter = see_source};
  (void)tvms_walk(v->memory, from, &visitor);
}

static tvms_walk_step see_definition(void *self, tvms_node *node,
                                     tvms_field_role role) {
  (void)role;
  tvms_cpu_views *v = self;
  v->any |= node->kind == TVMS_NODE_DECL_BUFFER;
  if (node->kind == TVMS_NODE_MATCH_BUFFER_REGION) {
    const tvms_match_buffer_region *match = tvms_as_match_buffer_region(node);
    join(v, data_of(tvms_as_buffer_region(match->source)->buffer),
         data_of(match->buffer));
  } else if (node->kind == TVMS_NODE_DECL_BUFFER && tvms_as_decl_buffer(node)->source) {
    const tvms_decl_buffer *decl = tvms_as_decl_buffer(node);
    derive(v, data_of(decl->buffer), decl->source);
  } else if (node->kind == TVMS_NODE_BIND && is_pointer(tvms_as_bind(node)->var)) {
    derive(v, tvms_as_bind(node)->var, tvms_as_bind(node)->value);
  }
  return node->kind == TVMS_NODE_BUFFER ? TVMS_WALK_SKIP : TVMS_WALK_ON;
}

void tvms_cpu_views_init(tvms_cpu_views *views, tvms_memory *memory, tvms_node *body) {
  *views = (tvms_cpu_views){.memory = memory};
  tvms_node_map_init(&views->parents, memory);
  tvms_visitor visitor = {.self = views, .enter = see_definition};
  (void)tvms_walk(memory, body, &visitor);
}

void tvms_cpu_views_fini(tvms_cpu_views *views) {
  tvms_node_map_fini(&views->parents);
}

// ---- Uses ----

typedef struct {
  const tvms_cpu_views *views;
  tvms_node_map first;    // of a memory: the buffer that uses it
  tvms_node_map several;  // memory that another one uses, too
  tvms_node_map written;  // memory
  tvms_node_map used;     // buffers, and pointers that are passed on -> their memory
} uses;

static void use(uses *u, tvms_node *through, const tvms_node *pointer, bool writes) {
  const tvms_node *root = root_of(u->views, pointer);
  tvms_node *memory = (tvms_node *)(uintptr_t)root;
  const tvms_node *before = tvms_node_map_get(&u->first, root);
  if (!before) tvms_node_map_put(&u->first, root, through);
  if (before && before != through) tvms_node_map_put(&u->several, root, memory);
  if (writes) tvms_node_map_put(&u->written, root, memory);
  tvms_node_map_put(&u->used, through, memory);
}

static tvms_walk_step see_use(void *self, tvms_node *node, tvms_field_role role) {
  uses *u = self;
  switch ((int)node->kind) {
  case TVMS_NODE_BUFFER:
  case TVMS_NODE_BUFFER_REGION:
  case TVMS_NODE_MATCH_BUFFER_REGION:
  case TVMS_NODE_DECL_BUFFER: return TVMS_WALK_SKIP;
  case TVMS_NODE_BIND:
    return is_pointer(tvms_as_bind(node)->var) ? TVMS_WALK_SKIP : TVMS_WALK_ON;
  case TVMS_NODE_BUFFER_LOAD:
  case TVMS_NODE_STORE: {
    tvms_node *buffer = *tvms_node_element(node).buffer;
    use(u, buffer, data_of(buffer), node->kind == TVMS_NODE_STORE);
    break;
  }
  case TVMS_NODE_VAR:
    if (is_pointer(node) && role == TVMS_ROLE_USE) use(u, node, node, true);
    break;
  default: break;
  }
  return TVMS_WALK_ON;
}

bool tvms_cpu_views_share(const tvms_cpu_views *views, tvms_node *body,
                          tvms_node_map *shared) {
  if (!views->any) return false;
  uses u = {.views = views};
  tvms_node_map *maps[] = {&u.first, &u.several, &u.written, &u.used};
  for (uint32_t i = 0; i < 4; i++)
    tvms_node_map_init(maps[i], views->memory);
  tvms_visitor visitor = {.self = &u, .enter = see_use};
  (void)tvms_walk(views->memory, body, &visitor);
  for (uint32_t i = 0; i < u.used.cap; i++) {
    const tvms_node_pair *pair = &u.used.pairs[i];
    if (pair->key && tvms_node_map_get(&u.several, pair->value)
        && tvms_node_map_get(&u.written, pair->value))
      tvms_node_map_put(shared, pair->key, pair->value);
  }
  for (uint32_t i = 0; i < 4; i++)
    tvms_node_map_fini(maps[i]);
  return shared->count > 0;
}

static tvms_walk_step find_shared(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  return tvms_node_map_get(self, node)    ? TVMS_WALK_STOP
         : node->kind == TVMS_NODE_BUFFER ? TVMS_WALK_SKIP
                                          : TVMS_WALK_ON;
}

bool tvms_cpu_uses_shared(const tvms_node_map *shared, tvms_node *stmt) {
  tvms_visitor visitor = {.self = (void *)(uintptr_t)shared, .enter = find_shared};
  return !tvms_walk(shared->memory, stmt, &visitor);
}
