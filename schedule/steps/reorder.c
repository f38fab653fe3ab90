// reorder, add_unit_loop: loops change places, or a loop of one step comes around.
// TVM: src/s_tir/schedule/primitive/loop_transformation.cc.
#include "schedule/bindings.h"
#include "schedule/flags.h"
#include "schedule/steps.h"
#include "schedule/taken.h"

static int32_t place_of(const int32_t *sites, uint32_t count, int32_t site) {
  for (uint32_t i = 0; i < count; i++)
    if (sites[i] == site) return (int32_t)i;
  return -1;
}

// The outermost and the innermost loop; all must be on one way up, with nothing beside them.
static bool check_chain(tvms_sched *s, const int32_t *sites, uint32_t count,
                        int32_t *top, int32_t *bottom) {
  *top = *bottom = sites[0];
  for (uint32_t i = 0; i < count; i++) {
    if (place_of(sites, i, sites[i]) >= 0)
      return tvms_sched_refuse(s, "a loop is given twice");
    if (tvms_sched_is_in(s, *top, sites[i])) *top = sites[i];
    if (tvms_sched_is_in(s, sites[i], *bottom)) *bottom = sites[i];
  }
  for (uint32_t i = 0; i < count; i++)
    if (!tvms_sched_is_in(s, *bottom, sites[i])
        || tvms_sched_scope(s, sites[i]) != tvms_sched_scope(s, *top))
      return tvms_sched_refuse(s, "the loops are not a chain in one scope");
  for (int32_t at = *bottom; at != *top; at = tvms_sched_parent(s, at)) {
    int32_t parent = tvms_sched_parent(s, at);
    if (tvms_sched_loop(s, parent)->body != tvms_sched_at(s, at)->node)
      return tvms_sched_refuse(s, "there are statements between the loops");
  }
  return true;
}

// Blocks below have only spatial and reduced axes, bound to sums of the loops.
static bool check_blocks(tvms_sched *s, int32_t top, int32_t bottom) {
  tvms_site_vec blocks = {0};
  tvms_sched_children(s, bottom, &blocks);
  bool fine = true;
  for (uint32_t i = 0; fine && i < blocks.len; i++) {
    tvms_list axes = tvms_sched_block(s, blocks.items[i])->iter_vars;
    for (uint32_t k = 0; fine && k < axes.len; k++) {
      uint32_t type = tvms_as_iter_var(axes.items[k])->iter_type;
      if (type != TVMS_ITER_DATA_PAR && type != TVMS_ITER_COMM_REDUCE)
        fine = tvms_sched_refuse(
            s, "block '%s' has axes that are neither spatial nor reduced",
            tvms_sched_block_name(s, blocks.items[i]));
    }
    if (!fine || !axes.len) continue;
    bool affine =
        tvms_sched_flags_affine(s, blocks.items[i])
        || tvms_sched_is_affine(s, blocks.items[i], tvms_sched_parent(s, top));
    if (!affine)
      fine =
          tvms_sched_refuse(s, "the axes of block '%s' are not bound to sums of loops",
                            tvms_sched_block_name(s, blocks.items[i]));
  }
  tvms_vec_fini(&s->context->memory, &blocks);
  return fine;
}

// The loops from the bottom up, those that were given in their new order.
static bool make_chain(tvms_sched *s, const int32_t *sites, uint32_t count, int32_t top,
                       int32_t bottom, tvms_node **made) {
  uint32_t next = count;
  *made = tvms_sched_loop(s, bottom)->body;
  for (int32_t at = bottom;; at = tvms_sched_parent(s, at)) {
    int32_t from = place_of(sites, count, at) >= 0 ? sites[--next] : at;
    tvms_for *copy = tvms_as_for(tvms_node_copy(s->unit, tvms_sched_at(s, from)->node));
    for (const tvms_node *inner = *made; inner->kind == TVMS_NODE_FOR && at != bottom;
         inner = tvms_as_for(inner)->body) {
      const tvms_node *var = tvms_as_for(inner)->var;
      if (tvms_sched_uses(s, copy->min, var) || tvms_sched_uses(s, copy->extent, var))
        return tvms_sched_refuse(
            s, "a loop would be outside of one that its range depends on");
    }
    copy->body = *made;
    *made = &copy->head;
    if (at == top) return true;
  }
}

// How many of the loops a value of an axis uses; `mixed`: spatial axes use one of them, too.
static uint32_t loops_of(const tvms_sched *s, const int32_t *sites, uint32_t count,
                         tvms_node *value, const tvms_block_realize *realize,
                         bool *mixed) {
  tvms_list axes = tvms_as_block(realize->block)->iter_vars;
  uint32_t used = 0;
  for (uint32_t k = 0; k < count; k++) {
    const tvms_node *var = tvms_sched_loop(s, sites[k])->var;
    if (!tvms_sched_uses(s, value, var)) continue;
    used++;
    for (uint32_t i = 0; i < axes.len; i++)
      if (tvms_as_iter_var(axes.items[i])->iter_type == TVMS_ITER_DATA_PAR
          && tvms_sched_uses(s, realize->iter_values.items[i], var))
        *mixed = true;
  }
  return used;
}

// T.init() runs where reduced axes are at their first values, which must be their first steps. Loops that spatial and reduced axes
// share do not keep that when they change places. TVM does not ask.
static bool check_begin(tvms_sched *s, const int32_t *sites, uint32_t count,
                        int32_t top, int32_t bottom) {
  tvms_site_vec blocks = {0}, chain = {0};
  for (int32_t at = bottom; at != top; at = tvms_sched_parent(s, at))
    tvms_vec_push(&s->context->memory, &chain, at);
  tvms_vec_push(&s->context->memory, &chain, top);
  tvms_sched_children(s, top, &blocks);
  bool fine = true;
  for (uint32_t b = 0; fine && b < blocks.len; b++) {
    const tvms_block_realize *realize = tvms_sched_realize(s, blocks.items[b]);
    const tvms_block *block = tvms_as_block(realize->block);
    for (uint32_t i = 0; block->init && fine && i < block->iter_vars.len; i++) {
      if (tvms_as_iter_var(block->iter_vars.items[i])->iter_type == TVMS_ITER_DATA_PAR)
        continue;
      // Loops between the given ones stand elsewhere among them afterwards.
      bool mixed = false;
      tvms_node *value = realize->iter_values.items[i];
      fine = !loops_of(s, sites, count, value, realize, &mixed)
             || loops_of(s, chain.items, chain.len, value, realize, &mixed) < 2
             || !mixed;
    }
  }
  tvms_vec_fini(&s->context->memory, &blocks);
  tvms_vec_fini(&s->context->memory, &chain);
  return fine
         || tvms_sched_refuse(s, "the loops are both of spatial and of reduced axes");
}

// How many blocks below do single steps of a reduction again, for a loop that no axis uses.
static uint32_t count_repeating(tvms_sched *s, int32_t top) {
  tvms_site_vec blocks = {0};
  tvms_sched_children(s, top, &blocks);
  uint32_t count = 0;
  for (uint32_t i = 0; i < blocks.len; i++)
    count += tvms_sched_repeats_steps(s, blocks.items[i]);
  tvms_vec_fini(&s->context->memory, &blocks);
  return count;
}

bool tvms_step_reorder(tvms_step *step) {
  tvms_sched *s = step->sched;
  const tvms_sched_value *list = &step->args[TVMS_ARG(Reorder, loops)];
  int32_t *sites = tvms_arena_array(&step->schedule->arena, int32_t, list->len + 1);
  if (!tvms_step_sites(step, TVMS_ARG(Reorder, loops), sites)) return false;
  if (list->len < 2) return true;
  int32_t top, bottom;
  tvms_node *made;
  bool fine = check_chain(s, sites, list->len, &top, &bottom)
              && check_blocks(s, top, bottom)
              && check_begin(s, sites, list->len, top, bottom)
              && make_chain(s, sites, list->len, top, bottom, &made);
  if (!fine) return false;
  uint32_t repeating = count_repeating(s, top);
  tvms_node *before = s->function;
  tvms_sched_replace_one(s, tvms_sched_at(s, top)->node, made);
  if (count_repeating(s, top) <= repeating) return true;
  tvms_sched_restore(s, before);
  return tvms_sched_refuse(s, "a loop would do steps of the reduction again");
}

bool tvms_step_add_unit_loop(tvms_step *step) {
  tvms_sched *s = step->sched;
  int32_t site = tvms_step_site(step, TVMS_ARG(AddUnitLoop, block_or_loop));
  if (site == TVMS_NO_SITE) return false;
  if (tvms_sched_parent(s, site) == TVMS_NO_SITE)
    return tvms_sched_refuse(s, "no loop can be around the root block");
  const tvms_site *at = tvms_sched_at(s, site);
  tvms_node *old = at->realize ? at->realize : at->node;
  tvms_node *var = tvms_var_new(s->unit, tvms_symbol_intern(s->context, "u", 1),
                                TVMS_DTYPE(INT, 32), TVMS_NO_SPAN);
  tvms_node *one = tvms_sched_int(s, var->dtype, 1);
  tvms_sched_replace_one(s, old, tvms_sched_for(s, var, one, old));
  tvms_step_give(step, tvms_sched_find(s, (tvms_sched_ref){s, 0, var, TVMS_MARK_NONE}));
  return true;
}
