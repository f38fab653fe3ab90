// reindex_cache_read, reindex_cache_write: a block uses a copy of a buffer, at places that a function of its axes gives.
// TVM: src/s_tir/schedule/primitive/cache_read_write.cc, ReindexCacheRead and ReindexCacheWrite.
#include "arith/index_map.h"
#include "ir/equal.h"
#include "schedule/accesses.h"
#include "schedule/bindings.h"
#include "schedule/buffer_argument.h"
#include "schedule/buffers.h"
#include "schedule/cache_stage.h"
#include "schedule/declared.h"
#include "schedule/ends.h"
#include "schedule/flags.h"
#include "schedule/injective.h"
#include "schedule/make.h"
#include "schedule/region.h"
#include "schedule/steps.h"
#include "schedule/taken.h"

typedef struct {
  tvms_cache cache;  // where the copy stands
  int32_t block;
  bool write;
  tvms_node *old;           // buffer
  tvms_list old_at;         // where the block accesses it
  tvms_list new_at, shape;  // of the copy, in terms of the block's axes
  tvms_list axes, values;   // of the block, that stand in the indices
} reindex_cache;

// ---- Conditions ----

static bool find_point(reindex_cache *x) {
  tvms_sched *s = x->cache.sched;
  const tvms_block *b = tvms_sched_block(s, x->block);
  const tvms_node *found =
      tvms_sched_region_of(x->write ? b->writes : b->reads, x->old);
  tvms_list ranges = tvms_as_buffer_region(found)->region;
  x->old_at = tvms_list_copy(s->unit, ranges.items, ranges.len);
  for (uint32_t i = 0; i < ranges.len; i++) {
    const tvms_range *range = tvms_as_range(ranges.items[i]);
    if (!tvms_node_is_int(range->extent, 1))
      return tvms_sched_refuse(s, "the block accesses more than one element of '%s'",
                               tvms_sched_buffer_name(s, x->old));
    x->old_at.items[i] = range->min;
  }
  if (tvms_sched_accesses_leave(s, b, x->old, x->old_at))
    return tvms_sched_refuse(s, "some axes lead out of '%s'",
                             tvms_sched_buffer_name(s, x->old));
  return true;
}

static bool uses(const reindex_cache *x, tvms_list list, const tvms_node *var) {
  for (uint32_t i = 0; i < list.len; i++)
    if (tvms_sched_uses(x->cache.sched, list.items[i], var)) return true;
  return false;
}

// Finds the axes in the indices. Those of the copy and of the buffer must have the same ones.
static bool find_axes(reindex_cache *x) {
  tvms_sched *s = x->cache.sched;
  const tvms_block_realize *realize = tvms_sched_realize(s, x->block);
  tvms_list all = tvms_sched_block(s, x->block)->iter_vars;
  x->axes.items = tvms_arena_array(&s->unit->arena, tvms_node *, 2 * all.len + 1);
  x->values.items = x->axes.items + all.len;
  for (uint32_t i = 0; i < all.len; i++) {
    const tvms_node *var = tvms_as_iter_var(all.items[i])->var;
    bool in_old = uses(x, x->old_at, var), in_new = uses(x, x->new_at, var);
    if (in_old != in_new)
      return tvms_sched_refuse(s, "axis '%s' indexes %s only",
                               tvms_symbol_text(s->context, tvms_as_var(var)->name),
                               in_old ? "the buffer" : "the copy");
    if (!in_new) continue;
    x->axes.items[x->axes.len++] = all.items[i];
    x->values.items[x->values.len++] = realize->iter_values.items[i];
  }
  return true;
}

// What the function gives for the block's axes, and the shape that follows.
static bool map_axes(tvms_step *step, uint32_t argument, reindex_cache *x) {
  tvms_sched *s = x->cache.sched;
  tvms_list axes = tvms_sched_block(s, x->block)->iter_vars;
  tvms_list sizes = tvms_list_copy(s->unit, axes.items, axes.len);
  tvms_list vars = tvms_list_copy(s->unit, axes.items, axes.len);
  tvms_dtype *types = tvms_arena_array(&s->unit->arena, tvms_dtype, axes.len + 1);
  for (uint32_t i = 0; i < axes.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(axes.items[i]);
    if (!tvms_node_is_int(tvms_as_range(axis->dom)->min, 0))
      return tvms_sched_refuse(
          s, "axis '%s' does not begin at 0",
          tvms_symbol_text(s->context, tvms_as_var(axis->var)->name));
    vars.items[i] = axis->var;
    types[i] = axis->var->dtype;
    sizes.items[i] = tvms_as_range(axis->dom)->extent;
  }
  tvms_node *map = tvms_step_map(step, argument, types, axes.len);
  if (!map) return false;
  x->new_at = tvms_sched_mapped(s, tvms_as_index_map(map), vars);
  tvms_analyzer *analyzer = tvms_analyzer_new(s->unit);
  x->shape = tvms_list_copy(s->unit, x->new_at.items, x->new_at.len);
  bool at_zero, found = tvms_arith_map_shape(s->unit, analyzer, map, sizes,
                                             x->shape.items, &at_zero);
  tvms_analyzer_free(analyzer);
  return found || tvms_sched_refuse(s, "the shape of the copy is not known");
}

static bool is_new_place(const reindex_cache *x, const tvms_node *place) {
  for (uint32_t i = 0; i < x->new_at.len; i++)
    if (tvms_node_same_expr(x->new_at.items[i], place)) return true;
  return false;
}

// Does each place of the copy belong to one element of the buffer? Places of the buffer that are places of the copy, too, may be sums
// of axes that depend on each other.
static bool check_places(reindex_cache *x) {
  tvms_sched *s = x->cache.sched;
  bool same = true;
  for (uint32_t i = 0; same && i < x->old_at.len; i++)
    same = is_new_place(x, tvms_arith_simplify(s->unit, x->old_at.items[i]));
  if (same) return true;
  tvms_list vars = tvms_list_copy(s->unit, x->axes.items, x->axes.len);
  tvms_list extents = tvms_list_copy(s->unit, x->axes.items, x->axes.len);
  for (uint32_t i = 0; i < vars.len; i++) {
    vars.items[i] = tvms_as_iter_var(x->axes.items[i])->var;
    extents.items[i] = tvms_as_range(tvms_as_iter_var(x->axes.items[i])->dom)->extent;
  }
  return tvms_sched_is_injective(s, vars, extents, x->new_at)
         || tvms_sched_refuse(s, "the function may put several elements to one place");
}

static void find_read_place(reindex_cache *x, int32_t writer) {
  tvms_cache *c = &x->cache;
  c->place = c->scope;
  c->index = 0;
  if (writer == TVMS_NO_SITE) return;
  tvms_site_vec related = {0};
  tvms_vec_push(&c->sched->context->memory, &related, x->block);
  tvms_cache_locate(c, writer, &related);
  tvms_vec_fini(&c->sched->context->memory, &related);
}

// ---- Making ----

// The loops from the block up to where the copy stands, as far as the values of the axes use them, around `body`.
static tvms_node *in_loops(reindex_cache *x, tvms_node *body, tvms_node_map *map) {
  tvms_sched *s = x->cache.sched;
  for (int32_t at = tvms_sched_parent(s, x->block);
       at != x->cache.place && at != TVMS_NO_SITE && tvms_sched_is_loop(s, at);
       at = tvms_sched_parent(s, at)) {
    const tvms_for *loop = tvms_sched_loop(s, at);
    if (!uses(x, x->values, loop->var)) continue;
    tvms_node *var = tvms_sched_var(s, loop->var, "", loop->var->dtype);
    tvms_node_map_put(map, loop->var, var);
    body = tvms_sched_for_from(s, var, loop->min, loop->extent, body);
  }
  return tvms_substitute(s->unit, body, map);
}

static tvms_node *make_stage(reindex_cache *x) {
  tvms_sched *s = x->cache.sched;
  uint32_t count = x->axes.len;
  tvms_node_map map;
  tvms_node_map_init(&map, &s->context->memory);
  tvms_list axes = tvms_list_copy(s->unit, x->axes.items, count);
  for (uint32_t i = 0; i < count; i++) {
    tvms_iter_var *axis = tvms_as_iter_var(tvms_node_copy(s->unit, axes.items[i]));
    tvms_node *var = tvms_sched_var(s, axis->var, "", axis->var->dtype);
    tvms_node_map_put(&map, axis->var, var);
    axis->var = var;
    axis->iter_type = TVMS_ITER_DATA_PAR;
    axes.items[i] = &axis->head;
  }
  tvms_copy_block copy = {
      .name =
          tvms_sched_joined(s, tvms_sched_buffer_name(s, x->old), x->cache.scope_name),
      .from = x->cache.read,
      .to = x->cache.write,
      .axes = axes.items,
      .values = x->values.items,
      .count = count,
      .from_at = x->write ? x->new_at.items : x->old_at.items,
      .to_at = x->write ? x->old_at.items : x->new_at.items,
      .from_rank = x->write ? x->new_at.len : x->old_at.len,
      .to_rank = x->write ? x->old_at.len : x->new_at.len};
  tvms_node *block, *body = tvms_sched_copy_block(s, &copy, &block);
  body = in_loops(x, body, &map);
  tvms_node_map_fini(&map);
  return body;
}

static tvms_node *make_buffer(reindex_cache *x) {
  tvms_sched *s = x->cache.sched;
  const char *name =
      tvms_sched_joined(s, tvms_sched_buffer_name(s, x->old), x->cache.scope_name);
  return tvms_sched_buffer_like(s, x->old, name, x->cache.scope_name, &x->shape);
}

static void finish(tvms_step *step, reindex_cache *x) {
  tvms_sched *s = x->cache.sched;
  x->cache.own = make_buffer(x);
  x->cache.read = x->write ? x->cache.own : x->old;
  x->cache.write = x->write ? x->old : x->cache.own;
  tvms_node *stage = make_stage(x);
  tvms_node *made = tvms_sched_block_in(stage);
  tvms_node *block = tvms_sched_at(s, x->block)->node;
  const tvms_block *b = tvms_as_block(block);
  tvms_sched_moved_access moved = {x->old, x->cache.own, x->new_at, x->write};
  bool mutated = x->write || !tvms_sched_touches(b->writes, x->old);
  tvms_sched_edit edit = {block, mutated ? tvms_sched_accesses_moved(s, block, &moved)
                                         : block};
  tvms_node *scope = tvms_sched_at(s, x->cache.scope)->node;
  tvms_cache_insert(&x->cache, tvms_sched_edited(s->unit, scope, &edit, 1), stage);
  tvms_sched_flags_give(s, tvms_sched_site_of(s, made));
  tvms_step_give(step, tvms_sched_site_of(s, made));
}

// The loops that copy have no condition. TVM does not ask for it, and copies beyond the ends.
static bool check_condition(reindex_cache *x) {
  tvms_sched *s = x->cache.sched;
  return tvms_sched_runs_always(s, x->block)
         || tvms_sched_refuse(s, "the block does not run in every step of its loops");
}

static bool open(tvms_step *step, reindex_cache *x, uint32_t index,
                 uint32_t scope_name) {
  tvms_sched *s = x->cache.sched = step->sched;
  x->cache.scope_name = step->args[scope_name].text;
  x->block = tvms_step_site(step, 0);
  if (x->block == TVMS_NO_SITE) return false;
  x->old = tvms_step_numbered_buffer(step, index, x->block, x->write);
  return x->old && tvms_cache_check_scope(s, x->cache.scope_name) && check_condition(x)
         && tvms_sched_check_scope(s, x->block, true, &x->cache.scope);
}

bool tvms_step_reindex_cache_read(tvms_step *step) {
  reindex_cache x = {0};
  int32_t writer;
  bool fine = open(step, &x, TVMS_ARG(ReindexCacheRead, read_buffer_index),
                   TVMS_ARG(ReindexCacheRead, storage_scope))
              && tvms_cache_writer(x.cache.sched, x.cache.scope, x.old, &writer)
              && find_point(&x)
              && map_axes(step, TVMS_ARG(ReindexCacheRead, index_map), &x)
              && find_axes(&x) && check_places(&x);
  if (!fine) return false;
  find_read_place(&x, writer);
  finish(step, &x);
  return true;
}

bool tvms_step_reindex_cache_write(tvms_step *step) {
  reindex_cache x = {.write = true};
  int32_t writer;
  bool fine = open(step, &x, TVMS_ARG(ReindexCacheWrite, write_buffer_index),
                   TVMS_ARG(ReindexCacheWrite, storage_scope))
              && tvms_cache_writer(x.cache.sched, x.cache.scope, x.old, &writer)
              && find_point(&x)
              && map_axes(step, TVMS_ARG(ReindexCacheWrite, index_map), &x)
              && find_axes(&x) && check_places(&x)
              && tvms_sched_check_whole(x.cache.sched, x.block, false)
              && tvms_sched_check_stores(x.cache.sched, x.block, x.old);
  if (!fine) return false;
  tvms_cache_write_place(&x.cache, x.block);
  finish(step, &x);
  return true;
}
