// Detection: conditions first, from the simplest on, since they change extents; then the indices,
// once more if something must be padded; then whether they are independent of each other.
#include "arith/iter_map.h"

#include "arith/internal.h"
#include "arith/iter_divide.h"
#include "arith/iter_inverse.h"
#include "arith/iter_split.h"
#include "arith/iter_usage.h"
#include "ir/rewrite.h"
#include "ir/walk.h"

#include <string.h>

// lower <= iter < upper; one of both may be missing.
typedef struct {
  tvms_node *iter;
  tvms_node *TVMS_NULLABLE lower, *TVMS_NULLABLE upper;
  uint32_t size;  // nodes of `iter`
} constraint;

typedef struct {
  tvms_iter_mapper *m;
  tvms_iter_domain *domains;  // narrowed by conditions of one variable
  uint32_t domain_count;
  TVMS_VEC(constraint) constraints;
} detection;

static tvms_node *build(detection *d, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_iter_build(d->m, kind, a, b);
}

static tvms_node *plus(detection *d, tvms_node *node, int64_t value) {
  return build(d, TVMS_NODE_ADD, node, tvms_iter_number(d->m, node, value));
}

// ---- Conditions ----

static tvms_iter_domain *TVMS_NULLABLE domain_of(const detection *d,
                                                 const tvms_node *var) {
  for (uint32_t i = 0; i < d->domain_count; i++) {
    if (d->domains[i].var == var) return &d->domains[i];
  }
  return NULL;
}

static tvms_walk_step find_iter(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  bool found = node->kind == TVMS_NODE_VAR && domain_of(self, node);
  return found ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool uses_iter(detection *d, tvms_node *node) {
  tvms_visitor visitor = {.self = d, .enter = find_iter};
  return !tvms_walk(d->m->memory, node, &visitor);
}

// The parts of left - right with iterators on the left, the others on the right.
static void separate(detection *d, tvms_node *node, bool minus, tvms_node **left,
                     tvms_node **right) {
  while (node->kind == TVMS_NODE_ADD || node->kind == TVMS_NODE_SUB) {
    const tvms_binary *op = tvms_as_binary(node);
    separate(d, op->a, minus, left, right);
    if (node->kind == TVMS_NODE_SUB) minus = !minus;
    node = op->b;
  }
  bool iter = uses_iter(d, node);
  tvms_node **side = iter ? left : right;
  tvms_node_kind kind = minus == iter ? TVMS_NODE_SUB : TVMS_NODE_ADD;
  *side = build(d, kind, *side, node);
}

static void add_constraint(detection *d, tvms_node *iter, tvms_node *lower,
                           tvms_node *upper) {
  tvms_iter_domain *domain = iter->kind == TVMS_NODE_VAR ? domain_of(d, iter) : NULL;
  if (!domain) {
    if (iter->kind == TVMS_NODE_VAR) return;
    constraint made = {iter, lower, upper, 0};
    tvms_vec_push(d->m->memory, &d->constraints, made);
    return;
  }
  tvms_node *min = domain->min;
  tvms_node *end = build(d, TVMS_NODE_ADD, min, domain->extent);
  if (lower) min = build(d, TVMS_NODE_MAX, min, lower);
  if (upper) end = build(d, TVMS_NODE_MIN, end, upper);
  domain->min = min;
  domain->extent = tvms_node_is_int(min, 0) ? end : build(d, TVMS_NODE_SUB, end, min);
}

static bool is_comparison(const tvms_node *node) {
  return node->kind >= TVMS_NODE_LT && node->kind <= TVMS_NODE_GE;
}

// lhs < rhs, lhs <= rhs …
static bool read_comparison(detection *d, const tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  tvms_node *lhs = op->a, *rhs = op->b;
  bool numbers = tvms_dtype_is_int(lhs->dtype) || tvms_dtype_is_uint(lhs->dtype);
  if (!numbers) return false;
  bool at_left = uses_iter(d, lhs), at_right = uses_iter(d, rhs);
  if (!at_left && !at_right) return true;
  bool bound_left = !at_left;
  if (at_left && at_right) {
    tvms_node *difference = build(d, TVMS_NODE_SUB, lhs, rhs);
    lhs = rhs = tvms_iter_number(d->m, difference, 0);
    separate(d, difference, false, &lhs, &rhs);
    lhs = tvms_arith_simplify(d->m->unit, lhs);
    rhs = tvms_arith_simplify(d->m->unit, rhs);
  }
  bool greater = node->kind == TVMS_NODE_GT || node->kind == TVMS_NODE_GE;
  bool equal = node->kind == TVMS_NODE_LE || node->kind == TVMS_NODE_GE;
  tvms_node *bound = bound_left ? lhs : rhs, *iter = bound_left ? rhs : lhs;
  if (greater == bound_left)
    add_constraint(d, iter, NULL, equal ? plus(d, bound, 1) : bound);
  else
    add_constraint(d, iter, equal ? bound : plus(d, bound, 1), NULL);
  return true;
}

// Takes one comparison out of a conjunction; *rest gets the other side.
static tvms_node *TVMS_NULLABLE take_comparison(tvms_node *condition,
                                                tvms_node **rest) {
  const tvms_binary *both = tvms_as_binary(condition);
  for (int kind = TVMS_NODE_LT; kind <= TVMS_NODE_GE; kind++) {
    if (both->b->kind == kind) {
      *rest = both->a;
      return both->b;
    }
    if (both->a->kind == kind) {
      *rest = both->b;
      return both->a;
    }
  }
  return NULL;
}

static bool read_predicate(detection *d, tvms_node *condition) {
  while (condition->kind == TVMS_NODE_AND) {
    tvms_node *rest, *comparison = take_comparison(condition, &rest);
    if (!comparison || !read_comparison(d, comparison)) return false;
    condition = rest;
  }
  return is_comparison(condition) && read_comparison(d, condition);
}

static tvms_walk_step count_node(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  uint32_t *count = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  ++*count;
  return TVMS_WALK_ON;
}

static void sort_constraints(detection *d) {
  for (uint32_t i = 0; i < d->constraints.len; i++) {
    constraint c = d->constraints.items[i];
    tvms_visitor visitor = {.self = &c.size, .enter = count_node};
    tvms_walk(d->m->memory, c.iter, &visitor);
    uint32_t at = i;
    for (; at > 0 && d->constraints.items[at - 1].size > c.size; at--)
      d->constraints.items[at] = d->constraints.items[at - 1];
    d->constraints.items[at] = c;
  }
}

static tvms_iter_fused *fused_of(tvms_iter_mapper *m, const tvms_iter_mark *mark) {
  for (uint32_t i = 0; i < m->fused.len; i++) {
    if (m->fused.items[i].mark == mark) return &m->fused.items[i];
  }
  return NULL;
}

// Gives the iterator that a condition is about the extent that the condition leaves.
static bool apply(detection *d, const constraint *c) {
  tvms_iter_mapper *m = d->m;
  tvms_iter_value value = tvms_iter_value_of(m, c->iter);
  if (m->failed || !value.sum || value.sum->len == 0) return false;
  tvms_node *base = value.sum->base, *lower = c->lower, *upper = c->upper;
  if (lower) lower = build(d, TVMS_NODE_SUB, lower, base);
  if (upper) upper = build(d, TVMS_NODE_SUB, upper, base);
  tvms_node *zero = tvms_iter_number(m, base, 0);
  const tvms_iter_sum *plain =
      tvms_iter_sum_new(m, value.sum->args, value.sum->len, zero);
  const tvms_iter_sum *one = tvms_iter_sum_fuse(m, plain, false);
  if (!one || !tvms_node_is_int(one->args[0].scale, 1)) return false;
  tvms_iter_fused *fused = fused_of(m, one->args[0].source);
  if (!fused) return false;
  tvms_node *min = fused->offset, *delta = tvms_iter_number(m, min, 0);
  tvms_node *end = build(d, TVMS_NODE_ADD, min, fused->mark->extent);
  if (lower) {
    tvms_node *higher = build(d, TVMS_NODE_MAX, lower, min);
    delta = build(d, TVMS_NODE_SUB, higher, min);
    min = higher;
  }
  if (upper) {
    tvms_node *below = build(d, TVMS_NODE_LE, upper, end);
    end = tvms_analyzer_can_prove(m->analyzer, below)
              ? upper
              : build(d, TVMS_NODE_MIN, upper, end);
  }
  tvms_iter_mark *mark = tvms_arena_new(&m->unit->arena, tvms_iter_mark);
  *mark = *fused->mark;
  if (!tvms_node_is_int(delta, 0)) {
    tvms_iter_sum *moved =
        tvms_iter_sum_new(m, mark->sum->args, mark->sum->len, mark->sum->base);
    moved->base = build(d, TVMS_NODE_SUB, moved->base, delta);
    mark->sum = moved;
  }
  mark->extent = build(d, TVMS_NODE_SUB, end, min);
  fused->mark = mark;
  fused->offset = min;
  tvms_vec_push(m->memory, &m->constrained, fused->flat);
  return !m->failed;
}

static bool holds(const tvms_iter_sum *sum, const tvms_iter_split *part) {
  for (uint32_t i = 0; i < sum->len; i++) {
    if (tvms_iter_split_same(&sum->args[i], part, true)) return true;
  }
  return false;
}

// One condition is about all parts of another, or about none.
static bool are_nested(const tvms_iter_mapper *m) {
  for (uint32_t i = 0; i < m->constrained.len; i++) {
    for (uint32_t j = i + 1; j < m->constrained.len; j++) {
      const tvms_iter_sum *inner = &m->constrained.items[i];
      bool first = holds(&m->constrained.items[j], &inner->args[0]);
      for (uint32_t k = 1; k < inner->len; k++) {
        if (holds(&m->constrained.items[j], &inner->args[k]) != first) return false;
      }
    }
  }
  return true;
}

// ---- Independence ----

static const tvms_iter_mark *TVMS_NULLABLE unpadded(const tvms_iter_mapper *m,
                                                    const tvms_iter_mark *mark) {
  for (uint32_t i = 0; i < m->paddings.len; i++) {
    if (m->paddings.items[i].padded == mark) return m->paddings.items[i].mark;
  }
  return NULL;
}

// The next split: the one that continues at `factor`, else the smallest above it.
static uint32_t next_split(tvms_iter_mapper *m, const tvms_iter_usage *u,
                           const bool *used, tvms_node *factor) {
  uint32_t count = u->splits.len, found = count;
  for (uint32_t i = 0; i < count; i++) {
    if (!used[i]
        && tvms_analyzer_can_prove_equal(m->analyzer, u->splits.items[i].lower_factor,
                                         factor))
      return i;
  }
  for (uint32_t i = 0; i < count; i++) {
    if (used[i]) continue;
    tvms_node *own = u->splits.items[i].lower_factor;
    if (!tvms_iter_divides(m, own, factor)) return count;
    if (found == count
        || tvms_iter_divides(m, u->splits.items[found].lower_factor, own))
      found = i;
  }
  return found;
}

static bool proves_at_least(tvms_iter_mapper *m, tvms_node *a, tvms_node *b) {
  return tvms_analyzer_can_prove(m->analyzer, tvms_iter_build(m, TVMS_NODE_GE, a, b));
}

// Are the splits of a source parts of it that do not overlap?
static bool fits(tvms_iter_mapper *m, const tvms_iter_usage *u) {
  uint32_t count = u->splits.len;
  bool *used = tvms_arena_array(&m->unit->arena, bool, count);
  memset(used, 0, count);
  tvms_node *factor = tvms_iter_number(m, u->mark->extent, 1);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t at = next_split(m, u, used, factor);
    if (at == count) return false;
    used[at] = true;
    const tvms_iter_split *split = &u->splits.items[at];
    factor = tvms_iter_build(m, TVMS_NODE_MUL, split->lower_factor, split->extent);
  }
  const tvms_iter_mark *origin = unpadded(m, u->mark);
  bool full = tvms_analyzer_can_prove_equal(m->analyzer, factor, u->mark->extent);
  bool whole = full || tvms_iter_divides(m, u->mark->extent, factor);
  if (!origin) return whole;
  if (m->inverts) return true;  // not all that is padded need be reached
  if (!full) return whole && proves_at_least(m, origin->extent, factor);
  if (count != 1) return false;
  return !tvms_analyzer_can_prove_equal(m->analyzer, u->splits.items[0].extent, factor)
         || proves_at_least(m, origin->extent, factor);
}

static bool are_independent(tvms_iter_mapper *m, const tvms_iter_sum *const *sums,
                            uint32_t count) {
  tvms_iter_usages usages = {0};
  for (uint32_t i = 0; i < count; i++)
    tvms_iter_usages_add(m->memory, &usages, sums[i]);
  bool fine = true;
  for (uint32_t i = 0; fine && i < usages.len; i++)
    fine = fits(m, &usages.items[i]);
  tvms_iter_usages_fini(m->memory, &usages);
  return fine;
}

// ---- Detection ----

static void add_var(detection *d, const tvms_iter_domain *domain) {
  tvms_iter_mapper *m = d->m;
  tvms_iter_sum *sum;
  if (tvms_node_is_int(domain->extent, 1) && !m->keeps_units) {
    sum = tvms_iter_sum_new(m, NULL, 0, domain->min);
  } else {
    tvms_iter_mark *mark = tvms_arena_new(&m->unit->arena, tvms_iter_mark);
    *mark = (tvms_iter_mark){.expr = domain->var, .extent = domain->extent};
    if (!tvms_node_is_int(domain->min, 0))
      mark->expr = build(d, TVMS_NODE_SUB, domain->var, domain->min);
    tvms_iter_split whole = tvms_iter_split_of(
        m, mark, tvms_int_imm_new(m->unit, domain->var->dtype, 1, TVMS_NO_SPAN));
    sum = tvms_iter_sum_new(m, &whole, 1, domain->min);
  }
  tvms_node_map_put(&m->vars, domain->var, (tvms_node *)(void *)sum);
}

static bool map_indices(tvms_iter_mapper *m, tvms_node *const *indices, uint32_t count,
                        const tvms_iter_sum **sums) {
  for (uint32_t i = 0; i < count && !m->failed; i++)
    sums[i] = tvms_iter_sum_of(m, indices[i]);
  return !m->failed;
}

static bool detect(detection *d, tvms_node *const *indices, uint32_t count,
                   tvms_node *predicate, const tvms_iter_sum **sums) {
  tvms_iter_mapper *m = d->m;
  for (uint32_t i = 0; i < d->domain_count; i++) {
    if (uses_iter(d, d->domains[i].min) || uses_iter(d, d->domains[i].extent))
      return false;
  }
  if (!tvms_node_is_int(predicate, 1) && !read_predicate(d, predicate)) return false;
  for (uint32_t i = 0; i < d->domain_count; i++)
    add_var(d, &d->domains[i]);
  sort_constraints(d);
  for (uint32_t i = 0; i < d->constraints.len; i++) {
    if (!apply(d, &d->constraints.items[i])) return false;
  }
  if (!are_nested(m)) return false;
  m->collects = true;
  if (!map_indices(m, indices, count, sums)) return false;
  m->collects = false;
  if (m->needs_padding && !map_indices(m, indices, count, sums)) return false;
  return are_independent(m, sums, count) && !m->failed;
}

// A mapper with the sums of the indices, if they are iterators.
typedef struct {
  tvms_iter_mapper m;
  const tvms_iter_sum **sums;
  bool found;
} mapping;

static void open_mapping(mapping *made, tvms_unit *unit, tvms_analyzer *analyzer,
                         const tvms_iter_domain *domains, uint32_t domain_count,
                         tvms_node *const *indices, uint32_t index_count,
                         tvms_node *predicate, bool inverts, bool keeps_units) {
  *made = (mapping){.m = {.unit = unit,
                          .memory = &unit->context->memory,
                          .analyzer = analyzer,
                          .inverts = inverts,
                          .keeps_units = inverts || keeps_units}};
  tvms_node_map_init(&made->m.vars, made->m.memory);
  detection d = {.m = &made->m, .domain_count = domain_count};
  d.domains = tvms_arena_array(&unit->arena, tvms_iter_domain, domain_count);
  if (domain_count) memcpy(d.domains, domains, domain_count * sizeof *domains);
  made->sums = tvms_arena_array(&unit->arena, const tvms_iter_sum *, index_count);
  made->found = detect(&d, indices, index_count, predicate, made->sums);
  tvms_vec_fini(made->m.memory, &d.constraints);
}

static void close_mapping(mapping *made) {
  tvms_vec_fini(made->m.memory, &made->m.fused);
  tvms_vec_fini(made->m.memory, &made->m.constrained);
  tvms_vec_fini(made->m.memory, &made->m.paddings);
  tvms_node_map_fini(&made->m.vars);
}

bool tvms_iter_map_detect(tvms_unit *unit, tvms_analyzer *analyzer,
                          const tvms_iter_domain *domains, uint32_t domain_count,
                          tvms_node *const *indices, uint32_t index_count,
                          tvms_node *predicate, bool keep_units,
                          tvms_iter_image *images) {
  mapping made;
  open_mapping(&made, unit, analyzer, domains, domain_count, indices, index_count,
               predicate, false, keep_units);
  for (uint32_t i = 0; made.found && i < index_count; i++) {
    images[i] = (tvms_iter_image){.base = made.sums[i]->base};
    if (made.sums[i]->len == 0) continue;
    images[i].extent = made.sums[i]->args[0].extent;
    images[i].scale = made.sums[i]->args[0].scale;
  }
  close_mapping(&made);
  return made.found;
}

bool tvms_iter_map_simplify(tvms_unit *unit, tvms_analyzer *analyzer,
                            const tvms_iter_domain *domains, uint32_t domain_count,
                            tvms_node *const *indices, uint32_t index_count,
                            tvms_node *predicate, bool keep_units,
                            tvms_node **simplified) {
  mapping made;
  open_mapping(&made, unit, analyzer, domains, domain_count, indices, index_count,
               predicate, false, keep_units);
  if (!made.found && !tvms_node_is_int(predicate, 1)) {
    // The predicate may be what is in the way.
    close_mapping(&made);
    predicate = tvms_bool_imm_new(unit, true, TVMS_NO_SPAN);
    open_mapping(&made, unit, analyzer, domains, domain_count, indices, index_count,
                 predicate, false, keep_units);
    if (!tvms_release_has(unit->dialect, TVMS_FACT_unconditioned_places_are_padded))
      made.found = made.found && !made.m.needs_padding;
  }
  for (uint32_t i = 0; made.found && i < index_count; i++)
    simplified[i] = tvms_iter_sum_write(&made.m, made.sums[i]);
  bool found = made.found && !made.m.failed;
  close_mapping(&made);
  return found;
}

bool tvms_iter_map_divide(tvms_unit *unit, tvms_analyzer *analyzer,
                          const tvms_iter_domain *domains, uint32_t domain_count,
                          uint32_t outer_count, tvms_node *const *indices,
                          uint32_t index_count, tvms_node *predicate, bool keep_units,
                          tvms_iter_parts *parts) {
  mapping made;
  open_mapping(&made, unit, analyzer, domains, domain_count, indices, index_count,
               predicate, false, keep_units);
  tvms_node_map is_inner;
  tvms_node_map_init(&is_inner, &unit->context->memory);
  for (uint32_t i = outer_count; i < domain_count; i++)
    tvms_node_map_put(&is_inner, domains[i].var, domains[i].var);
  bool found = made.found
               && tvms_iter_divide(&made.m, &is_inner, made.sums, index_count, parts)
               && !made.m.failed;
  tvms_node_map_fini(&is_inner);
  close_mapping(&made);
  return found;
}

// ---- The way back ----

// How far a sum reaches: to the end of the part that reaches furthest.
static tvms_node *reach(tvms_iter_mapper *m, const tvms_iter_sum *sum) {
  tvms_node *most = NULL;
  for (uint32_t i = 0; i < sum->len; i++) {
    const tvms_iter_split *part = &sum->args[i];
    tvms_node *end = tvms_iter_build(m, TVMS_NODE_MUL, part->extent, part->scale);
    most = most ? tvms_iter_build(m, TVMS_NODE_MAX, most, end) : end;
  }
  if (!most) most = tvms_iter_number(m, sum->base, 1);
  return tvms_analyzer_simplify(m->analyzer, most);
}

bool tvms_iter_map_ranges(tvms_unit *unit, tvms_analyzer *analyzer,
                          const tvms_iter_domain *domains, uint32_t domain_count,
                          tvms_node *const *indices, uint32_t index_count,
                          tvms_node **mins, tvms_node **extents) {
  mapping made;
  tvms_node *always = tvms_bool_imm_new(unit, true, TVMS_NO_SPAN);
  open_mapping(&made, unit, analyzer, domains, domain_count, indices, index_count,
               always, true, false);
  for (uint32_t i = 0; made.found && i < index_count; i++) {
    mins[i] = made.sums[i]->base;
    extents[i] = reach(&made.m, made.sums[i]);
  }
  close_mapping(&made);
  return made.found;
}

// The condition under which an element was added, of what the indices are.
static tvms_node *padding_of(mapping *made, tvms_node_map *known,
                             tvms_node *const *values, uint32_t count) {
  tvms_iter_mapper *m = &made->m;
  if (!m->padding) return tvms_bool_imm_new(m->unit, false, TVMS_NO_SPAN);
  tvms_node *padding = tvms_substitute(m->unit, m->padding, known);
  padding = tvms_analyzer_simplify_steps(m->analyzer, padding, 10);
  tvms_analyzer *ranges = tvms_analyzer_new(m->unit);
  for (uint32_t i = 0; i < count; i++)
    tvms_analyzer_bind_range(ranges, values[i], made->sums[i]->base,
                             reach(m, made->sums[i]));
  padding = tvms_analyzer_simplify_steps(ranges, padding, 10);
  tvms_analyzer_free(ranges);
  return padding;
}

bool tvms_iter_map_inverse(tvms_unit *unit, tvms_analyzer *analyzer,
                           const tvms_iter_domain *domains, uint32_t domain_count,
                           tvms_node *const *indices, uint32_t index_count,
                           tvms_node *const *values, tvms_node **inverse,
                           tvms_node **TVMS_NULLABLE padding) {
  mapping made;
  tvms_node *always = tvms_bool_imm_new(unit, true, TVMS_NO_SPAN);
  open_mapping(&made, unit, analyzer, domains, domain_count, indices, index_count,
               always, true, false);
  tvms_node_map known;
  tvms_node_map_init(&known, &unit->context->memory);
  bool fine =
      made.found && tvms_iter_invert(&made.m, made.sums, index_count, values, &known);
  for (uint32_t i = 0; i < domain_count && fine; i++) {
    tvms_node *value = tvms_node_map_get(&known, domains[i].var);
    fine = value || tvms_node_is_int(domains[i].extent, 1);
    if (!fine) break;
    if (!value) tvms_node_map_put(&known, domains[i].var, value = domains[i].min);
    inverse[i] = padding ? tvms_analyzer_simplify(analyzer, value) : value;
  }
  if (fine && padding) *padding = padding_of(&made, &known, values, index_count);
  tvms_node_map_fini(&known);
  close_mapping(&made);
  return fine;
}
