// Straightening loops that are tiled by hand, with tails.
//
// Before: for i in range(63): for j in range(T.min(16, 1003 - i * 16)): B[i * 16 + j] = A[i * 16 + j]
// After:  for i in range(1003): B[i] = A[i]
//
// First all loops begin at 0 and have bounds of their own, and what they depended on is a condition. Then a loop and one
// inside of it are one where all that uses them uses the number of which they are digits.
#include "passes/tir/cpu/tails.h"

#include "arith/analyzer.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/stage.h"
#include "passes/tir/cpu/step_order.h"

enum { MOST_LOOPS = 16, MOST_CONDITIONS = 16 };

typedef struct {
  tvms_unit *unit;
  bool reorders;
  bool changed;    // a loop depended on others, or there is a condition
  bool reordered;  // loops became one that were not next to each other
  uint32_t count;
  tvms_node *vars[MOST_LOOPS], *extents[MOST_LOOPS];
  uint32_t condition_count;
  tvms_node *conditions[MOST_CONDITIONS];
  tvms_node *body;
  tvms_node_map known;  // variables of the text -> what they are
} nest;

static tvms_node *build(const nest *n, tvms_node_kind kind, tvms_node *a,
                        tvms_node *b) {
  return tvms_build_binary(n->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(const nest *n, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(n->unit, like->dtype, value, TVMS_NO_SPAN);
}

static bool mentions(const nest *n, tvms_node *node, const tvms_node *var) {
  return tvms_walk_contains(&n->unit->context->memory, node, var);
}

static bool depends(const nest *n, tvms_node *node) {
  for (uint32_t i = 0; i < n->count; i++) {
    if (mentions(n, node, n->vars[i])) return true;
  }
  return false;
}

// ---- Reading ----

static tvms_walk_step find_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  bool reads = node->kind == TVMS_NODE_BUFFER_LOAD || node->kind == TVMS_NODE_CALL;
  return reads ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// The value in the terms of the loops, if it is made of variables and numbers alone.
static tvms_node *TVMS_NULLABLE settled(nest *n, tvms_node *value) {
  tvms_visitor visitor = {.enter = find_load};
  tvms_node *known = tvms_substitute(n->unit, value, &n->known);
  return tvms_walk(&n->unit->context->memory, known, &visitor) ? known : NULL;
}

static bool add_condition(nest *n, tvms_node *condition) {
  if (condition->kind == TVMS_NODE_AND)
    return add_condition(n, tvms_as_binary(condition)->a)
           && add_condition(n, tvms_as_binary(condition)->b);
  if (n->condition_count == MOST_CONDITIONS) return false;
  n->conditions[n->condition_count++] = condition;
  n->changed = true;
  return true;
}

// T.min(size, rest), less something or not, with a number as size.
static bool read_least(const nest *n, tvms_node *extent, tvms_node **size,
                       tvms_node **rest) {
  tvms_node *less = NULL;
  if (extent->kind == TVMS_NODE_SUB) {
    less = tvms_as_binary(extent)->b;
    extent = tvms_as_binary(extent)->a;
  }
  if (extent->kind != TVMS_NODE_MIN) return false;
  tvms_node *sides[] = {tvms_as_binary(extent)->a, tvms_as_binary(extent)->b};
  for (uint32_t i = 0; i < 2 && less; i++)
    sides[i] = tvms_arith_simplify(n->unit, build(n, TVMS_NODE_SUB, sides[i], less));
  bool first = tvms_node_is_int_imm(sides[0]);
  *size = sides[first ? 0 : 1];
  *rest = sides[first ? 1 : 0];
  return tvms_node_is_int_imm(*size);
}

// The bound of a loop that depends on loops around: of T.min(number, rest) the number, with a condition on `var`.
static tvms_node *TVMS_NULLABLE own_extent(nest *n, tvms_node *var, tvms_node *extent) {
  if (!depends(n, extent)) return extent;
  extent = tvms_arith_simplify(n->unit, extent);
  if (!depends(n, extent)) return extent;
  tvms_node *size, *rest;
  if (!read_least(n, extent, &size, &rest)) return NULL;
  tvms_node *within = tvms_binary_new(n->unit, TVMS_NODE_LT, var, rest, TVMS_NO_SPAN);
  return add_condition(n, within) ? size : NULL;
}

static tvms_node *TVMS_NULLABLE read_loop(nest *n, const tvms_for *loop) {
  if (loop->for_kind != TVMS_FOR_SERIAL || loop->annotations || loop->step
      || n->count == MOST_LOOPS)
    return NULL;
  tvms_node *min = settled(n, loop->min), *extent = settled(n, loop->extent);
  if (!min || !extent) return NULL;
  tvms_node *var = tvms_var_new(n->unit, tvms_as_var(loop->var)->name, loop->var->dtype,
                                loop->var->span);
  n->changed |= depends(n, min);
  extent = own_extent(n, var, extent);
  if (!extent || !tvms_dtype_same(extent->dtype, var->dtype)) return NULL;
  tvms_node_map_put(&n->known, loop->var, build(n, TVMS_NODE_ADD, min, var));
  n->vars[n->count] = var;
  n->extents[n->count++] = extent;
  return loop->body;
}

// What stands behind variables that are bound to what is known of loops.
static tvms_node *TVMS_NULLABLE read_bindings(nest *n, tvms_list stmts) {
  for (uint32_t i = 0; i + 1 < stmts.len; i++) {
    if (stmts.items[i]->kind != TVMS_NODE_BIND) return NULL;
    const tvms_bind *bind = tvms_as_bind(stmts.items[i]);
    tvms_node *value = settled(n, bind->value);
    if (!value || !tvms_dtype_is_scalar(value->dtype)) return NULL;
    tvms_node_map_put(&n->known, bind->var, value);
  }
  return stmts.len ? stmts.items[stmts.len - 1] : NULL;
}

// A block, whose predicate is one more condition.
static bool read_block(nest *n, tvms_node *stmt) {
  tvms_node *predicate = settled(n, tvms_as_block_realize(stmt)->predicate);
  if (!predicate) return false;
  if (!tvms_node_is_true(predicate) && !add_condition(n, predicate)) return false;
  tvms_node *made = tvms_node_copy(n->unit, stmt);
  tvms_as_block_realize(made)->predicate =
      tvms_bool_imm_new(n->unit, true, TVMS_NO_SPAN);
  n->body = tvms_substitute(n->unit, made, &n->known);
  return true;
}

static bool read_nest(nest *n, tvms_node *stmt) {
  while (stmt && stmt->kind != TVMS_NODE_STORE) {
    if (stmt->kind == TVMS_NODE_BLOCK_REALIZE) return read_block(n, stmt);
    if (stmt->kind == TVMS_NODE_FOR) {
      stmt = read_loop(n, tvms_as_for(stmt));
    } else if (stmt->kind == TVMS_NODE_SEQ) {
      stmt = read_bindings(n, tvms_as_seq(stmt)->stmts);
    } else if (stmt->kind == TVMS_NODE_IF_THEN_ELSE
               && !tvms_as_if_then_else(stmt)->else_case) {
      tvms_node *condition = settled(n, tvms_as_if_then_else(stmt)->condition);
      if (!condition || !add_condition(n, condition)) return false;
      stmt = tvms_as_if_then_else(stmt)->then_case;
    } else {
      return false;
    }
  }
  if (!stmt || tvms_as_store(stmt)->predicate) return false;
  n->body = tvms_substitute(n->unit, stmt, &n->known);
  return true;
}

// ---- Digits ----

typedef struct {
  const nest *n;
  const tvms_node *outer, *inner;
  int64_t size;  // steps of the inner one
} digits;

// Is each linear form one of the number of which both are digits?
static tvms_walk_step find_other_form(void *self, tvms_node *node,
                                      tvms_field_role role) {
  (void)role;
  const digits *d = self;
  bool linear = node->kind == TVMS_NODE_VAR
                || (node->kind >= TVMS_NODE_ADD && node->kind <= TVMS_NODE_MUL
                    && !tvms_dtype_is_real(node->dtype));
  if (!linear) return TVMS_WALK_ON;
  int64_t outer, inner, all;
  bool fits = tvms_cpu_index_step(d->n->unit, node, d->outer, &outer)
              && tvms_cpu_index_step(d->n->unit, node, d->inner, &inner)
              && !__builtin_mul_overflow(inner, d->size, &all) && outer == all;
  if (fits) return TVMS_WALK_SKIP;
  return node->kind == TVMS_NODE_VAR ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool are_digits(const nest *n, uint32_t outer, uint32_t inner) {
  digits d = {n, n->vars[outer], n->vars[inner], tvms_cpu_number(n->extents[inner])};
  if (d.size < 1 || !tvms_dtype_same(d.outer->dtype, d.inner->dtype)) return false;
  if (!mentions(n, n->body, d.inner)) return false;
  tvms_visitor visitor = {.self = &d, .enter = find_other_form};
  for (uint32_t i = 0; i < n->condition_count; i++) {
    const tvms_node *c = n->conditions[i];
    bool compares = c->kind >= TVMS_NODE_EQ && c->kind <= TVMS_NODE_GE;
    // Both sides count together: j < n - i * 16.
    tvms_node *form = n->conditions[i];
    if (compares)
      form = build(n, TVMS_NODE_SUB, tvms_as_binary(c)->a, tvms_as_binary(c)->b);
    if (!tvms_walk(&n->unit->context->memory, form, &visitor)) return false;
  }
  return tvms_walk(&n->unit->context->memory, n->body, &visitor);
}

// ---- The order ----

// The one store of the body; NULL: it does more than that.
static const tvms_store *TVMS_NULLABLE store_of(const nest *n) {
  tvms_node *body = n->body;
  if (body->kind != TVMS_NODE_STORE)
    body = tvms_as_block(tvms_as_block_realize(body)->block)->body;
  return body->kind == TVMS_NODE_STORE ? tvms_as_store(body) : NULL;
}

// May several steps of a loop store at one place?
static bool is_summed(const nest *n, uint32_t loop) {
  const tvms_store *store = store_of(n);
  if (n->body->kind == TVMS_NODE_STORE)
    return !tvms_cpu_depends(n->unit, store->indices, n->vars[loop]);
  const tvms_block_realize *realize = tvms_as_block_realize(n->body);
  tvms_list iters = tvms_as_block(realize->block)->iter_vars;
  for (uint32_t i = 0; i < iters.len; i++) {
    const tvms_iter_var *iter = tvms_as_iter_var(iters.items[i]);
    bool sums = iter->iter_type != TVMS_ITER_DATA_PAR || !store
                || !tvms_cpu_depends(n->unit, store->indices, iter->var);
    if (sums && mentions(n, realize->iter_values.items[i], n->vars[loop])) return true;
  }
  return false;
}

static bool has_any_order(const nest *n) {
  const tvms_store *store = store_of(n);
  return store && tvms_cpu_steps_add_up(n->unit, store, n->reorders);
}

// Can the inner loop be put behind the outer one?
static bool can_meet(const nest *n, uint32_t outer, uint32_t inner) {
  if (inner == outer + 1) return true;
  const tvms_store *store = store_of(n);
  if (store && !tvms_cpu_steps_are_apart(n->unit, store)) return false;
  if (!is_summed(n, inner) || has_any_order(n)) return true;
  for (uint32_t i = outer + 1; i < inner; i++) {
    if (is_summed(n, i)) return false;
  }
  return true;
}

// Is each index of a store one loop at most, and each loop in one of them?
static bool has_own_indices(const nest *n, tvms_list indices) {
  for (uint32_t i = 0; i < n->count; i++) {
    uint32_t uses = 0;
    for (uint32_t k = 0; k < indices.len; k++)
      uses += mentions(n, indices.items[k], n->vars[i]);
    if (uses > 1) return false;
  }
  for (uint32_t k = 0; k < indices.len; k++) {
    uint32_t loops = 0;
    for (uint32_t i = 0; i < n->count; i++) {
      int64_t step;
      if (!tvms_cpu_index_step(n->unit, indices.items[k], n->vars[i], &step))
        return false;
      loops += step != 0;
    }
    if (loops > 1) return false;
  }
  return true;
}

// Is each place stored in steps of loops alone on which the place does not depend? Of a block: is each axis a loop?
static bool has_own_places(const nest *n) {
  if (n->body->kind == TVMS_NODE_STORE)
    return !n->reordered || has_own_indices(n, tvms_as_store(n->body)->indices);
  tvms_list values = tvms_as_block_realize(n->body)->iter_values;
  for (uint32_t i = 0; i < values.len; i++) {
    bool plain =
        values.items[i]->kind == TVMS_NODE_VAR || tvms_node_is_int(values.items[i], 0);
    if (!plain) return false;
  }
  return !n->condition_count && has_own_indices(n, values);
}

// ---- Joining ----

static tvms_node *fold(tvms_rewriter *r, tvms_node *node) {
  if (tvms_dtype_is_real(node->dtype)) return node;
  const tvms_binary *b = tvms_as_binary(node);
  return tvms_build_binary(r->unit, node->kind, b->a, b->b, node->span);
}

static tvms_node *joined(const nest *n, tvms_node *node, const tvms_node *outer,
                         const tvms_node *inner, tvms_node *var) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, n->unit, NULL);
  r.leave[TVMS_NODE_ADD] = r.leave[TVMS_NODE_SUB] = r.leave[TVMS_NODE_MUL] = fold;
  tvms_node_map_put(&r.known, outer, number(n, outer, 0));
  tvms_node_map_put(&r.known, inner, var);
  tvms_node *made = tvms_rewrite(&r, node);
  tvms_rewriter_fini(&r);
  return made;
}

static void join(nest *n, uint32_t outer, uint32_t inner) {
  const tvms_node *old = n->vars[outer];
  tvms_node *var = tvms_var_new(n->unit, tvms_as_var(old)->name, old->dtype, old->span);
  for (uint32_t i = 0; i < n->condition_count; i++)
    n->conditions[i] = joined(n, n->conditions[i], old, n->vars[inner], var);
  n->body = joined(n, n->body, old, n->vars[inner], var);
  n->extents[outer] = build(n, TVMS_NODE_MUL, n->extents[outer], n->extents[inner]);
  n->vars[outer] = var;
  n->reordered |= inner != outer + 1;
  for (uint32_t i = inner; i + 1 < n->count; i++) {
    n->vars[i] = n->vars[i + 1];
    n->extents[i] = n->extents[i + 1];
  }
  n->count--;
}

static bool join_some(nest *n) {
  for (uint32_t inner = n->count; inner-- > 1;) {
    for (uint32_t outer = inner; outer-- > 0;) {
      if (!are_digits(n, outer, inner) || !can_meet(n, outer, inner)) continue;
      join(n, outer, inner);
      return true;
    }
  }
  return false;
}

// ---- Ends ----

// The number of steps after which a condition on one loop ends it; NULL: it says something else.
static tvms_node *TVMS_NULLABLE end_by(const nest *n, const tvms_node *condition,
                                       uint32_t loop) {
  bool below = condition->kind == TVMS_NODE_LT || condition->kind == TVMS_NODE_LE;
  bool above = condition->kind == TVMS_NODE_GT || condition->kind == TVMS_NODE_GE;
  if (!below && !above) return NULL;
  tvms_node *a = tvms_as_binary(condition)->a, *b = tvms_as_binary(condition)->b;
  tvms_node *less = below ? a : b, *more = below ? b : a, *var = n->vars[loop];
  if (!tvms_dtype_same(less->dtype, var->dtype)) return NULL;
  tvms_node *end = build(n, TVMS_NODE_SUB, more, build(n, TVMS_NODE_SUB, less, var));
  end = tvms_arith_simplify(n->unit, end);
  if (depends(n, end)) return NULL;
  bool strict = condition->kind == TVMS_NODE_LT || condition->kind == TVMS_NODE_GT;
  return strict ? end : build(n, TVMS_NODE_ADD, end, number(n, var, 1));
}

static bool at_most(const nest *n, tvms_node *a, tvms_node *b) {
  tvms_analyzer *analyzer = tvms_analyzer_new(n->unit);
  bool proved = tvms_analyzer_can_prove(
      analyzer, tvms_binary_new(n->unit, TVMS_NODE_LE, a, b, TVMS_NO_SPAN));
  tvms_analyzer_free(analyzer);
  return proved;
}

// Does a condition only say where a loop ends, which is its bound from now on, or nothing at all?
static bool ends_loop(nest *n, const tvms_node *condition) {
  for (uint32_t i = 0; i < n->count; i++) {
    tvms_node *end = end_by(n, condition, i);
    if (!end) continue;
    if (at_most(n, n->extents[i], end)) return true;
    if (!at_most(n, end, n->extents[i])
        || (tvms_node_is_int_imm(end) && tvms_cpu_number(end) < 1))
      return false;
    n->extents[i] = end;
    return true;
  }
  return false;
}

static void take_ends(nest *n) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < n->condition_count; i++) {
    if (!ends_loop(n, n->conditions[i])) n->conditions[kept++] = n->conditions[i];
  }
  n->condition_count = kept;
}

static tvms_node *write(const nest *n, tvms_span span) {
  tvms_node *made = n->body, *all = NULL;
  for (uint32_t i = 0; i < n->condition_count; i++)
    all = all ? build(n, TVMS_NODE_AND, all, n->conditions[i]) : n->conditions[i];
  if (all) {
    made = tvms_cpu_choice(n->unit, all, made, NULL);
    made->span = n->body->span;
  }
  for (uint32_t i = n->count; i-- > 0;)
    made = tvms_cpu_loop(n->unit, n->vars[i], n->extents[i], TVMS_FOR_SERIAL, made);
  made->span = span;
  return made;
}

tvms_node *tvms_cpu_straighten_tails(tvms_unit *unit, tvms_node *stmt, bool reorders) {
  nest n = {.unit = unit, .reorders = reorders};
  tvms_node *made = stmt;
  tvms_node_map_init(&n.known, &unit->context->memory);
  if (stmt->kind == TVMS_NODE_FOR && read_nest(&n, stmt) && n.changed) {
    while (join_some(&n))
      continue;
    take_ends(&n);
    if (has_own_places(&n)) made = write(&n, stmt->span);
  }
  tvms_node_map_fini(&n.known);
  return made;
}
