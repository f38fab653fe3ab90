// merge: nests of loops beside each other, with the same extents, become one nest with the bodies one after the other.
// TVM: src/s_tir/schedule/primitive/loop_transformation.cc.
#include "schedule/bindings.h"
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
  tvms_node **vars;     // of the new loops, innermost first
  tvms_node_vec bodies;
} merging;

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
  for (uint32_t i = 0; i < m->count; i++) {
    if (!collect_nest(s, m->sites[i], m->above, nest)) return false;
    if (!check_same(s, &m->first, nest)) return false;
    tvms_stmt_push(s->unit, &m->bodies, body_of(s, m, nest));
    edits[i] =
        (tvms_sched_edit){tvms_sched_at(s, nest->items[nest->len - 1])->node, NULL};
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
