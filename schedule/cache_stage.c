#include "schedule/cache_stage.h"

#include "ir/walk.h"
#include "schedule/bindings.h"
#include "schedule/buffers.h"
#include "schedule/declared.h"
#include "schedule/flags.h"
#include "schedule/make.h"
#include "schedule/region.h"

#include <string.h>

// ---- Arguments ----

static void add_block(tvms_cache *c, int32_t site) {
  tvms_memory *memory = &c->sched->context->memory;
  tvms_vec_push(memory, &c->consumers, site);
  tvms_sched_children(c->sched, site, &c->consumers);
}

bool tvms_cache_consumers(tvms_step *step, uint32_t argument, tvms_cache *cache) {
  const tvms_sched_value *list = &step->args[argument];
  if (list->kind != TVMS_VALUE_LIST) return true;
  int32_t *sites = tvms_arena_array(&step->schedule->arena, int32_t, list->len + 1);
  if (!tvms_step_sites(step, argument, sites)) return false;
  for (uint32_t i = 0; i < list->len; i++)
    add_block(cache, sites[i]);
  return true;
}

bool tvms_cache_is_consumer(const tvms_cache *cache, const tvms_node *block) {
  for (uint32_t i = 0; i < cache->consumers.len; i++)
    if (tvms_sched_at(cache->sched, cache->consumers.items[i])->node == block)
      return true;
  return false;
}

// What names of scopes begin with (TVM: StorageScope::Create).
static const char *const scopes[] = {"global",
                                     "shared",
                                     "warp",
                                     "local",
                                     "wmma.matrix_a",
                                     "wmma.matrix_b",
                                     "wmma.accumulator",
                                     "texture",
                                     "amx.tmm",
                                     "m16n8k8.matrixA",
                                     "m16n8k8.matrixB",
                                     "m16n8k8.matrixC",
                                     "metal.simdgroup",
                                     "tmem",
                                     "trn.sbuf",
                                     "trn.psum"};

bool tvms_cache_check_scope(tvms_sched *sched, const char *name) {
  for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++)
    if (strncmp(name, scopes[i], strlen(scopes[i])) == 0) return true;
  return tvms_sched_refuse(sched, "'%s' is no scope of memory", name);
}

tvms_node *TVMS_NULLABLE tvms_cache_buffer(tvms_sched *sched, int32_t block,
                                           int64_t index, bool written) {
  const tvms_block *b = tvms_sched_block(sched, block);
  tvms_list regions = written ? b->writes : b->reads;
  if (index >= 0 && index < regions.len)
    return tvms_sched_region_buffer(regions, (uint32_t)index);
  tvms_strbuf names;
  tvms_strbuf_init(&names, &sched->context->memory);
  for (uint32_t i = 0; i < regions.len; i++)
    tvms_sched_quote(
        &names, tvms_sched_buffer_name(sched, tvms_sched_region_buffer(regions, i)));
  const char *does = written ? "writes" : "reads";
  (void)!tvms_sched_refuse(sched, "block '%s' %s no buffer %lld; it %s %s",
                           tvms_sched_block_name(sched, block), does, (long long)index,
                           does, regions.len ? names.text : "none");
  tvms_strbuf_fini(&names);
  return NULL;
}

bool tvms_cache_writer(tvms_sched *sched, int32_t scope, const tvms_node *buffer,
                       int32_t *writer) {
  *writer = TVMS_NO_SITE;
  if (!tvms_sched_check_declared(sched, scope, buffer)) return false;
  tvms_site_vec blocks = {0};
  tvms_sched_children(sched, scope, &blocks);
  uint32_t count = 0;
  for (uint32_t i = 0; i < blocks.len; i++) {
    if (!tvms_sched_touches(tvms_sched_block(sched, blocks.items[i])->writes, buffer))
      continue;
    *writer = blocks.items[i];
    count++;
  }
  tvms_vec_fini(&sched->context->memory, &blocks);
  return count < 2
         || tvms_sched_refuse(sched, "%u blocks write '%s'", count,
                              tvms_sched_buffer_name(sched, buffer));
}

bool tvms_cache_check_cover(tvms_sched *sched, int32_t scope, const tvms_node *buffer) {
  tvms_site_vec blocks = {0};
  tvms_sched_children(sched, scope, &blocks);
  bool fine = true;
  for (uint32_t i = 0; fine && i < blocks.len; i++)
    if (tvms_sched_touches(tvms_sched_block(sched, blocks.items[i])->reads, buffer)
        && !tvms_sched_flags_cover(sched, blocks.items[i]))
      fine = tvms_sched_refuse(
          sched, "block '%s' may read elements that no block of its scope has written",
          tvms_sched_block_name(sched, blocks.items[i]));
  tvms_vec_fini(&sched->context->memory, &blocks);
  return fine;
}

// ---- Where ----

typedef struct {
  const tvms_sched *sched;
  int32_t block, scope;
  const tvms_site_vec *related;
  bool saw_block, saw_related;
  int32_t place;  // TVMS_NO_SITE: not found yet
  int32_t index;  // -1: not found yet
} search;

static void look(search *s, const tvms_node *node);

static void look_in_sequence(search *s, tvms_list stmts) {
  bool before = s->saw_block;
  s->saw_block = false;
  for (uint32_t i = 0; i < stmts.len && s->index < 0; i++) {
    look(s, stmts.items[i]);
    if (s->saw_block && s->saw_related && s->index < 0) s->index = (int32_t)i;
    if (s->saw_related) break;
  }
  s->saw_block = s->saw_block || before;
}

static void look_at_block(search *s, const tvms_node *block) {
  int32_t site = tvms_sched_site_of(s->sched, block);
  if (site == s->block) s->saw_block = true;
  for (uint32_t i = 0; site != s->block && i < s->related->len; i++)
    if (s->related->items[i] == site) s->saw_related = true;
}

static void look(search *s, const tvms_node *node) {
  if (node->kind == TVMS_NODE_SEQ) {
    look_in_sequence(s, tvms_as_seq(node)->stmts);
    return;
  }
  if (node->kind == TVMS_NODE_BLOCK_REALIZE) {
    look_at_block(s, tvms_as_block_realize(node)->block);
    return;
  }
  tvms_node *child;
  for (tvms_child_at at = {0}; (child = tvms_walk_next_child(node, &at));)
    if (at.role == TVMS_ROLE_BODY) look(s, child);
  bool found = node->kind == TVMS_NODE_FOR && s->saw_block && s->saw_related
               && s->place == TVMS_NO_SITE && s->index >= 0;
  if (found) s->place = tvms_sched_site_of(s->sched, node);
}

void tvms_cache_locate(tvms_cache *cache, int32_t block, const tvms_site_vec *related) {
  const tvms_node *body = tvms_sched_block(cache->sched, cache->scope)->body;
  cache->place = cache->scope;
  if (!related->len) {
    cache->index = body->kind == TVMS_NODE_SEQ ? tvms_as_seq(body)->stmts.len : 1;
    return;
  }
  search s = {.sched = cache->sched,
              .block = block,
              .scope = cache->scope,
              .related = related,
              .place = TVMS_NO_SITE,
              .index = -1};
  look(&s, body);
  if (s.place == TVMS_NO_SITE) {
    s.place = cache->scope;
    if (!s.saw_block && s.index < 0) s.index = 0;
  }
  cache->place = s.place;
  cache->index = s.index < 0 ? 0 : (uint32_t)s.index;
}

void tvms_cache_write_place(tvms_cache *cache, int32_t block) {
  tvms_sched *s = cache->sched;
  tvms_site_vec readers = {0}, related = {0};
  tvms_sched_consumers(s, block, &readers);
  tvms_list writes = tvms_sched_block(s, block)->writes;
  for (uint32_t i = 0; i < readers.len; i++) {
    const tvms_block *reader = tvms_sched_block(s, readers.items[i]);
    bool reads = false;
    for (uint32_t k = 0; k < writes.len; k++)
      reads = reads
              || tvms_sched_touches(reader->reads, tvms_sched_region_buffer(writes, k));
    if (reads && !tvms_cache_is_consumer(cache, &reader->head))
      tvms_vec_push(&s->context->memory, &related, readers.items[i]);
  }
  tvms_cache_locate(cache, block, &related);
  tvms_vec_fini(&s->context->memory, &readers);
  tvms_vec_fini(&s->context->memory, &related);
}

// ---- The new buffer ----

// Are all blocks of the scope that read a buffer below a site?
static bool all_readers_below(const tvms_cache *c, const tvms_node *buffer) {
  tvms_site_vec blocks = {0};
  tvms_sched_children(c->sched, c->scope, &blocks);
  bool below = true;
  for (uint32_t i = 0; i < blocks.len; i++)
    below = below
            && (!tvms_sched_touches(tvms_sched_block(c->sched, blocks.items[i])->reads,
                                    buffer)
                || tvms_sched_is_in(c->sched, blocks.items[i], c->place));
  tvms_vec_fini(&c->sched->context->memory, &blocks);
  return below;
}

void tvms_cache_make_buffer(tvms_cache *cache, const tvms_node *old) {
  tvms_sched *s = cache->sched;
  cache->full = tvms_sched_is_loop(s, cache->place) || !all_readers_below(cache, old);
  tvms_list shape = tvms_list_copy(s->unit, cache->region.items, cache->region.len);
  for (uint32_t i = 0; i < shape.len; i++)
    shape.items[i] = tvms_as_range(cache->region.items[i])->extent;
  const char *name =
      tvms_sched_joined(s, tvms_sched_buffer_name(s, old), cache->scope_name);
  cache->own = tvms_sched_buffer_like(s, old, name, cache->scope_name,
                                      cache->full ? NULL : &shape);
}

// ---- The copying block ----

typedef struct {
  tvms_node **loops, **axes, **values, **read_at, **write_at;
} stage_parts;

static void make_parts(tvms_cache *c, stage_parts *p) {
  tvms_sched *s = c->sched;
  const tvms_node *old = c->own == c->read ? c->write : c->read;
  for (uint32_t i = 0; i < c->region.len; i++) {
    const tvms_range *range = tvms_as_range(c->region.items[i]);
    tvms_dtype dtype = range->extent->dtype;
    p->loops[i] = tvms_sched_numbered(s, "ax", i, dtype);
    p->values[i] = c->full ? tvms_sched_build(s, TVMS_NODE_ADD, range->min, p->loops[i])
                           : p->loops[i];
    tvms_node *var = tvms_sched_numbered(s, "v", i, dtype);
    tvms_node *size = c->full ? tvms_as_buffer(old)->shape.items[i] : range->extent;
    p->axes[i] = tvms_sched_axis(s, var, size);
    tvms_node *there =
        c->full ? var : tvms_sched_build(s, TVMS_NODE_ADD, range->min, var);
    p->read_at[i] = c->own == c->read ? var : there;
    p->write_at[i] = c->own == c->write ? var : there;
  }
}

tvms_node *tvms_cache_stage(tvms_cache *cache, tvms_node **block) {
  tvms_sched *s = cache->sched;
  uint32_t rank = cache->region.len;
  tvms_node **room = tvms_arena_array(&s->unit->arena, tvms_node *, 5 * rank + 1);
  stage_parts p = {room, room + rank, room + 2 * rank, room + 3 * rank,
                   room + 4 * rank};
  make_parts(cache, &p);
  const tvms_node *old = cache->own == cache->read ? cache->write : cache->read;
  tvms_copy_block copy = {
      .name = tvms_sched_joined(s, tvms_sched_buffer_name(s, old), cache->scope_name),
      .from = cache->read,
      .to = cache->write,
      .axes = p.axes,
      .values = p.values,
      .count = rank,
      .from_at = p.read_at,
      .to_at = p.write_at,
      .from_rank = rank,
      .to_rank = rank};
  tvms_node *body = tvms_sched_copy_block(s, &copy, block);
  for (uint32_t i = rank; i-- > 0;)
    body = tvms_sched_for(s, p.loops[i], tvms_as_range(cache->region.items[i])->extent,
                          body);
  return body;
}

// ---- Putting it in ----

static void insert(tvms_cache *cache, tvms_node *scope_block, tvms_node *stage,
                   tvms_node *TVMS_NULLABLE back) {
  tvms_sched *s = cache->sched;
  tvms_sched_ref place = tvms_sched_ref_of(s, cache->place);
  tvms_node *old = tvms_sched_at(s, cache->scope)->node;
  tvms_block *copy = tvms_as_block(tvms_node_copy(s->unit, scope_block));
  tvms_sched_add_alloc(s, copy, cache->own);
  tvms_sched_replace_one(s, old, &copy->head);
  tvms_node *at = tvms_sched_at(s, tvms_sched_find(s, place))->node;
  tvms_node *made = tvms_node_copy(s->unit, at);
  tvms_node **body = made->kind == TVMS_NODE_FOR ? &tvms_as_for(made)->body
                                                 : &tvms_as_block(made)->body;
  *body = tvms_sched_inserted(s, *body, cache->index, stage);
  if (back) *body = tvms_sched_inserted(s, *body, cache->index + 2, back);
  tvms_sched_replace_one(s, at, made);
}

void tvms_cache_insert(tvms_cache *cache, tvms_node *scope_block, tvms_node *stage) {
  insert(cache, scope_block, stage, NULL);
}

void tvms_cache_insert_pair(tvms_cache *cache, tvms_node *scope_block,
                            tvms_node *const *stages) {
  insert(cache, scope_block, stages[0], stages[1]);
}
