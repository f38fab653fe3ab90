// One walk that stops at the first access that is not to[index] = f(from[index]).
#include "passes/tir/memory/inplace.h"

#include "ir/equal.h"
#include "ir/object.h"
#include "ir/walk.h"

typedef struct {
  tvms_memory *memory;
  const tvms_node *to, *from;
  const tvms_store *store;  // that writes `to`, around the value at hand
  uint32_t nesting;         // of indices around the expression at hand
  bool safe;
} check;

static void visit(check *c, tvms_node *node);

static void visit_below(check *c, tvms_node *node) {
  tvms_node *child;
  for (tvms_child_at at = {0}; (child = tvms_walk_next_child(node, &at));) {
    if (child->kind == TVMS_NODE_BUFFER && node->kind != TVMS_NODE_CALL) continue;
    if (at.role == TVMS_ROLE_USE || at.role == TVMS_ROLE_BODY) visit(c, child);
  }
}

static void visit_indices(check *c, tvms_list indices) {
  c->nesting++;
  for (uint32_t i = 0; i < indices.len; i++)
    visit(c, indices.items[i]);
  c->nesting--;
}

// Are both of the same memory?
static bool share_data(const tvms_node *a, const tvms_node *b) {
  return tvms_as_buffer((tvms_node *)(uintptr_t)a)->data
         == tvms_as_buffer((tvms_node *)(uintptr_t)b)->data;
}

static void visit_store(check *c, const tvms_store *store) {
  visit_indices(c, store->indices);
  if (share_data(store->buffer, c->to)) c->store = store;
  visit(c, store->value);
  c->store = NULL;
}

static bool same_place(const tvms_store *store, const tvms_buffer_load *load) {
  if (!tvms_dtype_same(store->value->dtype, load->head.dtype)) return false;
  if (store->indices.len != load->indices.len) return false;
  for (uint32_t i = 0; i < load->indices.len; i++) {
    if (!tvms_node_same_expr(store->indices.items[i], load->indices.items[i]))
      return false;
  }
  return true;
}

static void visit_load(check *c, const tvms_buffer_load *load) {
  bool wrong = share_data(load->buffer, c->to) || c->nesting > 0;
  if (share_data(load->buffer, c->from))
    wrong |= !c->store || !same_place(c->store, load);
  if (wrong) c->safe = false;
  visit_indices(c, load->indices);
}

static void visit_inner(check *c, tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_STORE: visit_store(c, tvms_as_store(node)); return;
  case TVMS_NODE_BUFFER_LOAD: visit_load(c, tvms_as_buffer_load(node)); return;
  case TVMS_NODE_VAR:
    if (node == tvms_as_buffer(c->to)->data || node == tvms_as_buffer(c->from)->data)
      c->safe = false;
    return;
  case TVMS_NODE_BUFFER:
    if (node == c->to || node == c->from) c->safe = false;
    return;
  case TVMS_NODE_ATTR_STMT:
    if (tvms_bytes_is(tvms_as_attr_stmt(node)->key, "extern_scope")
        || tvms_bytes_is(tvms_as_attr_stmt(node)->key, "volatile_scope"))
      c->safe = false;
    visit(c, tvms_as_attr_stmt(node)->value);
    return;
  case TVMS_NODE_ALLOC_BUFFER:
    if (tvms_object_map_get(tvms_as_alloc_buffer(node)->annotations, "tirx.volatile"))
      c->safe = false;
    return;
  default: visit_below(c, node); return;
  }
}

static void visit(check *c, tvms_node *node) {
  if (!c->safe) return;
  if (!tvms_memory_enter(c->memory)) tvms_memory_unwind(c->memory, TVMS_OVER_LIMIT);
  visit_inner(c, node);
  tvms_memory_leave(c->memory);
}

bool tvms_inplace_is_safe(tvms_context *context, const tvms_node *stmt,
                          const tvms_node *to, const tvms_node *from) {
  check c = {.memory = &context->memory, .to = to, .from = from, .safe = true};
  switch ((int)stmt->kind) {
  case TVMS_NODE_FOR:
  case TVMS_NODE_IF_THEN_ELSE:
  case TVMS_NODE_WHILE:
  case TVMS_NODE_STORE: visit(&c, (tvms_node *)(uintptr_t)stmt); return c.safe;
  default: return false;
  }
}
