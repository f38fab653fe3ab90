// rolling_buffer: a buffer between tiles keeps only the rows that the next tile needs again, and goes round in them.
// TVM: src/s_tir/schedule/primitive/rolling_buffer.cc.
#include "arith/int_set.h"
#include "schedule/bindings.h"
#include "schedule/buffer_argument.h"
#include "schedule/buffers.h"
#include "schedule/flags.h"
#include "schedule/make.h"
#include "schedule/region.h"
#include "schedule/steps.h"
#include "schedule/taken.h"
#include "structinfo/regions.h"

// A dimension of the region that a tile writes: the loop over tiles in it, if tiles overlap, and by how much.
typedef struct {
  const tvms_node *TVMS_NULLABLE var;
  int64_t overlap;
} rolling_axis;

typedef struct {
  tvms_sched *sched;
  int32_t block, scope;
  int32_t common;         // the loop that has the block and all that reads of it
  tvms_node *old, *made;  // buffers
  tvms_list ranges;       // of the old one, that a tile writes
  rolling_axis *axes;
  uint32_t rolling;       // the dimension that goes round
  tvms_node_map buffers;  // the new one, for regions
  bool stored;            // the statement at hand stores in the buffer
} rolling;

// ---- Conditions ----

static bool only_reads_follow(const rolling *x) {
  tvms_sched *s = x->sched;
  tvms_site_vec all = {0};
  tvms_sched_children(s, x->scope, &all);
  const tvms_block *own = tvms_sched_block(s, x->block);
  bool fine = true;
  for (uint32_t i = 0; i < all.len; i++) {
    const tvms_block *other = tvms_sched_block(s, all.items[i]);
    if (all.items[i] == x->block) continue;
    bool before = all.items[i] < x->block;
    for (uint32_t k = 0; k < own->writes.len; k++) {
      const tvms_node *buffer = tvms_sched_region_buffer(own->writes, k);
      fine = fine && !tvms_sched_touches(other->writes, buffer)
             && (!before || !tvms_sched_touches(other->reads, buffer));
    }
    for (uint32_t k = 0; !before && k < own->reads.len; k++)
      fine = fine
             && !tvms_sched_touches(other->writes,
                                    tvms_sched_region_buffer(own->reads, k));
  }
  tvms_vec_fini(&s->context->memory, &all);
  return fine
         || tvms_sched_refuse(s, "other blocks write what block '%s' reads or writes",
                              tvms_sched_block_name(s, x->block));
}

// The loop that has the block and all that reads of it; TVMS_NO_SITE after a refusal.
static int32_t common_loop(const rolling *x) {
  tvms_sched *s = x->sched;
  tvms_site_vec readers = {0};
  tvms_sched_consumers(s, x->block, &readers);
  int32_t common = x->block;
  for (uint32_t i = 0; i < readers.len; i++)
    common = tvms_sched_common(s, common, readers.items[i]);
  tvms_vec_fini(&s->context->memory, &readers);
  if (tvms_sched_is_loop(s, common)) return common;
  (void)!tvms_sched_refuse(s,
                           "no loop has the block and all blocks that read '%s' in it",
                           tvms_sched_buffer_name(s, x->old));
  return TVMS_NO_SITE;
}

static bool find_ranges(rolling *x, tvms_node *region) {
  tvms_sched *s = x->sched;
  x->common = common_loop(x);
  if (x->common == TVMS_NO_SITE) return false;
  tvms_domains sets;
  tvms_sched_domain_sets(s, tvms_sched_parent(s, x->block), x->common, &sets);
  tvms_node *bound = tvms_sched_bound(s, tvms_sched_realize(s, x->block), region);
  tvms_list old = tvms_as_buffer_region(bound)->region;
  x->ranges = tvms_sched_full_ranges(s, x->old);
  for (uint32_t d = 0; d < old.len; d++) {
    const tvms_range *range = tvms_as_range(old.items[d]);
    tvms_node *min, *extent;
    tvms_int_set set = tvms_int_set_of_ranges(&sets, range->min, range->extent);
    if (tvms_int_set_cover(s->unit, set, &min, &extent))
      x->ranges.items[d] = tvms_range_new(s->unit, min, extent, TVMS_NO_SPAN);
  }
  tvms_domains_fini(&sets);
  return true;
}

// A constant above 0, or 0.
static int64_t positive(const tvms_node *node) {
  bool fits = node->kind == TVMS_NODE_INT_IMM && tvms_as_int_imm(node)->value > 0;
  return fits ? tvms_as_int_imm(node)->value : 0;
}

// var, var * stride, or either of them divided: how far a tile is from the next one. 0: another form.
static int64_t stride_of(const tvms_node *min, const tvms_node **var) {
  int64_t stride = 1, divisor = 1;
  if (min->kind == TVMS_NODE_FLOOR_DIV) {
    divisor = positive(tvms_as_binary(min)->b);
    min = tvms_as_binary(min)->a;
    if (min->kind != TVMS_NODE_MUL || !divisor) return 0;
  }
  if (min->kind == TVMS_NODE_MUL) {
    stride = positive(tvms_as_binary(min)->b);
    min = tvms_as_binary(min)->a;
  }
  *var = min;
  return min->kind == TVMS_NODE_VAR ? (stride + divisor - 1) / divisor : 0;
}

static bool find_overlaps(rolling *x) {
  uint32_t rank = x->ranges.len;
  x->axes = tvms_arena_array(&x->sched->unit->arena, rolling_axis, rank + 1);
  for (uint32_t d = 0; d < rank; d++) {
    const tvms_range *range = tvms_as_range(x->ranges.items[d]);
    rolling_axis *axis = &x->axes[d];
    *axis = (rolling_axis){0};
    if (range->min->kind == TVMS_NODE_INT_IMM) continue;
    int64_t stride = stride_of(range->min, &axis->var);
    if (!stride || !positive(range->extent)) return false;
    axis->overlap = positive(range->extent) - stride;
    if (axis->overlap <= 0) axis->var = NULL;
  }
  return true;
}

// The outermost loop over tiles that overlap is the one that goes round.
static bool find_rolling(rolling *x) {
  tvms_sched *s = x->sched;
  bool found = false;
  if (find_overlaps(x))
    for (int32_t at = tvms_sched_parent(s, x->block); tvms_sched_is_loop(s, at);
         at = tvms_sched_parent(s, at))
      for (uint32_t d = x->ranges.len; d-- > 0;) {
        if (x->axes[d].var != tvms_sched_loop(s, at)->var) continue;
        x->rolling = d;
        found = true;
      }
  return found
         || tvms_sched_refuse(s,
                              "no dimension of '%s' is written in tiles that overlap",
                              tvms_sched_buffer_name(s, x->old));
}

// A tile that leaves out places of its region lacks them for good, since the tiles behind it write only what is new to them. TVM does not ask.
static bool check_tile(const rolling *x, const tvms_node *region) {
  tvms_sched *s = x->sched;
  tvms_unit *unit = s->unit;
  tvms_node *one = tvms_sched_int(s, TVMS_DTYPE(INT, 32), 1);
  for (uint32_t d = 0; d < x->ranges.len; d++) {
    if (!x->axes[d].var) continue;
    tvms_list alone = tvms_list_copy(unit, x->ranges.items, x->ranges.len);
    for (uint32_t i = 0; i < alone.len; i++)
      alone.items[i] = tvms_range_new(unit, tvms_sched_int(s, TVMS_DTYPE(INT, 32), 0),
                                      one, TVMS_NO_SPAN);
    alone.items[d] = tvms_as_buffer_region(region)->region.items[d];
    tvms_node *part =
        tvms_buffer_region_new(unit, x->old, alone.items, alone.len, TVMS_NO_SPAN);
    tvms_sched_span span = {
        .region = tvms_sched_bound(s, tvms_sched_realize(s, x->block), part),
        .predicate = tvms_bool_imm_new(unit, true, TVMS_NO_SPAN),
        .low = tvms_sched_parent(s, x->block),
        .high = x->common};
    tvms_int_set *sets = tvms_arena_array(&unit->arena, tvms_int_set, alone.len + 1);
    if (!tvms_sched_cover(s, &span, false, sets))
      return tvms_sched_refuse(s, "block '%s' leaves out places of '%s' in a tile",
                               tvms_sched_block_name(s, x->block),
                               tvms_sched_buffer_name(s, x->old));
  }
  return true;
}

// What a step writes again of what the one before has written is left out of all but the first tile: a step must write one place, and the axes
// that tell tiles apart are taken for those in the places of the dimensions. TVM does not ask.
static bool check_steps(const rolling *x, const tvms_node *region) {
  tvms_list written = tvms_as_buffer_region(region)->region;
  tvms_list axes = tvms_sched_block(x->sched, x->block)->iter_vars;
  for (uint32_t d = 0; d < written.len; d++)
    if (x->axes[d].var
        && (d >= axes.len
            || tvms_as_range(written.items[d])->min
                   != tvms_as_iter_var(axes.items[d])->var))
      return tvms_sched_refuse(
          x->sched, "dimension %u of '%s' is not the axis of block '%s' in this place",
          d, tvms_sched_buffer_name(x->sched, x->old),
          tvms_sched_block_name(x->sched, x->block));
  return tvms_node_is_int(tvms_as_range(written.items[x->rolling])->extent, 1)
         || tvms_sched_refuse(x->sched, "block '%s' writes several places at once",
                              tvms_sched_block_name(x->sched, x->block));
}

// In all blocks the axis in the place of the dimension becomes an opaque one. TVM does not ask whether it is reduced, and then a reduction begins in
// each of its steps.
static bool check_axes(const rolling *x) {
  tvms_sched *s = x->sched;
  for (uint32_t i = (uint32_t)x->scope + 1; i < tvms_sched_at(s, x->scope)->end; i++) {
    if (tvms_sched_is_loop(s, (int32_t)i)) continue;
    const tvms_block *block = tvms_sched_block(s, (int32_t)i);
    if (!block->init || x->rolling >= block->iter_vars.len) continue;
    const tvms_node *axis = block->iter_vars.items[x->rolling];
    if (tvms_as_iter_var(axis)->iter_type == TVMS_ITER_COMM_REDUCE)
      return tvms_sched_refuse(
          s, "axis %u of block '%s', which is reduced, would be opaque", x->rolling,
          tvms_sched_block_name(s, (int32_t)i));
  }
  return true;
}

// ---- Rewriting ----

static tvms_node *roll_access(tvms_rewriter *r, tvms_node *node) {
  rolling *x = r->self;
  if (*tvms_node_element(node).buffer != x->old) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_element element = tvms_node_element(copy);
  tvms_list indices =
      tvms_list_copy(r->unit, element.indices->items, element.indices->len);
  indices.items[x->rolling] =
      tvms_sched_build(x->sched, TVMS_NODE_FLOOR_MOD, indices.items[x->rolling],
                       tvms_as_range(x->ranges.items[x->rolling])->extent);
  *element.buffer = x->made;
  *element.indices = indices;
  if (copy->kind == TVMS_NODE_STORE) x->stored = true;
  return copy;
}

static tvms_list renewed(tvms_unit *unit, const rolling *x, tvms_list regions,
                         tvms_list found) {
  tvms_list made = tvms_list_copy(unit, regions.items, regions.len);
  for (uint32_t i = 0; i < made.len; i++)
    if (tvms_sched_region_buffer(made, i) == x->old && found.len)
      made.items[i] = found.items[0];
  return made;
}

static tvms_node *roll_block(tvms_rewriter *r, tvms_node *node) {
  rolling *x = r->self;
  tvms_block *block = tvms_as_block(tvms_node_copy(r->unit, node));
  tvms_block *own = tvms_as_block(tvms_node_copy(r->unit, node));
  tvms_regions_infer_all(r->unit, &x->buffers, own);
  block->reads = renewed(r->unit, x, block->reads, own->reads);
  block->writes = renewed(r->unit, x, block->writes, own->writes);
  if (x->rolling >= block->iter_vars.len) return &block->head;
  block->iter_vars =
      tvms_list_copy(r->unit, block->iter_vars.items, block->iter_vars.len);
  tvms_iter_var *axis =
      tvms_as_iter_var(tvms_node_copy(r->unit, block->iter_vars.items[x->rolling]));
  axis->iter_type = TVMS_ITER_OPAQUE;
  block->iter_vars.items[x->rolling] = &axis->head;
  return &block->head;
}

// The least value that an axis has in the first tile.
static tvms_node *first_of(tvms_sched *s, tvms_node *value, const tvms_node *var) {
  tvms_domains sets;
  tvms_domains_init(&sets, s->unit);
  tvms_int_set zero = {tvms_sched_int(s, var->dtype, 0),
                       tvms_sched_int(s, var->dtype, 0), false};
  tvms_domains_set(&sets, var, zero);
  tvms_int_set set = tvms_int_set_of_expr(&sets, value);
  tvms_domains_fini(&sets);
  return set.min ? set.min : value;
}

// Elements that the tile before has computed are not computed again.
static tvms_node *roll_realize(tvms_rewriter *r, tvms_node *node) {
  rolling *x = r->self;
  tvms_sched *s = x->sched;
  if (!x->stored) return node;
  x->stored = false;
  tvms_block_realize *realize = tvms_as_block_realize(tvms_node_copy(r->unit, node));
  for (uint32_t d = 0; d < x->ranges.len && d < realize->iter_values.len; d++) {
    const rolling_axis *axis = &x->axes[d];
    if (!axis->var) continue;
    tvms_node *var = (tvms_node *)(uintptr_t)axis->var;
    tvms_node *first =
        tvms_sched_build(s, TVMS_NODE_LT, var, tvms_sched_int(s, var->dtype, 1));
    tvms_node *least = first_of(s, realize->iter_values.items[d], var);
    tvms_node *fresh = tvms_sched_build(s, TVMS_NODE_GE, least,
                                        tvms_sched_int(s, least->dtype, axis->overlap));
    tvms_node *either = tvms_sched_build(s, TVMS_NODE_OR, first, fresh);
    realize->predicate = tvms_arith_simplify(
        r->unit, tvms_sched_build(s, TVMS_NODE_AND, realize->predicate, either));
  }
  return &realize->head;
}

static tvms_node *keep_buffer(tvms_rewriter *r, tvms_node *node) {
  return r->role == TVMS_ROLE_DEFINE ? TVMS_REWRITE_BELOW : node;
}

static void replace(rolling *x) {
  tvms_sched *s = x->sched;
  tvms_node *old = tvms_sched_at(s, x->scope)->node;
  tvms_rewriter r;
  tvms_rewriter_init(&r, s->unit, x);
  r.enter[TVMS_NODE_BUFFER] = keep_buffer;
  r.leave[TVMS_NODE_BUFFER_LOAD] = roll_access;
  r.leave[TVMS_NODE_STORE] = roll_access;
  r.leave[TVMS_NODE_BLOCK] = roll_block;
  r.leave[TVMS_NODE_BLOCK_REALIZE] = roll_realize;
  tvms_block *scope =
      tvms_as_block(tvms_node_copy(s->unit, tvms_rewrite_below(&r, old)));
  tvms_rewriter_fini(&r);
  scope->alloc_buffers =
      tvms_list_copy(s->unit, scope->alloc_buffers.items, scope->alloc_buffers.len);
  for (uint32_t i = 0; i < scope->alloc_buffers.len; i++)
    if (scope->alloc_buffers.items[i] == x->old)
      scope->alloc_buffers.items[i] = x->made;
  tvms_sched_replace_one(s, old, &scope->head);
}

static void make_buffer(rolling *x) {
  tvms_sched *s = x->sched;
  tvms_buffer *made = tvms_as_buffer(
      tvms_sched_buffer_renamed(s, x->old, tvms_sched_buffer_name(s, x->old)));
  made->shape = tvms_list_copy(s->unit, made->shape.items, made->shape.len);
  made->shape.items[x->rolling] = tvms_as_range(x->ranges.items[x->rolling])->extent;
  x->made = &made->head;
  tvms_regions_put_buffer(&x->buffers, s->unit, x->made, x->made);
}

bool tvms_step_rolling_buffer(tvms_step *step) {
  tvms_sched *s = step->sched;
  rolling x = {.sched = s};
  x.block = tvms_step_site(step, TVMS_ARG(RollingBuffer, block));
  if (x.block == TVMS_NO_SITE) return false;
  x.old = tvms_step_numbered_buffer(step, TVMS_ARG(RollingBuffer, write_buffer_index),
                                    x.block, true);
  if (!x.old || !tvms_sched_check_scope(s, x.block, false, &x.scope)) return false;
  if (tvms_sched_is_output(s, x.block))
    return tvms_sched_refuse(s, "the block writes an output of its scope");
  tvms_node *region = tvms_sched_region_of(tvms_sched_block(s, x.block)->writes, x.old);
  // A tile with a condition of its own may write less than its region, and then the next one lacks what was left out. TVM does not ask.
  if (!tvms_sched_check_condition(s, x.block)) return false;
  if (!only_reads_follow(&x) || !find_ranges(&x, region) || !find_rolling(&x)
      || !check_steps(&x, region) || !check_tile(&x, region) || !check_axes(&x))
    return false;
  tvms_node_map_init(&x.buffers, &s->context->memory);
  make_buffer(&x);
  replace(&x);
  tvms_sched_flags_renew(s, x.scope);
  tvms_node_map_fini(&x.buffers);
  return true;
}
