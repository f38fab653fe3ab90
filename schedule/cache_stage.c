#include "schedule/cache_stage.h"

#include "ir/walk.h"
#include "schedule/bindings.h"
#include "schedule/buffers.h"
#include "schedule/region.h"

#include <stdio.h>
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
  (void)!tvms_sched_refuse(sched, "block '%s' %s %u buffers",
                           tvms_sched_block_name(sched, block),
                           written ? "writes" : "reads", regions.len);
  return NULL;
}

bool tvms_cache_writer(tvms_sched *sched, int32_t scope, const tvms_node *buffer,
                       int32_t *writer) {
  tvms_site_vec blocks = {0};
  tvms_sched_children(sched, scope, &blocks);
  uint32_t count = 0;
  *writer = TVMS_NO_SITE;
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

static tvms_node *named_var(tvms_sched *s, const char *letters, uint32_t i,
                            tvms_dtype dtype) {
  char name[16];
  int len = snprintf(name, sizeof name, "%s%u", letters, i);
  return tvms_var_new(s->unit, tvms_symbol_intern(s->context, name, (size_t)len), dtype,
                      TVMS_NO_SPAN);
}

typedef struct {
  tvms_node **loops, **axes, **values, **read_at, **write_at;
} stage_parts;

static void make_parts(tvms_cache *c, stage_parts *p) {
  tvms_sched *s = c->sched;
  const tvms_node *old = c->own == c->read ? c->write : c->read;
  for (uint32_t i = 0; i < c->region.len; i++) {
    const tvms_range *range = tvms_as_range(c->region.items[i]);
    tvms_dtype dtype = range->extent->dtype;
    p->loops[i] = named_var(s, "ax", i, dtype);
    p->values[i] = c->full ? tvms_sched_build(s, TVMS_NODE_ADD, range->min, p->loops[i])
                           : p->loops[i];
    tvms_node *var = named_var(s, "v", i, dtype);
    tvms_node *size = c->full ? tvms_as_buffer(old)->shape.items[i] : range->extent;
    tvms_iter_var *axis = tvms_node_make(s->unit, ITER_VAR, TVMS_NO_SPAN);
    axis->dom =
        tvms_range_new(s->unit, tvms_sched_int(s, size->dtype, 0), size, TVMS_NO_SPAN);
    axis->var = var;
    axis->iter_type = TVMS_ITER_DATA_PAR;
    p->axes[i] = &axis->head;
    tvms_node *there =
        c->full ? var : tvms_sched_build(s, TVMS_NODE_ADD, range->min, var);
    p->read_at[i] = c->own == c->read ? var : there;
    p->write_at[i] = c->own == c->write ? var : there;
  }
}

static tvms_node *point(tvms_sched *s, tvms_node *buffer, tvms_node *const *indices,
                        uint32_t rank) {
  tvms_node **ranges = tvms_arena_array(&s->unit->arena, tvms_node *, rank + 1);
  for (uint32_t i = 0; i < rank; i++)
    ranges[i] = tvms_range_new(s->unit, indices[i],
                               tvms_sched_int(s, indices[i]->dtype, 1), TVMS_NO_SPAN);
  return tvms_buffer_region_new(s->unit, buffer, ranges, rank, TVMS_NO_SPAN);
}

static tvms_block *make_block(tvms_cache *c, const stage_parts *p) {
  tvms_sched *s = c->sched;
  uint32_t rank = c->region.len;
  tvms_store *store = tvms_node_make(s->unit, STORE, TVMS_NO_SPAN);
  store->buffer = c->write;
  store->indices = tvms_list_copy(s->unit, p->write_at, rank);
  store->value =
      tvms_buffer_load_new(s->unit, c->read, p->read_at, rank, NULL, TVMS_NO_SPAN);
  tvms_block *block = tvms_node_make(s->unit, BLOCK, TVMS_NO_SPAN);
  tvms_node *reads = point(s, c->read, p->read_at, rank),
            *writes = point(s, c->write, p->write_at, rank);
  const tvms_node *old = c->own == c->read ? c->write : c->read;
  const char *name =
      tvms_sched_joined(s, tvms_sched_buffer_name(s, old), c->scope_name);
  block->iter_vars = tvms_list_copy(s->unit, p->axes, rank);
  block->reads = tvms_list_copy(s->unit, &reads, 1);
  block->writes = tvms_list_copy(s->unit, &writes, 1);
  block->name = tvms_bytes_copy(s->unit, name, strlen(name));
  block->body = &store->head;
  return block;
}

tvms_node *tvms_cache_stage(tvms_cache *cache, tvms_node **block) {
  tvms_sched *s = cache->sched;
  uint32_t rank = cache->region.len;
  tvms_node **room = tvms_arena_array(&s->unit->arena, tvms_node *, 5 * rank + 1);
  stage_parts p = {room, room + rank, room + 2 * rank, room + 3 * rank,
                   room + 4 * rank};
  make_parts(cache, &p);
  *block = &make_block(cache, &p)->head;
  tvms_block_realize *realize = tvms_node_make(s->unit, BLOCK_REALIZE, TVMS_NO_SPAN);
  realize->iter_values = tvms_list_copy(s->unit, p.values, rank);
  realize->predicate = tvms_bool_imm_new(s->unit, true, TVMS_NO_SPAN);
  realize->block = *block;
  tvms_node *body = &realize->head;
  for (uint32_t i = rank; i-- > 0;)
    body = tvms_sched_for(s, p.loops[i], tvms_as_range(cache->region.items[i])->extent,
                          body);
  return body;
}

// ---- Putting it in ----

void tvms_cache_insert(tvms_cache *cache, tvms_node *scope_block, tvms_node *stage) {
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
  tvms_sched_replace_one(s, at, made);
}
