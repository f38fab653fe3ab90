// compute_at, reverse_compute_at: a block moves below a loop of its readers, or of those that it reads from.
// TVM: src/s_tir/schedule/primitive/compute_at.cc.
#include "arith/int_set.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "schedule/accesses.h"
#include "schedule/axis_domains.h"
#include "schedule/bindings.h"
#include "schedule/declared.h"
#include "schedule/flags.h"
#include "schedule/inline.h"
#include "schedule/steps.h"
#include "schedule/taken.h"

#include <stdio.h>

typedef struct {
  tvms_step *step;
  tvms_sched *sched;
  int32_t block, loop, scope;
  bool reverse;
  bool keep_units;
  tvms_site_vec producers, consumers;
  tvms_analyzer *analyzer;
  tvms_domain_vec domains;  // of the loops around, and of the new ones
} moving;

// Is the loop in the scope, and the block not below it?
static bool check_places(moving *m) {
  tvms_sched *s = m->sched;
  if (tvms_sched_scope(s, m->loop) != m->scope)
    return tvms_sched_refuse(s, "the loop is in another scope than the block");
  return !tvms_sched_is_in(s, m->block, m->loop)
         || tvms_sched_refuse(s, "the block is below the loop already");
}

static bool holds_any(const moving *m, tvms_node *stmt, const tvms_site_vec *sites,
                      uint32_t *count) {
  bool any = false;
  for (uint32_t i = 0; i < sites->len; i++) {
    const tvms_node *block = tvms_sched_at(m->sched, sites->items[i])->node;
    bool there = tvms_sched_uses(m->sched, stmt, block);
    *count += there;
    any = any || there;
  }
  return any;
}

// All blocks that read what the block writes must come behind its new place. TVM does not ask for it, and then they read what is not
// yet written.
static bool check_order(const moving *m) {
  tvms_sched *s = m->sched;
  for (uint32_t i = 0; i < m->consumers.len; i++) {
    int32_t reader = m->consumers.items[i];
    if (reader < m->loop)
      return tvms_sched_refuse(
          s, "block '%s' reads what the block writes, and comes before the loop",
          tvms_sched_block_name(s, reader));
  }
  return true;
}

// The place among the statements of the loop: behind all producers, in front of all consumers.
static bool find_place(moving *m, int64_t wanted, uint32_t *place) {
  tvms_node *body = tvms_sched_loop(m->sched, m->loop)->body;
  bool many = body->kind == TVMS_NODE_SEQ;
  uint32_t len = many ? tvms_as_seq(body)->stmts.len : 1;
  uint32_t behind = 0, first = len, producers = 0, consumers = 0;
  for (uint32_t i = 0; i < len; i++) {
    tvms_node *stmt = many ? tvms_as_seq(body)->stmts.items[i] : body;
    if (holds_any(m, stmt, &m->producers, &producers)) behind = i + 1;
    if (holds_any(m, stmt, &m->consumers, &consumers) && first == len) first = i;
  }
  if (behind > first)
    return tvms_sched_refuse(
        m->sched,
        "no place in the loop is behind all producers and in front of all consumers");
  if (m->reverse && producers < m->producers.len)
    return tvms_sched_refuse(m->sched,
                             "a block that this one reads from is not below the loop");
  if (!m->reverse && consumers < m->consumers.len)
    return tvms_sched_refuse(m->sched,
                             "a block that reads from this one is not below the loop");
  *place = wanted == -1 ? first : wanted == -2 ? behind : (uint32_t)wanted;
  return (wanted < 0 && wanted >= -2) || (wanted >= behind && wanted <= first)
         || tvms_sched_refuse(m->sched, "the index must be -1, -2 or from %u to %u",
                              behind, first);
}

// ---- The new loops ----

typedef struct {
  tvms_node **vars, **extents, **values;
  uint32_t loops;
  tvms_node *predicate;
} nest;

static void add_bound(moving *m, nest *n, tvms_node *condition) {
  if (!tvms_sched_proves(m->sched, m->analyzer, &m->domains, condition))
    n->predicate = tvms_sched_build(m->sched, TVMS_NODE_AND, n->predicate, condition);
}

static void add_bounds(moving *m, nest *n, tvms_node *value, tvms_int_set bound) {
  tvms_sched *s = m->sched;
  if (bound.empty) return;
  if (bound.min) add_bound(m, n, tvms_sched_build(s, TVMS_NODE_GE, value, bound.min));
  if (!bound.max) return;
  tvms_node *end = tvms_sched_build(s, TVMS_NODE_ADD, bound.max,
                                    tvms_sched_int(s, bound.max->dtype, 1));
  add_bound(m, n, tvms_sched_build(s, TVMS_NODE_LT, value, end));
}

static void add_axis(moving *m, nest *n, uint32_t axis, const tvms_axis_domain *d,
                     const tvms_range *own) {
  tvms_sched *s = m->sched;
  tvms_node *min, *extent;
  if (!tvms_int_set_cover(s->unit, d->dom, &min, &extent)) {
    min = own->min;
    extent = own->extent;
  }
  n->values[axis] = min;
  if (m->keep_units || !tvms_node_is_int(extent, 1)) {
    char name[16];
    int len = snprintf(name, sizeof name, "ax%u", n->loops);
    tvms_dtype dtype =
        min->dtype.bits > extent->dtype.bits ? min->dtype : extent->dtype;
    tvms_node *var =
        tvms_var_new(s->unit, tvms_symbol_intern(s->context, name, (size_t)len), dtype,
                     TVMS_NO_SPAN);
    n->vars[n->loops] = var;
    n->extents[n->loops++] = tvms_analyzer_simplify(m->analyzer, extent);
    n->values[axis] = tvms_sched_build(s, TVMS_NODE_ADD, min, var);
    tvms_iter_domain domain = {var, tvms_sched_int(s, dtype, 0), extent};
    tvms_analyzer_bind_range(m->analyzer, var, domain.min, extent);
    tvms_vec_push(&s->context->memory, &m->domains, domain);
  }
  add_bounds(m, n, n->values[axis], d->bound);
}

static tvms_node *make_nest(moving *m, const tvms_axis_domain *domains) {
  tvms_sched *s = m->sched;
  const tvms_block *block = tvms_sched_block(s, m->block);
  uint32_t count = block->iter_vars.len;
  tvms_node **room = tvms_arena_array(&s->unit->arena, tvms_node *, 3 * count + 1);
  nest n = {room, room + count, room + 2 * count, 0,
            tvms_bool_imm_new(s->unit, true, TVMS_NO_SPAN)};
  for (uint32_t i = 0; i < count; i++)
    add_axis(m, &n, i, &domains[i],
             tvms_as_range(tvms_as_iter_var(block->iter_vars.items[i])->dom));
  tvms_block_realize *realize = tvms_as_block_realize(
      tvms_node_copy(s->unit, tvms_sched_at(s, m->block)->realize));
  realize->iter_values = tvms_list_copy(s->unit, n.values, count);
  realize->predicate = tvms_analyzer_simplify(m->analyzer, n.predicate);
  tvms_node *made = &realize->head;
  for (uint32_t i = n.loops; i-- > 0;)
    made = tvms_sched_for(s, n.vars[i], n.extents[i], made);
  return made;
}

static void replace(moving *m, const tvms_node *leaf, tvms_node *made, uint32_t place) {
  tvms_sched *s = m->sched;
  const tvms_for *old = tvms_sched_loop(s, m->loop);
  tvms_for *loop = tvms_as_for(tvms_node_copy(s->unit, &old->head));
  loop->body = tvms_sched_inserted(s, loop->body, place, made);
  tvms_sched_edit edits[] = {{leaf, NULL}, {&old->head, &loop->head}};
  tvms_sched_replace(s, edits, 2);
}

// Does the block run over all of its axes' domains? TVM does not ask, and where it does not see which steps a loop needs, others are
// never done.
static bool runs_over_all(tvms_sched *s, int32_t block) {
  tvms_domains sets;
  tvms_sched_domain_sets(s, tvms_sched_parent(s, block), TVMS_NO_SITE, &sets);
  const tvms_block_realize *realize = tvms_sched_realize(s, block);
  tvms_list axes = tvms_as_block(realize->block)->iter_vars;
  tvms_analyzer *analyzer = tvms_analyzer_new(s->unit);
  bool all = true;
  for (uint32_t i = 0; all && i < axes.len; i++) {
    const tvms_range *dom = tvms_as_range(tvms_as_iter_var(axes.items[i])->dom);
    tvms_int_set set = tvms_int_set_of_expr(&sets, realize->iter_values.items[i]);
    tvms_node *end = tvms_sched_build(s, TVMS_NODE_ADD, dom->min, dom->extent);
    end = tvms_sched_build(s, TVMS_NODE_SUB, end, tvms_sched_int(s, end->dtype, 1));
    all = !(set.min
            && tvms_analyzer_can_prove(
                analyzer, tvms_sched_build(s, TVMS_NODE_GT, set.min, dom->min)))
          && !(set.max
               && tvms_analyzer_can_prove(
                   analyzer, tvms_sched_build(s, TVMS_NODE_LT, set.max, end)));
  }
  tvms_analyzer_free(analyzer);
  tvms_domains_fini(&sets);
  return all;
}

// Would the places of the block be read from memory where those that need it are held back by a condition? TVM does not ask.
static bool reads_places(const moving *m, const tvms_axis_domain *domains) {
  tvms_sched *s = m->sched;
  const tvms_site_vec *others = m->reverse ? &m->producers : &m->consumers;
  bool always = true;
  for (uint32_t i = 0; i < others->len; i++)
    always = always && tvms_sched_runs_always(s, others->items[i]);
  uint32_t count = tvms_sched_block(s, m->block)->iter_vars.len;
  for (uint32_t i = 0; !always && i < count; i++)
    if (domains[i].dom.min && tvms_sched_loads(s, domains[i].dom.min)) return true;
  return false;
}

// Is the first step of the loops known not to be the one that begins a reduction? TVM does not ask.
static bool begins_late(tvms_sched *s, int32_t block) {
  const tvms_block_realize *realize = tvms_sched_realize(s, block);
  const tvms_block *b = tvms_as_block(realize->block);
  if (!b->init) return false;
  tvms_node_map first;
  tvms_node_map_init(&first, &s->context->memory);
  for (int32_t at = tvms_sched_parent(s, block); tvms_sched_is_loop(s, at);
       at = tvms_sched_parent(s, at))
    tvms_node_map_put(&first, tvms_sched_loop(s, at)->var, tvms_sched_loop(s, at)->min);
  bool late = false;
  for (uint32_t i = 0; i < b->iter_vars.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(b->iter_vars.items[i]);
    if (axis->iter_type != TVMS_ITER_COMM_REDUCE) continue;
    tvms_node *value = tvms_arith_simplify(
        s->unit, tvms_substitute(s->unit, realize->iter_values.items[i], &first));
    const tvms_node *min = tvms_as_range(axis->dom)->min;
    late = late
           || (value->kind == TVMS_NODE_INT_IMM && min->kind == TVMS_NODE_INT_IMM
               && !tvms_node_same_expr(value, min));
  }
  tvms_node_map_fini(&first);
  return late;
}

// A loop of which the block takes other steps each time, and which does steps of a reduction whose result the block needs, be it by way of other
// blocks: then it needs what is not finished. TVM does not ask.
static bool needs_unfinished(tvms_sched *s, int32_t block, int32_t loop) {
  tvms_memory *memory = &s->context->memory;
  tvms_site_vec needed = {0};
  tvms_vec_push(memory, &needed, block);
  bool unfinished = false;
  for (uint32_t i = 0; i < needed.len && !unfinished; i++) {
    uint32_t first = needed.len;
    tvms_sched_producers(s, needed.items[i], &needed);
    for (uint32_t k = first; k < needed.len; k++) {
      int32_t site = needed.items[k];
      bool known = !tvms_sched_is_in(s, site, loop);
      for (uint32_t j = 0; j < first && !known; j++)
        known = needed.items[j] == site;
      unfinished = unfinished || (!known && tvms_sched_is_reduced_by(s, site, loop));
      if (known) needed.items[k--] = needed.items[--needed.len];
    }
  }
  tvms_vec_fini(memory, &needed);
  return unfinished;
}

static bool comes_early(tvms_sched *s, int32_t block) {
  bool early = false;
  for (int32_t at = tvms_sched_parent(s, block); !early && tvms_sched_is_loop(s, at);
       at = tvms_sched_parent(s, at))
    early = !tvms_node_is_int(tvms_sched_loop(s, at)->extent, 1)
            && tvms_sched_takes_loop(s, block, at) && needs_unfinished(s, block, at);
  return early;
}

static bool move(moving *m, int64_t index) {
  tvms_sched *s = m->sched;
  if (!tvms_sched_check_scope(s, m->block, true, &m->scope)) return false;
  tvms_sched_producers(s, m->block, &m->producers);
  tvms_sched_consumers(s, m->block, &m->consumers);
  if (!tvms_sched_check_block(s, m->block, m->scope) || !check_places(m)) return false;
  if (!m->reverse && tvms_sched_is_output(s, m->block))
    return tvms_sched_refuse(
        s, "the block writes a buffer that its scope does not allocate");
  if (m->reverse && !runs_over_all(s, m->block))
    return tvms_sched_refuse(s,
                             "the loops do not take the block through all of its axes");
  if (!tvms_sched_check_declared(s, m->scope, NULL)
      || !tvms_sched_check_condition(s, m->block) || !check_order(m))
    return false;
  const tvms_node *leaf = tvms_inline_leaf(s, m->block);
  uint32_t place = 0;
  if (!leaf || !find_place(m, index, &place)) return false;
  m->analyzer = tvms_sched_analyzer(s, m->loop);
  tvms_sched_mark_sizes(s, m->analyzer);
  tvms_sched_domains(s, m->loop, m->scope, &m->domains);
  tvms_axis_question question = {
      m->block, m->loop, m->reverse ? &m->producers : &m->consumers, !m->reverse};
  uint32_t count = tvms_sched_block(s, m->block)->iter_vars.len;
  tvms_axis_domain *domains =
      tvms_arena_array(&s->unit->arena, tvms_axis_domain, count + 1);
  bool fine = tvms_axis_domains_find(s, &question, m->analyzer, domains);
  tvms_sched_ref block = tvms_sched_ref_of(s, m->block);
  tvms_node *before = s->function;
  if (fine && reads_places(m, domains))
    fine = tvms_sched_refuse(
        s, "the places of the block are read from memory, perhaps beyond its ends");
  if (fine) {
    replace(m, leaf, make_nest(m, domains), place);
    tvms_sched_flags_axes(s, tvms_sched_find(s, block));
  }
  tvms_analyzer_free(m->analyzer);
  if (!fine || !m->reverse) return fine;
  int32_t now = tvms_sched_find(s, block);
  const char *why =
      !runs_over_all(s, now) ? "the block would not run over all of its axes"
      : tvms_sched_repeats_steps(s, now)
          ? "a loop would do steps of the reduction again"
      : begins_late(s, now) ? "the reduction would not begin with its first step"
      : comes_early(s, now) ? "a reduction that the block needs would not be finished"
                            : NULL;
  // The condition under which the producer runs is not one for what the block does without it.
  if (!why && tvms_sched_check_condition(s, now)) return true;
  tvms_sched_restore(s, before);
  return why && tvms_sched_refuse(s, "%s", why);
}

// A search may have left the block where it is, or put it into the others.
static bool run(tvms_step *step, bool reverse) {
  tvms_sched_mark mark = step->args[TVMS_ARG(ComputeAt, loop)].ref.mark;
  if (mark == TVMS_MARK_ROOT) return true;
  if (mark == TVMS_MARK_INLINE)
    return reverse ? tvms_step_reverse_compute_inline(step)
                   : tvms_step_compute_inline(step);
  moving m = {.step = step, .sched = step->sched, .reverse = reverse};
  m.block = tvms_step_site(step, TVMS_ARG(ComputeAt, block));
  if (m.block == TVMS_NO_SITE) return false;
  m.loop = tvms_step_site(step, TVMS_ARG(ComputeAt, loop));
  if (m.loop == TVMS_NO_SITE) return false;
  m.keep_units = step->args[TVMS_ARG(ComputeAt, preserve_unit_loops)].number != 0;
  bool fine = move(&m, step->args[TVMS_ARG(ComputeAt, index)].number);
  tvms_memory *memory = &step->sched->context->memory;
  tvms_vec_fini(memory, &m.producers);
  tvms_vec_fini(memory, &m.consumers);
  tvms_vec_fini(memory, &m.domains);
  return fine;
}

bool tvms_step_compute_at(tvms_step *step) {
  return run(step, false);
}

bool tvms_step_reverse_compute_at(tvms_step *step) {
  return run(step, true);
}
