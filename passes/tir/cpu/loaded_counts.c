// Reading the bounds of loops that memory has once, in front of the loops around them.
//
// Nothing in the body may store to that memory, and the bound must be asked for in any case: loops around it have steps, and
// no branch stands in between.
#include "passes/tir/cpu/loaded_counts.h"

#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"

typedef struct {
  tvms_unit *unit;
  tvms_node *body;
  tvms_list *binds;
  tvms_list inner;  // variables of loops around what is at hand
} counting;

// ---- Which bounds ----

static tvms_walk_step find_store(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  if (node->kind == TVMS_NODE_CALL && tvms_dtype_is_handle(node->dtype))
    return TVMS_WALK_STOP;
  return node->kind == TVMS_NODE_STORE
                 && tvms_as_buffer(tvms_as_store(node)->buffer)->data == self
             ? TVMS_WALK_STOP
             : TVMS_WALK_ON;
}

typedef struct {
  counting *c;
  bool loads;
} bound;

// Is it the same in all of the body, as far as this node says?
static tvms_walk_step check_bound(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  bound *b = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind == TVMS_NODE_BUFFER_LOAD) {
    tvms_node *data = tvms_as_buffer(tvms_as_buffer_load(node)->buffer)->data;
    tvms_visitor visitor = {.self = data, .enter = find_store};
    b->loads = true;
    return tvms_walk(&b->c->unit->context->memory, b->c->body, &visitor)
               ? TVMS_WALK_ON
               : TVMS_WALK_STOP;
  }
  for (uint32_t i = 0; i < b->c->inner.len; i++) {
    if (b->c->inner.items[i] == node) return TVMS_WALK_STOP;
  }
  return TVMS_WALK_ON;
}

// The variable for a bound, at least 0 with `counts`; the bound itself if it needs none or may change.
static tvms_node *bind_bound(counting *c, tvms_node *expr, bool counts) {
  bound b = {c, false};
  tvms_memory *memory = &c->unit->context->memory;
  tvms_visitor visitor = {.self = &b, .enter = check_bound};
  if (!tvms_walk(memory, expr, &visitor) || !b.loads
      || tvms_arith_effect_of(memory, expr) > TVMS_EFFECT_READ)
    return expr;
  tvms_node *var = NULL;
  for (uint32_t i = 0; i < c->binds->len && !var; i++) {
    const tvms_bind *old = tvms_as_bind(c->binds->items[i]);
    if (tvms_node_same_expr(old->value, expr)) var = old->var;
  }
  if (!var) {
    var = tvms_cpu_variable(c->unit, "count", expr);
    tvms_bind *bind = tvms_node_make(c->unit, BIND, TVMS_NO_SPAN);
    bind->var = var;
    bind->value = expr;
    *c->binds = tvms_list_with(c->unit, *c->binds, &bind->head);
  }
  if (!counts) return var;
  return tvms_build_binary(c->unit, TVMS_NODE_MAX, var,
                           tvms_int_imm_new(c->unit, expr->dtype, 0, TVMS_NO_SPAN),
                           TVMS_NO_SPAN);
}

// ---- Statements ----

static tvms_node *bind_in(counting *c, tvms_node *stmt);

static tvms_node *bind_in_loop(counting *c, tvms_node *stmt) {
  const tvms_for *loop = tvms_as_for(stmt);
  tvms_node *min = bind_bound(c, loop->min, false);
  tvms_node *extent = bind_bound(c, loop->extent, true), *body = loop->body;
  if (loop->for_kind == TVMS_FOR_SERIAL && tvms_cpu_number(loop->extent) > 0) {
    tvms_list around = c->inner;
    c->inner = tvms_list_with(c->unit, around, loop->var);
    body = bind_in(c, body);
    c->inner = around;
  }
  if (min == loop->min && extent == loop->extent && body == loop->body) return stmt;
  tvms_node *made = tvms_node_copy(c->unit, stmt);
  tvms_as_for(made)->min = min;
  tvms_as_for(made)->extent = extent;
  tvms_as_for(made)->body = body;
  return made;
}

// Up to the first statement behind which something else may be known: a variable that is bound.
static tvms_node *bind_in(counting *c, tvms_node *stmt) {
  if (stmt->kind == TVMS_NODE_FOR) return bind_in_loop(c, stmt);
  if (stmt->kind != TVMS_NODE_SEQ) return stmt;
  tvms_list stmts = tvms_as_seq(stmt)->stmts;
  tvms_list made = tvms_list_copy(c->unit, stmts.items, stmts.len);
  bool changed = false;
  for (uint32_t i = 0; i < made.len && made.items[i]->kind != TVMS_NODE_BIND; i++) {
    made.items[i] = bind_in(c, made.items[i]);
    changed |= made.items[i] != stmts.items[i];
  }
  return changed ? tvms_seq_new(c->unit, made.items, made.len, stmt->span) : stmt;
}

tvms_node *tvms_cpu_bind_counts(tvms_unit *unit, tvms_node *body, tvms_list *binds) {
  counting c = {unit, body, binds, {NULL, 0}};
  *binds = (tvms_list){NULL, 0};
  return bind_in(&c, body);
}
