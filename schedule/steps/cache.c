// cache_read, cache_write: blocks use a copy of a buffer, in memory of another kind perhaps.
// TVM: src/s_tir/schedule/primitive/cache_read_write.cc.
#include "schedule/accesses.h"
#include "schedule/bindings.h"
#include "schedule/buffer_argument.h"
#include "schedule/buffers.h"
#include "schedule/cache_stage.h"
#include "schedule/declared.h"
#include "schedule/ends.h"
#include "schedule/flags.h"
#include "schedule/region.h"
#include "schedule/steps.h"
#include "schedule/taken.h"

// What a rewriting of the scope knows.
typedef struct {
  const tvms_cache *cache;
  const tvms_sched_swap *swap;
  const tvms_node *TVMS_NULLABLE writer;  // of cache_write
} rewriting;

static tvms_node *rewrite_reader(tvms_rewriter *r, tvms_node *node) {
  const rewriting *w = r->self;
  const tvms_block *block = tvms_as_block(node);
  if (tvms_sched_touches(block->writes, w->swap->from)) return node;
  bool consumes = !w->cache->consumers.len || tvms_cache_is_consumer(w->cache, node);
  return consumes ? tvms_sched_swapped(w->cache->sched, node, w->swap)
                  : TVMS_REWRITE_BELOW;
}

static tvms_node *rewrite_writer(tvms_rewriter *r, tvms_node *node) {
  const rewriting *w = r->self;
  bool uses = node == w->writer || tvms_cache_is_consumer(w->cache, node);
  return uses ? tvms_sched_swapped(w->cache->sched, node, w->swap) : node;
}

static tvms_node *rewritten(rewriting *w, tvms_rewrite_hook *hook) {
  tvms_sched *s = w->cache->sched;
  tvms_rewriter r;
  tvms_rewriter_init(&r, s->unit, w);
  r.roles = TVMS_IN(BODY);
  r.enter[TVMS_NODE_BLOCK] = hook;
  tvms_node *made = tvms_rewrite_below(&r, tvms_sched_at(s, w->cache->scope)->node);
  tvms_rewriter_fini(&r);
  return made;
}

// ---- cache_read ----

// The condition under which blocks in `block` touch a buffer; NULL: always.
static tvms_node *TVMS_NULLABLE nested_condition(tvms_sched *s, int32_t block,
                                                 const tvms_node *buffer,
                                                 bool written) {
  tvms_node *all = NULL;
  for (uint32_t i = (uint32_t)block + 1; i < tvms_sched_at(s, block)->end; i++) {
    if (tvms_sched_is_loop(s, (int32_t)i)) continue;
    const tvms_block *inner = tvms_sched_block(s, (int32_t)i);
    if (!tvms_sched_touches(written ? inner->writes : inner->reads, buffer)) continue;
    const tvms_block_realize *realize = tvms_sched_realize(s, (int32_t)i);
    tvms_node *own = tvms_sched_bound(s, realize, realize->predicate);
    all = all ? tvms_sched_build(s, TVMS_NODE_OR, all, own) : own;
  }
  return all && !tvms_node_is_int(all, 1) ? all : NULL;
}

// What is read of a buffer that no block of the scope writes.
static tvms_list region_of_input(tvms_cache *c, int32_t block,
                                 const tvms_node *buffer) {
  tvms_sched *s = c->sched;
  tvms_node *own = tvms_sched_region_of(tvms_sched_block(s, block)->reads, buffer);
  tvms_node *around =
      tvms_sched_region_of(tvms_sched_block(s, c->scope)->reads, buffer);
  tvms_node *condition = own ? nested_condition(s, block, buffer, false) : NULL;
  if (own && condition) return tvms_sched_relax(s, block, own, c->scope, condition);
  return around ? tvms_as_buffer_region(around)->region
                : tvms_sched_full_ranges(s, buffer);
}

static bool read_region(tvms_cache *c, int32_t block) {
  tvms_sched *s = c->sched;
  int32_t writer;
  if (!tvms_cache_writer(s, c->scope, c->read, &writer)) return false;
  if (writer == TVMS_NO_SITE) {
    c->place = c->scope;
    c->index = 0;
    c->region = region_of_input(c, block, c->read);
    return true;
  }
  tvms_site_vec related = {0};
  if (c->consumers.len)
    for (uint32_t i = 0; i < c->consumers.len; i++)
      tvms_vec_push(&s->context->memory, &related, c->consumers.items[i]);
  else
    tvms_sched_consumers(s, writer, &related);
  tvms_cache_locate(c, writer, &related);
  tvms_vec_fini(&s->context->memory, &related);
  tvms_node *region =
      tvms_sched_region_of(tvms_sched_block(s, writer)->writes, c->read);
  c->region = tvms_sched_relax(s, writer, region, c->place, NULL);
  return true;
}

// Does the length of a loop between a block and the place of its copy depend on another of these loops? The region begins at
// the least of the begins, and is as long as the greatest begin and the greatest length together make it, which may
// be beyond the end of the buffer.
static bool has_dependent_loops(tvms_sched *s, int32_t block, int32_t place) {
  for (int32_t at = tvms_sched_parent(s, block); at != place && at != TVMS_NO_SITE;
       at = tvms_sched_parent(s, at)) {
    if (!tvms_sched_is_loop(s, at)) continue;
    int32_t around = tvms_sched_parent(s, at);
    for (; around != place && around != TVMS_NO_SITE;
         around = tvms_sched_parent(s, around))
      if (tvms_sched_is_loop(s, around)
          && tvms_sched_uses(s, tvms_sched_loop(s, at)->extent,
                             tvms_sched_loop(s, around)->var))
        return true;
  }
  return false;
}

// The loops of the copy have no condition, even if those of the block have one. TVM does not ask, and copies beyond the ends.
static bool check_ends(tvms_cache *c, const tvms_node *buffer) {
  tvms_sched *s = c->sched;
  int32_t writer;
  if (!tvms_cache_writer(s, c->scope, buffer, &writer)) return false;
  bool conditional = writer != TVMS_NO_SITE
                     && (!tvms_node_is_int(tvms_sched_realize(s, writer)->predicate, 1)
                         || has_dependent_loops(s, writer, c->place));
  bool leaves =
      tvms_sched_ranges_leave(s, c->place, buffer, c->region)
      || (conditional && tvms_sched_ranges_may_leave(s, c->place, buffer, c->region));
  for (uint32_t d = 0; conditional && !leaves && d < c->region.len; d++)
    leaves = tvms_sched_loads(s, tvms_as_range(c->region.items[d])->min);
  if (!leaves) return true;
  tvms_vec_fini(&c->sched->context->memory, &c->consumers);
  return tvms_sched_refuse(c->sched, "what would be copied leaves '%s'",
                           tvms_sched_buffer_name(c->sched, buffer));
}

// What is declared may be more than what is written, and all of it would be copied back. TVM does not ask.
static bool check_declared(tvms_cache *c, int32_t block, tvms_node *region,
                           tvms_node *TVMS_NULLABLE condition) {
  tvms_sched *s = c->sched;
  tvms_node *stored = tvms_sched_stored_region(s, tvms_sched_block(s, block), region);
  if (stored == region) return true;
  tvms_list ranges = tvms_sched_relax(s, block, stored, c->place, condition);
  for (uint32_t d = 0; d < ranges.len; d++)
    if (!tvms_arith_prove_equal(s->unit, tvms_as_range(ranges.items[d])->extent,
                                tvms_as_range(c->region.items[d])->extent)) {
      tvms_vec_fini(&s->context->memory, &c->consumers);
      return tvms_sched_refuse(s,
                               "block '%s' declares that it writes more than it does",
                               tvms_sched_block_name(s, block));
    }
  return true;
}

// Where the copy is made more than once, places in its region that the block leaves out may have been written in another step or by another block,
// and would be lost. TVM does not ask.
static bool check_gaps(tvms_cache *c, int32_t block) {
  tvms_sched *s = c->sched;
  bool once = tvms_sched_parent(s, c->place) == TVMS_NO_SITE;
  if (once || tvms_sched_writes_all(s, block, c->write, c->place, c->region))
    return true;
  tvms_vec_fini(&s->context->memory, &c->consumers);
  return tvms_sched_refuse(s, "block '%s' may leave out places of what would be copied",
                           tvms_sched_block_name(s, block));
}

static void give_block(tvms_step *step, tvms_cache *c, tvms_node *block) {
  tvms_vec_fini(&c->sched->context->memory, &c->consumers);
  int32_t site = tvms_sched_site_of(c->sched, block);
  tvms_sched_flags_give(c->sched, site);
  tvms_step_give(step, site);
}

static bool open_cache(tvms_step *step, uint32_t scope_argument, uint32_t consumers,
                       int32_t block, tvms_cache *c) {
  c->sched = step->sched;
  c->scope_name = step->args[scope_argument].text;
  return tvms_cache_check_scope(c->sched, c->scope_name)
         && tvms_sched_check_scope(c->sched, block, false, &c->scope)
         && tvms_cache_consumers(step, consumers, c);
}

bool tvms_step_cache_read(tvms_step *step) {
  tvms_sched *s = step->sched;
  tvms_cache c = {0};
  int32_t block = tvms_step_site(step, TVMS_ARG(CacheRead, block));
  if (block == TVMS_NO_SITE) return false;
  c.read = tvms_step_numbered_buffer(step, TVMS_ARG(CacheRead, read_buffer_index),
                                     block, false);
  bool fine = c.read
              && open_cache(step, TVMS_ARG(CacheRead, storage_scope),
                            TVMS_ARG(CacheRead, consumer_blocks), block, &c)
              && tvms_cache_check_cover(s, c.scope, c.read) && read_region(&c, block)
              && check_ends(&c, c.read);
  if (!fine) return false;
  tvms_cache_make_buffer(&c, c.read);
  c.write = c.own;
  tvms_node *made, *stage = tvms_cache_stage(&c, &made);
  tvms_sched_swap swap = {c.read, c.write, c.full ? NULL : &c.region};
  rewriting w = {.cache = &c, .swap = &swap};
  tvms_cache_insert(&c, rewritten(&w, rewrite_reader), stage);
  give_block(step, &c, made);
  return true;
}

// ---- cache_write ----

// A sum that goes on in loops around the copy would begin anew in it each time, and steps of such loops in which the block does not run would copy
// what it has not written. TVM does not ask, though loop_partition makes such scopes.
static bool check_around(tvms_sched *s, int32_t block, int32_t scope) {
  tvms_node *predicate = tvms_sched_realize(s, block)->predicate;
  for (int32_t at = tvms_sched_parent(s, scope); at != TVMS_NO_SITE;
       at = tvms_sched_parent(s, at)) {
    if (!tvms_sched_is_loop(s, at)) continue;
    if (tvms_sched_is_reduced_by(s, block, at))
      return tvms_sched_refuse(s, "block '%s' is reduced by a loop around its scope",
                               tvms_sched_block_name(s, block));
    if (tvms_sched_uses(s, predicate, tvms_sched_loop(s, at)->var))
      return tvms_sched_refuse(
          s, "block '%s' does not run in every step of a loop around its scope",
          tvms_sched_block_name(s, block));
  }
  return true;
}

bool tvms_step_cache_write(tvms_step *step) {
  tvms_sched *s = step->sched;
  tvms_cache c = {0};
  int32_t block = tvms_step_site(step, TVMS_ARG(CacheWrite, block)), writer;
  if (block == TVMS_NO_SITE) return false;
  c.write = tvms_step_numbered_buffer(step, TVMS_ARG(CacheWrite, write_buffer_index),
                                      block, true);
  bool fine = c.write
              && open_cache(step, TVMS_ARG(CacheWrite, storage_scope),
                            TVMS_ARG(CacheWrite, consumer_blocks), block, &c)
              && tvms_cache_writer(s, c.scope, c.write, &writer)
              && tvms_sched_check_steps(s, block)
              && tvms_sched_check_stores(s, block, c.write)
              && check_around(s, block, c.scope);
  if (!fine) return false;
  tvms_cache_write_place(&c, block);
  tvms_node *region = tvms_sched_region_of(tvms_sched_block(s, block)->writes, c.write);
  tvms_node *condition = nested_condition(s, block, c.write, true);
  c.region = tvms_sched_relax(s, block, region, c.place, condition);
  if (!check_ends(&c, c.write) || !check_declared(&c, block, region, condition)
      || !check_gaps(&c, block))
    return false;
  tvms_cache_make_buffer(&c, c.write);
  c.read = c.own;
  tvms_node *made, *stage = tvms_cache_stage(&c, &made);
  tvms_sched_swap swap = {c.write, c.read, c.full ? NULL : &c.region};
  rewriting w = {.cache = &c, .swap = &swap, .writer = tvms_sched_at(s, block)->node};
  tvms_cache_insert(&c, rewritten(&w, rewrite_writer), stage);
  give_block(step, &c, made);
  return true;
}
