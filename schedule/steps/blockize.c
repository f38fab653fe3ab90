// blockize: a loop with all that is in it becomes a block, whose axes are the loops around.
// TVM: src/s_tir/schedule/primitive/blockize_tensorize.cc. What takes a list of blocks is not done.
#include "arith/int_set.h"
#include "schedule/bindings.h"
#include "schedule/buffers.h"
#include "schedule/steps.h"

#include <string.h>

// An axis of the block as one of the outer block and one of the inner.
typedef struct {
  tvms_node *outer, *outer_extent;  // what it is bound to, and over how much it runs
  tvms_node *inner, *inner_extent;
} division;

typedef struct {
  tvms_sched *sched;
  int32_t loop, block;
  bool keep_units;
  tvms_domain_vec outside, inside;  // loops
  tvms_node *outer_predicate, *inner_predicate;
  division *axes;
  tvms_node_vec outer_axes, outer_values, inner_axes, inner_values;
  tvms_node_map vars;  // axis -> what it is in terms of the new ones
  tvms_analyzer *analyzer;
} blockizing;

// ---- Dividing ----

static bool uses_any(const blockizing *b, tvms_node *node,
                     const tvms_domain_vec *loops) {
  for (uint32_t i = 0; i < loops->len; i++)
    if (tvms_sched_uses(b->sched, node, loops->items[i].var)) return true;
  return false;
}

static bool image_of(const blockizing *b, const tvms_domain_vec *loops,
                     tvms_node *predicate, tvms_node *value, tvms_iter_image *image) {
  return tvms_iter_map_detect(b->sched->unit, b->analyzer, loops->items, loops->len,
                              &value, 1, predicate, b->keep_units, image);
}

// The value where the inner loops stand at their first step.
static tvms_node *outer_part(const blockizing *b, tvms_node *value) {
  tvms_node_map map;
  tvms_node_map_init(&map, &b->sched->context->memory);
  for (uint32_t i = 0; i < b->inside.len; i++)
    tvms_node_map_put(&map, b->inside.items[i].var, b->inside.items[i].min);
  tvms_node *made = tvms_substitute(b->sched->unit, value, &map);
  tvms_node_map_fini(&map);
  return tvms_arith_simplify(b->sched->unit, made);
}

static bool divide_inner(const blockizing *b, division *d, tvms_node *extent) {
  tvms_iter_image image;
  if (!uses_any(b, d->inner, &b->inside)) return true;
  if (image_of(b, &b->inside, b->inner_predicate, d->inner, &image)) {
    bool plain = tvms_node_is_int(image.base, 0)
                 && (!image.scale || tvms_node_is_int(image.scale, 1));
    if (!plain) return false;
    if (image.extent) d->inner_extent = image.extent;
    return true;
  }
  if (uses_any(b, d->outer, &b->outside)) return false;
  d->inner_extent = extent;
  return true;
}

static bool divide_outer(const blockizing *b, division *d, tvms_node *extent) {
  tvms_sched *s = b->sched;
  tvms_iter_image image;
  if (!uses_any(b, d->outer, &b->outside)) return true;
  if (!image_of(b, &b->outside, b->outer_predicate, d->outer, &image)) {
    bool alone = tvms_node_is_int(d->inner_extent, 1);
    if (alone) d->outer_extent = extent;
    return alone;
  }
  if (!image.extent) return true;
  if (!tvms_analyzer_can_prove_equal(b->analyzer, image.scale, d->inner_extent))
    return false;
  d->outer_extent = image.extent;
  tvms_node *quotient =
      tvms_sched_build(s, TVMS_NODE_FLOOR_DIV, d->outer, d->inner_extent);
  if (!tvms_node_is_int(d->inner_extent, 1))
    d->outer = tvms_arith_simplify(s->unit, quotient);
  return true;
}

static bool divide_axis(blockizing *b, uint32_t i) {
  tvms_sched *s = b->sched;
  const tvms_block *block = tvms_sched_block(s, b->block);
  tvms_node *value = tvms_sched_realize(s, b->block)->iter_values.items[i];
  const tvms_range *dom =
      tvms_as_range(tvms_as_iter_var(block->iter_vars.items[i])->dom);
  tvms_node *one = tvms_sched_int(s, value->dtype, 1);
  division *d = &b->axes[i];
  bool mixed = uses_any(b, value, &b->inside);
  d->outer = mixed ? outer_part(b, value) : value;
  tvms_node *rest = tvms_sched_build(s, TVMS_NODE_SUB, value, d->outer);
  d->inner =
      mixed ? tvms_arith_simplify(s->unit, rest) : tvms_sched_int(s, value->dtype, 0);
  d->outer_extent = d->inner_extent = one;
  bool plain = mixed && tvms_node_is_int(d->outer, 0);
  if (plain) d->inner = value;
  return !uses_any(b, d->inner, &b->outside) && divide_inner(b, d, dom->extent)
         && divide_outer(b, d, dom->extent);
}

static bool divide(blockizing *b) {
  tvms_sched *s = b->sched;
  tvms_node *predicate = tvms_sched_realize(s, b->block)->predicate;
  b->outer_predicate = b->inner_predicate =
      tvms_bool_imm_new(s->unit, true, TVMS_NO_SPAN);
  bool outer = uses_any(b, predicate, &b->outside),
       inner = uses_any(b, predicate, &b->inside);
  bool fine = !outer || !inner;
  if (outer) b->outer_predicate = predicate;
  if (inner) b->inner_predicate = predicate;
  uint32_t count = tvms_sched_block(s, b->block)->iter_vars.len;
  b->axes = tvms_arena_array(&s->unit->arena, division, count + 1);
  for (uint32_t i = 0; fine && i < count; i++)
    fine = divide_axis(b, i);
  return fine
         || tvms_sched_refuse(
             s,
             "the axes of block '%s' cannot be divided between the loop and those around it",
             tvms_sched_block_name(s, b->block));
}

// ---- Axes ----

static tvms_node *axis_like(blockizing *b, const tvms_iter_var *old, const char *suffix,
                            tvms_node *extent) {
  tvms_sched *s = b->sched;
  tvms_iter_var *axis = tvms_node_make(s->unit, ITER_VAR, TVMS_NO_SPAN);
  axis->var = tvms_sched_var(s, old->var, suffix, old->var->dtype);
  axis->iter_type = old->iter_type;
  axis->dom = tvms_range_new(s->unit, tvms_sched_int(s, extent->dtype, 0), extent,
                             TVMS_NO_SPAN);
  return &axis->head;
}

static void make_axis(blockizing *b, const tvms_iter_var *old, const division *d) {
  tvms_sched *s = b->sched;
  tvms_memory *memory = &s->context->memory;
  tvms_node *outer = axis_like(b, old, "_o", d->outer_extent);
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

// ---- Blocks ----

static tvms_node *simplify_changed(tvms_rewriter *r, tvms_node *node) {
  const blockizing *b = r->self;
  return node == r->old ? node : tvms_analyzer_simplify(b->analyzer, node);
}

// The block in terms of the new axes, simplified where it changed.
static tvms_block *renamed(blockizing *b) {
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

static tvms_node *realize_of(blockizing *b, tvms_block *block,
                             const tvms_node_vec *values, tvms_node *predicate) {
  tvms_unit *unit = b->sched->unit;
  tvms_block_realize *realize = tvms_node_make(unit, BLOCK_REALIZE, TVMS_NO_SPAN);
  realize->iter_values = tvms_list_copy(unit, values->items, values->len);
  realize->predicate = predicate;
  realize->block = &block->head;
  return &realize->head;
}

// Regions while the inner axes run.
static tvms_list widened(blockizing *b, tvms_list regions) {
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
static tvms_node *in_loops(blockizing *b, tvms_node *stmt) {
  tvms_sched *s = b->sched;
  for (int32_t at = tvms_sched_parent(s, b->block);; at = tvms_sched_parent(s, at)) {
    tvms_for *loop = tvms_as_for(tvms_node_copy(s->unit, tvms_sched_at(s, at)->node));
    loop->body = stmt;
    stmt = &loop->head;
    if (at == b->loop) return stmt;
  }
}

// ---- What initialises ----

static tvms_node *init_loops(blockizing *b, tvms_node *stmt,
                             const tvms_node_vec *values, tvms_node_map *vars) {
  tvms_sched *s = b->sched;
  for (int32_t at = tvms_sched_parent(s, b->block);; at = tvms_sched_parent(s, at)) {
    const tvms_for *old = tvms_sched_loop(s, at);
    bool used = false;
    for (uint32_t i = 0; i < values->len; i++)
      used = used || tvms_sched_uses(s, values->items[i], old->var);
    if (used) {
      tvms_for *loop = tvms_as_for(tvms_node_copy(s->unit, &old->head));
      loop->var = tvms_var_like(s->unit, old->var);
      tvms_node_map_put(vars, old->var, loop->var);
      loop->body = stmt;
      stmt = &loop->head;
    }
    if (at == b->loop) return stmt;
  }
}

static tvms_node *make_init(blockizing *b, const tvms_block *inner, tvms_node *init) {
  tvms_sched *s = b->sched;
  tvms_memory *memory = &s->context->memory;
  tvms_node_vec axes = {0}, values = {0};
  tvms_node_map vars;
  tvms_node_map_init(&vars, memory);
  for (uint32_t i = 0; i < inner->iter_vars.len; i++) {
    const tvms_iter_var *old = tvms_as_iter_var(inner->iter_vars.items[i]);
    if (old->iter_type != TVMS_ITER_DATA_PAR || !tvms_sched_uses(s, init, old->var))
      continue;
    tvms_iter_var *axis = tvms_as_iter_var(tvms_node_copy(s->unit, &old->head));
    axis->var = tvms_sched_var(s, old->var, "_init", old->var->dtype);
    tvms_node_map_put(&vars, old->var, axis->var);
    tvms_vec_push(memory, &axes, &axis->head);
    tvms_vec_push(memory, &values, b->inner_values.items[i]);
  }
  tvms_block *block = tvms_node_make(s->unit, BLOCK, TVMS_NO_SPAN);
  const char *name = tvms_sched_joined(s, inner->name.text, "init");
  block->name = tvms_bytes_copy(s->unit, name, strlen(name));
  block->iter_vars = tvms_list_copy(s->unit, axes.items, axes.len);
  block->writes = inner->writes;
  block->body = init;
  tvms_node *stmt = realize_of(b, block, &values, b->inner_predicate);
  stmt = init_loops(b, stmt, &values, &vars);
  stmt = tvms_substitute(s->unit, stmt, &vars);
  tvms_node_map_fini(&vars);
  tvms_vec_fini(memory, &axes);
  tvms_vec_fini(memory, &values);
  return stmt;
}

// ---- The whole ----

static bool is_reduced_outside(const blockizing *b) {
  for (uint32_t i = 0; i < b->outer_axes.len; i++)
    if (tvms_as_iter_var(b->outer_axes.items[i])->iter_type == TVMS_ITER_COMM_REDUCE)
      return true;
  return false;
}

static tvms_block *make_inner(blockizing *b, const tvms_block *whole) {
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

static tvms_block *make_outer(blockizing *b) {
  tvms_sched *s = b->sched;
  tvms_block *whole = renamed(b);
  tvms_block *inner = make_inner(b, whole);
  tvms_block *outer = tvms_node_make(s->unit, BLOCK, TVMS_NO_SPAN);
  const char *name = tvms_sched_joined(s, whole->name.text, "o");
  outer->name = tvms_bytes_copy(s->unit, name, strlen(name));
  outer->iter_vars = tvms_list_copy(s->unit, b->outer_axes.items, b->outer_axes.len);
  outer->reads = widened(b, whole->reads);
  outer->writes = widened(b, whole->writes);
  if (whole->init) outer->init = make_init(b, inner, whole->init);
  outer->body = in_loops(b, realize_of(b, inner, &b->inner_values, b->inner_predicate));
  return outer;
}

static bool run(tvms_step *step, blockizing *b) {
  tvms_sched *s = b->sched;
  tvms_site_vec blocks = {0};
  tvms_sched_children(s, b->loop, &blocks);
  uint32_t count = blocks.len;
  b->block = count ? blocks.items[0] : TVMS_NO_SITE;
  tvms_vec_fini(&s->context->memory, &blocks);
  if (count != 1)
    return tvms_sched_refuse(s, "the loop has %u blocks in it, not one", count);
  tvms_sched_domains(s, tvms_sched_parent(s, b->loop), TVMS_NO_SITE, &b->outside);
  tvms_sched_domains(s, tvms_sched_parent(s, b->block), tvms_sched_parent(s, b->loop),
                     &b->inside);
  if (!divide(b)) return false;
  const tvms_block *old = tvms_sched_block(s, b->block);
  for (uint32_t i = 0; i < old->iter_vars.len; i++)
    make_axis(b, tvms_as_iter_var(old->iter_vars.items[i]), &b->axes[i]);
  for (uint32_t i = 0; i < b->inner_axes.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(b->inner_axes.items[i]);
    const tvms_range *dom = tvms_as_range(axis->dom);
    tvms_analyzer_bind_range(b->analyzer, axis->var, dom->min, dom->extent);
  }
  tvms_block *outer = make_outer(b);
  tvms_sched_replace_one(s, tvms_sched_at(s, b->loop)->node,
                         realize_of(b, outer, &b->outer_values, b->outer_predicate));
  tvms_step_give(step, tvms_sched_site_of(s, &outer->head));
  return true;
}

bool tvms_step_blockize(tvms_step *step) {
  tvms_sched *s = step->sched;
  blockizing b = {.sched = s};
  b.loop = tvms_step_site(step, TVMS_ARG(Blockize, target));
  if (b.loop == TVMS_NO_SITE) return false;
  b.keep_units = step->args[TVMS_ARG(Blockize, preserve_unit_iters)].number != 0;
  tvms_memory *memory = &s->context->memory;
  b.analyzer = tvms_analyzer_new(s->unit);
  tvms_node_map_init(&b.vars, memory);
  bool fine = run(step, &b);
  tvms_analyzer_free(b.analyzer);
  tvms_node_map_fini(&b.vars);
  tvms_vec_fini(memory, &b.outside);
  tvms_vec_fini(memory, &b.inside);
  tvms_vec_fini(memory, &b.outer_axes);
  tvms_vec_fini(memory, &b.outer_values);
  tvms_vec_fini(memory, &b.inner_axes);
  tvms_vec_fini(memory, &b.inner_values);
  return fine;
}
