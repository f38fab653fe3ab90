// fuse: loops right inside of each other become one. TVM: src/s_tir/schedule/primitive/loop_transformation.cc.
#include "schedule/bindings.h"
#include "schedule/steps.h"
#include "support/strbuf.h"

// Are the loops a nest in which each has nothing but the next, and depends on none of the others?
static bool check_nest(tvms_step *step, const int32_t *sites, uint32_t count) {
  tvms_sched *s = step->sched;
  for (uint32_t i = 0; i < count; i++) {
    const tvms_for *loop = tvms_sched_loop(s, sites[i]);
    if (!tvms_sched_check_plain_loop(s, sites[i])) return false;
    if (i && tvms_sched_parent(s, sites[i]) != sites[i - 1])
      return tvms_sched_refuse(s, "the loops are not right inside of each other");
    if (i && tvms_sched_loop(s, sites[i - 1])->body != &loop->head)
      return tvms_sched_refuse(s, "an outer loop has more in it than the inner one");
    if (!tvms_sched_check_zero(s, sites[i])) return false;
    for (uint32_t k = 0; k < i; k++)
      if (tvms_sched_uses(s, loop->extent, tvms_sched_loop(s, sites[k])->var))
        return tvms_sched_refuse(s, "the extent of a loop depends on another one");
  }
  return true;
}

// Can the fused variable count all steps, as far as their numbers are known? TVM does not ask, and its product may wrap.
static bool check_reach(tvms_sched *s, const int32_t *sites, uint32_t count,
                        tvms_dtype dtype) {
  int64_t steps = 1;
  bool fits = true, none = false;
  for (uint32_t i = 0; i < count; i++) {
    const tvms_node *extent = tvms_sched_loop(s, sites[i])->extent;
    if (extent->kind != TVMS_NODE_INT_IMM) continue;
    int64_t own = tvms_as_int_imm(extent)->value;
    none = none || own < 1;
    fits = fits && !__builtin_mul_overflow(steps, own, &steps);
  }
  if (none || (fits && (dtype.bits > 32 || steps <= INT32_MAX))) return true;
  return tvms_sched_refuse(
      s, "the fused loop would count farther than numbers of %d bits reach",
      (int)dtype.bits);
}

static tvms_node *make_var(tvms_sched *s, const int32_t *sites, uint32_t count) {
  tvms_strbuf suffix;
  tvms_strbuf_init(&suffix, &s->context->memory);
  tvms_node *first = tvms_sched_loop(s, sites[0])->var;
  tvms_dtype dtype = first->dtype;
  for (uint32_t i = 1; i < count; i++) {
    tvms_node *var = tvms_sched_loop(s, sites[i])->var;
    tvms_strbuf_printf(&suffix, "_%s",
                       tvms_symbol_text(s->context, tvms_as_var(var)->name));
    if (var->dtype.bits > dtype.bits) dtype.bits = var->dtype.bits;
  }
  tvms_strbuf_puts(&suffix, "_fused");
  tvms_node *var = tvms_sched_var(s, first, tvms_strbuf_text(&suffix), dtype);
  tvms_strbuf_fini(&suffix);
  return var;
}

// What the old variables are: quotients and remainders of the fused one.
static void map_vars(tvms_sched *s, const int32_t *sites, uint32_t count,
                     tvms_node *fused, tvms_node_map *values) {
  tvms_analyzer *analyzer = tvms_analyzer_new(s->unit);
  tvms_node *lower = tvms_sched_int(s, TVMS_DTYPE(INT, 32), 1);
  for (uint32_t i = count; i-- > 0;) {
    const tvms_for *loop = tvms_sched_loop(s, sites[i]);
    tvms_node *value = fused, *next = NULL;
    if (i) {
      next = tvms_sched_build(s, TVMS_NODE_MUL, loop->extent, lower);
      next = tvms_analyzer_canonical_simplify(analyzer, next);
      value = tvms_sched_build(s, TVMS_NODE_FLOOR_MOD, value, next);
    }
    value = tvms_sched_build(s, TVMS_NODE_FLOOR_DIV, value, lower);
    if (tvms_node_is_int(loop->extent, 1))
      value = tvms_sched_int(s, TVMS_DTYPE(INT, 32), 0);
    tvms_node_map_put(values, loop->var, tvms_sched_cast(s, loop->var->dtype, value));
    if (next) lower = next;
  }
  tvms_analyzer_free(analyzer);
}

static tvms_node *fused_extent(tvms_sched *s, const int32_t *sites, uint32_t count) {
  tvms_node *extent = tvms_sched_int(s, TVMS_DTYPE(INT, 32), 1);
  for (uint32_t i = 0; i < count; i++)
    extent = tvms_sched_build(s, TVMS_NODE_MUL, extent,
                              tvms_sched_loop(s, sites[i])->extent);
  return tvms_arith_simplify(s->unit, extent);
}

static tvms_node *make_loop(tvms_sched *s, const int32_t *sites, uint32_t count,
                            tvms_node *fused, bool keep_units) {
  tvms_memory *memory = &s->context->memory;
  tvms_node_map values;
  tvms_node_map_init(&values, memory);
  map_vars(s, sites, count, fused, &values);
  tvms_node *body =
      tvms_substitute(s->unit, tvms_sched_loop(s, sites[count - 1])->body, &values);
  tvms_node_map_fini(&values);
  tvms_node *made = tvms_sched_for(s, fused, fused_extent(s, sites, count), body);
  tvms_domain_vec outer = {0};
  tvms_sched_domains(s, tvms_sched_parent(s, sites[0]), TVMS_NO_SITE, &outer);
  made = tvms_sched_simplify_bindings(s, made, &outer, keep_units);
  tvms_vec_fini(memory, &outer);
  return made;
}

bool tvms_step_fuse(tvms_step *step) {
  tvms_sched *s = step->sched;
  const tvms_sched_value *list = &step->args[TVMS_ARG(Fuse, loops)];
  int32_t *sites = tvms_arena_array(&step->schedule->arena, int32_t, list->len + 1);
  if (!list->len || !tvms_step_sites(step, TVMS_ARG(Fuse, loops), sites)) return false;
  if (!check_nest(step, sites, list->len)) return false;
  tvms_node *fused = make_var(s, sites, list->len);
  if (!check_reach(s, sites, list->len, fused->dtype)) return false;
  bool keep_units = step->args[TVMS_ARG(Fuse, preserve_unit_iters)].number != 0;
  tvms_node *made = make_loop(s, sites, list->len, fused, keep_units);
  tvms_sched_replace_one(s, tvms_sched_at(s, sites[0])->node, made);
  tvms_step_give(step,
                 tvms_sched_find(s, (tvms_sched_ref){s, 0, fused, TVMS_MARK_NONE}));
  return true;
}
