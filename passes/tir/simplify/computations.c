// What is computed, with numbers: an expression that may be bound counts as a whole, of any other
// its parts. Tables are small, so they are lists in the order of the text.
#include "passes/tir/simplify/computations.h"

#include "ir/equal.h"
#include "ir/walk.h"

#include <string.h>

// ---- Expressions ----

static tvms_walk_step find_forbidden(void *self, tvms_node *node,
                                     tvms_field_role role) {
  (void)self;
  (void)role;
  bool forbidden = node->kind == TVMS_NODE_CALL || node->kind == TVMS_NODE_BUFFER_LOAD;
  return forbidden ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool is_atom(const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_INT_IMM:
  case TVMS_NODE_FLOAT_IMM:
  case TVMS_NODE_STRING_IMM:
  case TVMS_NODE_VAR:
  case TVMS_NODE_OPERATOR:
  case TVMS_NODE_GLOBAL_VAR:
  case TVMS_NODE_EXTERN_FUNC: return true;
  default: return false;
  }
}

bool tvms_value_may_be_bound(const tvms_value_finder *finder, tvms_node *expr) {
  if (is_atom(expr) || expr->kind == TVMS_NODE_RAMP
      || expr->kind == TVMS_NODE_BROADCAST)
    return false;
  tvms_visitor visitor = {.enter = find_forbidden};
  return tvms_walk(finder->memory, expr, &visitor);
}

static tvms_node *normal_form(const tvms_value_finder *finder, tvms_node *expr) {
  return finder->analyzer ? tvms_analyzer_simplify(finder->analyzer, expr) : expr;
}

bool tvms_value_is_same(const tvms_value_finder *finder, tvms_node *a, tvms_node *b) {
  tvms_node *x = normal_form(finder, a), *y = normal_form(finder, b);
  return tvms_node_equal(finder->unit->context, x, y);
}

static tvms_walk_step count_node(void *self, tvms_node *node, tvms_field_role role) {
  uint32_t *size = self;
  if (role == TVMS_ROLE_USE && tvms_node_class_of(node) == TVMS_CLASS_EXPR) ++*size;
  return node->kind == TVMS_NODE_BUFFER ? TVMS_WALK_SKIP : TVMS_WALK_ON;
}

static tvms_value_computation computation_of(const tvms_value_finder *finder,
                                             tvms_node *expr) {
  tvms_value_computation made = {.expr = expr, .count = 1};
  tvms_visitor visitor = {.self = &made.size, .enter = count_node};
  tvms_walk(finder->memory, expr, &visitor);
  made.hash = tvms_node_hash(finder->unit->context, normal_form(finder, expr));
  return made;
}

// ---- Tables ----

static tvms_value_computation *TVMS_NULLABLE
find(const tvms_value_finder *finder, const tvms_value_computations *table,
     const tvms_value_computation *wanted) {
  for (uint32_t i = 0; i < table->len; i++) {
    tvms_value_computation *c = &table->items[i];
    if (c->hash == wanted->hash && tvms_value_is_same(finder, c->expr, wanted->expr))
      return c;
  }
  return NULL;
}

static void add(const tvms_value_finder *finder, tvms_value_computations *table,
                const tvms_value_computation *made) {
  tvms_value_computation *same = find(finder, table, made);
  if (same)
    same->count += made->count;
  else
    tvms_vec_push(finder->memory, table, *made);
}

static void join(const tvms_value_finder *finder, tvms_value_computations *table,
                 const tvms_value_computations *more) {
  for (uint32_t i = 0; i < more->len; i++) {
    add(finder, table, &more->items[i]);
  }
}

// What two of three tables have in common, with the counts of all three.
static void add_common(const tvms_value_finder *finder, tvms_value_computations *out,
                       const tvms_value_computations *a,
                       const tvms_value_computations *b,
                       const tvms_value_computations *other) {
  for (uint32_t i = 0; i < a->len; i++) {
    tvms_value_computation made = a->items[i];
    const tvms_value_computation *same = find(finder, b, &made);
    if (!same || find(finder, out, &made)) continue;
    const tvms_value_computation *third = find(finder, other, &made);
    made.count += same->count + (third ? third->count : 0);
    tvms_vec_push(finder->memory, out, made);
  }
}

// ---- Statements ----

static void collect(const tvms_value_finder *finder, tvms_node *node,
                    tvms_value_computations *out);

static void collect_below(const tvms_value_finder *finder, tvms_node *node,
                          tvms_value_computations *out) {
  tvms_node *child;
  for (tvms_child_at at = {0}; (child = tvms_walk_next_child(node, &at));) {
    bool looked_at = at.role == TVMS_ROLE_USE || at.role == TVMS_ROLE_BODY
                     || at.role == TVMS_ROLE_ACCESS;
    if (looked_at && child->kind != TVMS_NODE_BUFFER
        && child->kind != TVMS_NODE_ITER_VAR)
      collect(finder, child, out);
  }
}

// A node with up to three parts, of which not all need run.
static void collect_parts(const tvms_value_finder *finder, tvms_node *const parts[3],
                          tvms_value_computations *out) {
  tvms_value_computations tables[3] = {{0}, {0}, {0}}, common = {0};
  for (uint32_t i = 0; i < 3; i++) {
    if (parts[i]) collect(finder, parts[i], &tables[i]);
  }
  add_common(finder, &common, &tables[1], &tables[2], &tables[0]);
  add_common(finder, &common, &tables[0], &tables[1], &tables[2]);
  add_common(finder, &common, &tables[0], &tables[2], &tables[1]);
  join(finder, out, &common);
  tvms_vec_fini(finder->memory, &common);
  for (uint32_t i = 0; i < 3; i++) {
    tvms_vec_fini(finder->memory, &tables[i]);
  }
}

static void collect_inner(const tvms_value_finder *finder, tvms_node *node,
                          tvms_value_computations *out) {
  if (tvms_node_class_of(node) == TVMS_CLASS_EXPR
      && tvms_value_may_be_bound(finder, node)) {
    tvms_value_computation made = computation_of(finder, node);
    add(finder, out, &made);
    return;
  }
  if (node->kind == TVMS_NODE_FOR) {
    const tvms_for *loop = tvms_as_for(node);
    tvms_node *parts[] = {loop->min, loop->extent, loop->body};
    collect_parts(finder, parts, out);
  } else if (node->kind == TVMS_NODE_IF_THEN_ELSE) {
    const tvms_if_then_else *branch = tvms_as_if_then_else(node);
    tvms_node *parts[] = {branch->condition, branch->then_case, branch->else_case};
    collect_parts(finder, parts, out);
  } else if (node->kind == TVMS_NODE_WHILE) {
    tvms_node *parts[] = {tvms_as_while(node)->condition, tvms_as_while(node)->body,
                          NULL};
    collect_parts(finder, parts, out);
  } else {
    collect_below(finder, node, out);
  }
}

static void collect(const tvms_value_finder *finder, tvms_node *node,
                    tvms_value_computations *out) {
  if (is_atom(node)) return;
  if (!tvms_memory_enter(finder->memory))
    tvms_memory_unwind(finder->memory, TVMS_OVER_LIMIT);
  collect_inner(finder, node, out);
  tvms_memory_leave(finder->memory);
}

// ---- By size ----

// Puts an element behind those that are as large, from `from` on.
static void insert(const tvms_value_finder *finder, tvms_value_computations *all,
                   const tvms_value_computation *made) {
  uint32_t at = 0;
  while (at < all->len && all->items[at].size >= made->size)
    at++;
  tvms_value_computation copy = *made;
  tvms_vec_push(finder->memory, all, copy);
  memmove(all->items + at + 1, all->items + at,
          (all->len - 1 - at) * sizeof *all->items);
  all->items[at] = copy;
}

void tvms_value_computations_of(const tvms_value_finder *finder, tvms_node *node,
                                tvms_value_computations *out) {
  tvms_value_computations table = {0};
  collect(finder, node, &table);
  for (uint32_t i = 0; i < table.len; i++) {
    insert(finder, out, &table.items[i]);
  }
  tvms_vec_fini(finder->memory, &table);
}

static void add_part(const tvms_value_finder *finder, tvms_value_computations *all,
                     tvms_node *node) {
  tvms_node *child;
  for (tvms_child_at at = {0}; (child = tvms_walk_next_child(node, &at));) {
    if (at.role != TVMS_ROLE_USE || is_atom(child)) continue;
    if (!tvms_value_may_be_bound(finder, child)) {
      add_part(finder, all, child);
      continue;
    }
    tvms_value_computation made = computation_of(finder, child);
    tvms_value_computation *same = find(finder, all, &made);
    if (same)
      same->count++;
    else
      insert(finder, all, &made);
  }
}

void tvms_value_computations_add_parts(const tvms_value_finder *finder,
                                       tvms_value_computations *all, tvms_node *expr) {
  add_part(finder, all, expr);
}
