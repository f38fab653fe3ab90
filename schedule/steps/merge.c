// merge: nests of loops beside each other, with the same extents, become one nest with the bodies one after the other.
// TVM: src/s_tir/schedule/primitive/loop_transformation.cc.
#include "schedule/bindings.h"
#include "schedule/declared.h"
#include "schedule/injective.h"
#include "schedule/region.h"
#include "schedule/steps.h"

// The loops from `site` up to below `above`, innermost first; each must have nothing but the next one.
static bool collect_nest(tvms_sched *s, int32_t site, int32_t above,
                         tvms_site_vec *nest) {
  nest->len = 0;
  for (int32_t at = site; at != above; at = tvms_sched_parent(s, at)) {
    if (!tvms_sched_is_loop(s, at))
      return tvms_sched_refuse(s, "the loops are not in one scope");
    if (!tvms_sched_check_plain_loop(s, at) || !tvms_sched_check_zero(s, at))
      return false;
    bool alone = at == site
                 || tvms_sched_loop(s, at)->body
                        == tvms_sched_at(s, nest->items[nest->len - 1])->node;
    if (!alone)
      return tvms_sched_refuse(s, "an outer loop has more in it than the inner one");
    tvms_vec_push(&s->context->memory, nest, at);
  }
  return true;
}

static bool check_same(tvms_sched *s, const tvms_site_vec *a, const tvms_site_vec *b) {
  if (a->len != b->len)
    return tvms_sched_refuse(s, "the loops are nested in nests of different depth");
  for (uint32_t i = 0; i < a->len; i++)
    if (!tvms_arith_prove_equal(s->unit, tvms_sched_loop(s, a->items[i])->extent,
                                tvms_sched_loop(s, b->items[i])->extent))
      return tvms_sched_refuse(s, "the extents of the loops differ");
  return true;
}

typedef struct {
  const int32_t *sites;  // of the loops that were given
  uint32_t count;
  int32_t above;        // what holds all of them
  tvms_site_vec first;  // nest of the first one
  int32_t *roots;       // the outermost loops of all nests
  tvms_node **vars;     // of the new loops, innermost first
  tvms_node_vec bodies;
} merging;

// ---- What the order of the blocks is for ----
//
// TVM does not ask, and then blocks read what is not yet written.

static bool is_in(const tvms_sched *s, int32_t site, int32_t root) {
  while (site > root)
    site = tvms_sched_parent(s, site);
  return site == root;
}

// The nest in which a block is, -1: none.
static int64_t nest_of(const merging *m, tvms_sched *s, int32_t block) {
  for (uint32_t i = 0; i < m->count; i++)
    if (is_in(s, block, m->roots[i])) return i;
  return -1;
}

// What a block uses of a buffer in one step of its nest, whose loops become the new ones.
static tvms_list part_of(tvms_sched *s, const merging *m, int32_t block, int64_t nest,
                         tvms_node *region) {
  tvms_node_map map;
  tvms_node_map_init(&map, &s->context->memory);
  for (uint32_t i = 0, at = (uint32_t)m->sites[nest]; i < m->first.len; i++) {
    tvms_node_map_put(&map, tvms_sched_loop(s, (int32_t)at)->var, m->vars[i]);
    at = (uint32_t)tvms_sched_parent(s, (int32_t)at);
  }
  tvms_list ranges = tvms_sched_relax(s, block, region, m->sites[nest], NULL);
  for (uint32_t d = 0; d < ranges.len; d++)
    ranges.items[d] = tvms_substitute(s->unit, ranges.items[d], &map);
  tvms_node_map_fini(&map);
  return ranges;
}

// Do different steps use different elements, because the dimensions in which both use the same single place tell the steps apart?
static bool is_by_steps(tvms_sched *s, const merging *m, tvms_list a, tvms_list b) {
  tvms_list at = tvms_list_copy(s->unit, a.items, a.len);
  at.len = 0;
  for (uint32_t d = 0; d < a.len; d++) {
    const tvms_range *x = tvms_as_range(a.items[d]), *y = tvms_as_range(b.items[d]);
    bool same = tvms_node_is_int(x->extent, 1) && tvms_node_is_int(y->extent, 1)
                && tvms_arith_prove_equal(s->unit, x->min, y->min);
    if (same) at.items[at.len++] = x->min;
  }
  tvms_list vars = {m->vars, m->first.len};
  tvms_list extents = tvms_list_copy(s->unit, m->vars, m->first.len);
  for (uint32_t i = 0; i < vars.len; i++)
    extents.items[i] = tvms_sched_loop(s, m->first.items[i])->extent;
  return at.len && tvms_sched_is_injective(s, vars, extents, at);
}

typedef struct {
  int32_t block;
  int64_t nest;
} member;

// `written` by the first, `used` by the other one.
static bool check_regions(tvms_sched *s, const merging *m, member a, tvms_list written,
                          member b, tvms_list used) {
  for (uint32_t i = 0; i < written.len; i++) {
    tvms_node *buffer = tvms_sched_region_buffer(written, i);
    tvms_node *other = tvms_sched_region_of(used, buffer);
    if (!other) continue;
    bool fine = a.nest >= 0 && b.nest >= 0 && (a.block < b.block) == (a.nest < b.nest)
                && is_by_steps(s, m, part_of(s, m, a.block, a.nest, written.items[i]),
                               part_of(s, m, b.block, b.nest, other));
    if (!fine)
      return tvms_sched_refuse(s, "block '%s' uses what block '%s' writes",
                               tvms_sched_block_name(s, b.block),
                               tvms_sched_block_name(s, a.block));
  }
  return true;
}

static bool check_pair(tvms_sched *s, const merging *m, member a, member b) {
  const tvms_block *x = tvms_sched_block(s, a.block), *y = tvms_sched_block(s, b.block);
  return check_regions(s, m, a, x->writes, b, y->reads)
         && check_regions(s, m, a, x->writes, b, y->writes)
         && check_regions(s, m, b, y->writes, a, x->reads);
}

static bool check_order(tvms_sched *s, const merging *m) {
  if (!tvms_sched_check_declared(s, m->above, NULL)) return false;
  tvms_site_vec blocks = {0};
  tvms_sched_children(s, m->above, &blocks);
  int32_t first = m->roots[0], last = m->roots[0];
  for (uint32_t i = 1; i < m->count; i++) {
    first = m->roots[i] < first ? m->roots[i] : first;
    last = m->roots[i] > last ? m->roots[i] : last;
  }
  bool fine = true;
  for (uint32_t i = 0; fine && i < blocks.len; i++)
    for (uint32_t j = i + 1; fine && j < blocks.len; j++) {
      member a = {blocks.items[i], nest_of(m, s, blocks.items[i])};
      member b = {blocks.items[j], nest_of(m, s, blocks.items[j])};
      bool stay = a.nest == b.nest || a.block < first || (b.nest < 0 && b.block > last);
      if (!stay) fine = check_pair(s, m, a, b);
    }
  tvms_vec_fini(&s->context->memory, &blocks);
  return fine;
}

// ---- Making ----

static tvms_node *body_of(tvms_sched *s, const merging *m, const tvms_site_vec *nest) {
  tvms_node_map map;
  tvms_node_map_init(&map, &s->context->memory);
  for (uint32_t i = 0; i < nest->len; i++)
    tvms_node_map_put(&map, tvms_sched_loop(s, nest->items[i])->var, m->vars[i]);
  tvms_node *body =
      tvms_substitute(s->unit, tvms_sched_loop(s, nest->items[0])->body, &map);
  tvms_node_map_fini(&map);
  return body;
}

static void make_vars(tvms_sched *s, merging *m) {
  m->vars = tvms_arena_array(&s->unit->arena, tvms_node *, m->first.len + 1);
  for (uint32_t i = 0; i < m->first.len; i++) {
    const tvms_node *var = tvms_sched_loop(s, m->first.items[i])->var;
    m->vars[i] = tvms_sched_var(s, var, "_m", var->dtype);
  }
}

// Removes the nests and puts the new one in the place of the last.
static bool merge(tvms_sched *s, merging *m, tvms_site_vec *nest,
                  tvms_sched_edit *edits) {
  tvms_memory *memory = &s->context->memory;
  if (!collect_nest(s, m->sites[0], m->above, &m->first)) return false;
  if (!m->first.len) return tvms_sched_refuse(s, "a loop is inside of another one");
  make_vars(s, m);
  m->roots = tvms_arena_array(&s->unit->arena, int32_t, m->count);
  for (uint32_t i = 0; i < m->count; i++) {
    if (!collect_nest(s, m->sites[i], m->above, nest)) return false;
    if (!check_same(s, &m->first, nest)) return false;
    m->roots[i] = nest->items[nest->len - 1];
    tvms_stmt_push(s->unit, &m->bodies, body_of(s, m, nest));
    edits[i] =
        (tvms_sched_edit){tvms_sched_at(s, nest->items[nest->len - 1])->node, NULL};
  }
  if (!check_order(s, m)) {
    tvms_vec_fini(memory, &m->bodies);
    return false;
  }
  tvms_node *made = tvms_stmt_seq(s->unit, &m->bodies, TVMS_NO_SPAN);
  for (uint32_t i = 0; i < m->first.len; i++)
    made = tvms_sched_for(s, m->vars[i], tvms_sched_loop(s, m->first.items[i])->extent,
                          made);
  edits[m->count - 1].made = made;
  tvms_sched_replace(s, edits, m->count);
  tvms_vec_fini(memory, &m->bodies);
  return true;
}

bool tvms_step_merge(tvms_step *step) {
  tvms_sched *s = step->sched;
  const tvms_sched_value *list = &step->args[TVMS_ARG(Merge, loops)];
  int32_t *sites = tvms_arena_array(&step->schedule->arena, int32_t, list->len + 1);
  if (!tvms_step_sites(step, TVMS_ARG(Merge, loops), sites)) return false;
  if (list->len < 2) return tvms_sched_refuse(s, "there are fewer than two loops");
  merging m = {.sites = sites, .count = list->len, .above = sites[0]};
  for (uint32_t i = 1; i < list->len; i++)
    m.above = tvms_sched_common(s, m.above, sites[i]);
  tvms_site_vec nest = {0};
  tvms_sched_edit *edits =
      tvms_arena_array(&step->schedule->arena, tvms_sched_edit, list->len);
  bool fine = merge(s, &m, &nest, edits);
  tvms_vec_fini(&s->context->memory, &nest);
  tvms_vec_fini(&s->context->memory, &m.first);
  if (fine)
    tvms_step_give(
        step, tvms_sched_find(s, (tvms_sched_ref){s, 0, m.vars[0], TVMS_MARK_NONE}));
  return fine;
}
