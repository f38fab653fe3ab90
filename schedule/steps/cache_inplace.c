// cache_inplace: a block works on a copy of a buffer that it reads and writes; the copy is made right before it, and copied back right after.
// TVM: src/s_tir/schedule/primitive/cache_read_write.cc, CacheInplace.
#include "schedule/bindings.h"
#include "schedule/buffer_argument.h"
#include "schedule/buffers.h"
#include "schedule/cache_stage.h"
#include "schedule/flags.h"
#include "schedule/region.h"
#include "schedule/steps.h"

// The statement next to which the copies stand: the innermost sequence, or the loop right around the block.
static uint32_t index_in(const tvms_sched *s, const tvms_node *body, int32_t block) {
  const tvms_node *realize = tvms_sched_at(s, block)->realize;
  if (body->kind != TVMS_NODE_SEQ) return 0;
  tvms_list stmts = tvms_as_seq(body)->stmts;
  for (uint32_t i = 0; i < stmts.len; i++)
    if (stmts.items[i] == realize) return i;
  return 0;
}

static bool is_within_axes(tvms_sched *s, int32_t block, tvms_node *region) {
  tvms_list axes = tvms_sched_block(s, block)->iter_vars;
  tvms_list ranges = tvms_as_buffer_region(region)->region;
  for (uint32_t i = 0; i < axes.len; i++)
    for (uint32_t k = 0; k < ranges.len; k++)
      if (tvms_sched_uses(s, ranges.items[k], tvms_as_iter_var(axes.items[i])->var))
        return true;
  return false;
}

static bool check(tvms_sched *s, int32_t block, const tvms_node *buffer,
                  tvms_node **reads, tvms_node **writes) {
  const tvms_block *b = tvms_sched_block(s, block);
  const char *name = tvms_sched_buffer_name(s, buffer);
  tvms_node *read = tvms_sched_region_of(b->reads, buffer);
  tvms_node *written = tvms_sched_region_of(b->writes, buffer);
  if (!read || !written)
    return tvms_sched_refuse(s, "the block does not both read and write '%s'", name);
  if (is_within_axes(s, block, read) || is_within_axes(s, block, written))
    return tvms_sched_refuse(
        s, "which part of '%s' is used depends on the block's axes", name);
  *reads = read;
  *writes = written;
  return true;
}

// One of the two copies, with its loops.
static tvms_node *make_copy(tvms_cache *c, tvms_node *region, bool back, tvms_node *old,
                            tvms_node **block) {
  c->region = tvms_as_buffer_region(region)->region;
  c->full = true;
  c->read = back ? c->own : old;
  c->write = back ? old : c->own;
  return tvms_cache_stage(c, block);
}

bool tvms_step_cache_inplace(tvms_step *step) {
  tvms_sched *s = step->sched;
  tvms_cache c = {.sched = s,
                  .scope_name = step->args[TVMS_ARG(CacheInplace, storage_scope)].text};
  int32_t block = tvms_step_site(step, TVMS_ARG(CacheInplace, block));
  if (block == TVMS_NO_SITE) return false;
  tvms_node *buffer = tvms_step_numbered_buffer(
      step, TVMS_ARG(CacheInplace, read_buffer_index), block, false);
  tvms_node *reads = NULL, *writes = NULL, *made[2], *stage[2];
  bool fine = buffer && tvms_cache_check_scope(s, c.scope_name)
              && tvms_sched_check_scope(s, block, false, &c.scope)
              && tvms_cache_check_cover(s, c.scope, buffer)
              && check(s, block, buffer, &reads, &writes);
  if (!fine) return false;
  c.own = tvms_sched_buffer_like(
      s, buffer, tvms_sched_joined(s, tvms_sched_buffer_name(s, buffer), c.scope_name),
      c.scope_name, NULL);
  for (uint32_t i = 0; i < 2; i++)
    stage[i] = make_copy(&c, i ? writes : reads, i == 1, buffer, &made[i]);
  int32_t parent = tvms_sched_parent(s, block);
  bool loop = tvms_sched_is_loop(s, parent);
  const tvms_node *body =
      loop ? tvms_sched_loop(s, parent)->body : tvms_sched_block(s, parent)->body;
  uint32_t index = index_in(s, body, block);
  tvms_sched_swap swap = {buffer, c.own, NULL};
  tvms_node *old = tvms_sched_at(s, block)->node;
  tvms_sched_edit edit = {old, tvms_sched_swapped(s, old, &swap)};
  c.place = parent;
  tvms_node *scope = tvms_sched_at(s, c.scope)->node;
  c.index = index;
  tvms_cache_insert_pair(&c, tvms_sched_edited(s->unit, scope, &edit, 1), stage);
  int32_t sites[] = {tvms_sched_site_of(s, made[0]), tvms_sched_site_of(s, made[1])};
  for (uint32_t i = 0; i < 2; i++) {
    tvms_sched_flags_give(s, sites[i]);
    tvms_sched_flags *flags = tvms_sched_flags_of(s, sites[i]);
    if (flags) flags->pipeline = false;
  }
  tvms_step_give_list(step, sites, 2);
  return true;
}
