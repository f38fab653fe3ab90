// A sum is outer * extent(inner) + inner if parts that run outside come first. Splits of one source are divided together, when
// the first of them is met.
#include "arith/iter_divide.h"

#include "arith/iter_usage.h"

#include <string.h>

typedef enum { MIXED, INNER, OUTER } division_kind;

// A sum, or a single split of scale 1.
typedef struct {
  bool is_split;
  tvms_iter_split split;
  const tvms_iter_sum *TVMS_NULLABLE sum;
} part;

typedef struct {
  part outer, inner;
  tvms_node *outer_extent, *inner_extent;
  division_kind kind;
} division;

typedef struct {
  tvms_iter_split split;
  division division;
} known_split;

typedef struct {
  tvms_iter_mapper *m;
  const tvms_node_map *is_inner;
  tvms_iter_usages usages;
  TVMS_VEC(known_split) known;
  tvms_node *outer_condition, *inner_condition;
  bool failed;
} divider;

static division divide_sum(divider *d, const tvms_iter_sum *sum,
                           tvms_node *TVMS_NULLABLE extent);

// ---- Parts ----

static part of_sum(const tvms_iter_sum *sum) {
  return (part){.sum = sum};
}

static part of_split(const tvms_iter_split *split) {
  return (part){.is_split = true, .split = *split};
}

static part nothing(divider *d, const tvms_node *like) {
  return of_sum(tvms_iter_sum_new(d->m, NULL, 0, tvms_iter_number(d->m, like, 0)));
}

static division inner_only(divider *d, part inner, tvms_node *extent) {
  return (division){nothing(d, extent), inner, tvms_iter_number(d->m, extent, 1),
                    extent, INNER};
}

static division outer_only(divider *d, part outer, tvms_node *extent) {
  return (division){outer, nothing(d, extent), extent,
                    tvms_iter_number(d->m, extent, 1), OUTER};
}

static division failure(divider *d) {
  d->failed = true;
  return (division){.kind = MIXED};
}

static bool proves_equal(divider *d, tvms_node *a, tvms_node *b) {
  return tvms_analyzer_can_prove_equal(d->m->analyzer, a, b);
}

static const tvms_iter_sum *as_sum(divider *d, const part *p) {
  if (!p->is_split) return p->sum;
  return tvms_iter_sum_new(d->m, &p->split, 1,
                           tvms_iter_number(d->m, p->split.extent, 0));
}

static tvms_iter_mark *new_mark(divider *d, const tvms_iter_sum *sum,
                                tvms_node *extent) {
  tvms_iter_mark *mark = tvms_arena_new(&d->m->unit->arena, tvms_iter_mark);
  *mark = (tvms_iter_mark){.sum = sum, .extent = extent};
  return mark;
}

static tvms_iter_split as_split(divider *d, const part *p, tvms_node *extent) {
  if (p->is_split) return p->split;
  return tvms_iter_split_of(d->m, new_mark(d, p->sum, extent),
                            tvms_iter_number(d->m, extent, 1));
}

// ---- Splits ----

static const division *TVMS_NULLABLE find_known(const divider *d,
                                                const tvms_iter_split *split) {
  for (uint32_t i = 0; i < d->known.len; i++)
    if (tvms_iter_split_same(&d->known.items[i].split, split, true))
      return &d->known.items[i].division;
  return NULL;
}

static void keep(divider *d, const tvms_iter_split *split, division made) {
  known_split one = {*split, made};
  tvms_vec_push(d->m->memory, &d->known, one);
}

// Splits of a variable are inside or outside as a whole.
static void divide_variable(divider *d, const tvms_iter_usage *usage) {
  bool inside = tvms_node_map_get(d->is_inner, usage->mark->expr) != NULL;
  for (uint32_t i = 0; i < usage->splits.len; i++) {
    const tvms_iter_split *split = &usage->splits.items[i];
    keep(d, split,
         inside ? inner_only(d, of_split(split), split->extent)
                : outer_only(d, of_split(split), split->extent));
  }
}

// Splits in the order in which they divide their source, each outside or inside: the boundary must be between two of them.
static bool order_splits(divider *d, const tvms_iter_usage *usage,
                         const division *whole, const tvms_iter_split **sorted,
                         uint32_t *inner_count) {
  uint32_t count = usage->splits.len;
  bool *used = tvms_arena_array(&d->m->unit->arena, bool, count + 1);
  memset(used, 0, count + 1);
  bool outside = whole->kind == OUTER;
  tvms_node *factor = tvms_iter_number(d->m, usage->mark->extent, 1);
  *inner_count = outside ? 0 : count;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t at = 0;
    while (
        at < count
        && (used[at] || !proves_equal(d, usage->splits.items[at].lower_factor, factor)))
      at++;
    if (at == count) return false;
    used[at] = true;
    sorted[i] = &usage->splits.items[at];
    factor = tvms_iter_build(d->m, TVMS_NODE_MUL, factor, sorted[i]->extent);
    if (outside || !proves_equal(d, factor, whole->inner_extent)) continue;
    outside = true;
    *inner_count = i + 1;
  }
  return outside;
}

static bool divide_source(divider *d, const tvms_iter_usage *usage,
                          const division *whole) {
  uint32_t count = usage->splits.len, inner;
  const tvms_iter_split **sorted =
      tvms_arena_array(&d->m->unit->arena, const tvms_iter_split *, count + 1);
  if (!order_splits(d, usage, whole, sorted, &inner)) return false;
  tvms_iter_mark *outer_mark =
      new_mark(d, as_sum(d, &whole->outer), whole->outer_extent);
  tvms_iter_mark *inner_mark =
      new_mark(d, as_sum(d, &whole->inner), whole->inner_extent);
  for (uint32_t i = 0; i < count; i++) {
    tvms_iter_split made = *sorted[i];
    made.source = i < inner ? inner_mark : outer_mark;
    if (i >= inner)
      made.lower_factor = tvms_iter_build(d->m, TVMS_NODE_FLOOR_DIV, made.lower_factor,
                                          sorted[inner]->lower_factor);
    keep(d, sorted[i],
         i < inner ? inner_only(d, of_split(&made), made.extent)
                   : outer_only(d, of_split(&made), made.extent));
  }
  return true;
}

static division divide_split(divider *d, const tvms_iter_split *split) {
  const division *known = find_known(d, split);
  if (known) return *known;
  const tvms_iter_usage *usage = tvms_iter_usages_find(&d->usages, split->source);
  const tvms_iter_mark *mark = split->source;
  if (!usage) return failure(d);
  if (mark->expr && mark->expr->kind == TVMS_NODE_VAR) {
    divide_variable(d, usage);
  } else if (mark->sum) {
    division whole = divide_sum(d, mark->sum, mark->extent);
    // A single split may be a part of its source; TVM takes it for all of it.
    bool all = usage->splits.len == 1 && tvms_node_is_int(split->lower_factor, 1)
               && proves_equal(d, split->extent, mark->extent);
    if (d->failed || all) return whole;
    if (!divide_source(d, usage, &whole)) return failure(d);
  } else {
    return failure(d);
  }
  known = find_known(d, split);
  return known ? *known : failure(d);
}

// ---- Sums ----

// The sum of splits, given from the innermost one, each of which begins where the one before ends.
static const tvms_iter_sum *joined(divider *d, const tvms_iter_split *args,
                                   uint32_t len, tvms_node *base, tvms_node **extent) {
  tvms_iter_split *made =
      tvms_arena_array(&d->m->unit->arena, tvms_iter_split, len + 1);
  *extent = tvms_iter_number(d->m, base, 1);
  for (uint32_t i = 0; i < len; i++) {
    made[len - 1 - i] = args[i];
    made[len - 1 - i].scale = *extent;
    *extent = tvms_iter_build(d->m, TVMS_NODE_MUL, *extent, args[i].extent);
  }
  return tvms_iter_sum_new(d->m, made, len, base);
}

static void add_condition(divider *d, tvms_node **all, const tvms_iter_sum *sum,
                          tvms_node *extent) {
  tvms_node *less =
      tvms_iter_build(d->m, TVMS_NODE_LT, tvms_iter_sum_write(d->m, sum), extent);
  *all = tvms_iter_build(d->m, TVMS_NODE_AND, *all, less);
}

static division add_base(divider *d, division made, tvms_node *base) {
  const tvms_iter_sum *inner = as_sum(d, &made.inner);
  tvms_node *sum = made.inner.is_split
                       ? base
                       : tvms_iter_build(d->m, TVMS_NODE_ADD, inner->base, base);
  made.inner = of_sum(tvms_iter_sum_new(d->m, inner->args, inner->len, sum));
  return made;
}

// The splits of a sum, from the innermost one: those inside, then those outside.
typedef struct {
  tvms_iter_split *inner, *outer;
  uint32_t inner_len, outer_len;
  tvms_node *extent;
} sides;

static bool sort_sides(divider *d, const tvms_iter_sum *sum, sides *s) {
  bool unit = false;
  *s = (sides){.inner = tvms_arena_array(&d->m->unit->arena, tvms_iter_split, sum->len),
               .outer = tvms_arena_array(&d->m->unit->arena, tvms_iter_split, sum->len),
               .extent = tvms_iter_number(d->m, sum->base, 1)};
  for (uint32_t i = sum->len; i-- > 0;) {
    unit = unit || tvms_node_is_int(sum->args[i].scale, 1);
    division own = divide_split(d, &sum->args[i]);
    if (d->failed || own.kind == MIXED || (own.kind == INNER && s->outer_len))
      return false;
    bool inside = own.kind == INNER;
    tvms_iter_split made = inside ? as_split(d, &own.inner, own.inner_extent)
                                  : as_split(d, &own.outer, own.outer_extent);
    if (inside)
      s->inner[s->inner_len++] = made;
    else
      s->outer[s->outer_len++] = made;
    s->extent = tvms_iter_build(d->m, TVMS_NODE_MUL, s->extent, made.extent);
  }
  return unit;
}

static division divide_many(divider *d, const tvms_iter_sum *sum,
                            tvms_node *TVMS_NULLABLE extent) {
  sides s;
  if (!sort_sides(d, sum, &s)) return failure(d);
  tvms_node *outer_extent, *inner_extent;
  const tvms_iter_sum *outer = joined(
      d, s.outer, s.outer_len, tvms_iter_number(d->m, sum->base, 0), &outer_extent);
  const tvms_iter_sum *inner =
      joined(d, s.inner, s.inner_len, sum->base, &inner_extent);
  if (extent && proves_equal(d, s.extent, extent))
    return (division){of_sum(outer), of_sum(inner), outer_extent, inner_extent, MIXED};
  // Where a condition cuts the sum, it must be outside or inside as a whole.
  if (!extent || (s.inner_len && s.outer_len)) return failure(d);
  if (!s.inner_len) {
    add_condition(d, &d->outer_condition, outer, extent);
    return outer_only(d, of_sum(outer), extent);
  }
  add_condition(d, &d->inner_condition, inner, extent);
  return inner_only(d, of_sum(inner), extent);
}

static division divide_sum(divider *d, const tvms_iter_sum *sum,
                           tvms_node *TVMS_NULLABLE extent) {
  if (sum->len == 0) {
    tvms_node *one = tvms_iter_number(d->m, sum->base, 1);
    return (division){nothing(d, sum->base), of_sum(sum), one, one, MIXED};
  }
  if (sum->len > 1) return divide_many(d, sum, extent);
  if (!tvms_node_is_int(sum->args[0].scale, 1)) return failure(d);
  division made = divide_split(d, &sum->args[0]);
  return d->failed || tvms_node_is_int(sum->base, 0) ? made
                                                     : add_base(d, made, sum->base);
}

bool tvms_iter_divide(tvms_iter_mapper *m, const tvms_node_map *is_inner,
                      const tvms_iter_sum *const *sums, uint32_t count,
                      tvms_iter_parts *parts) {
  tvms_node *yes = tvms_bool_imm_new(m->unit, true, TVMS_NO_SPAN);
  divider d = {
      .m = m, .is_inner = is_inner, .outer_condition = yes, .inner_condition = yes};
  for (uint32_t i = 0; i < count; i++)
    tvms_iter_usages_add(m->memory, &d.usages, sums[i]);
  for (uint32_t i = 0; i < count && !d.failed; i++) {
    division made = divide_sum(&d, sums[i], NULL);
    if (d.failed) break;
    parts->parts[i] = (tvms_iter_part){
        tvms_iter_sum_write(m, as_sum(&d, &made.outer)), made.outer_extent,
        tvms_iter_sum_write(m, as_sum(&d, &made.inner)), made.inner_extent};
  }
  parts->outer_condition = d.outer_condition;
  parts->inner_condition = d.inner_condition;
  tvms_iter_usages_fini(m->memory, &d.usages);
  tvms_vec_fini(m->memory, &d.known);
  return !d.failed;
}
