// Fourier-Motzkin elimination, one variable after the other, and the best range of each.
//
// Every relation becomes coef * v + rest <= 0 for the variable at hand. Those that bound it
// from below and from above are combined in pairs, which gives the relations between the
// others; then a range is chosen among the bounds of each variable, back to front. The number
// of relations can square with each step, so there is room for a few dozen and the answer is
// "not solved" beyond. TVM: src/arith/solve_linear_inequality.cc.
#include "arith/solve.h"

#include "arith/int_set.h"
#include "arith/internal.h"
#include "ir/equal.h"
#include "ir/walk.h"

enum { MOST_BOUNDS = 32, STEPS = 3 };

// coef * v + rest <= 0
typedef struct {
  int64_t coef;
  tvms_node *rest;
} bound;

typedef struct {
  bound items[MOST_BOUNDS];
  uint32_t len;
} bounds;

typedef struct {
  tvms_node *items[MOST_BOUNDS];
  uint32_t len;
} nodes;

// What was found for one variable: lower <= coef * v <= upper, or coef * v == equal.
typedef struct {
  int64_t coef;
  nodes lower, equal, upper;
} solved;

typedef struct {
  tvms_unit *unit;
  tvms_analyzer *analyzer;
  bool overflow;  // more inequalities than there is room for
} solver;

// ---- Expressions ----

static tvms_node *binary(solver *s, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_arith_fold_binary(s->unit, kind, a, b);
}

static tvms_node *number(solver *s, const tvms_node *like, int64_t value) {
  return tvms_arith_number(s->unit, like->dtype, value);
}

static tvms_node *simplify(solver *s, tvms_node *node) {
  return tvms_analyzer_simplify_steps(s->analyzer, node, STEPS);
}

static tvms_node *plus(solver *s, tvms_node *a, int64_t value) {
  return binary(s, TVMS_NODE_ADD, a, number(s, a, value));
}

static tvms_node *times(solver *s, int64_t factor, tvms_node *a) {
  return binary(s, TVMS_NODE_MUL, number(s, a, factor), a);
}

// Is a - b OP 0 provable?
static bool proves(solver *s, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  tvms_node *diff = binary(s, TVMS_NODE_SUB, a, b);
  return tvms_analyzer_can_prove(s->analyzer,
                                 binary(s, kind, diff, number(s, diff, 0)));
}

static void push(solver *s, nodes *list, tvms_node *node) {
  if (list->len == MOST_BOUNDS)
    s->overflow = true;
  else
    list->items[list->len++] = node;
}

static void remove_at(nodes *list, uint32_t at) {
  list->len--;
  for (uint32_t i = at; i < list->len; i++)
    list->items[i] = list->items[i + 1];
}

static void push_bound(solver *s, bounds *list, int64_t coef, tvms_node *rest) {
  bound made = {coef, rest};
  if (list->len == MOST_BOUNDS)
    s->overflow = true;
  else
    list->items[list->len++] = made;
}

// e = coef * var + rest. Returns false if e is not linear in var.
static bool read_linear(solver *s, tvms_node *e, const tvms_node *var, int64_t *coef,
                        tvms_node **rest) {
  *coef = 0;
  *rest = e;
  if (!tvms_walk_contains(&s->unit->context->memory, e, var)) return true;
  if (e == var) {
    *coef = 1;
    *rest = number(s, e, 0);
    return true;
  }
  bool sum = e->kind == TVMS_NODE_ADD || e->kind == TVMS_NODE_SUB;
  if (!sum && e->kind != TVMS_NODE_MUL) return false;
  const tvms_binary *op = tvms_as_binary(e);
  int64_t coef_a, coef_b;
  tvms_node *rest_a, *rest_b;
  if (!read_linear(s, op->a, var, &coef_a, &rest_a)) return false;
  if (!read_linear(s, op->b, var, &coef_b, &rest_b)) return false;
  *rest = binary(s, (tvms_node_kind)e->kind, rest_a, rest_b);
  if (sum) {
    *coef = e->kind == TVMS_NODE_ADD ? coef_a + coef_b : coef_a - coef_b;
    return true;
  }
  if (coef_b != 0 || op->b->kind != TVMS_NODE_INT_IMM) return false;
  *coef = tvms_arith_wrap_mul(coef_a, tvms_as_int_imm(op->b)->value);
  return true;
}

// ---- Inequalities: `e <= 0`, `e == 0` or something else ----

static tvms_node *normalized(solver *s, tvms_node *relation) {
  if (relation->kind < TVMS_NODE_EQ || relation->kind > TVMS_NODE_GE) return relation;
  const tvms_binary *op = tvms_as_binary(relation);
  tvms_node *a = op->a, *b = op->b;
  int kind = relation->kind;
  if (kind == TVMS_NODE_GT || kind == TVMS_NODE_GE) {
    a = op->b;
    b = op->a;
    kind = kind == TVMS_NODE_GT ? TVMS_NODE_LT : TVMS_NODE_LE;
  }
  tvms_node *diff = binary(s, TVMS_NODE_SUB, a, b);
  if (kind == TVMS_NODE_LT) {
    diff = plus(s, diff, 1);
    kind = TVMS_NODE_LE;
  }
  diff = tvms_analyzer_simplify(s->analyzer, diff);
  return tvms_binary_new(s->unit, (tvms_node_kind)kind, diff, number(s, diff, 0),
                         TVMS_NO_SPAN);
}

static void add_inequality(solver *s, nodes *list, tvms_node *made) {
  if (tvms_analyzer_can_prove(s->analyzer, made)) return;
  for (uint32_t i = 0; i < list->len; i++) {
    if (tvms_node_same_expr(list->items[i], made)) return;
  }
  for (uint32_t i = 0; made->kind == TVMS_NODE_LE && i < list->len;) {
    tvms_node *old = list->items[i];
    if (old->kind != TVMS_NODE_LE) {
      i++;
      continue;
    }
    tvms_node *left = tvms_as_binary(made)->a, *right = tvms_as_binary(old)->a;
    if (proves(s, TVMS_NODE_LE, left, right)) return;
    if (proves(s, TVMS_NODE_LE, right, left))
      remove_at(list, i);
    else
      i++;
  }
  push(s, list, made);
}

// Sorts the inequalities by the sign that a variable has in them.
static void classify(solver *s, const tvms_node *var, const nodes *from, nodes *without,
                     nodes *rest, bounds *positive, bounds *negative) {
  for (uint32_t i = 0; i < from->len; i++) {
    tvms_node *e = from->items[i], *base;
    int64_t coef;
    bool known = (e->kind == TVMS_NODE_LE || e->kind == TVMS_NODE_EQ)
                 && read_linear(s, tvms_as_binary(e)->a, var, &coef, &base);
    if (!known) {
      push(s, rest, e);
      continue;
    }
    if (coef == 0) {
      add_inequality(s, without, e);
      continue;
    }
    bool equality = e->kind == TVMS_NODE_EQ;
    tvms_node *minus = binary(s, TVMS_NODE_SUB, number(s, base, 0), base);
    if (coef > 0 || equality) {
      push_bound(s, positive, coef > 0 ? coef : -coef, coef > 0 ? base : minus);
    }
    if (coef < 0 || equality) {
      push_bound(s, negative, coef < 0 ? coef : -coef, coef < 0 ? base : minus);
    }
  }
}

// Adds each inequality with a positive coefficient to each with a negative one.
static void eliminate(solver *s, const bounds *positive, const bounds *negative,
                      nodes *next) {
  for (uint32_t i = 0; i < positive->len; i++) {
    for (uint32_t j = 0; j < negative->len; j++) {
      bound p = positive->items[i], n = negative->items[j];
      int64_t gcd = tvms_arith_gcd(p.coef, n.coef);
      tvms_node *left = times(s, p.coef / gcd, n.rest);
      tvms_node *right = times(s, n.coef / gcd, p.rest);
      tvms_node *sum = binary(s, TVMS_NODE_SUB, left, right);
      tvms_node *made = binary(s, TVMS_NODE_LE, sum, number(s, sum, 0));
      add_inequality(s, next, normalized(s, simplify(s, made)));
    }
  }
}

// Keeps the better of comparable bounds; `upper`: smaller is better.
static void add_bound(solver *s, nodes *list, tvms_node *made, bool upper) {
  tvms_node_kind better = upper ? TVMS_NODE_LE : TVMS_NODE_GE;
  tvms_node_kind worse = upper ? TVMS_NODE_GE : TVMS_NODE_LE;
  for (uint32_t i = 0; i < list->len; i++) {
    if (proves(s, better, list->items[i], made)) return;
  }
  for (uint32_t i = 0; i < list->len;) {
    if (proves(s, worse, list->items[i], made))
      remove_at(list, i);
    else
      i++;
  }
  push(s, list, made);
}

// Bounds that are both lower and upper ones are equations.
static void find_equations(solver *s, solved *found) {
  for (uint32_t i = 0; i < found->upper.len;) {
    uint32_t j = 0;
    while (j < found->lower.len
           && !tvms_node_same_expr(found->lower.items[j], found->upper.items[i])) {
      j++;
    }
    if (j == found->lower.len) {
      i++;
      continue;
    }
    push(s, &found->equal, found->lower.items[j]);
    remove_at(&found->lower, j);
    remove_at(&found->upper, i);
  }
}

static void collect_bounds(solver *s, const bounds *positive, const bounds *negative,
                           solved *found) {
  found->coef = 1;
  for (uint32_t i = 0; i < positive->len + negative->len; i++) {
    int64_t coef = i < positive->len ? positive->items[i].coef
                                     : -negative->items[i - positive->len].coef;
    found->coef = found->coef / tvms_arith_gcd(found->coef, coef) * coef;
  }
  for (uint32_t i = 0; i < positive->len; i++) {
    bound p = positive->items[i];
    add_bound(s, &found->upper, simplify(s, times(s, -found->coef / p.coef, p.rest)),
              true);
  }
  for (uint32_t i = 0; i < negative->len; i++) {
    bound n = negative->items[i];
    add_bound(s, &found->lower, simplify(s, times(s, -found->coef / n.coef, n.rest)),
              false);
  }
  find_equations(s, found);
}

static void solve_variable(solver *s, const tvms_var_range *range, nodes *current,
                           nodes *rest, solved *found) {
  bounds positive = {.len = 0}, negative = {.len = 0};
  nodes next = {.len = 0};
  if (range->min) {
    tvms_node *end = binary(s, TVMS_NODE_ADD, range->min, range->extent);
    tvms_node *last = simplify(s, plus(s, end, -1));
    push_bound(s, &negative, -1, simplify(s, range->min));
    push_bound(s, &positive, 1, binary(s, TVMS_NODE_SUB, number(s, last, 0), last));
  }
  classify(s, range->var, current, &next, rest, &positive, &negative);
  eliminate(s, &positive, &negative, &next);
  collect_bounds(s, &positive, &negative, found);
  *current = next;
}

// ---- Ranges ----

static void bind_ranges(solver *s, const tvms_var_range *vars, uint32_t count) {
  tvms_analyzer_free(s->analyzer);
  s->analyzer = tvms_analyzer_new(s->unit);
  for (uint32_t i = 0; i < count; i++) {
    if (!vars[i].min) continue;
    tvms_analyzer_bind_range(s->analyzer, vars[i].var, vars[i].min, vars[i].extent);
  }
}

// An upper limit of upper - lower over the ranges, in units of v; NULL: none.
static tvms_node *TVMS_NULLABLE span_of(solver *s, const tvms_domains *domains,
                                        tvms_node *lower, tvms_node *upper,
                                        int64_t coef, tvms_node **low) {
  tvms_node *divisor = number(s, lower, coef);
  tvms_node *diff = binary(s, TVMS_NODE_SUB, upper, lower);
  diff = simplify(s, binary(s, TVMS_NODE_FLOOR_DIV, diff, divisor));
  tvms_node *first = tvms_int_set_of_expr(domains, diff).max;
  tvms_node *raised = plus(s, lower, coef - 1);
  *low = simplify(s, binary(s, TVMS_NODE_FLOOR_DIV, raised, divisor));
  tvms_node *high = binary(s, TVMS_NODE_FLOOR_DIV, upper, divisor);
  diff = simplify(s, binary(s, TVMS_NODE_SUB, high, *low));
  tvms_node *second = tvms_int_set_of_expr(domains, diff).max;
  if (first) first = simplify(s, first);
  if (second) second = simplify(s, second);
  if (!first || !second) return first ? first : second;
  return proves(s, TVMS_NODE_LT, second, first) ? second : first;
}

// The narrowest range among all pairs of bounds.
static bool best_range(solver *s, const solved *found, const tvms_var_range *vars,
                       uint32_t count, tvms_var_range *result) {
  const nodes *lists[] = {&found->equal, &found->lower, &found->equal, &found->upper};
  nodes low = {.len = 0}, high = {.len = 0};
  for (int l = 0; l < 4; l++) {
    for (uint32_t i = 0; i < lists[l]->len; i++) {
      push(s, l < 2 ? &low : &high, lists[l]->items[i]);
    }
  }
  if (low.len == 1 && high.len == 1 && found->coef == 1) {
    result->min = tvms_analyzer_simplify(s->analyzer, low.items[0]);
    tvms_node *end = tvms_analyzer_simplify(s->analyzer, plus(s, high.items[0], 1));
    result->extent =
        tvms_analyzer_simplify(s->analyzer, binary(s, TVMS_NODE_SUB, end, result->min));
    return true;
  }
  tvms_domains domains;
  tvms_domains_init(&domains, s->unit);
  for (uint32_t i = 0; i < count; i++) {
    if (!vars[i].min) continue;
    tvms_domains_set(&domains, vars[i].var,
                     tvms_int_set_of_range(s->unit, vars[i].min, vars[i].extent));
  }
  tvms_node *best = NULL;
  for (uint32_t i = 0; i < low.len; i++) {
    for (uint32_t j = 0; j < high.len; j++) {
      tvms_node *start;
      tvms_node *span =
          span_of(s, &domains, low.items[i], high.items[j], found->coef, &start);
      if (!span || (best && !proves(s, TVMS_NODE_LT, span, best))) continue;
      best = span;
      result->min = start;
    }
  }
  tvms_domains_fini(&domains);
  if (best) result->extent = tvms_analyzer_simplify(s->analyzer, plus(s, best, 1));
  return best != NULL;
}

static void add_range(solver *s, solved *found, const tvms_var_range *range) {
  if (!range->min) return;
  tvms_node *end = binary(s, TVMS_NODE_ADD, range->min, range->extent);
  tvms_node *last = simplify(s, times(s, found->coef, plus(s, end, -1)));
  tvms_node *first = simplify(s, times(s, found->coef, range->min));
  bool single = tvms_node_is_int(range->extent, 1);
  nodes lower = {.len = 0}, upper = {.len = 0}, equal = {.len = 0};
  if (single) push(s, &equal, first);
  if (!single) push(s, &lower, first);
  if (!single) push(s, &upper, last);
  for (uint32_t i = 0; i < found->equal.len; i++)
    push(s, &equal, found->equal.items[i]);
  for (uint32_t i = 0; i < found->lower.len; i++)
    push(s, &lower, found->lower.items[i]);
  for (uint32_t i = 0; i < found->upper.len; i++)
    push(s, &upper, found->upper.items[i]);
  found->equal = equal;
  found->lower = lower;
  found->upper = upper;
}

// Ranges from the last variable to the first. Returns false if there is no solution.
static bool find_ranges(solver *s, const solved *found, tvms_var_range *vars,
                        uint32_t count) {
  for (uint32_t i = count; i-- > 0;) {
    bind_ranges(s, vars, count);
    solved own = found[i];
    if (own.coef == 1 && own.equal.len > 0) {
      vars[i].min = own.equal.items[0];
      vars[i].extent = number(s, own.equal.items[0], 1);
      continue;
    }
    add_range(s, &own, &vars[i]);
    tvms_var_range made = vars[i];
    if (!best_range(s, &own, vars, count, &made)) continue;
    tvms_node *minus = binary(s, TVMS_NODE_SUB, number(s, made.extent, 0), made.extent);
    if (tvms_analyzer_can_prove_ge(s->analyzer, minus, 0)) return false;
    vars[i] = made;
  }
  return true;
}

// ---- Is everything said by the ranges? ----

static bool all_hold(solver *s, tvms_node *var, int64_t coef, const nodes *list,
                     tvms_node_kind kind) {
  for (uint32_t i = 0; i < list->len; i++) {
    tvms_node *left = binary(s, TVMS_NODE_MUL, number(s, var, coef), var);
    tvms_node *condition = binary(s, kind, left, list->items[i]);
    if (!tvms_analyzer_can_prove(s->analyzer, condition)) return false;
  }
  return true;
}

static bool is_exact(solver *s, const solved *found, const tvms_var_range *vars,
                     uint32_t count, const nodes *left_over, const nodes *rest) {
  bind_ranges(s, vars, count);
  for (uint32_t i = 0; i < count; i++) {
    const solved *f = &found[i];
    if (!all_hold(s, vars[i].var, f->coef, &f->equal, TVMS_NODE_EQ)
        || !all_hold(s, vars[i].var, f->coef, &f->lower, TVMS_NODE_GE)
        || !all_hold(s, vars[i].var, f->coef, &f->upper, TVMS_NODE_LE)) {
      return false;
    }
  }
  for (uint32_t i = 0; i < left_over->len; i++) {
    if (!tvms_analyzer_can_prove(s->analyzer, left_over->items[i])) return false;
  }
  return rest->len == 0;
}

bool tvms_arith_solve_inequalities(tvms_unit *unit, tvms_var_range *vars,
                                   uint32_t var_count, tvms_node *const *relations,
                                   uint32_t relation_count) {
  if (var_count == 0 || relation_count > TVMS_MOST_RELATIONS) return false;
  solver s = {.unit = unit};
  bind_ranges(&s, vars, var_count);
  nodes current = {.len = 0}, rest = {.len = 0};
  for (uint32_t i = 0; i < relation_count; i++) {
    add_inequality(&s, &current, normalized(&s, simplify(&s, relations[i])));
  }
  tvms_mark mark = tvms_arena_mark(&unit->context->scratch);
  solved *found = tvms_arena_array(&unit->context->scratch, solved, var_count);
  tvms_var_range *narrowed =
      tvms_arena_array(&unit->context->scratch, tvms_var_range, var_count);
  for (uint32_t i = 0; i < var_count; i++) {
    solve_variable(&s, &vars[i], &current, &rest, &found[i]);
    narrowed[i] = vars[i];
  }
  bool exact = !s.overflow && find_ranges(&s, found, narrowed, var_count)
               && is_exact(&s, found, narrowed, var_count, &current, &rest)
               && !s.overflow;
  for (uint32_t i = 0; exact && i < var_count; i++)
    vars[i] = narrowed[i];
  tvms_arena_reset(&unit->context->scratch, mark);
  tvms_analyzer_free(s.analyzer);
  return exact;
}
