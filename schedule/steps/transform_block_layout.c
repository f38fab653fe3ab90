// transform_block_layout: a block runs over other axes, which a function of the old ones gives.
// TVM: src/s_tir/schedule/primitive/layout_transformation.cc, TransformBlockLayout.
#include "arith/index_map.h"
#include "ir/walk.h"
#include "schedule/bindings.h"
#include "schedule/injective.h"
#include "schedule/iter_scope.h"
#include "schedule/make.h"
#include "schedule/steps.h"

typedef struct {
  tvms_sched *sched;
  int32_t block, outermost;
  tvms_analyzer *analyzer;
  tvms_list vars, sizes;  // of the old axes
  tvms_list values;       // of the new axes, in terms of the old ones
  tvms_list extents;      // of the new axes
  tvms_list axes, loops;  // new
  tvms_node_map inverse;  // old axis -> in terms of the new ones
} relaying;

// ---- Conditions ----

static bool check_loops(relaying *x) {
  tvms_sched *s = x->sched;
  tvms_site_vec loops = {0}, blocks = {0};
  const tvms_block_realize *realize = tvms_sched_realize(s, x->block);
  tvms_sched_loops(s, x->block, &loops);
  bool fine = loops.len || tvms_sched_refuse(s, "the block has no loops around it");
  for (uint32_t i = 0; fine && i < loops.len; i++)
    fine = tvms_sched_check_zero(s, loops.items[i]);
  x->outermost = loops.len ? loops.items[0] : x->block;
  tvms_sched_children(s, x->outermost, &blocks);
  if (fine && blocks.len != 1)
    fine = tvms_sched_refuse(s, "the loop has %u blocks in it, not one", blocks.len);
  bool plain = loops.len == realize->iter_values.len;
  for (uint32_t i = 0; plain && i < loops.len; i++)
    plain = realize->iter_values.items[i] == tvms_sched_loop(s, loops.items[i])->var;
  tvms_vec_fini(&s->context->memory, &loops);
  tvms_vec_fini(&s->context->memory, &blocks);
  return fine
         && (plain
             || tvms_sched_refuse(s, "the axes of block '%s' are not its loops",
                                  tvms_sched_block_name(s, x->block)));
}

static void find_axes(relaying *x) {
  tvms_sched *s = x->sched;
  tvms_list axes = tvms_sched_block(s, x->block)->iter_vars;
  x->vars = tvms_list_copy(s->unit, axes.items, axes.len);
  x->sizes = tvms_list_copy(s->unit, axes.items, axes.len);
  for (uint32_t i = 0; i < axes.len; i++) {
    x->vars.items[i] = tvms_as_iter_var(axes.items[i])->var;
    x->sizes.items[i] = tvms_as_range(tvms_as_iter_var(axes.items[i])->dom)->extent;
  }
}

// The kind of the axes that stand in a value; OPAQUE: they are of several kinds.
static uint32_t type_of(const relaying *x, tvms_node *value) {
  tvms_list axes = tvms_sched_block(x->sched, x->block)->iter_vars;
  uint32_t type = TVMS_ITER_OPAQUE;
  bool found = false;
  for (uint32_t i = 0; i < axes.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(axes.items[i]);
    if (!tvms_sched_uses(x->sched, value, axis->var)) continue;
    if (found && type != axis->iter_type) return TVMS_ITER_OPAQUE;
    type = axis->iter_type;
    found = true;
  }
  return type;
}

static bool make_axes(relaying *x) {
  tvms_sched *s = x->sched;
  uint32_t count = x->values.len;
  x->axes = tvms_list_copy(s->unit, x->values.items, count);
  x->loops = tvms_list_copy(s->unit, x->values.items, count);
  for (uint32_t i = 0; i < count; i++) {
    tvms_dtype dtype = x->values.items[i]->dtype;
    bool unit = tvms_node_is_int(x->extents.items[i], 1);
    uint32_t type = unit ? TVMS_ITER_DATA_PAR : type_of(x, x->values.items[i]);
    if (type == TVMS_ITER_OPAQUE)
      return tvms_sched_refuse(s, "new axis %u mixes axes of several kinds", i);
    tvms_node *var = tvms_sched_numbered(s, "v", i, dtype);
    tvms_node *extent = tvms_sched_cast(s, dtype, x->extents.items[i]);
    x->axes.items[i] = tvms_sched_axis(s, var, extent);
    tvms_as_iter_var(x->axes.items[i])->iter_type = (uint8_t)type;
    x->loops.items[i] = tvms_sched_numbered(s, "ax", i, dtype);
  }
  return true;
}

static bool find_map(relaying *x, tvms_node *map) {
  tvms_sched *s = x->sched;
  tvms_index_inverse inverse;
  bool at_zero;
  x->values = tvms_sched_mapped(s, tvms_as_index_map(map), x->vars);
  x->extents = tvms_list_copy(s->unit, x->values.items, x->values.len);
  if (!tvms_arith_map_shape(s->unit, x->analyzer, map, x->sizes, x->extents.items,
                            &at_zero))
    return tvms_sched_refuse(s, "how far the new axes run is not known");
  if (!make_axes(x)) return false;
  bool found = tvms_arith_map_inverse(s->unit, x->analyzer, map, x->sizes, &inverse)
               && tvms_node_is_int(inverse.padding, 0)
               && tvms_sched_is_injective(s, x->vars, x->sizes, x->values);
  if (!found)
    return tvms_sched_refuse(s, "the function does not map the axes one to one");
  tvms_list vars = tvms_list_copy(s->unit, x->axes.items, x->axes.len);
  for (uint32_t i = 0; i < vars.len; i++)
    vars.items[i] = tvms_as_iter_var(vars.items[i])->var;
  tvms_list old = tvms_sched_mapped(s, tvms_as_index_map(inverse.map), vars);
  for (uint32_t i = 0; i < old.len; i++)
    tvms_node_map_put(&x->inverse, x->vars.items[i], old.items[i]);
  return true;
}

// ---- Simplification of places ----

static tvms_node *enter_loop(tvms_rewriter *r, tvms_node *node) {
  return tvms_sched_iter_loop(r->self, r, node);
}

static tvms_list simple_regions(tvms_sched_iter *scope, tvms_list regions) {
  tvms_unit *unit = scope->sched->unit;
  tvms_list made = tvms_list_copy(unit, regions.items, regions.len);
  for (uint32_t i = 0; i < regions.len; i++) {
    const tvms_buffer_region *region = tvms_as_buffer_region(regions.items[i]);
    tvms_list mins = tvms_list_copy(unit, region->region.items, region->region.len);
    for (uint32_t d = 0; d < mins.len; d++)
      mins.items[d] = tvms_as_range(mins.items[d])->min;
    tvms_list ranges = tvms_sched_iter_simplify(scope, mins);
    if (ranges.items == mins.items) ranges = tvms_list_copy(unit, mins.items, mins.len);
    for (uint32_t d = 0; d < mins.len; d++) {
      tvms_node *extent = tvms_as_range(region->region.items[d])->extent;
      ranges.items[d] = tvms_range_new(
          unit, ranges.items[d], tvms_analyzer_simplify(scope->facts.analyzer, extent),
          TVMS_NO_SPAN);
    }
    made.items[i] = tvms_buffer_region_new(unit, region->buffer, ranges.items,
                                           ranges.len, TVMS_NO_SPAN);
  }
  return made;
}

static tvms_node *enter_block(tvms_rewriter *r, tvms_node *node) {
  tvms_sched_iter *scope = r->self;
  uint32_t mark = tvms_sched_iter_axes(scope, tvms_as_block(node));
  tvms_block *made =
      tvms_as_block(tvms_node_copy(r->unit, tvms_rewrite_below(r, node)));
  made->reads = simple_regions(scope, made->reads);
  made->writes = simple_regions(scope, made->writes);
  tvms_sched_iter_leave(scope, mark);
  return &made->head;
}

static tvms_node *simplify_access(tvms_rewriter *r, tvms_node *node) {
  tvms_sched_iter *scope = r->self;
  tvms_list indices = *tvms_node_element(node).indices;
  tvms_list simple = tvms_sched_iter_simplify(scope, indices);
  if (simple.items == indices.items) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  *tvms_node_element(copy).indices = simple;
  return copy;
}

static tvms_node *keep(tvms_rewriter *r, tvms_node *node) {
  (void)r;
  return node;
}

static tvms_node *simplified(tvms_sched *s, tvms_node *block) {
  tvms_rewriter r;
  tvms_sched_iter scope;
  tvms_rewriter_init(&r, s->unit, &scope);
  tvms_sched_iter_init(&scope, s, &r);
  r.roles = TVMS_IN(BODY) | TVMS_IN(USE);
  r.enter[TVMS_NODE_FOR] = enter_loop;
  r.enter[TVMS_NODE_BLOCK] = enter_block;
  r.enter[TVMS_NODE_BUFFER] = keep;
  r.leave[TVMS_NODE_BUFFER_LOAD] = simplify_access;
  r.leave[TVMS_NODE_STORE] = simplify_access;
  tvms_node *made = tvms_rewrite(&r, block);
  tvms_rewriter_fini(&r);
  tvms_sched_iter_fini(&scope);
  return made;
}

// ---- The whole ----

static void replace(relaying *x) {
  tvms_sched *s = x->sched;
  tvms_block *block =
      tvms_as_block(tvms_node_copy(s->unit, tvms_sched_at(s, x->block)->node));
  block->iter_vars = (tvms_list){0};
  block = tvms_as_block(
      tvms_node_copy(s->unit, tvms_substitute(s->unit, &block->head, &x->inverse)));
  block->iter_vars = x->axes;
  tvms_block_realize *realize = tvms_as_block_realize(
      tvms_node_copy(s->unit, tvms_sched_at(s, x->block)->realize));
  realize->block = simplified(s, &block->head);
  realize->iter_values = x->loops;
  tvms_node *body = &realize->head;
  for (uint32_t i = x->loops.len; i-- > 0;)
    body = tvms_sched_for(s, x->loops.items[i], x->extents.items[i], body);
  tvms_sched_replace_one(s, tvms_sched_at(s, x->outermost)->node, body);
}

bool tvms_step_transform_block_layout(tvms_step *step) {
  tvms_sched *s = step->sched;
  relaying x = {.sched = s};
  x.block = tvms_step_site(step, TVMS_ARG(TransformBlockLayout, block));
  if (x.block == TVMS_NO_SITE || !check_loops(&x)) return false;
  find_axes(&x);
  tvms_dtype *types = tvms_arena_array(&s->unit->arena, tvms_dtype, x.vars.len + 1);
  for (uint32_t i = 0; i < x.vars.len; i++)
    types[i] = x.vars.items[i]->dtype;
  tvms_node *map =
      tvms_step_map(step, TVMS_ARG(TransformBlockLayout, index_map), types, x.vars.len);
  if (!map) return false;
  x.analyzer = tvms_analyzer_new(s->unit);
  tvms_sched_mark_sizes(s, x.analyzer);
  tvms_node_map_init(&x.inverse, &s->context->memory);
  bool fine = find_map(&x, map);
  if (fine) replace(&x);
  tvms_analyzer_free(x.analyzer);
  tvms_node_map_fini(&x.inverse);
  return fine;
}
