// Free variables of statements, as code that is split off needs them.
//
// A statement comes after those that define what it uses, so one walk is enough: what is met
// in use before it was defined comes from outside. Sizes of a buffer count where the buffer
// is defined, and not where it is used.
#include "passes/tir/host/captured.h"

#include "ir/walk.h"

static tvms_walk_step note_buffer(void *self, tvms_node *node, tvms_field_role role) {
  tvms_host_captured *c = self;
  (void)role;
  if (node->kind != TVMS_NODE_BUFFER) return TVMS_WALK_ON;
  const tvms_node *data = tvms_as_buffer(node)->data;
  bool known = tvms_node_map_get(&c->buffers, data) == node;
  if (!known) tvms_node_map_put(&c->buffers, data, node);
  return known ? TVMS_WALK_SKIP : TVMS_WALK_ON;
}

void tvms_host_captured_init(tvms_host_captured *captured, tvms_memory *memory,
                             tvms_node *function, bool pointers) {
  *captured = (tvms_host_captured){.memory = memory, .pointers = pointers};
  tvms_node_map_init(&captured->buffers, memory);
  tvms_node_map_init(&captured->seen, memory);
  tvms_visitor visitor = {.self = captured, .enter = note_buffer};
  tvms_walk(memory, function, &visitor);
}

void tvms_host_captured_fini(tvms_host_captured *captured) {
  tvms_node_map_fini(&captured->buffers);
  tvms_node_map_fini(&captured->seen);
  tvms_vec_fini(captured->memory, &captured->used);
  tvms_vec_fini(captured->memory, &captured->views);
}

static void define(tvms_host_captured *c, tvms_node *node) {
  tvms_node_map_put(&c->seen, node, node);
}

static void use(tvms_host_captured *c, tvms_node *node) {
  if (tvms_node_map_get(&c->seen, node)) return;
  define(c, node);
  tvms_vec_push(c->memory, &c->used, node);
}

static tvms_walk_step enter(void *self, tvms_node *node, tvms_field_role role);

static void visit_list(tvms_host_captured *c, tvms_list list) {
  tvms_visitor visitor = {.self = c, .enter = enter};
  for (uint32_t i = 0; i < list.len; i++)
    tvms_walk(c->memory, list.items[i], &visitor);
}

static void use_sizes(tvms_host_captured *c, const tvms_buffer *buffer) {
  visit_list(c, buffer->shape);
  visit_list(c, buffer->strides);
}

static void define_buffer(tvms_host_captured *c, tvms_node *node) {
  tvms_buffer *buffer = tvms_as_buffer(node);
  define(c, node);
  define(c, buffer->data);
  use_sizes(c, buffer);
  visit_list(c, (tvms_list){&buffer->elem_offset, 1});
}

// A buffer that is declared for a pointer uses it.
static void declare_buffer(tvms_host_captured *c, tvms_node *node) {
  define(c, node);
  use(c, tvms_as_buffer(node)->data);
  use_sizes(c, tvms_as_buffer(node));
}

static void use_buffer(tvms_host_captured *c, tvms_node *node) {
  if (!c->pointers) {
    use(c, node);
    return;
  }
  if (!tvms_node_map_get(&c->seen, node)) tvms_vec_push(c->memory, &c->views, node);
  declare_buffer(c, node);
}

static tvms_walk_step enter(void *self, tvms_node *node, tvms_field_role role) {
  tvms_host_captured *c = self;
  if (role == TVMS_ROLE_NOTE || role == TVMS_ROLE_TYPE) return TVMS_WALK_SKIP;
  bool defines = role == TVMS_ROLE_DEFINE || role == TVMS_ROLE_DEFINE_REC;
  if (c->pointers && node->kind == TVMS_NODE_DECL_BUFFER) {
    declare_buffer(c, tvms_as_decl_buffer(node)->buffer);
    return TVMS_WALK_SKIP;
  }
  if (node->kind == TVMS_NODE_BUFFER) {
    if (defines)
      define_buffer(c, node);
    else
      use_buffer(c, node);
    return TVMS_WALK_SKIP;
  }
  if (node->kind != TVMS_NODE_VAR) return TVMS_WALK_ON;
  tvms_node *buffer = c->pointers ? NULL : tvms_node_map_get(&c->buffers, node);
  if (defines)
    define(c, node);
  else
    use(c, buffer ? buffer : node);
  return TVMS_WALK_SKIP;
}

void tvms_host_captured_find(tvms_host_captured *captured, tvms_node *const *stmts,
                             uint32_t count) {
  tvms_node_map_clear(&captured->seen);
  captured->used.len = 0;
  captured->views.len = 0;
  visit_list(captured, (tvms_list){(tvms_node **)(uintptr_t)stmts, count});
}
