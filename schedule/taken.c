#include "schedule/taken.h"

#include "arith/int_set.h"
#include "ir/fold.h"
#include "ir/equal.h"
#include "schedule/bindings.h"
#include "schedule/flags.h"

// Tells an analyzer that `a` has the relation `kind` to `b`, and what follows of what `a` is a quotient of.
static void enter_bound(tvms_sched *sched, tvms_analyzer *analyzer, tvms_node_kind kind,
                        tvms_node *a, tvms_node *b) {
  while (a->kind == TVMS_NODE_FLOOR_DIV
         && tvms_as_binary(a)->b->kind == TVMS_NODE_INT_IMM) {
    b = tvms_sched_build(sched, TVMS_NODE_MUL, b, tvms_as_binary(a)->b);
    a = tvms_as_binary(a)->a;
  }
  tvms_node *bound = tvms_sched_build(sched, kind, a, b);
  if (bound->kind == kind) (void)tvms_analyzer_enter(analyzer, bound);
}

// Does the condition of a block say no more than that the axes stay in their domains?
static bool is_bound(tvms_sched *sched, int32_t block) {
  const tvms_block_realize *realize = tvms_sched_realize(sched, block);
  if (tvms_node_is_int(realize->predicate, 1)) return true;
  tvms_list axes = tvms_sched_block(sched, block)->iter_vars;
  tvms_analyzer *analyzer = tvms_sched_analyzer(sched, block);
  for (uint32_t i = 0; i < axes.len; i++) {
    const tvms_range *dom = tvms_as_range(tvms_as_iter_var(axes.items[i])->dom);
    tvms_node *end = tvms_sched_build(sched, TVMS_NODE_ADD, dom->min, dom->extent);
    tvms_node *value = realize->iter_values.items[i];
    enter_bound(sched, analyzer, TVMS_NODE_LT, value, end);
    enter_bound(sched, analyzer, TVMS_NODE_GE, value, dom->min);
  }
  bool bound = tvms_analyzer_can_prove(analyzer, realize->predicate);
  tvms_analyzer_free(analyzer);
  return bound;
}

bool tvms_sched_check_steps(tvms_sched *sched, int32_t block) {
  if (tvms_sched_flags_affine(sched, block)) return true;
  tvms_list values = tvms_sched_realize(sched, block)->iter_values;
  for (int32_t at = tvms_sched_parent(sched, block);
       at != TVMS_NO_SITE && tvms_sched_is_loop(sched, at);
       at = tvms_sched_parent(sched, at)) {
    const tvms_for *loop = tvms_sched_loop(sched, at);
    if (tvms_node_is_int(loop->min, 0)) continue;
    for (uint32_t i = 0; i < values.len; i++)
      if (values.items[i] != loop->var
          && tvms_sched_uses(sched, values.items[i], loop->var))
        return tvms_sched_refuse(
            sched,
            "block '%s' does not take all steps of its axes: loop '%s' begins late",
            tvms_sched_block_name(sched, block),
            tvms_symbol_text(sched->context, tvms_as_var(loop->var)->name));
  }
  return true;
}

// Is `a` known to be less than `b`?
static bool is_less(tvms_unit *unit, tvms_node *TVMS_NULLABLE a,
                    tvms_node *TVMS_NULLABLE b) {
  if (!a || !b) return false;
  a = tvms_arith_simplify(unit, a);
  b = tvms_arith_simplify(unit, b);
  return a->kind == TVMS_NODE_INT_IMM && b->kind == TVMS_NODE_INT_IMM
         && tvms_as_int_imm(a)->value < tvms_as_int_imm(b)->value;
}

// Is it known how many values a set has, of which it may not be known where they begin?
static bool is_known_span(tvms_unit *unit, tvms_int_set set) {
  if (!set.min || !set.max) return false;
  tvms_node *span =
      tvms_build_binary(unit, TVMS_NODE_SUB, set.max, set.min, TVMS_NO_SPAN);
  return tvms_arith_simplify(unit, span)->kind == TVMS_NODE_INT_IMM;
}

// Does a value that runs over the first domains leave out something of a range for some step of the second ones?
static bool leaves_out(const tvms_domains *inner, const tvms_domains *outer,
                       tvms_node *value, const tvms_range *dom) {
  tvms_int_set taken = tvms_int_set_of_expr(inner, value);
  tvms_int_set wanted = tvms_int_set_of_range(inner->unit, dom->min, dom->extent);
  tvms_int_set low = {0}, high = {0};
  // Some steps of a number that only the run tells.
  if (is_known_span(inner->unit, taken) && dom->extent->kind != TVMS_NODE_INT_IMM)
    return true;
  if (taken.min) low = tvms_int_set_of_expr(outer, taken.min);
  if (taken.max) high = tvms_int_set_of_expr(outer, taken.max);
  return is_less(inner->unit, wanted.min, low.max)
         || is_less(inner->unit, high.min, wanted.max);
}

// How far a value moves when a loop takes the step `at` after its first one, the other variables being what they are; 0: not known. Farther than numbers reach
// is as far as they do.
static int64_t moved_by(tvms_sched *s, tvms_node *value, const tvms_for *loop,
                        int64_t at) {
  tvms_node_map map;
  tvms_node_map_init(&map, &s->context->memory);
  tvms_node *step = tvms_sched_int(s, loop->var->dtype, at);
  tvms_node_map_put(&map, loop->var,
                    tvms_sched_build(s, TVMS_NODE_ADD, loop->var, step));
  tvms_node *there = tvms_substitute(s->unit, value, &map);
  tvms_node_map_fini(&map);
  tvms_node *by =
      tvms_arith_simplify(s->unit, tvms_sched_build(s, TVMS_NODE_SUB, there, value));
  int64_t far = by->kind == TVMS_NODE_INT_IMM ? tvms_as_int_imm(by)->value : 0;
  if (far < 0 && __builtin_sub_overflow((int64_t)0, far, &far)) far = INT64_MAX;
  return far;
}

// How far a loop leads whose steps lead `own` far; INT64_MAX: farther than numbers reach.
static int64_t reach_of(int64_t own, const tvms_for *loop) {
  int64_t steps = tvms_as_int_imm(loop->extent)->value, reach;
  if (steps < 1) return 0;
  return __builtin_mul_overflow(own, steps - 1, &reach) ? INT64_MAX : reach;
}

// Does a sum of loops take a value twice: do the shorter steps lead as far as a longer one?
static bool takes_twice(tvms_sched *s, int32_t block, tvms_node *value) {
  for (int32_t at = tvms_sched_parent(s, block); tvms_sched_is_loop(s, at);
       at = tvms_sched_parent(s, at)) {
    int64_t step = moved_by(s, value, tvms_sched_loop(s, at), 1), reach = 0;
    if (tvms_node_is_int(tvms_sched_loop(s, at)->extent, 1)) continue;
    for (int32_t k = tvms_sched_parent(s, block); tvms_sched_is_loop(s, k);
         k = tvms_sched_parent(s, k)) {
      const tvms_for *other = tvms_sched_loop(s, k);
      int64_t own = moved_by(s, value, other, 1);
      if (k == at || own > step || (own == step && k > at)
          || other->extent->kind != TVMS_NODE_INT_IMM)
        continue;
      if (__builtin_add_overflow(reach, reach_of(own, other), &reach))
        reach = INT64_MAX;
    }
    if (step && reach >= step) return true;
  }
  return false;
}

// Does an axis, of those that are reduced or of the others, take a value twice?
static bool windows_overlap(tvms_sched *s, int32_t block, bool reduced) {
  tvms_list axes = tvms_sched_block(s, block)->iter_vars;
  tvms_list values = tvms_sched_realize(s, block)->iter_values;
  for (uint32_t i = 0; i < axes.len; i++) {
    uint32_t type = tvms_as_iter_var(axes.items[i])->iter_type;
    if ((type == TVMS_ITER_COMM_REDUCE) == reduced
        && takes_twice(s, block, values.items[i]))
      return true;
  }
  return false;
}

bool tvms_sched_repeats_steps(tvms_sched *s, int32_t block) {
  bool unused = false, spatial = false, across = false;
  for (int32_t at = tvms_sched_parent(s, block); tvms_sched_is_loop(s, at);
       at = tvms_sched_parent(s, at)) {
    bool unit = tvms_node_is_int(tvms_sched_loop(s, at)->extent, 1);
    bool used = tvms_sched_takes_loop(s, block, at),
         reduced = tvms_sched_is_reduced_by(s, block, at);
    if (unused && reduced) return true;
    unused = unused || (!unit && !used);
    across = across || (reduced && spatial);
    spatial = spatial || (!unit && used && !reduced);
  }
  return windows_overlap(s, block, true)
         || (across && windows_overlap(s, block, false));
}

bool tvms_sched_check_condition(tvms_sched *sched, int32_t block) {
  return is_bound(sched, block)
         || tvms_sched_refuse(sched, "block '%s' runs under a condition of its own",
                              tvms_sched_block_name(sched, block));
}

bool tvms_sched_check_whole(tvms_sched *sched, int32_t block, bool reduced) {
  if (!reduced && !tvms_sched_check_condition(sched, block)) return false;
  tvms_domains inner, outer;
  tvms_sched_domain_sets(sched, tvms_sched_parent(sched, block), TVMS_NO_SITE, &inner);
  tvms_domains_init(&outer, sched->unit);
  tvms_sched_add_all(&outer, sched, tvms_sched_scope(sched, block));
  tvms_list axes = tvms_sched_block(sched, block)->iter_vars;
  tvms_list values = tvms_sched_realize(sched, block)->iter_values;
  const tvms_node *part = NULL;
  for (uint32_t i = 0; i < axes.len && !part; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(axes.items[i]);
    if (reduced && axis->iter_type != TVMS_ITER_COMM_REDUCE) continue;
    if (leaves_out(&inner, &outer, values.items[i], tvms_as_range(axis->dom)))
      part = axis->var;
  }
  tvms_domains_fini(&inner);
  tvms_domains_fini(&outer);
  if (!part) return tvms_sched_check_steps(sched, block);
  return tvms_sched_refuse(
      sched, "block '%s' does not take all steps of axis '%s' in its scope",
      tvms_sched_block_name(sched, block),
      tvms_symbol_text(sched->context, tvms_as_var(part)->name));
}
