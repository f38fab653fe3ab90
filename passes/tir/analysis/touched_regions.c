// One walk in the order of TVM, with the loops that are open, what their variables run over,
// and the conditions that hold.
//
// Every access is a set of integers per dimension, found over the loops between it and the
// allocation: by iterator maps (arith/iter_map.h), which know conditions and that splits of a
// loop do not overlap, else by interval evaluation; sets of one buffer are joined. A condition
// narrows domains (arith/narrow.h), or is one that iterator maps are given.
// A buffer whose pointer is used is touched as the blocks around declare it, or as a whole.
#include "passes/tir/analysis/touched_regions.h"

#include "arith/bound.h"
#include "arith/iter_map.h"
#include "arith/narrow.h"
#include "ir/fold_ops.h"
#include "ir/object.h"
#include "ir/walk.h"
#include "passes/tir/analysis/storage_scope.h"
#include "support/vec.h"

#include <string.h>

// A loop or an axis of threads that is open.
typedef struct {
  tvms_node *var;
  const char *TVMS_NULLABLE tag;  // of threads
} axis;

// A buffer that is known: where it was allocated, and what was touched of it.
typedef struct {
  tvms_node *buffer;
  uint32_t depth;      // of axes around the allocation
  tvms_int_set *sets;  // NULL: not touched yet
} touched;

// A region that a block around declares.
typedef struct {
  const tvms_node *buffer;
  const tvms_node *region;
  uint32_t block;  // which block: the innermost that declares the buffer counts
} declared;

typedef struct {
  tvms_unit *unit;
  tvms_memory *memory;
  tvms_analyzer *analyzer;  // knows the ranges of all loops that were seen
  bool inside;
  bool failed;
  tvms_domains domains, hints;
  tvms_domains ever;  // all loops that were seen
  TVMS_VEC(axis) axes;
  tvms_node_vec running;  // variables that may have a domain
  TVMS_VEC(touched) buffers;
  tvms_node_map places;   // buffer or its pointer -> place in `buffers`, one up
  tvms_node_vec pending;  // conditions that domains cannot say
  TVMS_VEC(declared) declarations;
  tvms_node_map given;  // buffer -> region that a block gives for all loads
  uint32_t blocks;
  TVMS_VEC(uint32_t) flat;  // buffers of statements, until their scope ends
  tvms_node_map *regions;
} collector;

static void visit(collector *c, tvms_node *node);

// ---- Allocations ----

static void allocate(collector *c, tvms_node *buffer) {
  touched made = {.buffer = buffer, .depth = c->axes.len};
  tvms_vec_push(c->memory, &c->buffers, made);
  tvms_node *place = (tvms_node *)(uintptr_t)c->buffers.len;
  tvms_node_map_put(&c->places, buffer, place);
  tvms_node_map_put(&c->places, tvms_as_buffer(buffer)->data, place);
}

static touched *TVMS_NULLABLE known(collector *c, const tvms_node *buffer) {
  uintptr_t place = (uintptr_t)tvms_node_map_get(&c->places, buffer);
  return place ? &c->buffers.items[place - 1] : NULL;
}

// ---- Accesses ----

// Axes around the allocation stay symbols, unless their threads share the buffer.
static void hide_outer(collector *c, const touched *t, tvms_int_set *hidden,
                       bool *is_hidden) {
  const char *scope = tvms_storage_scope_of(c->unit->context, t->buffer);
  tvms_storage_rank rank = tvms_storage_rank_of(scope);
  for (uint32_t i = 0; i < t->depth; i++) {
    const axis *a = &c->axes.items[i];
    is_hidden[i] = false;
    if (a->tag && tvms_storage_is_shared_by(rank, a->tag)) continue;
    const tvms_int_set *domain = tvms_domains_get(&c->domains, a->var);
    if (!domain) continue;
    hidden[i] = *domain;
    is_hidden[i] = true;
    tvms_domains_drop(&c->domains, a->var);
  }
}

static void show_outer(collector *c, const touched *t, const tvms_int_set *hidden,
                       const bool *is_hidden) {
  for (uint32_t i = 0; i < t->depth; i++) {
    if (is_hidden[i]) tvms_domains_set(&c->domains, c->axes.items[i].var, hidden[i]);
  }
}

static tvms_node *build(collector *c, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(c->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(collector *c, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(c->unit, like->dtype, value, TVMS_NO_SPAN);
}

static bool proves(collector *c, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  tvms_node *claim = build(c, kind, a, b);
  return claim && tvms_analyzer_can_prove(c->analyzer, claim);
}

// All conditions that domains cannot say.
static tvms_node *predicate_of(collector *c) {
  tvms_node *all = tvms_bool_imm_new(c->unit, true, TVMS_NO_SPAN);
  for (uint32_t i = 0; i < c->pending.len; i++) {
    tvms_node *next = c->pending.items[i];
    if (!tvms_dtype_is_bool(next->dtype))
      next = build(c, TVMS_NODE_NE, next, number(c, next, 0));
    all = build(c, TVMS_NODE_AND, all, next);
  }
  return c->pending.len ? tvms_analyzer_simplify(c->analyzer, all) : all;
}

// Everything that `extent` elements from an iterator on are. False: there are gaps.
static bool set_of_image(collector *c, const tvms_iter_image *image, tvms_node *extent,
                         tvms_int_set *set) {
  *set = (tvms_int_set){.empty = true};
  if (proves(c, TVMS_NODE_EQ, extent, number(c, extent, 0))) return true;
  tvms_node *min = image->base, *size = extent;
  if (image->extent) {
    if (proves(c, TVMS_NODE_EQ, image->extent, number(c, image->extent, 0)))
      return true;
    if (!proves(c, TVMS_NODE_GE, extent, image->scale)) return false;
    tvms_node *steps =
        build(c, TVMS_NODE_SUB, image->extent, number(c, image->extent, 1));
    steps = build(c, TVMS_NODE_MUL, steps, image->scale);
    if (proves(c, TVMS_NODE_LT, image->scale, number(c, image->scale, 0))) {
      min = build(c, TVMS_NODE_ADD, min, steps);
      size = build(c, TVMS_NODE_SUB, extent, steps);
    } else {
      size = build(c, TVMS_NODE_ADD, extent, steps);
    }
  }
  *set = tvms_int_set_of_range(c->unit, min, size);
  return true;
}

// The variables that run, as ranges.
static tvms_iter_domain *ranges_of(collector *c, uint32_t *count) {
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

// The sets of one access, all dimensions at once; false if they depend on each other.
static bool detect_together(collector *c, const tvms_iter_domain *domains,
                            uint32_t domain_count, tvms_node *const *mins,
                            tvms_node *const *extents, uint32_t rank,
                            tvms_node *predicate, tvms_int_set *sets) {
  for (uint32_t i = 0; i < rank; i++) {
    if (extents[i]->kind != TVMS_NODE_INT_IMM) return false;
  }
  tvms_iter_image *images = tvms_arena_array(&c->unit->arena, tvms_iter_image, rank);
  if (!tvms_iter_map_detect(c->unit, c->analyzer, domains, domain_count, mins, rank,
                            predicate, images))
    return false;
  for (uint32_t i = 0; i < rank; i++) {
    if (!set_of_image(c, &images[i], extents[i], &sets[i])) return false;
  }
  return true;
}

static void detect(collector *c, tvms_node *const *mins, tvms_node *const *extents,
                   uint32_t rank, tvms_int_set *sets) {
  uint32_t count;
  const tvms_iter_domain *domains = ranges_of(c, &count);
  tvms_node *predicate = predicate_of(c);
  if (detect_together(c, domains, count, mins, extents, rank, predicate, sets)) return;
  for (uint32_t i = 0; i < rank; i++) {
    tvms_iter_image image;
    bool found = tvms_iter_map_detect(c->unit, c->analyzer, domains, count, &mins[i], 1,
                                      predicate, &image)
                 && set_of_image(c, &image, extents[i], &sets[i]);
    if (!found) sets[i] = tvms_int_set_of_ranges(&c->domains, mins[i], extents[i]);
  }
}

static void touch(collector *c, touched *t, tvms_node *const *mins,
                  tvms_node *const *extents) {
  tvms_unit *unit = c->unit;
  uint32_t rank = tvms_as_buffer(t->buffer)->shape.len;
  tvms_int_set *hidden = tvms_arena_array(&unit->arena, tvms_int_set, t->depth + 1);
  bool *is_hidden = tvms_arena_array(&unit->arena, bool, t->depth + 1);
  tvms_int_set *sets = tvms_arena_array(&unit->arena, tvms_int_set, rank);
  hide_outer(c, t, hidden, is_hidden);
  detect(c, mins, extents, rank, sets);
  show_outer(c, t, hidden, is_hidden);
  if (!t->sets) {
    t->sets = sets;
    return;
  }
  for (uint32_t i = 0; i < rank; i++) {
    t->sets[i] = tvms_int_set_union(unit, t->sets[i], sets[i]);
  }
}

static void touch_element(collector *c, const tvms_node *buffer, tvms_list indices) {
  touched *t = known(c, buffer);
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

static void touch_region(collector *c, const tvms_node *node) {
  const tvms_buffer_region *region = tvms_as_buffer_region(node);
  touched *t = known(c, region->buffer);
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

static void touch_whole(collector *c, touched *t) {
  tvms_list shape = tvms_as_buffer(t->buffer)->shape;
  tvms_node **mins = tvms_arena_array(&c->unit->arena, tvms_node *, shape.len);
  for (uint32_t i = 0; i < shape.len; i++) {
    mins[i] = tvms_int_imm_new(c->unit, shape.items[i]->dtype, 0, TVMS_NO_SPAN);
  }
  touch(c, t, mins, shape.items);
}

// The pointer of a buffer stands somewhere: what the blocks around declare, or all of it.
static void touch_pointer(collector *c, const tvms_node *node) {
  touched *t = known(c, node);
  if (!t) return;
  uint32_t block = 0;
  for (uint32_t i = c->declarations.len; i > 0 && !block; i--) {
    const declared *d = &c->declarations.items[i - 1];
    if (d->buffer == t->buffer) block = d->block;
  }
  if (!block) {
    touch_whole(c, t);
    return;
  }
  const tvms_node *buffer = t->buffer;
  for (uint32_t i = 0; i < c->declarations.len; i++) {
    const declared *d = &c->declarations.items[i];
    if (d->buffer == buffer && d->block == block) touch_region(c, d->region);
  }
}

// ---- Regions in the end ----

// Is lhs <= rhs, also by the ends of what the difference can be?
static bool proves_at_most(collector *c, tvms_node *lhs, tvms_node *rhs) {
  tvms_node *fits = tvms_build_binary(c->unit, TVMS_NODE_LE, lhs, rhs, TVMS_NO_SPAN);
  if (!fits) return false;
  if (tvms_analyzer_can_prove(c->analyzer, fits)) return true;
  tvms_node *rest = tvms_build_binary(c->unit, TVMS_NODE_SUB, rhs, lhs, TVMS_NO_SPAN);
  rest = tvms_analyzer_simplify(c->analyzer, rest);
  tvms_int_set set = tvms_int_set_of_expr(&c->ever, rest);
  if (!set.min || set.empty) return false;
  tvms_node *least = tvms_analyzer_simplify(c->analyzer, set.min);
  return tvms_analyzer_const_int_bound(c->analyzer, least).min >= 0;
}

static int64_t constant_factor(const tvms_node *shape) {
  if (shape->kind == TVMS_NODE_MUL) {
    const tvms_binary *product = tvms_as_binary(shape);
    return constant_factor(product->a) * constant_factor(product->b);
  }
  return shape->kind == TVMS_NODE_INT_IMM ? tvms_as_int_imm(shape)->value : 1;
}

// Symbols of shapes are at least 1, so 32 * n is at least 32. TVM:
// CanProveLessEqualThanSymbolicShapeValue.
static bool fits_shape(collector *c, tvms_node *extent, tvms_node *shape) {
  if (proves_at_most(c, extent, shape)) return true;
  if (shape->kind == TVMS_NODE_INT_IMM) return false;
  int64_t factor = constant_factor(shape);
  tvms_node *least = tvms_int_imm_new(c->unit, shape->dtype,
                                      factor < 0 ? -factor : factor, TVMS_NO_SPAN);
  return proves_at_most(c, extent, least);
}

static tvms_walk_step find_axis(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const collector *c = self;
  for (uint32_t i = 0; i < c->axes.len && node->kind == TVMS_NODE_VAR; i++) {
    if (c->axes.items[i].var == node) return TVMS_WALK_STOP;
  }
  return TVMS_WALK_ON;
}

// An extent that what is allocated can have: no loop around changes it. NULL: none.
static tvms_node *TVMS_NULLABLE settled(collector *c, tvms_node *extent) {
  if (tvms_arith_effect_of(c->memory, extent) > TVMS_EFFECT_PURE) return NULL;
  tvms_visitor visitor = {.self = c, .enter = find_axis};
  if (tvms_walk(c->memory, extent, &visitor)) return extent;
  int64_t most = tvms_analyzer_const_int_bound(c->analyzer, extent).max;
  if (most == TVMS_POS_INF) return NULL;
  return tvms_int_imm_new(c->unit, extent->dtype, most, TVMS_NO_SPAN);
}

static tvms_node *range_of(collector *c, tvms_int_set set, tvms_node *shape) {
  tvms_unit *unit = c->unit;
  tvms_node *zero = tvms_int_imm_new(unit, shape->dtype, 0, TVMS_NO_SPAN);
  tvms_node *min = zero, *extent = shape;
  if (!tvms_int_set_cover(unit, set, &min, &extent)) {
    min = zero;
    extent = shape;
  }
  if (c->inside) {
    tvms_node *none = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), 0, TVMS_NO_SPAN);
    min = build(c, TVMS_NODE_MAX, none, min);
    if (!fits_shape(c, extent, shape)) extent = build(c, TVMS_NODE_MIN, shape, extent);
  }
  min = tvms_analyzer_simplify(c->analyzer, min);
  extent = settled(c, tvms_analyzer_simplify(c->analyzer, extent));
  return extent ? tvms_range_new(unit, min, extent, TVMS_NO_SPAN)
                : tvms_range_new(unit, zero, shape, TVMS_NO_SPAN);
}

static void settle(collector *c, touched *t) {
  tvms_list shape = tvms_as_buffer(t->buffer)->shape;
  tvms_node **ranges = tvms_arena_array(&c->unit->arena, tvms_node *, shape.len);
  for (uint32_t i = 0; i < shape.len; i++) {
    ranges[i] = range_of(c, t->sets[i], shape.items[i]);
  }
  tvms_node *region =
      tvms_buffer_region_new(c->unit, t->buffer, ranges, shape.len, TVMS_NO_SPAN);
  tvms_node_map_put(c->regions, t->buffer, region);
}

// The buffers that statements of a scope allocate, where the scope ends.
static void settle_flat(collector *c, uint32_t from) {
  for (uint32_t i = from; i < c->flat.len; i++) {
    touched *t = &c->buffers.items[c->flat.items[i]];
    if (t->sets) settle(c, t);
  }
  if (c->flat.len > from) c->flat.len = from;
}

// ---- Scopes ----

static void visit_list(collector *c, tvms_list list) {
  for (uint32_t i = 0; i < list.len; i++) {
    if (list.items[i]) visit(c, list.items[i]);
  }
}

static void visit_below(collector *c, tvms_node *node) {
  tvms_node *child;
  for (tvms_child_at at = {0}; (child = tvms_walk_next_child(node, &at));)
    visit(c, child);
}

static void visit_under(collector *c, tvms_node *condition, tvms_node *node) {
  tvms_narrowing narrowing;
  uint32_t conditions = c->pending.len;
  if (!tvms_domains_narrow(&c->domains, &c->hints, condition, &narrowing)) {
    tvms_vec_push(c->memory, &c->pending, condition);
  }
  visit(c, node);
  c->pending.len = conditions;
  tvms_domains_widen(&c->domains, &c->hints, &narrowing);
}

static void visit_choice(collector *c, tvms_node *condition, tvms_node *yes,
                         tvms_node *TVMS_NULLABLE no) {
  visit(c, condition);
  visit_under(c, condition, yes);
  if (no) visit_under(c, tvms_build_negation(c->unit, condition), no);
}

static void open_axis(collector *c, tvms_node *var, const char *TVMS_NULLABLE tag,
                      tvms_node *min, tvms_node *extent) {
  axis made = {var, tag};
  tvms_vec_push(c->memory, &c->axes, made);
  tvms_vec_push(c->memory, &c->running, var);
  tvms_analyzer_bind_range(c->analyzer, var, min, extent);
  tvms_int_set set = tvms_int_set_of_range(c->unit, min, extent);
  tvms_domains_set(&c->domains, var, set);
  tvms_domains_set(&c->ever, var, set);
}

static void close_axis(collector *c) {
  c->axes.len--;
  const tvms_node *var = c->axes.items[c->axes.len].var;
  tvms_domains_drop(&c->domains, var);
  // What was bound inside stays.
  uint32_t kept = 0;
  for (uint32_t i = 0; i < c->running.len; i++) {
    tvms_node *other = c->running.items[i];
    if (other != var) c->running.items[kept++] = other;
  }
  c->running.len = kept;
}

static void visit_for(collector *c, const tvms_for *loop) {
  const char *tag = NULL;
  if (loop->for_kind == TVMS_FOR_THREAD_BINDING && loop->thread) {
    tag =
        tvms_symbol_text(c->unit->context, tvms_as_iter_var(loop->thread)->thread_tag);
  }
  open_axis(c, loop->var, tag, loop->min, loop->extent);
  uint32_t flat = c->flat.len;
  visit(c, loop->min);
  visit(c, loop->extent);
  if (loop->step) visit(c, loop->step);
  visit(c, loop->body);
  settle_flat(c, flat);
  close_axis(c);
}

// An axis that an attribute binds holds to the end of its sequence.
static void visit_seq(collector *c, const tvms_seq *seq) {
  uint32_t first = c->axes.len, flat = c->flat.len;
  for (uint32_t i = 0; i < seq->stmts.len; i++) {
    visit(c, seq->stmts.items[i]);
    if (c->axes.len == first) flat = c->flat.len;
  }
  if (c->axes.len > first) settle_flat(c, flat);
  while (c->axes.len > first)
    close_axis(c);
}

static void visit_attr(collector *c, const tvms_node *node) {
  const tvms_attr_stmt *attr = tvms_as_attr_stmt(node);
  visit(c, attr->value);
  const tvms_iter_var *threads = tvms_attr_stmt_threads(node);
  if (!threads) return;
  tvms_node *min = tvms_int_imm_new(c->unit, attr->value->dtype, 0, TVMS_NO_SPAN);
  tvms_node *extent = attr->value;
  if (threads->dom) {
    min = tvms_as_range(threads->dom)->min;
    extent = tvms_as_range(threads->dom)->extent;
  }
  open_axis(c, threads->var, tvms_symbol_text(c->unit->context, threads->thread_tag),
            min, extent);
}

static void bind(collector *c, tvms_node *var, tvms_node *value) {
  if (!tvms_dtype_is_index(value->dtype)) return;
  tvms_vec_push(c->memory, &c->running, var);
  tvms_analyzer_bind(c->analyzer, var, value);
  tvms_domains_set(&c->domains, var, tvms_int_set_point(value));
}

// ---- Blocks ----

static void declare(collector *c, tvms_list regions) {
  for (uint32_t i = 0; i < regions.len; i++) {
    declared d = {tvms_as_buffer_region(regions.items[i])->buffer, regions.items[i],
                  c->blocks};
    tvms_vec_push(c->memory, &c->declarations, d);
  }
}

// Annotations may say which declared regions are all that loads touch.
static void take_given(collector *c, const tvms_block *block, const char *key,
                       tvms_list regions) {
  const tvms_node *numbers = tvms_object_map_get(block->annotations, key);
  if (!numbers || numbers->kind != TVMS_NODE_OBJECT_ARRAY) return;
  tvms_list items = tvms_as_object_array(numbers)->items;
  for (uint32_t i = 0; i < items.len; i++) {
    int64_t place;
    if (!tvms_object_as_int(items.items[i], &place)) continue;
    if (place < 0 || place >= regions.len || place >= block->reads.len) continue;
    tvms_node *region = regions.items[place];
    tvms_node_map_put(&c->given, tvms_as_buffer_region(region)->buffer, region);
  }
}

static void settle_block(collector *c, const tvms_block *block) {
  for (uint32_t i = 0; i < block->alloc_buffers.len; i++) {
    tvms_node *buffer = block->alloc_buffers.items[i];
    touched *t = known(c, buffer);
    if (t && t->sets) {
      settle(c, t);
      continue;
    }
    if (!c->failed) {
      tvms_diag_report(
          &c->unit->context->diags, TVMS_D_untouched_buffer, block->head.span,
          tvms_symbol_text(c->unit->context, tvms_as_buffer(buffer)->name));
    }
    c->failed = true;
  }
}

static void visit_block(collector *c, const tvms_block *block) {
  uint32_t declarations = c->declarations.len;
  c->blocks++;
  declare(c, block->reads);
  declare(c, block->writes);
  take_given(c, block, "explicit_read_region", block->reads);
  take_given(c, block, "explicit_write_region", block->writes);
  for (uint32_t i = 0; i < block->alloc_buffers.len; i++) {
    allocate(c, block->alloc_buffers.items[i]);
  }
  for (uint32_t i = 0; i < block->match_buffers.len; i++) {
    touch_region(c, tvms_as_match_buffer_region(block->match_buffers.items[i])->source);
  }
  visit_list(c, block->reads);
  visit_list(c, block->writes);
  visit_list(c, block->match_buffers);
  visit(c, block->body);
  c->declarations.len = declarations;
  tvms_node_map_clear(&c->given);
  settle_block(c, block);
}

static void visit_load(collector *c, const tvms_buffer_load *load) {
  const tvms_node *given = tvms_node_map_get(&c->given, load->buffer);
  if (given)
    touch_region(c, given);
  else
    touch_element(c, load->buffer, load->indices);
  visit_list(c, load->indices);
}

static void visit_inner(collector *c, tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_BUFFER_LOAD: visit_load(c, tvms_as_buffer_load(node)); return;
  case TVMS_NODE_STORE:
    touch_element(c, tvms_as_store(node)->buffer, tvms_as_store(node)->indices);
    visit(c, tvms_as_store(node)->value);
    return;
  case TVMS_NODE_BUFFER_REGION:
    visit_list(c, tvms_as_buffer_region(node)->region);
    return;
  case TVMS_NODE_MATCH_BUFFER_REGION:
    visit(c, tvms_as_match_buffer_region(node)->source);
    return;
  case TVMS_NODE_VAR:
  case TVMS_NODE_BUFFER: touch_pointer(c, node); return;
  case TVMS_NODE_FOR: visit_for(c, tvms_as_for(node)); return;
  case TVMS_NODE_SEQ: visit_seq(c, tvms_as_seq(node)); return;
  case TVMS_NODE_ATTR_STMT: visit_attr(c, node); return;
  case TVMS_NODE_BLOCK: visit_block(c, tvms_as_block(node)); return;
  case TVMS_NODE_BLOCK_REALIZE:
    visit_under(c, tvms_as_block_realize(node)->predicate,
                tvms_as_block_realize(node)->block);
    return;
  case TVMS_NODE_IF_THEN_ELSE: {
    const tvms_if_then_else *branch = tvms_as_if_then_else(node);
    visit_choice(c, branch->condition, branch->then_case, branch->else_case);
    return;
  }
  case TVMS_NODE_BIND:
    visit(c, tvms_as_bind(node)->value);
    bind(c, tvms_as_bind(node)->var, tvms_as_bind(node)->value);
    return;
  case TVMS_NODE_LET:
    visit(c, tvms_as_let(node)->value);
    bind(c, tvms_as_let(node)->var, tvms_as_let(node)->value);
    visit(c, tvms_as_let(node)->body);
    tvms_domains_drop(&c->domains, tvms_as_let(node)->var);
    return;
  case TVMS_NODE_CALL: {
    tvms_list args = tvms_as_call(node)->args;
    if (tvms_arith_opcode(node) == TVMS_TIR_if_then_else)
      visit_choice(c, args.items[0], args.items[1], args.items[2]);
    else
      visit_list(c, args);
    return;
  }
  case TVMS_NODE_ALLOC_BUFFER: {
    tvms_node *buffer = tvms_as_alloc_buffer(node)->buffer;
    tvms_vec_push(c->memory, &c->flat, c->buffers.len);
    allocate(c, buffer);
    visit_list(c, tvms_as_buffer(buffer)->shape);
    return;
  }
  case TVMS_NODE_DECL_BUFFER:
    if (tvms_as_decl_buffer(node)->source) visit(c, tvms_as_decl_buffer(node)->source);
    return;
  case TVMS_NODE_OBJECT_MAP: return;
  default: visit_below(c, node); return;
  }
}

static void visit(collector *c, tvms_node *node) {
  if (!tvms_memory_enter(c->memory)) tvms_memory_unwind(c->memory, TVMS_OVER_LIMIT);
  visit_inner(c, node);
  tvms_memory_leave(c->memory);
}

bool tvms_touched_regions_collect(tvms_unit *unit, tvms_node *body, bool inside,
                                  tvms_node_map *regions) {
  collector c = {.unit = unit,
                 .memory = &unit->context->memory,
                 .analyzer = tvms_analyzer_new(unit),
                 .inside = inside,
                 .regions = regions};
  tvms_domains_init(&c.domains, unit);
  tvms_domains_init(&c.hints, unit);
  tvms_domains_init(&c.ever, unit);
  tvms_node_map_init(&c.places, c.memory);
  tvms_node_map_init(&c.given, c.memory);
  visit(&c, body);
  settle_flat(&c, 0);
  tvms_vec_fini(c.memory, &c.axes);
  tvms_vec_fini(c.memory, &c.running);
  tvms_vec_fini(c.memory, &c.buffers);
  tvms_vec_fini(c.memory, &c.pending);
  tvms_vec_fini(c.memory, &c.declarations);
  tvms_vec_fini(c.memory, &c.flat);
  tvms_node_map_fini(&c.given);
  tvms_node_map_fini(&c.places);
  tvms_domains_fini(&c.ever);
  tvms_domains_fini(&c.hints);
  tvms_domains_fini(&c.domains);
  tvms_analyzer_free(c.analyzer);
  return !c.failed;
}
