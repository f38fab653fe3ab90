#include "schedule/blockize.h"

#include "arith/bound.h"
#include "arith/int_set.h"
#include "schedule/bindings.h"
#include "schedule/buffers.h"

#include <string.h>

void tvms_sched_blockize_open(tvms_sched_blockizing *b, tvms_sched *sched,
                              int32_t block, int32_t above, bool keep_units) {
  *b = (tvms_sched_blockizing){
      .sched = sched, .block = block, .above = above, .keep_units = keep_units};
  b->analyzer = tvms_analyzer_new(sched->unit);
  tvms_node_map_init(&b->vars, &sched->context->memory);
  tvms_sched_domains(sched, above, TVMS_NO_SITE, &b->outside);
  tvms_sched_domains(sched, tvms_sched_parent(sched, block), above, &b->inside);
}

void tvms_sched_blockize_close(tvms_sched_blockizing *b) {
  tvms_memory *memory = &b->sched->context->memory;
  tvms_analyzer_free(b->analyzer);
  tvms_node_map_fini(&b->vars);
  tvms_vec_fini(memory, &b->outside);
  tvms_vec_fini(memory, &b->inside);
  tvms_vec_fini(memory, &b->outer_axes);
  tvms_vec_fini(memory, &b->outer_values);
  tvms_vec_fini(memory, &b->inner_axes);
  tvms_vec_fini(memory, &b->inner_values);
}

// ---- Dividing ----

static bool uses_any(const tvms_sched_blockizing *b, tvms_node *node,
                     const tvms_domain_vec *loops) {
  for (uint32_t i = 0; i < loops->len; i++)
    if (tvms_sched_uses(b->sched, node, loops->items[i].var)) return true;
  return false;
}

// The axes as sums of iterators, which are outside up to a point, and inside from there on.
static bool divide_sums(tvms_sched_blockizing *b, const tvms_block_realize *realize) {
  tvms_sched *s = b->sched;
  uint32_t count = realize->iter_values.len;
  uint32_t outside = b->outside.len, all = outside + b->inside.len;
  tvms_iter_domain *domains =
      tvms_arena_array(&s->unit->arena, tvms_iter_domain, all + 1);
  for (uint32_t i = 0; i < all; i++)
    domains[i] = i < outside ? b->outside.items[i] : b->inside.items[i - outside];
  tvms_iter_parts parts = {
      .parts = tvms_arena_array(&s->unit->arena, tvms_iter_part, count + 1)};
  if (!tvms_iter_map_divide(s->unit, b->analyzer, domains, all, outside,
                            realize->iter_values.items, count, realize->predicate,
                            b->keep_units, &parts))
    return false;
  b->axes = parts.parts;
  b->outer_predicate = parts.outer_condition;
  b->inner_predicate = parts.inner_condition;
  return true;
}

// Axes that are bound to loops of one side only need not be sums.
static bool divide_plainly(tvms_sched_blockizing *b,
                           const tvms_block_realize *realize) {
  tvms_sched *s = b->sched;
  tvms_list axes = tvms_as_block(realize->block)->iter_vars;
  tvms_node *yes = tvms_bool_imm_new(s->unit, true, TVMS_NO_SPAN);
  tvms_node *zero = tvms_sched_int(s, TVMS_DTYPE(INT, 32), 0),
            *one = tvms_sched_int(s, TVMS_DTYPE(INT, 32), 1);
  if (!tvms_node_is_int(realize->predicate, 1)) return false;
  b->axes = tvms_arena_array(&s->unit->arena, tvms_iter_part, axes.len + 1);
  b->outer_predicate = b->inner_predicate = yes;
  for (uint32_t i = 0; i < axes.len; i++) {
    tvms_node *value = realize->iter_values.items[i];
    tvms_node *extent = tvms_as_range(tvms_as_iter_var(axes.items[i])->dom)->extent;
    bool outer = uses_any(b, value, &b->outside),
         inner = uses_any(b, value, &b->inside);
    if (outer && inner) return false;
    b->axes[i] = (tvms_iter_part){outer ? value : zero, outer ? extent : one,
                                  inner ? value : zero, inner ? extent : one};
    if (!outer && !inner) b->axes[i].inner = value;
  }
  return true;
}

static void bind_all(tvms_analyzer *analyzer, const tvms_domain_vec *loops) {
  for (uint32_t i = 0; i < loops->len; i++)
    tvms_analyzer_bind_range(analyzer, loops->items[i].var, loops->items[i].min,
                             loops->items[i].extent);
}

// TVM forgets where the domain of an axis begins, and where an axis begins inside.
static bool begin_at_zero(const tvms_sched_blockizing *b, uint32_t count) {
  tvms_sched *s = b->sched;
  tvms_analyzer *analyzer = tvms_analyzer_new(s->unit);
  bind_all(analyzer, &b->inside);
  bool fine = true;
  tvms_list axes = tvms_sched_block(s, b->block)->iter_vars;
  for (uint32_t i = 0; fine && i < count; i++) {
    tvms_node *inner = b->axes[i].inner;
    fine =
        tvms_node_is_int(tvms_as_range(tvms_as_iter_var(axes.items[i])->dom)->min, 0);
    fine = fine
           && (!tvms_node_is_int(b->axes[i].inner_extent, 1)
               || tvms_analyzer_can_prove_equal(analyzer, inner,
                                                tvms_sched_int(s, inner->dtype, 0)))
           && tvms_analyzer_const_int_bound(analyzer, inner).min <= 0;
  }
  tvms_analyzer_free(analyzer);
  return fine;
}

// Do the parts of the axes give what the axes were bound to? TVM does not look, and divides sums whose parts overlap wrongly.
static bool keeps_values(const tvms_sched_blockizing *b, tvms_list values) {
  tvms_sched *s = b->sched;
  tvms_analyzer *analyzer = tvms_analyzer_new(s->unit);
  bind_all(analyzer, &b->outside);
  bind_all(analyzer, &b->inside);
  bool kept = true;
  for (uint32_t i = 0; kept && i < values.len; i++) {
    const tvms_iter_part *part = &b->axes[i];
    tvms_node *value =
        tvms_sched_build(s, TVMS_NODE_MUL, part->outer, part->inner_extent);
    value = tvms_sched_build(s, TVMS_NODE_ADD, value, part->inner);
    kept = tvms_analyzer_can_prove_equal(analyzer, value, values.items[i]);
  }
  tvms_analyzer_free(analyzer);
  return kept;
}

// Does the block run under the same condition as before? TVM forgets one that is about a single loop.
static bool keeps_predicate(const tvms_sched_blockizing *b, tvms_node *predicate) {
  tvms_sched *s = b->sched;
  if (tvms_node_is_int(predicate, 1)) return true;
  tvms_analyzer *analyzer = tvms_analyzer_new(s->unit);
  bind_all(analyzer, &b->outside);
  bind_all(analyzer, &b->inside);
  tvms_node *now =
      tvms_sched_build(s, TVMS_NODE_AND, b->outer_predicate, b->inner_predicate);
  if (!tvms_node_is_int(now, 1)) (void)tvms_analyzer_enter(analyzer, now);
  bool kept = tvms_analyzer_can_prove(analyzer, predicate);
  tvms_analyzer_free(analyzer);
  return kept;
}

// ---- Axes ----

static tvms_node *axis_like(tvms_sched_blockizing *b, const tvms_iter_var *old,
                            const char *suffix, tvms_node *extent) {
  tvms_sched *s = b->sched;
  tvms_iter_var *axis = tvms_node_make(s->unit, ITER_VAR, TVMS_NO_SPAN);
  axis->var = tvms_sched_var(s, old->var, suffix, old->var->dtype);
  axis->iter_type = old->iter_type;
  axis->dom = tvms_range_new(s->unit, tvms_sched_int(s, extent->dtype, 0), extent,
                             TVMS_NO_SPAN);
  return &axis->head;
}

static void make_axis(tvms_sched_blockizing *b, const tvms_iter_var *old,
                      const tvms_iter_part *d, tvms_node *TVMS_NULLABLE known) {
  tvms_sched *s = b->sched;
  tvms_memory *memory = &s->context->memory;
  tvms_node *outer = known ? known : axis_like(b, old, "_o", d->outer_extent);
  tvms_node *outer_var = tvms_as_iter_var(outer)->var, *value = outer_var;
  tvms_vec_push(memory, &b->outer_axes, outer);
  tvms_vec_push(memory, &b->outer_values, d->outer);
  bool unit = tvms_node_is_int(d->outer_extent, 1);
  if (tvms_node_is_int(d->inner_extent, 1)) {
    if (unit && !b->keep_units) value = tvms_sched_int(s, d->outer_extent->dtype, 0);
  } else {
    tvms_node *inner = axis_like(b, old, "_i", d->inner_extent);
    tvms_node *inner_var = tvms_as_iter_var(inner)->var;
    tvms_vec_push(memory, &b->inner_axes, inner);
    tvms_vec_push(memory, &b->inner_values, d->inner);
    tvms_node *scaled = tvms_sched_build(s, TVMS_NODE_MUL, outer_var, d->inner_extent);
    value = unit ? inner_var : tvms_sched_build(s, TVMS_NODE_ADD, scaled, inner_var);
  }
  tvms_node_map_put(&b->vars, old->var, value);
}

static void make_axes(tvms_sched_blockizing *b,
                      const tvms_sched_blockizing *TVMS_NULLABLE first) {
  const tvms_block *old = tvms_sched_block(b->sched, b->block);
  for (uint32_t i = 0; i < old->iter_vars.len; i++)
    make_axis(b, tvms_as_iter_var(old->iter_vars.items[i]), &b->axes[i],
              first ? first->outer_axes.items[i] : NULL);
  for (uint32_t i = 0; i < b->inner_axes.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(b->inner_axes.items[i]);
    const tvms_range *dom = tvms_as_range(axis->dom);
    tvms_analyzer_bind_range(b->analyzer, axis->var, dom->min, dom->extent);
  }
}

bool tvms_sched_blockize_divide(tvms_sched_blockizing *b,
                                const tvms_sched_blockizing *TVMS_NULLABLE first) {
  tvms_sched *s = b->sched;
  const tvms_block_realize *realize = tvms_sched_realize(s, b->block);
  bool divided = divide_sums(b, realize) && keeps_values(b, realize->iter_values);
  if (!divided && !divide_plainly(b, realize))
    return tvms_sched_refuse(
        s,
        "the axes of block '%s' cannot be divided between the loop and those around it",
        tvms_sched_block_name(s, b->block));
  if (!begin_at_zero(b, realize->iter_values.len))
    return tvms_sched_refuse(s, "an axis of block '%s' does not begin at 0",
                             tvms_sched_block_name(s, b->block));
  if (!keeps_predicate(b, realize->predicate))
    return tvms_sched_refuse(s,
                             "the condition under which block '%s' runs would be lost",
                             tvms_sched_block_name(s, b->block));
  make_axes(b, first);
  return true;
}

// ---- Blocks ----

static tvms_node *simplify_changed(tvms_rewriter *r, tvms_node *node) {
  const tvms_sched_blockizing *b = r->self;
  return node == r->old ? node : tvms_analyzer_simplify(b->analyzer, node);
}

// The block in terms of the new axes, simplified where it changed.
tvms_block *tvms_sched_blockize_renamed(tvms_sched_blockizing *b) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, b->sched->unit, b);
  for (int kind = 1; kind < TVMS_NODE_COUNT; kind++)
    if (tvms_node_schema_of((tvms_node_kind)kind)->class == TVMS_CLASS_EXPR
        && kind != TVMS_NODE_VAR)
      r.leave[kind] = simplify_changed;
  const tvms_block *old = tvms_sched_block(b->sched, b->block);
  tvms_block *copy = tvms_as_block(tvms_node_copy(b->sched->unit, &old->head));
  copy->iter_vars = (tvms_list){0};
  for (uint32_t i = 0; i < old->iter_vars.len; i++) {
    const tvms_node *var = tvms_as_iter_var(old->iter_vars.items[i])->var;
    tvms_node_map_put(&r.known, var, tvms_node_map_get(&b->vars, var));
  }
  tvms_node *made = tvms_rewrite(&r, &copy->head);
  tvms_rewriter_fini(&r);
  return tvms_as_block(tvms_node_copy(b->sched->unit, made));
}

tvms_node *tvms_sched_blockize_realize(tvms_sched_blockizing *b, tvms_block *block,
                                       const tvms_node_vec *values,
                                       tvms_node *predicate) {
  tvms_unit *unit = b->sched->unit;
  tvms_block_realize *realize = tvms_node_make(unit, BLOCK_REALIZE, TVMS_NO_SPAN);
  realize->iter_values = tvms_list_copy(unit, values->items, values->len);
  realize->predicate = predicate;
  realize->block = &block->head;
  return &realize->head;
}

// Regions while the inner axes run.
tvms_list tvms_sched_blockize_widened(tvms_sched_blockizing *b, tvms_list regions) {
  tvms_sched *s = b->sched;
  tvms_domains sets;
  tvms_domains_init(&sets, s->unit);
  for (uint32_t i = 0; i < b->inner_axes.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(b->inner_axes.items[i]);
    const tvms_range *dom = tvms_as_range(axis->dom);
    tvms_domains_set(&sets, axis->var,
                     tvms_int_set_of_range(s->unit, dom->min, dom->extent));
  }
  tvms_list made = tvms_list_copy(s->unit, regions.items, regions.len);
  for (uint32_t i = 0; i < regions.len; i++) {
    const tvms_buffer_region *region = tvms_as_buffer_region(regions.items[i]);
    tvms_list shape = tvms_as_buffer(region->buffer)->shape;
    tvms_list ranges =
        tvms_list_copy(s->unit, region->region.items, region->region.len);
    for (uint32_t d = 0; d < ranges.len; d++) {
      const tvms_range *range = tvms_as_range(ranges.items[d]);
      tvms_node *min, *extent;
      tvms_int_set set = tvms_int_set_of_ranges(&sets, range->min, range->extent);
      if (!tvms_int_set_cover(s->unit, set, &min, &extent)) {
        min = tvms_sched_int(s, shape.items[d]->dtype, 0);
        extent = shape.items[d];
      }
      ranges.items[d] = tvms_range_new(s->unit, min, extent, TVMS_NO_SPAN);
    }
    made.items[i] = tvms_buffer_region_new(s->unit, region->buffer, ranges.items,
                                           ranges.len, TVMS_NO_SPAN);
  }
  tvms_domains_fini(&sets);
  return made;
}

// The loops from the block up to the one that becomes a block, around `stmt`.
tvms_node *tvms_sched_blockize_loops(tvms_sched_blockizing *b, tvms_node *stmt) {
  tvms_sched *s = b->sched;
  for (int32_t at = tvms_sched_parent(s, b->block); at != b->above;
       at = tvms_sched_parent(s, at)) {
    tvms_for *loop = tvms_as_for(tvms_node_copy(s->unit, tvms_sched_at(s, at)->node));
    loop->body = stmt;
    stmt = &loop->head;
  }
  return stmt;
}

static bool is_reduced_outside(const tvms_sched_blockizing *b) {
  for (uint32_t i = 0; i < b->outer_axes.len; i++)
    if (tvms_as_iter_var(b->outer_axes.items[i])->iter_type == TVMS_ITER_COMM_REDUCE)
      return true;
  return false;
}

tvms_block *tvms_sched_blockize_inner(tvms_sched_blockizing *b,
                                      const tvms_block *whole) {
  tvms_sched *s = b->sched;
  tvms_block *inner = tvms_as_block(tvms_node_copy(s->unit, &whole->head));
  inner->iter_vars = tvms_list_copy(s->unit, b->inner_axes.items, b->inner_axes.len);
  inner->init = NULL;
  if (!whole->init || !is_reduced_outside(b)) return inner;
  tvms_node_vec reads = {0};
  for (uint32_t i = 0; i < whole->writes.len; i++)
    tvms_vec_push(&s->context->memory, &reads, whole->writes.items[i]);
  for (uint32_t i = 0; i < whole->reads.len; i++)
    tvms_vec_push(&s->context->memory, &reads, whole->reads.items[i]);
  inner->reads = tvms_list_copy(s->unit, reads.items, reads.len);
  tvms_vec_fini(&s->context->memory, &reads);
  return inner;
}
