#include "schedule/accesses.h"

#include "ir/equal.h"
#include "ir/walk.h"
#include "schedule/make.h"

// ---- Finding ----

typedef struct {
  const tvms_node *buffer;
  tvms_sched_accesses found;
} finding;

static void see_access(finding *f, const tvms_node *node) {
  tvms_element element = tvms_node_element(node);
  if (*element.buffer != f->buffer) return;
  if (!f->found.count++) {
    f->found.indices = *element.indices;
    return;
  }
  for (uint32_t i = 0; i < f->found.indices.len; i++)
    if (!tvms_node_same_expr(f->found.indices.items[i], element.indices->items[i]))
      f->found.differ = true;
}

static tvms_walk_step see(void *self, tvms_node *node, tvms_field_role role) {
  finding *f = self;
  (void)role;
  switch ((int)node->kind) {
  case TVMS_NODE_BLOCK: f->found.nested = true; return TVMS_WALK_SKIP;
  case TVMS_NODE_BUFFER: return TVMS_WALK_SKIP;
  case TVMS_NODE_VAR:
    f->found.opaque = f->found.opaque || node == tvms_as_buffer(f->buffer)->data;
    return TVMS_WALK_ON;
  case TVMS_NODE_BUFFER_LOAD:
  case TVMS_NODE_STORE: see_access(f, node); return TVMS_WALK_ON;
  default: return TVMS_WALK_ON;
  }
}

tvms_sched_accesses tvms_sched_accesses_find(tvms_sched *sched, tvms_node *stmt,
                                             const tvms_node *buffer) {
  finding f = {.buffer = buffer};
  tvms_visitor visitor = {.self = &f, .enter = see};
  (void)tvms_walk(&sched->context->memory, stmt, &visitor);
  return f.found;
}

static tvms_walk_step see_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)self, (void)role;
  return node->kind == TVMS_NODE_BUFFER_LOAD ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

bool tvms_sched_loads(const tvms_sched *sched, tvms_node *expr) {
  tvms_visitor visitor = {.enter = see_load};
  return !tvms_walk(&sched->context->memory, expr, &visitor);
}

// ---- Moving ----

typedef struct {
  tvms_sched *sched;
  const tvms_sched_moved_access *moved;
  tvms_node *region;
  const tvms_node *stmt;
} moving;

static tvms_node *move_access(tvms_rewriter *r, tvms_node *node) {
  const moving *m = r->self;
  if (*tvms_node_element(node).buffer != m->moved->from) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_element element = tvms_node_element(copy);
  *element.buffer = m->moved->to;
  *element.indices = m->moved->indices;
  return copy;
}

static tvms_node *move_region(tvms_rewriter *r, tvms_node *node) {
  const moving *m = r->self;
  return tvms_as_buffer_region(node)->buffer == m->moved->from ? m->region : node;
}

static tvms_node *keep_inner(tvms_rewriter *r, tvms_node *node) {
  const moving *m = r->self;
  return node == m->stmt || m->moved->inner ? TVMS_REWRITE_BELOW : node;
}

static tvms_node *keep_buffer(tvms_rewriter *r, tvms_node *node) {
  return r->role == TVMS_ROLE_DEFINE ? TVMS_REWRITE_BELOW : node;
}

tvms_node *tvms_sched_accesses_moved(tvms_sched *sched, tvms_node *stmt,
                                     const tvms_sched_moved_access *moved) {
  moving m = {
      sched, moved,
      tvms_sched_point(sched, moved->to, moved->indices.items, moved->indices.len),
      stmt};
  tvms_rewriter r;
  tvms_rewriter_init(&r, sched->unit, &m);
  r.leave[TVMS_NODE_BUFFER_LOAD] = move_access;
  r.leave[TVMS_NODE_STORE] = move_access;
  r.leave[TVMS_NODE_BUFFER_REGION] = move_region;
  r.enter[TVMS_NODE_BUFFER] = keep_buffer;
  r.enter[TVMS_NODE_BLOCK] = keep_inner;
  tvms_node *made = tvms_rewrite(&r, stmt);
  tvms_rewriter_fini(&r);
  return made;
}
