#include "schedule/region.h"

#include "arith/iter_region.h"
#include "schedule/bindings.h"
#include "schedule/declared.h"
#include "schedule/storage_scope.h"

tvms_node *TVMS_NULLABLE tvms_sched_region_of(tvms_list regions,
                                              const tvms_node *buffer) {
  for (uint32_t i = 0; i < regions.len; i++)
    if (tvms_sched_region_buffer(regions, i) == buffer) return regions.items[i];
  return NULL;
}

tvms_node *tvms_sched_bound(tvms_sched *sched, const tvms_block_realize *realize,
                            tvms_node *node) {
  tvms_list axes = tvms_as_block(realize->block)->iter_vars;
  tvms_node_map map;
  tvms_node_map_init(&map, &sched->context->memory);
  for (uint32_t i = 0; i < axes.len; i++)
    tvms_node_map_put(&map, tvms_as_iter_var(axes.items[i])->var,
                      realize->iter_values.items[i]);
  tvms_node *made = tvms_substitute(sched->unit, node, &map);
  tvms_node_map_fini(&map);
  return made;
}

tvms_list tvms_sched_full_ranges(tvms_sched *sched, const tvms_node *buffer) {
  tvms_list shape = tvms_as_buffer(buffer)->shape;
  tvms_list ranges = tvms_list_copy(sched->unit, shape.items, shape.len);
  for (uint32_t i = 0; i < shape.len; i++)
    ranges.items[i] =
        tvms_range_new(sched->unit, tvms_sched_int(sched, TVMS_DTYPE(INT, 32), 0),
                       shape.items[i], TVMS_NO_SPAN);
  return ranges;
}

// ---- Covering ----

void tvms_sched_add_threads(tvms_sched *s, const tvms_node *buffer, int32_t from,
                            tvms_domain_vec *domains) {
  tvms_storage_rank rank =
      tvms_storage_rank_of(tvms_storage_scope_of(s->context, buffer));
  if (rank == TVMS_STORAGE_GLOBAL) return;
  for (; from != TVMS_NO_SITE; from = tvms_sched_parent(s, from)) {
    if (!tvms_sched_is_loop(s, from)) continue;
    const tvms_for *loop = tvms_sched_loop(s, from);
    if (!loop->thread) continue;
    const char *tag =
        tvms_symbol_text(s->context, tvms_as_iter_var(loop->thread)->thread_tag);
    if (!tvms_storage_is_shared_by(rank, tag)) continue;
    tvms_iter_domain domain = {loop->var, loop->min, loop->extent};
    tvms_vec_push(&s->context->memory, domains, domain);
  }
}

bool tvms_sched_cover(tvms_sched *sched, const tvms_sched_span *span, bool upper,
                      tvms_int_set *sets) {
  const tvms_buffer_region *region = tvms_as_buffer_region(span->region);
  uint32_t rank = region->region.len;
  tvms_domain_vec domains = {0};
  tvms_sched_domains(sched, span->low, span->high, &domains);
  int32_t top = span->low;
  while (top != span->high && top != TVMS_NO_SITE && tvms_sched_is_loop(sched, top))
    top = tvms_sched_parent(sched, top);
  tvms_sched_add_threads(sched, region->buffer, top, &domains);
  tvms_node **mins = tvms_arena_array(&sched->unit->arena, tvms_node *, 2 * rank + 1);
  for (uint32_t i = 0; i < rank; i++) {
    mins[i] = tvms_as_range(region->region.items[i])->min;
    mins[rank + i] = tvms_as_range(region->region.items[i])->extent;
  }
  tvms_analyzer *analyzer = tvms_analyzer_new(sched->unit);
  tvms_iter_region r = {.unit = sched->unit,
                        .analyzer = analyzer,
                        .domains = domains.items,
                        .domain_count = domains.len,
                        .predicate = span->predicate,
                        .mins = mins,
                        .extents = mins + rank,
                        .falls = !upper,
                        .rank = rank};
  bool found = true;
  if (upper) {
    tvms_domains sets_of;
    tvms_domains_init(&sets_of, sched->unit);
    for (uint32_t i = 0; i < domains.len; i++)
      tvms_domains_set(&sets_of, domains.items[i].var,
                       tvms_int_set_of_range(sched->unit, domains.items[i].min,
                                             domains.items[i].extent));
    tvms_iter_region_upper(&r, &sets_of, sets);
    tvms_domains_fini(&sets_of);
  } else {
    found = tvms_iter_region_strict(&r, sets);
  }
  tvms_analyzer_free(analyzer);
  tvms_vec_fini(&sched->context->memory, &domains);
  return found;
}

tvms_list tvms_sched_relax(tvms_sched *sched, int32_t block, tvms_node *region,
                           int32_t high, tvms_node *TVMS_NULLABLE condition) {
  const tvms_block_realize *realize = tvms_sched_realize(sched, block);
  tvms_node *predicate = realize->predicate;
  if (condition)
    predicate = tvms_sched_build(sched, TVMS_NODE_AND, predicate, condition);
  tvms_sched_span span = {.region = tvms_sched_bound(sched, realize, region),
                          .predicate = tvms_sched_bound(sched, realize, predicate),
                          .low = tvms_sched_parent(sched, block),
                          .high = high};
  const tvms_node *buffer = tvms_as_buffer_region(region)->buffer;
  tvms_list ranges = tvms_sched_full_ranges(sched, buffer);
  tvms_int_set *sets =
      tvms_arena_array(&sched->unit->arena, tvms_int_set, ranges.len + 1);
  (void)!tvms_sched_cover(sched, &span, true, sets);
  for (uint32_t i = 0; i < ranges.len; i++) {
    tvms_node *min, *extent;
    if (tvms_int_set_cover(sched->unit, sets[i], &min, &extent))
      ranges.items[i] = tvms_range_new(sched->unit, min, extent, TVMS_NO_SPAN);
  }
  return ranges;
}

// ---- What is written ----

static bool same_ranges(tvms_sched *s, const tvms_int_set *sets, tvms_list ranges) {
  bool same = true;
  for (uint32_t d = 0; same && d < ranges.len; d++) {
    const tvms_range *range = tvms_as_range(ranges.items[d]);
    tvms_node *min, *extent;
    same = tvms_int_set_cover(s->unit, sets[d], &min, &extent)
           && tvms_arith_prove_equal(s->unit, min, range->min)
           && tvms_arith_prove_equal(s->unit, extent, range->extent);
  }
  return same;
}

bool tvms_sched_writes_all(tvms_sched *sched, int32_t block, const tvms_node *buffer,
                           int32_t high, tvms_list ranges) {
  const tvms_block *own = tvms_sched_block(sched, block);
  tvms_node *declared = tvms_sched_region_of(own->writes, buffer);
  if (!declared) return false;
  const tvms_block_realize *realize = tvms_sched_realize(sched, block);
  tvms_node *stored = tvms_sched_stored_region(sched, own, declared);
  tvms_sched_span span = {tvms_sched_bound(sched, realize, stored), realize->predicate,
                          tvms_sched_parent(sched, block), high};
  tvms_int_set *sets =
      tvms_arena_array(&sched->unit->arena, tvms_int_set, ranges.len + 1);
  if (!tvms_sched_cover(sched, &span, false, sets) || !same_ranges(sched, sets, ranges))
    return false;
  tvms_site_vec inner = {0};
  tvms_sched_children(sched, block, &inner);
  bool all = !inner.len;
  for (uint32_t i = 0; !all && i < inner.len; i++)
    all = tvms_sched_writes_all(sched, inner.items[i], buffer, block,
                                tvms_as_buffer_region(declared)->region);
  tvms_vec_fini(&sched->context->memory, &inner);
  return all;
}

// ---- Cover of what consumers read ----

static tvms_node *simple(tvms_sched *s, tvms_node *node) {
  return node ? tvms_arith_simplify(s->unit, node) : node;
}

static tvms_int_set cut(tvms_sched *s, tvms_int_set set, tvms_node *size) {
  set.min = simple(s, set.min);
  set.max = simple(s, set.max);
  tvms_node *zero = tvms_sched_int(s, size->dtype, 0);
  return tvms_int_set_intersect(s->unit, set,
                                tvms_int_set_of_range(s->unit, zero, size));
}

static bool holds(tvms_sched *s, const tvms_node *buffer, const tvms_int_set *outer,
                  const tvms_int_set *inner) {
  tvms_list shape = tvms_as_buffer(buffer)->shape;
  tvms_analyzer *analyzer = tvms_analyzer_new(s->unit);
  bool all = true;
  for (uint32_t i = 0; all && i < shape.len; i++) {
    if (inner[i].empty) continue;
    tvms_int_set a = cut(s, outer[i], shape.items[i]),
                 b = cut(s, inner[i], shape.items[i]);
    all = !a.empty && a.min && a.max && b.min && b.max
          && tvms_analyzer_can_prove(analyzer,
                                     tvms_sched_build(s, TVMS_NODE_LE, a.min, b.min))
          && tvms_analyzer_can_prove(analyzer,
                                     tvms_sched_build(s, TVMS_NODE_LE, b.max, a.max));
  }
  tvms_analyzer_free(analyzer);
  return all;
}

// What the producers that meet the consumer at site `common` write of a buffer, one set per dimension. `*count`: how many there are.
static bool produced_at(tvms_sched *s, const tvms_site_vec *producers, int32_t consumer,
                        int32_t common, const tvms_node *buffer, tvms_int_set *sets,
                        uint32_t *count) {
  uint32_t rank = tvms_as_buffer(buffer)->shape.len;
  tvms_int_set *own = tvms_arena_array(&s->unit->arena, tvms_int_set, rank + 1);
  *count = 0;
  for (uint32_t i = 0; i < producers->len; i++) {
    int32_t site = producers->items[i];
    tvms_node *region = tvms_sched_region_of(tvms_sched_block(s, site)->writes, buffer);
    if (!region || tvms_sched_common(s, site, consumer) != common) continue;
    const tvms_block_realize *realize = tvms_sched_realize(s, site);
    tvms_sched_span span = {tvms_sched_bound(s, realize, region), realize->predicate,
                            tvms_sched_parent(s, site), common};
    if (!tvms_sched_cover(s, &span, false, own)) return false;
    for (uint32_t d = 0; d < rank; d++)
      sets[d] = *count ? tvms_int_set_union(s->unit, sets[d], own[d]) : own[d];
    ++*count;
  }
  return true;
}

static bool is_read_covered(tvms_sched *s, const tvms_site_vec *producers,
                            int32_t consumer, tvms_node *region) {
  const tvms_node *buffer = tvms_as_buffer_region(region)->buffer;
  uint32_t rank = tvms_as_buffer(buffer)->shape.len, count;
  tvms_int_set *sets = tvms_arena_array(&s->unit->arena, tvms_int_set, 2 * rank + 1);
  const tvms_block_realize *realize = tvms_sched_realize(s, consumer);
  int32_t scope = tvms_sched_scope(s, consumer);
  for (int32_t at = tvms_sched_parent(s, consumer);; at = tvms_sched_parent(s, at)) {
    if (!produced_at(s, producers, consumer, at, buffer, sets, &count)) return false;
    tvms_sched_span span = {tvms_sched_bound(s, realize, region), realize->predicate,
                            tvms_sched_parent(s, consumer), at};
    if (count) (void)!tvms_sched_cover(s, &span, true, sets + rank);
    if (count && !holds(s, buffer, sets, sets + rank)) return false;
    if (at == scope) return true;
  }
}

bool tvms_sched_is_covered(tvms_sched *sched, int32_t consumer) {
  if (tvms_sched_parent(sched, consumer) == TVMS_NO_SITE) return true;
  tvms_site_vec producers = {0};
  tvms_sched_producers(sched, consumer, &producers);
  tvms_list reads = tvms_sched_block(sched, consumer)->reads;
  bool covered = true;
  for (uint32_t i = 0; covered && i < reads.len; i++)
    covered = is_read_covered(sched, &producers, consumer, reads.items[i]);
  tvms_vec_fini(&sched->context->memory, &producers);
  return covered;
}
