#include "schedule/scope.h"

#include "ir/walk.h"
#include "schedule/flags.h"

// ---- Where things are ----

void tvms_sched_loops(const tvms_sched *sched, int32_t site, tvms_site_vec *loops) {
  tvms_memory *memory = &sched->context->memory;
  uint32_t first = loops->len;
  for (int32_t at = tvms_sched_parent(sched, site);
       at != TVMS_NO_SITE && tvms_sched_is_loop(sched, at);
       at = tvms_sched_parent(sched, at))
    tvms_vec_push(memory, loops, at);
  for (uint32_t i = first, k = loops->len; i + 1 < k; i++) {
    int32_t last = loops->items[--k];
    loops->items[k] = loops->items[i];
    loops->items[i] = last;
  }
}

void tvms_sched_children(const tvms_sched *sched, int32_t site, tvms_site_vec *blocks) {
  uint32_t end = tvms_sched_at(sched, site)->end;
  for (uint32_t i = (uint32_t)site + 1; i < end; i++) {
    if (tvms_sched_is_loop(sched, (int32_t)i)) continue;
    tvms_vec_push(&sched->context->memory, blocks, (int32_t)i);
    i = tvms_sched_at(sched, (int32_t)i)->end - 1;
  }
}

int32_t tvms_sched_common(const tvms_sched *sched, int32_t a, int32_t b) {
  while (!tvms_sched_is_in(sched, b, a))
    a = tvms_sched_parent(sched, a);
  return a;
}

void tvms_sched_domains(const tvms_sched *sched, int32_t site, int32_t above,
                        tvms_domain_vec *domains) {
  for (; site != above && site != TVMS_NO_SITE && tvms_sched_is_loop(sched, site);
       site = tvms_sched_parent(sched, site)) {
    const tvms_for *loop = tvms_sched_loop(sched, site);
    tvms_iter_domain domain = {loop->var, loop->min, loop->extent};
    tvms_vec_push(&sched->context->memory, domains, domain);
  }
}

void tvms_sched_domain_sets(const tvms_sched *sched, int32_t site, int32_t above,
                            tvms_domains *sets) {
  tvms_domain_vec run = {0};
  tvms_sched_domains(sched, site, above, &run);
  tvms_domains_init(sets, sched->unit);
  for (uint32_t i = 0; i < run.len; i++)
    tvms_domains_set(
        sets, run.items[i].var,
        tvms_int_set_of_range(sched->unit, run.items[i].min, run.items[i].extent));
  tvms_vec_fini(&sched->context->memory, &run);
}

void tvms_sched_add_axes(tvms_domains *domains, const tvms_block *block) {
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(block->iter_vars.items[i]);
    const tvms_range *dom = tvms_as_range(axis->dom);
    tvms_domains_set(domains, axis->var,
                     tvms_int_set_of_range(domains->unit, dom->min, dom->extent));
  }
}

void tvms_sched_add_all(tvms_domains *domains, const tvms_sched *sched, int32_t site) {
  for (; site != TVMS_NO_SITE; site = tvms_sched_parent(sched, site)) {
    if (!tvms_sched_is_loop(sched, site)) {
      tvms_sched_add_axes(domains, tvms_sched_block(sched, site));
      continue;
    }
    const tvms_for *loop = tvms_sched_loop(sched, site);
    tvms_domains_set(domains, loop->var,
                     tvms_int_set_of_range(sched->unit, loop->min, loop->extent));
  }
}

tvms_analyzer *tvms_sched_analyzer(const tvms_sched *sched, int32_t site) {
  tvms_analyzer *analyzer = tvms_analyzer_new(sched->unit);
  for (; site != TVMS_NO_SITE; site = tvms_sched_parent(sched, site)) {
    if (!tvms_sched_is_loop(sched, site)) continue;
    const tvms_for *loop = tvms_sched_loop(sched, site);
    tvms_analyzer_bind_range(analyzer, loop->var, loop->min, loop->extent);
  }
  return analyzer;
}

void tvms_sched_mark_sizes(const tvms_sched *sched, tvms_analyzer *analyzer) {
  tvms_list buffers = tvms_as_prim_func(sched->function)->buffers;
  for (uint32_t i = 0; i < buffers.len; i++) {
    if (!buffers.items[i]) continue;
    tvms_list shape = tvms_as_buffer(buffers.items[i])->shape;
    for (uint32_t k = 0; k < shape.len; k++)
      tvms_analyzer_mark_nonnegative(analyzer, shape.items[k]);
  }
}

// ---- Regions ----

tvms_node *tvms_sched_region_buffer(tvms_list regions, uint32_t index) {
  return tvms_as_buffer_region(regions.items[index])->buffer;
}

bool tvms_sched_touches(tvms_list regions, const tvms_node *buffer) {
  for (uint32_t i = 0; i < regions.len; i++)
    if (tvms_sched_region_buffer(regions, i) == buffer) return true;
  return false;
}

static bool share_buffer(tvms_list a, tvms_list b) {
  for (uint32_t i = 0; i < a.len; i++)
    if (tvms_sched_touches(b, tvms_sched_region_buffer(a, i))) return true;
  return false;
}

// ---- Dependencies ----

// Does `later` depend on `earlier` by what the latter writes?
static bool follows(const tvms_sched *sched, int32_t earlier, int32_t later) {
  const tvms_block *a = tvms_sched_block(sched, earlier);
  const tvms_block *b = tvms_sched_block(sched, later);
  return share_buffer(a->writes, b->reads) || share_buffer(a->writes, b->writes);
}

static void related(const tvms_sched *sched, int32_t block, bool before,
                    tvms_site_vec *found) {
  tvms_memory *memory = &sched->context->memory;
  tvms_site_vec all = {0};
  int32_t scope = tvms_sched_scope(sched, block);
  if (scope == TVMS_NO_SITE) return;
  tvms_sched_children(sched, scope, &all);
  for (uint32_t i = 0; i < all.len; i++) {
    int32_t other = all.items[i];
    if (before ? other >= block : other <= block) continue;
    bool related_to =
        before ? follows(sched, other, block) : follows(sched, block, other);
    if (related_to) tvms_vec_push(memory, found, other);
  }
  tvms_vec_fini(memory, &all);
}

void tvms_sched_producers(const tvms_sched *sched, int32_t block,
                          tvms_site_vec *found) {
  related(sched, block, true, found);
}

void tvms_sched_consumers(const tvms_sched *sched, int32_t block,
                          tvms_site_vec *found) {
  related(sched, block, false, found);
}

bool tvms_sched_is_output(const tvms_sched *sched, int32_t block) {
  return tvms_sched_writes_out(sched, block, tvms_sched_scope(sched, block));
}

bool tvms_sched_writes_out(const tvms_sched *sched, int32_t block, int32_t above) {
  const tvms_block *scope = tvms_sched_block(sched, above);
  tvms_list writes = tvms_sched_block(sched, block)->writes;
  for (uint32_t i = 0; i < writes.len; i++) {
    const tvms_node *buffer = tvms_sched_region_buffer(writes, i);
    bool own = false;
    for (uint32_t k = 0; k < scope->alloc_buffers.len; k++)
      own = own || scope->alloc_buffers.items[k] == buffer;
    if (!own) return true;
  }
  return false;
}

// ---- Kinds of blocks ----

bool tvms_sched_takes_loop(const tvms_sched *sched, int32_t block, int32_t loop) {
  tvms_list values = tvms_sched_realize(sched, block)->iter_values;
  const tvms_node *var = tvms_sched_loop(sched, loop)->var;
  for (uint32_t i = 0; i < values.len; i++)
    if (tvms_sched_uses(sched, values.items[i], var)) return true;
  return false;
}

int32_t tvms_sched_loop_of_no_axis(const tvms_sched *sched, int32_t block,
                                   int32_t loop) {
  for (int32_t at = block; at != loop;) {
    at = tvms_sched_parent(sched, at);
    bool once = tvms_node_is_int(tvms_sched_loop(sched, at)->extent, 1);
    if (!once && !tvms_sched_takes_loop(sched, block, at)) return at;
  }
  return TVMS_NO_SITE;
}

bool tvms_sched_is_reduced_by(const tvms_sched *sched, int32_t block, int32_t loop) {
  const tvms_block_realize *realize = tvms_sched_realize(sched, block);
  tvms_list axes = tvms_as_block(realize->block)->iter_vars;
  const tvms_node *var = tvms_sched_loop(sched, loop)->var;
  for (uint32_t i = 0; i < axes.len; i++)
    if (tvms_as_iter_var(axes.items[i])->iter_type == TVMS_ITER_COMM_REDUCE
        && tvms_sched_uses(sched, realize->iter_values.items[i], var))
      return true;
  return false;
}

bool tvms_sched_is_affine(const tvms_sched *sched, int32_t block, int32_t above) {
  int32_t parent = tvms_sched_parent(sched, block);
  if (parent == TVMS_NO_SITE) return tvms_sched_block(sched, block)->iter_vars.len == 0;
  tvms_domain_vec domains = {0};
  tvms_sched_domains(sched, parent, above, &domains);
  if (!domains.len) return true;
  const tvms_block_realize *realize = tvms_sched_realize(sched, block);
  uint32_t count = realize->iter_values.len;
  tvms_iter_image *images =
      tvms_arena_array(&sched->unit->arena, tvms_iter_image, count + 1);
  tvms_analyzer *analyzer = tvms_sched_analyzer(sched, parent);
  bool affine = tvms_iter_map_detect(sched->unit, analyzer, domains.items, domains.len,
                                     realize->iter_values.items, count,
                                     realize->predicate, true, images);
  for (uint32_t i = 0; affine && i < count; i++)
    affine = !images[i].scale || tvms_node_is_int(images[i].scale, 1);
  tvms_analyzer_free(analyzer);
  tvms_vec_fini(&sched->context->memory, &domains);
  return affine;
}

// How many blocks right below `site` write a buffer.
static uint32_t count_writers(const tvms_sched *sched, int32_t site,
                              const tvms_node *buffer) {
  tvms_site_vec all = {0};
  tvms_sched_children(sched, site, &all);
  uint32_t count = 0;
  for (uint32_t i = 0; i < all.len; i++)
    count += tvms_sched_touches(tvms_sched_block(sched, all.items[i])->writes, buffer);
  tvms_vec_fini(&sched->context->memory, &all);
  return count;
}

// Below a loop TVM counts the writers within each block, and not the blocks themselves.
static bool is_dominant_in_loop(const tvms_sched *sched, int32_t block, int32_t loop) {
  tvms_site_vec all = {0};
  tvms_sched_children(sched, loop, &all);
  tvms_list writes = tvms_sched_block(sched, block)->writes;
  bool alone = true;
  for (uint32_t i = 0; i < writes.len; i++) {
    uint32_t count = 0;
    for (uint32_t k = 0; k < all.len && !count; k++)
      count = count_writers(sched, all.items[k], tvms_sched_region_buffer(writes, i));
    alone = alone && count <= 1;
  }
  tvms_vec_fini(&sched->context->memory, &all);
  return alone;
}

// Does only one block right below `scope` write each of the outputs? It is the block, or one that has it.
static bool is_dominant(const tvms_sched *sched, int32_t block, int32_t scope) {
  if (tvms_sched_is_loop(sched, scope)) return is_dominant_in_loop(sched, block, scope);
  tvms_list writes = tvms_sched_block(sched, block)->writes;
  bool alone = true;
  for (uint32_t i = 0; i < writes.len; i++)
    alone =
        alone && count_writers(sched, scope, tvms_sched_region_buffer(writes, i)) <= 1;
  return alone;
}

const char *TVMS_NULLABLE tvms_sched_why_incomplete(const tvms_sched *sched,
                                                    int32_t block, int32_t scope) {
  const tvms_block *b = tvms_sched_block(sched, block);
  for (uint32_t i = 0; i < b->iter_vars.len; i++)
    if (tvms_as_iter_var(b->iter_vars.items[i])->iter_type != TVMS_ITER_DATA_PAR)
      return "it has axes other than spatial ones";
  if (!is_dominant(sched, block, scope)) return "another block writes what it writes";
  return share_buffer(b->writes, b->reads) ? "it reads what it writes" : NULL;
}

bool tvms_sched_uses(const tvms_sched *sched, tvms_node *node, const tvms_node *var) {
  return tvms_walk_contains(&sched->context->memory, node, var);
}

static bool reduction_indexes_output(const tvms_sched *sched, const tvms_block *block) {
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(block->iter_vars.items[i]);
    if (axis->iter_type != TVMS_ITER_COMM_REDUCE) continue;
    for (uint32_t k = 0; k < block->writes.len; k++) {
      tvms_list region = tvms_as_buffer_region(block->writes.items[k])->region;
      for (uint32_t d = 0; d < region.len; d++)
        if (tvms_sched_uses(sched, region.items[d], axis->var)) return true;
    }
  }
  return false;
}

const char *TVMS_NULLABLE tvms_sched_why_no_reduction(const tvms_sched *sched,
                                                      int32_t block, int32_t scope) {
  const tvms_block *b = tvms_sched_block(sched, block);
  if (!b->init) return "it has no T.init()";
  if (!tvms_sched_flags_affine(sched, block))
    return "its axes are not bound to sums of loops";
  for (uint32_t i = 0; i < b->iter_vars.len; i++) {
    uint32_t type = tvms_as_iter_var(b->iter_vars.items[i])->iter_type;
    if (type != TVMS_ITER_DATA_PAR && type != TVMS_ITER_COMM_REDUCE)
      return "it has axes that are neither spatial nor reduced";
  }
  if (!is_dominant(sched, block, scope)) return "another block writes what it writes";
  return reduction_indexes_output(sched, b) ? "a reduced axis indexes what it writes"
                                            : NULL;
}

bool tvms_sched_runs_always(const tvms_sched *sched, int32_t block) {
  tvms_node *predicate = tvms_sched_realize(sched, block)->predicate;
  tvms_analyzer *analyzer = tvms_sched_analyzer(sched, block);
  bool always = tvms_analyzer_can_prove(analyzer, predicate);
  tvms_analyzer_free(analyzer);
  return always;
}

const char *tvms_sched_block_name(const tvms_sched *sched, int32_t block) {
  const tvms_block *b = tvms_sched_block(sched, block);
  return b->name.len ? b->name.text : "";
}

bool tvms_sched_check_block(tvms_sched *sched, int32_t block, int32_t scope) {
  const char *incomplete = tvms_sched_why_incomplete(sched, block, scope);
  if (!incomplete) return true;
  const char *other = tvms_sched_why_no_reduction(sched, block, scope);
  if (!other) return true;
  return tvms_sched_refuse(sched,
                           "block '%s' is neither complete (%s) nor a reduction (%s)",
                           tvms_sched_block_name(sched, block), incomplete, other);
}

bool tvms_sched_check_compact(tvms_sched *sched, int32_t site) {
  tvms_site_vec all = {0};
  tvms_sched_children(sched, site, &all);
  bool fine = true;
  for (uint32_t i = 0; fine && i < all.len; i++)
    fine = tvms_sched_check_block(sched, all.items[i], site);
  tvms_vec_fini(&sched->context->memory, &all);
  return fine;
}

// ---- Scopes ----

bool tvms_sched_has_write_after_read(const tvms_sched *sched, int32_t scope) {
  tvms_site_vec all = {0};
  tvms_sched_children(sched, scope, &all);
  bool found = false;
  for (uint32_t i = 0; i < all.len; i++)
    for (uint32_t k = i + 1; k < all.len; k++)
      found = found
              || share_buffer(tvms_sched_block(sched, all.items[i])->reads,
                              tvms_sched_block(sched, all.items[k])->writes);
  tvms_vec_fini(&sched->context->memory, &all);
  return found;
}

bool tvms_sched_check_scope(tvms_sched *sched, int32_t site, bool pipeline,
                            int32_t *scope) {
  *scope = tvms_sched_scope(sched, site);
  if (*scope == TVMS_NO_SITE)
    return tvms_sched_refuse(sched, "the root block cannot be scheduled");
  if (!pipeline || tvms_sched_flags_pipeline(sched, *scope)) return true;
  return tvms_sched_refuse(
      sched, "the scope of block '%s' is not a pipeline of stages: one %s",
      tvms_sched_block_name(sched, *scope),
      tvms_sched_has_write_after_read(sched, *scope)
          ? "writes what an earlier one reads"
          : "may read what no other has written before");
}
