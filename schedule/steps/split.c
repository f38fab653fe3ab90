// split: one loop becomes several, of which the innermost runs fastest.
// TVM: src/s_tir/schedule/primitive/loop_transformation.cc.
#include "ir/fold.h"
#include "schedule/bindings.h"
#include "schedule/steps.h"

#include <stdio.h>

enum { MOST_FACTORS = 16 };

// Do the new variables count no farther than numbers of their type reach? TVM does not ask, and its product of the factors may wrap.
static bool check_reach(tvms_sched *s, const tvms_for *loop,
                        const tvms_sched_value *list) {
  bool wide = loop->var->dtype.bits > 32 || loop->extent->dtype.bits > 32;
  int64_t end = 1, more = 0;
  bool fits = true;
  for (uint32_t i = 0; i < list->len && fits; i++) {
    if (list->items[i].kind == TVMS_VALUE_NONE)
      more = loop->extent->kind == TVMS_NODE_INT_IMM
                 ? tvms_as_int_imm(loop->extent)->value
                 : 0;
    else
      fits = !__builtin_mul_overflow(end, list->items[i].number, &end);
  }
  // The numbers up to the least multiple of the factors that is not less than the extent, and TVM adds all but one to it.
  fits = fits && !__builtin_add_overflow(end, more, &end);
  if (fits && (wide || end - 1 <= INT32_MAX)) return true;
  return tvms_sched_refuse(
      s, "the loops would count farther than numbers of %d bits reach", wide ? 64 : 32);
}

// The factors as expressions; that of None is found from the others.
static bool read_factors(tvms_step *step, const tvms_sched_value *list,
                         const tvms_for *loop, tvms_node **factors) {
  tvms_sched *s = step->sched;
  tvms_node *product = tvms_sched_int(s, TVMS_DTYPE(INT, 32), 1);
  int32_t missing = -1;
  if (list->len > MOST_FACTORS)
    return tvms_sched_refuse(s, "there are too many factors");
  for (uint32_t i = 0; i < list->len; i++) {
    const tvms_sched_value *item = &list->items[i];
    bool none = item->kind == TVMS_VALUE_NONE;
    if (none && missing >= 0)
      return tvms_sched_refuse(s, "only one factor may be None");
    if (none) {
      missing = (int32_t)i;
      continue;
    }
    if (item->number <= 0) return tvms_sched_refuse(s, "a factor is not positive");
    factors[i] = tvms_build_literal_int(s->unit, item->number, TVMS_NO_SPAN);
    if (factors[i]->dtype.bits > loop->extent->dtype.bits)
      factors[i] = tvms_sched_cast(s, loop->extent->dtype, factors[i]);
    product = tvms_sched_build(s, TVMS_NODE_MUL, product, factors[i]);
  }
  if (missing >= 0) {
    tvms_node *sum = tvms_sched_build(s, TVMS_NODE_ADD, loop->extent, product);
    sum = tvms_sched_build(s, TVMS_NODE_SUB, sum, tvms_sched_int(s, sum->dtype, 1));
    tvms_node *rest = tvms_sched_build(s, TVMS_NODE_FLOOR_DIV, sum, product);
    factors[missing] = tvms_arith_simplify(s->unit, rest);
    return true;
  }
  tvms_analyzer *analyzer = tvms_analyzer_new(s->unit);
  bool enough = tvms_analyzer_can_prove(
      analyzer, tvms_sched_build(s, TVMS_NODE_GE, product, loop->extent));
  tvms_analyzer_free(analyzer);
  return enough
         || tvms_sched_refuse(
             s, "the product of the factors is less than the extent of the loop");
}

typedef struct {
  tvms_node **factors;
  uint32_t count;
  tvms_node **vars;
  tvms_node *value;      // of the old variable
  tvms_node *condition;  // under which the old loop ran
  bool always;           // it is proved
} split_parts;

static void make_parts(tvms_sched *s, const tvms_for *loop, split_parts *parts) {
  tvms_dtype dtype = TVMS_DTYPE(INT, 32);
  if (loop->var->dtype.bits > dtype.bits) dtype.bits = loop->var->dtype.bits;
  for (uint32_t i = 0; i < parts->count; i++)
    if (parts->factors[i]->dtype.bits > dtype.bits)
      dtype.bits = parts->factors[i]->dtype.bits;
  tvms_analyzer *analyzer = tvms_analyzer_new(s->unit);
  tvms_domain_vec domains = {0};
  parts->value = tvms_sched_int(s, dtype, 0);
  for (uint32_t i = 0; i < parts->count; i++) {
    char suffix[16];
    snprintf(suffix, sizeof suffix, "_%u", i);
    tvms_node *factor = parts->factors[i];
    tvms_node *var = parts->vars[i] = tvms_sched_var(s, loop->var, suffix, dtype);
    tvms_node *scaled = tvms_sched_build(s, TVMS_NODE_MUL, parts->value, factor);
    parts->value = tvms_sched_build(s, TVMS_NODE_ADD, scaled, var);
    tvms_iter_domain domain = {var, tvms_sched_int(s, dtype, 0),
                               tvms_sched_cast(s, dtype, factor)};
    tvms_analyzer_bind_range(analyzer, var, domain.min, domain.extent);
    tvms_vec_push(&s->context->memory, &domains, domain);
  }
  parts->condition = tvms_sched_build(s, TVMS_NODE_LT, parts->value, loop->extent);
  parts->always = tvms_sched_proves(s, analyzer, &domains, parts->condition);
  tvms_vec_fini(&s->context->memory, &domains);
  tvms_analyzer_free(analyzer);
}

static tvms_node *make_loops(tvms_sched *s, const tvms_for *loop,
                             const split_parts *parts, bool predicated) {
  tvms_node *value = tvms_sched_cast(s, loop->var->dtype, parts->value);
  tvms_node *body = tvms_substitute_one(s->unit, loop->body, loop->var, value);
  if (predicated && !parts->always)
    body = tvms_sched_add_predicate(s, body, parts->condition);
  for (uint32_t i = parts->count; i-- > 0;)
    body = tvms_sched_for(s, parts->vars[i], parts->factors[i], body);
  return body;
}

bool tvms_step_split(tvms_step *step) {
  tvms_sched *s = step->sched;
  int32_t site = tvms_step_site(step, TVMS_ARG(Split, loop));
  if (site == TVMS_NO_SITE) return false;
  const tvms_for *loop = tvms_sched_loop(s, site);
  const tvms_sched_value *list = &step->args[TVMS_ARG(Split, factors)];
  tvms_node *factors[MOST_FACTORS], *vars[MOST_FACTORS];
  bool fine = read_factors(step, list, loop, factors)
              && tvms_sched_check_plain_loop(s, site) && tvms_sched_check_zero(s, site)
              && check_reach(s, loop, list);
  if (!fine) return false;
  if (!list->len) return tvms_sched_refuse(s, "there are no factors");
  split_parts parts = {.factors = factors, .count = list->len, .vars = vars};
  make_parts(s, loop, &parts);
  bool predicated = !step->args[TVMS_ARG(Split, disable_predication)].number;
  tvms_node *made = make_loops(s, loop, &parts, predicated);
  tvms_domain_vec outer = {0};
  tvms_sched_domains(s, tvms_sched_parent(s, site), TVMS_NO_SITE, &outer);
  made = tvms_sched_simplify_bindings(
      s, made, &outer, step->args[TVMS_ARG(Split, preserve_unit_iters)].number != 0);
  tvms_vec_fini(&s->context->memory, &outer);
  tvms_sched_replace_one(s, &loop->head, made);
  int32_t sites[MOST_FACTORS];
  for (uint32_t i = 0; i < parts.count; i++)
    sites[i] = tvms_sched_find(s, (tvms_sched_ref){s, 0, vars[i], TVMS_MARK_NONE});
  tvms_step_give_list(step, sites, parts.count);
  return true;
}
