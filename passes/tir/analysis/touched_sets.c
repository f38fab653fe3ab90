// Every access is a set of integers per dimension, found over the loops between it and the
// allocation: by iterator maps (arith/iter_map.h), which know conditions and that splits of a
// loop do not overlap, else by interval evaluation; sets of one buffer are joined.
#include "passes/tir/analysis/touched_sets.h"

#include "arith/iter_region.h"
#include "ir/build.h"
#include "ir/fold.h"
#include "ir/walk.h"
#include "schedule/storage_scope.h"

// ---- Allocations ----

void tvms_touched_allocate(tvms_touched_collector *c, tvms_node *buffer) {
  tvms_touched_buffer made = {.buffer = buffer, .depth = c->axes.len};
  tvms_vec_push(c->memory, &c->buffers, made);
  tvms_node *place = (tvms_node *)(uintptr_t)c->buffers.len;
  tvms_node_map_put(&c->places, buffer, place);
  tvms_node_map_put(&c->places, tvms_as_buffer(buffer)->data, place);
}

tvms_touched_buffer *TVMS_NULLABLE tvms_touched_known(tvms_touched_collector *c,
                                                      const tvms_node *buffer) {
  uintptr_t place = (uintptr_t)tvms_node_map_get(&c->places, buffer);
  return place ? &c->buffers.items[place - 1] : NULL;
}

// ---- Accesses ----

// Axes around the allocation stay symbols, unless their threads share the buffer.
static void hide_outer(tvms_touched_collector *c, const tvms_touched_buffer *t,
                       tvms_int_set *hidden, bool *is_hidden) {
  const char *scope = tvms_storage_scope_of(c->unit->context, t->buffer);
  tvms_storage_rank rank = tvms_storage_rank_of(scope);
  for (uint32_t i = 0; i < t->depth; i++) {
    const tvms_touched_axis *a = &c->axes.items[i];
    is_hidden[i] = false;
    if (a->tag && tvms_storage_is_shared_by(rank, a->tag)) continue;
    const tvms_int_set *domain = tvms_domains_get(&c->domains, a->var);
    if (!domain) continue;
    hidden[i] = *domain;
    is_hidden[i] = true;
    tvms_domains_drop(&c->domains, a->var);
  }
}

static void show_outer(tvms_touched_collector *c, const tvms_touched_buffer *t,
                       const tvms_int_set *hidden, const bool *is_hidden) {
  for (uint32_t i = 0; i < t->depth; i++) {
    if (is_hidden[i]) tvms_domains_set(&c->domains, c->axes.items[i].var, hidden[i]);
  }
}

tvms_node *tvms_touched_build(tvms_touched_collector *c, tvms_node_kind kind,
                              tvms_node *a, tvms_node *b) {
  return tvms_build_binary(c->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(tvms_touched_collector *c, const tvms_node *like,
                         int64_t value) {
  return tvms_int_imm_new(c->unit, like->dtype, value, TVMS_NO_SPAN);
}

// All conditions that domains cannot say.
static tvms_node *predicate_of(tvms_touched_collector *c) {
  tvms_node *all = tvms_bool_imm_new(c->unit, true, TVMS_NO_SPAN);
  for (uint32_t i = 0; i < c->pending.len; i++) {
    tvms_node *next = c->pending.items[i];
    if (!tvms_dtype_is_bool(next->dtype))
      next = tvms_touched_build(c, TVMS_NODE_NE, next, number(c, next, 0));
    all = tvms_touched_build(c, TVMS_NODE_AND, all, next);
  }
  return c->pending.len ? tvms_analyzer_simplify(c->analyzer, all) : all;
}

// The variables that run, as ranges.
static tvms_iter_domain *ranges_of(tvms_touched_collector *c, uint32_t *count) {
  tvms_iter_domain *domains =
      tvms_arena_array(&c->unit->arena, tvms_iter_domain, c->running.len);
  *count = 0;
  for (uint32_t i = 0; i < c->running.len; i++) {
    tvms_node *var = c->running.items[i];
    const tvms_int_set *set = tvms_domains_get(&c->domains, var);
    if (!set) continue;
    tvms_iter_domain *domain = &domains[(*count)++];
    domain->var = var;
    if (tvms_int_set_cover(c->unit, *set, &domain->min, &domain->extent)) {
      domain->min = set->min;
    } else {
      domain->min = number(c, var, 0);
      domain->extent = number(c, var, 0);
    }
  }
  return domains;
}

// The sets of one access.
static void detect(tvms_touched_collector *c, tvms_node *const *mins,
                   tvms_node *const *extents, uint32_t rank, tvms_int_set *sets) {
  uint32_t count;
  const tvms_iter_domain *domains = ranges_of(c, &count);
  tvms_iter_region region = {.unit = c->unit,
                             .analyzer = c->analyzer,
                             .domains = domains,
                             .domain_count = count,
                             .predicate = predicate_of(c),
                             .mins = mins,
                             .extents = extents,
                             .rank = rank};
  tvms_iter_region_upper(&region, &c->domains, sets);
}

static bool is_everything(tvms_int_set set) {
  return !set.min && !set.max && !set.empty;
}

static tvms_walk_step count_down(void *self, tvms_node *node, tvms_field_role role) {
  (void)node;
  (void)role;
  uint32_t *left = self;
  return *left && --*left ? TVMS_WALK_ON : TVMS_WALK_STOP;
}

// Is the end of a set a formula of many nodes? It would be subtracted from each index.
static bool is_long(tvms_touched_collector *c, tvms_node *TVMS_NULLABLE end) {
  enum { MANY_NODES = 64 };
  uint32_t left = MANY_NODES;
  tvms_visitor visitor = {.self = &left, .enter = count_down};
  return end && !tvms_walk(c->memory, end, &visitor);
}

static void touch(tvms_touched_collector *c, tvms_touched_buffer *t,
                  tvms_node *const *mins, tvms_node *const *extents) {
  tvms_unit *unit = c->unit;
  uint32_t rank = tvms_as_buffer(t->buffer)->shape.len;
  tvms_int_set *hidden = tvms_arena_array(&unit->arena, tvms_int_set, t->depth + 1);
  bool *is_hidden = tvms_arena_array(&unit->arena, bool, t->depth + 1);
  tvms_int_set *sets = tvms_arena_array(&unit->arena, tvms_int_set, rank);
  uint32_t *dims = tvms_arena_array(&unit->arena, uint32_t, rank), count = 0;
  tvms_node **first = tvms_arena_array(&unit->arena, tvms_node *, rank);
  tvms_node **length = tvms_arena_array(&unit->arena, tvms_node *, rank);
  for (uint32_t i = 0; i < rank; i++) {
    if (c->whole && t->sets && is_everything(t->sets[i])) continue;
    dims[count] = i;
    first[count] = mins[i];
    length[count++] = extents[i];
  }
  if (!count && t->sets) return;
  hide_outer(c, t, hidden, is_hidden);
  detect(c, first, length, count, sets);
  show_outer(c, t, hidden, is_hidden);
  bool begun = t->sets != NULL;
  if (!begun) t->sets = tvms_arena_array(&unit->arena, tvms_int_set, rank);
  for (uint32_t i = 0; i < count; i++) {
    tvms_int_set *set = &t->sets[dims[i]];
    *set = begun ? tvms_int_set_union(unit, *set, sets[i]) : sets[i];
    if (c->whole && (is_long(c, set->min) || is_long(c, set->max)))
      *set = (tvms_int_set){0};
  }
}

void tvms_touched_element(tvms_touched_collector *c, const tvms_node *buffer,
                          tvms_list indices) {
  tvms_touched_buffer *t = tvms_touched_known(c, buffer);
  if (!t || indices.len != tvms_as_buffer(buffer)->shape.len) return;
  tvms_node **mins = tvms_arena_array(&c->unit->arena, tvms_node *, indices.len);
  tvms_node **extents = tvms_arena_array(&c->unit->arena, tvms_node *, indices.len);
  for (uint32_t i = 0; i < indices.len; i++) {
    tvms_node *index = indices.items[i];
    if (index->kind == TVMS_NODE_RAMP) {
      const tvms_ramp *ramp = tvms_as_ramp(index);
      mins[i] = ramp->base;
      extents[i] = tvms_build_binary(c->unit, TVMS_NODE_MUL, ramp->stride, ramp->lanes,
                                     TVMS_NO_SPAN);
    } else {
      mins[i] = index;
      extents[i] = tvms_int_imm_new(c->unit, tvms_dtype_with_lanes(index->dtype, 1), 1,
                                    TVMS_NO_SPAN);
    }
  }
  touch(c, t, mins, extents);
}

void tvms_touched_region(tvms_touched_collector *c, const tvms_node *node) {
  const tvms_buffer_region *region = tvms_as_buffer_region(node);
  tvms_touched_buffer *t = tvms_touched_known(c, region->buffer);
  if (!t || region->region.len != tvms_as_buffer(region->buffer)->shape.len) return;
  uint32_t rank = region->region.len;
  tvms_node **mins = tvms_arena_array(&c->unit->arena, tvms_node *, rank);
  tvms_node **extents = tvms_arena_array(&c->unit->arena, tvms_node *, rank);
  for (uint32_t i = 0; i < rank; i++) {
    const tvms_range *range = tvms_as_range(region->region.items[i]);
    mins[i] = range->min;
    extents[i] = range->extent;
  }
  touch(c, t, mins, extents);
}

static void touch_whole(tvms_touched_collector *c, tvms_touched_buffer *t) {
  tvms_list shape = tvms_as_buffer(t->buffer)->shape;
  tvms_node **mins = tvms_arena_array(&c->unit->arena, tvms_node *, shape.len);
  for (uint32_t i = 0; i < shape.len; i++) {
    mins[i] = tvms_int_imm_new(c->unit, shape.items[i]->dtype, 0, TVMS_NO_SPAN);
  }
  touch(c, t, mins, shape.items);
}

// The pointer of a buffer stands somewhere: what the blocks around declare, or all of it.
void tvms_touched_pointer(tvms_touched_collector *c, const tvms_node *node) {
  tvms_touched_buffer *t = tvms_touched_known(c, node);
  if (!t) return;
  uint32_t block = 0;
  for (uint32_t i = c->declarations.len; i > 0 && !block; i--) {
    const tvms_touched_declared *d = &c->declarations.items[i - 1];
    if (d->buffer == t->buffer) block = d->block;
  }
  if (!block) {
    touch_whole(c, t);
    return;
  }
  const tvms_node *buffer = t->buffer;
  for (uint32_t i = 0; i < c->declarations.len; i++) {
    const tvms_touched_declared *d = &c->declarations.items[i];
    if (d->buffer == buffer && d->block == block) tvms_touched_region(c, d->region);
  }
}
