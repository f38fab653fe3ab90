#include "schedule/axis_domains.h"

#include "schedule/bindings.h"
#include "schedule/buffers.h"
#include "schedule/inline.h"
#include "schedule/region.h"
#include "schedule/storage_scope.h"

typedef struct {
  tvms_sched *sched;
  const tvms_axis_question *question;
  const tvms_block *block;
  tvms_analyzer *analyzer;
  tvms_axis_domain *domains;
  tvms_node *buffer;                  // at hand
  tvms_int_set *provided, *required;  // its dimensions
} solving;

static tvms_node *build(solving *s, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_sched_build(s->sched, kind, a, b);
}

static tvms_node *plus(solving *s, tvms_node *a, int64_t value) {
  return build(s, TVMS_NODE_ADD, a, tvms_sched_int(s->sched, a->dtype, value));
}

static tvms_node *simple(solving *s, tvms_node *node) {
  return node ? tvms_analyzer_simplify(s->analyzer, node) : node;
}

static tvms_int_set interval(tvms_node *min, tvms_node *max) {
  return (tvms_int_set){.min = min, .max = max};
}

// The last index of a dimension.
static tvms_node *last_of(solving *s, uint32_t axis) {
  tvms_node *size = tvms_as_buffer(s->buffer)->shape.items[axis];
  return build(s, TVMS_NODE_MAX, plus(s, size, -1),
               tvms_sched_int(s->sched, size->dtype, 0));
}

static int32_t axis_of(const solving *s, const tvms_node *var) {
  for (uint32_t i = 0; i < s->block->iter_vars.len; i++)
    if (tvms_as_iter_var(s->block->iter_vars.items[i])->var == var) return (int32_t)i;
  return -1;
}

static void join(solving *s, int32_t axis, tvms_int_set dom, tvms_int_set bound) {
  tvms_axis_domain *d = &s->domains[axis];
  tvms_unit *unit = s->sched->unit;
  if (!dom.empty) d->dom = d->dom.empty ? dom : tvms_int_set_union(unit, d->dom, dom);
  if (!bound.empty)
    d->bound = d->bound.empty ? bound : tvms_int_set_union(unit, d->bound, bound);
}

// ---- Axes one by one ----

static bool is_point(solving *s, tvms_int_set set) {
  return set.min && set.max
         && (set.min == set.max
             || tvms_analyzer_can_prove_equal(s->analyzer, set.min, set.max));
}

// What an axis must take so that an expression of it takes the values of `required`, none greater than `last`. NULL comes back if the form is not
// known.
typedef struct {
  tvms_node *TVMS_NULLABLE var;
  tvms_int_set dom, bound;
} solution;

static solution solve(solving *s, tvms_node *low, tvms_node *high,
                      tvms_int_set required, tvms_node *last);

static solution solve_product(solving *s, tvms_node *var, tvms_node *factor,
                              tvms_int_set required, tvms_node *last) {
  tvms_node *zero = tvms_sched_int(s->sched, last->dtype, 0);
  return (solution){var,
                    interval(build(s, TVMS_NODE_FLOOR_DIV, required.min, factor),
                             build(s, TVMS_NODE_FLOOR_DIV, required.max, factor)),
                    interval(zero, build(s, TVMS_NODE_FLOOR_DIV, last, factor))};
}

// x // factor
static solution solve_quotient(solving *s, const tvms_binary *division,
                               tvms_int_set required, tvms_node *last) {
  tvms_node *inner = division->a, *factor = division->b;
  if (!tvms_analyzer_can_prove_ge(s->analyzer, factor, 1)) return (solution){0};
  tvms_node *low = build(s, TVMS_NODE_MUL, required.min, factor);
  tvms_node *high = plus(
      s, build(s, TVMS_NODE_ADD, build(s, TVMS_NODE_MUL, required.max, factor), factor),
      -1);
  tvms_int_set wider = interval(low, simple(s, high));
  if (inner->kind != TVMS_NODE_VAR) return solve(s, inner, inner, wider, last);
  tvms_node *end = plus(
      s, build(s, TVMS_NODE_ADD, build(s, TVMS_NODE_MUL, last, factor), factor), -1);
  return (solution){inner, wider,
                    interval(tvms_sched_int(s->sched, last->dtype, 0), simple(s, end))};
}

// x % factor tells nothing of a variable, and of more than that only that it is not less.
static solution solve_rest(solving *s, const tvms_binary *division,
                           tvms_int_set required, tvms_node *last) {
  tvms_int_set nothing = {.empty = true};
  if (division->a->kind == TVMS_NODE_VAR)
    return (solution){division->a, nothing, nothing};
  bool known = tvms_analyzer_can_prove_ge(s->analyzer, division->a, 1)
               && tvms_analyzer_can_prove_ge(s->analyzer, division->b, 1)
               && tvms_analyzer_can_prove_ge(s->analyzer, required.min, 0);
  if (!known) return (solution){0};
  return solve(s, division->a, division->a, interval(required.min, NULL), last);
}

static solution solve(solving *s, tvms_node *low, tvms_node *high,
                      tvms_int_set required, tvms_node *last) {
  low = simple(s, low);
  high = simple(s, high);
  required = interval(simple(s, required.min), simple(s, required.max));
  if (low->kind == TVMS_NODE_MUL && required.max) {
    const tvms_binary *product = tvms_as_binary(low);
    if (product->a->kind == TVMS_NODE_VAR)
      return solve_product(s, product->a, product->b, required, last);
    if (product->b->kind == TVMS_NODE_VAR)
      return solve_product(s, product->b, product->a, required, last);
  }
  if (!is_point(s, interval(low, high))) return (solution){0};
  tvms_node *zero = tvms_sched_int(s->sched, last->dtype, 0);
  if (low->kind == TVMS_NODE_VAR)
    return (solution){low, required, interval(zero, last)};
  if (low->kind == TVMS_NODE_FLOOR_DIV && required.max)
    return solve_quotient(s, tvms_as_binary(low), required, last);
  if (low->kind == TVMS_NODE_FLOOR_MOD)
    return solve_rest(s, tvms_as_binary(low), required, last);
  return (solution){0};
}

static bool same_set(solving *s, tvms_int_set a, tvms_int_set b) {
  return a.min && b.min && a.max && b.max
         && tvms_analyzer_can_prove_equal(s->analyzer, a.min, b.min)
         && tvms_analyzer_can_prove_equal(s->analyzer, a.max, b.max);
}

static bool refuse_form(solving *s) {
  return tvms_sched_refuse(
      s->sched,
      "the axes of block '%s' cannot be told from the region of '%s' that is needed",
      s->block->name.len ? s->block->name.text : "",
      tvms_sched_buffer_name(s->sched, s->buffer));
}

static bool solve_dimensions(solving *s) {
  uint32_t rank = tvms_as_buffer(s->buffer)->shape.len;
  for (uint32_t i = 0; i < rank; i++) {
    tvms_int_set provided = s->provided[i], required = s->required[i];
    if (is_point(s, provided) && provided.min->kind == TVMS_NODE_INT_IMM) {
      if (!same_set(s, required, interval(provided.min, provided.min)))
        return refuse_form(s);
      continue;
    }
    if (!required.min || !required.max || !provided.min || !provided.max)
      return refuse_form(s);
    solution found = solve(s, provided.min, provided.max, required, last_of(s, i));
    if (!found.var) return refuse_form(s);
    int32_t axis = axis_of(s, found.var);
    if (axis >= 0)
      join(s, axis, found.dom, found.bound);
    else if (!same_set(s, provided, required))
      return refuse_form(s);
  }
  return true;
}

// ---- All axes at once ----

// What runs where places run from corner to corner.
typedef struct {
  tvms_node *const *places;
  const tvms_int_set *sets;
  uint32_t rank;
} corners;

// A remainder begins again behind each multiple of its divisor, and takes all values if there may be one on the way. TVM takes those at the corners.
static tvms_int_set ends_of_rest(solving *s, tvms_int_set a, tvms_node *divisor) {
  tvms_node *first = build(s, TVMS_NODE_FLOOR_DIV, a.min, divisor);
  tvms_node *last = build(s, TVMS_NODE_FLOOR_DIV, a.max, divisor);
  if (!tvms_analyzer_can_prove_equal(s->analyzer, first, last))
    return interval(tvms_sched_int(s->sched, divisor->dtype, 0), plus(s, divisor, -1));
  return interval(build(s, TVMS_NODE_FLOOR_MOD, a.min, divisor),
                  build(s, TVMS_NODE_FLOOR_MOD, a.max, divisor));
}

// A value at both corners; all that is in it but for remainders grows, or falls, with the places.
static tvms_int_set ends_of(solving *s, tvms_node *value, const corners *c) {
  for (uint32_t i = 0; i < c->rank; i++)
    if (value == c->places[i]) return c->sets[i];
  if (!tvms_node_is_binary(value)) return interval(value, value);
  const tvms_binary *binary = tvms_as_binary(value);
  tvms_int_set a = ends_of(s, binary->a, c), b = ends_of(s, binary->b, c);
  if (value->kind == TVMS_NODE_FLOOR_MOD) return ends_of_rest(s, a, binary->b);
  return interval(build(s, value->kind, a.min, b.min),
                  build(s, value->kind, a.max, b.max));
}

static tvms_int_set between(solving *s, tvms_node *value, const corners *c) {
  tvms_int_set ends = ends_of(s, value, c);
  return interval(simple(s, build(s, TVMS_NODE_MIN, ends.min, ends.max)),
                  simple(s, build(s, TVMS_NODE_MAX, ends.min, ends.max)));
}

// False: the region does not tell the axes so.
static bool solve_together(solving *s) {
  tvms_sched *sched = s->sched;
  uint32_t rank = tvms_as_buffer(s->buffer)->shape.len;
  tvms_list indices = {tvms_arena_array(&sched->unit->arena, tvms_node *, rank + 1),
                       rank};
  tvms_int_set *all = tvms_arena_array(&sched->unit->arena, tvms_int_set, rank + 1);
  for (uint32_t i = 0; i < rank; i++) {
    if (!is_point(s, s->provided[i]) || !s->required[i].min || !s->required[i].max)
      return false;
    indices.items[i] = s->provided[i].min;
    tvms_node *last = last_of(s, i);
    all[i] = interval(tvms_sched_int(sched, last->dtype, 0), last);
  }
  tvms_node **places = tvms_inline_places(sched, indices);
  corners needed = {places, s->required, rank}, whole = {places, all, rank};
  tvms_node_map found;
  tvms_node_map_init(&found, &sched->context->memory);
  bool fine = tvms_inline_inverse(sched, s->block, indices, true, places, &found);
  for (uint32_t i = 0; fine && i < s->block->iter_vars.len; i++) {
    tvms_node *value =
        tvms_node_map_get(&found, tvms_as_iter_var(s->block->iter_vars.items[i])->var);
    if (!value) continue;
    join(s, (int32_t)i, between(s, value, &needed), between(s, value, &whole));
  }
  tvms_node_map_fini(&found);
  return fine;
}

// ---- Regions ----

static void provided_of(solving *s, tvms_list regions) {
  uint32_t rank = tvms_as_buffer(s->buffer)->shape.len, count = 0;
  for (uint32_t i = 0; i < regions.len; i++) {
    const tvms_buffer_region *region = tvms_as_buffer_region(regions.items[i]);
    if (region->buffer != s->buffer) continue;
    for (uint32_t d = 0; d < rank; d++) {
      const tvms_range *range = tvms_as_range(region->region.items[d]);
      tvms_int_set set =
          tvms_int_set_of_range(s->sched->unit, range->min, range->extent);
      s->provided[d] =
          count ? tvms_int_set_union(s->sched->unit, s->provided[d], set) : set;
    }
    count++;
  }
}

// The loops that run for another block below the loop, and threads above that share the buffer.
static void domains_of(solving *s, int32_t other, tvms_domains *sets) {
  tvms_sched *sched = s->sched;
  tvms_domain_vec domains = {0};
  tvms_sched_domains(sched, tvms_sched_parent(sched, other), s->question->loop,
                     &domains);
  if (s->question->writes)
    tvms_sched_add_threads(sched, s->buffer, s->question->loop, &domains);
  for (uint32_t i = 0; i < domains.len; i++)
    tvms_domains_set(sets, domains.items[i].var,
                     tvms_int_set_of_range(sched->unit, domains.items[i].min,
                                           domains.items[i].extent));
  tvms_vec_fini(&sched->context->memory, &domains);
}

// Adds what another block needs; false: it does not touch the buffer.
static bool require(solving *s, int32_t other, bool first) {
  tvms_sched *sched = s->sched;
  const tvms_block *block = tvms_sched_block(sched, other);
  tvms_list regions = s->question->writes ? block->reads : block->writes;
  tvms_domains sets;
  tvms_domains_init(&sets, sched->unit);
  domains_of(s, other, &sets);
  bool touched = false;
  for (uint32_t i = 0; i < regions.len; i++) {
    if (tvms_sched_region_buffer(regions, i) != s->buffer) continue;
    tvms_node *bound =
        tvms_sched_bound(sched, tvms_sched_realize(sched, other), regions.items[i]);
    tvms_list ranges = tvms_as_buffer_region(bound)->region;
    for (uint32_t d = 0; d < ranges.len; d++) {
      const tvms_range *range = tvms_as_range(ranges.items[d]);
      tvms_int_set set = tvms_int_set_of_ranges(&sets, range->min, range->extent);
      s->required[d] = first && !touched
                           ? set
                           : tvms_int_set_union(sched->unit, s->required[d], set);
    }
    touched = true;
  }
  tvms_domains_fini(&sets);
  return touched;
}

static bool solve_buffer(solving *s) {
  uint32_t rank = tvms_as_buffer(s->buffer)->shape.len;
  tvms_arena *arena = &s->sched->unit->arena;
  s->provided = tvms_arena_array(arena, tvms_int_set, rank + 1);
  s->required = tvms_arena_array(arena, tvms_int_set, rank + 1);
  provided_of(s, s->question->writes ? s->block->writes : s->block->reads);
  bool needed = false;
  for (uint32_t i = 0; i < s->question->others->len; i++)
    needed = require(s, s->question->others->items[i], !needed) || needed;
  return !needed || solve_together(s) || solve_dimensions(s);
}

// ---- Domains ----

static tvms_int_set simple_set(solving *s, tvms_int_set set) {
  return interval(simple(s, set.min), simple(s, set.max));
}

// Drops a bound that says no more than the domain, and the other way round.
static bool settle(solving *s, tvms_axis_domain *d) {
  tvms_int_set nothing = {.empty = true};
  if (d->dom.empty) {
    bool known = !d->bound.empty && d->bound.min && d->bound.max;
    if (known) *d = (tvms_axis_domain){simple_set(s, d->bound), nothing};
    return known;
  }
  d->dom = simple_set(s, d->dom);
  d->bound = simple_set(s, d->bound);
  tvms_int_set both =
      simple_set(s, tvms_int_set_intersect(s->sched->unit, d->dom, d->bound));
  if (same_set(s, d->dom, both)) {
    d->bound = nothing;
  } else if (same_set(s, d->bound, both)) {
    *d = (tvms_axis_domain){d->bound, nothing};
  } else if (both.min && both.max && both.min->kind == TVMS_NODE_INT_IMM
             && both.max->kind == TVMS_NODE_INT_IMM) {
    *d = (tvms_axis_domain){both, nothing};
  }
  return true;
}

bool tvms_axis_domains_find(tvms_sched *sched, const tvms_axis_question *question,
                            tvms_analyzer *analyzer, tvms_axis_domain *domains) {
  const tvms_block *block = tvms_sched_block(sched, question->block);
  solving s = {.sched = sched,
               .question = question,
               .block = block,
               .analyzer = analyzer,
               .domains = domains};
  tvms_int_set nothing = {.empty = true};
  for (uint32_t i = 0; i < block->iter_vars.len; i++)
    domains[i] = (tvms_axis_domain){nothing, nothing};
  tvms_list regions = question->writes ? block->writes : block->reads;
  for (uint32_t i = 0; i < regions.len; i++) {
    s.buffer = tvms_sched_region_buffer(regions, i);
    bool again = false;
    for (uint32_t k = 0; k < i; k++)
      again = again || tvms_sched_region_buffer(regions, k) == s.buffer;
    if (!again && !solve_buffer(&s)) return false;
  }
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_range *dom =
        tvms_as_range(tvms_as_iter_var(block->iter_vars.items[i])->dom);
    tvms_int_set own = tvms_int_set_of_range(sched->unit, dom->min, dom->extent);
    domains[i].bound = domains[i].bound.empty
                           ? own
                           : tvms_int_set_intersect(sched->unit, domains[i].bound, own);
    if (!settle(&s, &domains[i])) return refuse_form(&s);
  }
  return true;
}
