// Interval evaluation. Infinities are NULL; arithmetic folds as at construction.
//
// Unlike bounds (arith/bound.c) the ends are expressions: with i over [0, n) the set of i + 1
// is [1, n]. An expression whose operands are single points is a point again, as it is
// written; otherwise the ends are computed from the ends of the operands. A domain may mention
// variables that run themselves; they are replaced in turn, at most as many levels deep as
// there are variables. Regions of blocks are made of this (structinfo/regions.c), so the text
// of the ends is TVM's. TVM: src/arith/int_set.cc.
#include "arith/int_set.h"

#include "arith/internal.h"
#include "arith/modular.h"
#include "ir/fold_ops.h"
#include "ir/walk.h"
#include "support/trial.h"

typedef tvms_int_set set;

typedef struct {
  const tvms_domains *domains;
  tvms_unit *unit;
  tvms_analyzer *analyzer;
  uint32_t depth;  // of domains that mention variables with domains
  bool vectors;    // ramps may be looked into
} evaluation;

static const set everything = {0};

static set eval(evaluation *e, tvms_node *node);

// ---- Domains ----

void tvms_domains_init(tvms_domains *domains, tvms_unit *unit) {
  *domains = (tvms_domains){.unit = unit};
  tvms_node_map_init(&domains->sets, &unit->context->memory);
}

void tvms_domains_fini(tvms_domains *domains) {
  tvms_node_map_fini(&domains->sets);
}

const set *TVMS_NULLABLE tvms_domains_get(const tvms_domains *domains,
                                          const tvms_node *var) {
  return (const set *)(void *)tvms_node_map_get(&domains->sets, var);
}

void tvms_domains_set(tvms_domains *domains, const tvms_node *var, set value) {
  if (!tvms_domains_get(domains, var)) domains->count++;
  set *place = tvms_arena_new(&domains->unit->arena, set);
  *place = value;
  tvms_node_map_put(&domains->sets, var, (tvms_node *)(void *)place);
}

void tvms_domains_drop(tvms_domains *domains, const tvms_node *var) {
  if (tvms_domains_get(domains, var)) domains->count--;
  tvms_node_map_put(&domains->sets, var, NULL);
}

// ---- Building ----

static set point(tvms_node *value) {
  return (set){value, value, false};
}

static bool is_point(set s) {
  return s.min && s.min == s.max;
}

// Operands of different dtypes are brought together, as everywhere.
static tvms_node *binary(tvms_unit *unit, tvms_node_kind kind, tvms_node *a,
                         tvms_node *b) {
  tvms_diags *diags = &unit->context->diags;
  tvms_trial_mute(diags);
  bool match = tvms_build_match_dtypes(unit, &a, &b, TVMS_NO_SPAN);
  tvms_trial_unmute(diags);
  TVMS_CHECK(match);
  return tvms_arith_fold_binary(unit, kind, a, b);
}

static tvms_node *plus(tvms_unit *unit, tvms_node *a, int64_t value) {
  tvms_node_kind kind = value >= 0 ? TVMS_NODE_ADD : TVMS_NODE_SUB;
  tvms_node *number = tvms_arith_number(unit, a->dtype, value >= 0 ? value : -value);
  return tvms_arith_fold_binary(unit, kind, a, number);
}

// NULL if one operand is infinite.
static tvms_node *TVMS_NULLABLE bounded(evaluation *e, tvms_node_kind kind,
                                        tvms_node *TVMS_NULLABLE a,
                                        tvms_node *TVMS_NULLABLE b) {
  return a && b ? binary(e->unit, kind, a, b) : NULL;
}

set tvms_int_set_point(tvms_node *value) {
  return point(value);
}

set tvms_int_set_of_range(tvms_unit *unit, tvms_node *min, tvms_node *extent) {
  if (tvms_node_is_int(extent, 1)) return point(min);
  tvms_node *end = binary(unit, TVMS_NODE_ADD, extent, min);
  return (set){min, plus(unit, end, -1), false};
}

// ---- Operators ----

static set choose(evaluation *e, tvms_node *sign, tvms_node *low, tvms_node *high) {
  tvms_node *min = tvms_select_new(e->unit, sign, low, high, TVMS_NO_SPAN);
  tvms_node *max = tvms_select_new(e->unit, sign, high, low, TVMS_NO_SPAN);
  return (set){min, max, false};
}

// a OP b where b is one value and OP is monotonic in a, in the direction of b's sign.
static set scale(evaluation *e, tvms_node_kind kind, set a, tvms_node *b) {
  if (tvms_analyzer_can_prove_ge(e->analyzer, b, 0)) {
    return (set){bounded(e, kind, a.min, b), bounded(e, kind, a.max, b), false};
  }
  tvms_node *minus = tvms_build_neg(e->unit, b, TVMS_NO_SPAN);
  if (minus && tvms_analyzer_can_prove_ge(e->analyzer, minus, 1)) {
    return (set){bounded(e, kind, a.max, b), bounded(e, kind, a.min, b), false};
  }
  if (!a.min || !a.max) return everything;
  tvms_node *zero = tvms_arith_number(e->unit, b->dtype, 0);
  tvms_node *sign = tvms_arith_fold_binary(e->unit, TVMS_NODE_GE, b, zero);
  return choose(e, sign, bounded(e, kind, a.min, b), bounded(e, kind, a.max, b));
}

static set multiply(evaluation *e, set a, set b) {
  if (is_point(a)) {
    set swap = a;
    a = b;
    b = swap;
  }
  if (!is_point(b)) return everything;
  if (tvms_node_is_int(b.min, 0)) return b;
  if (tvms_node_is_int(b.min, 1)) return a;
  return scale(e, TVMS_NODE_MUL, a, b.min);
}

static set divide(evaluation *e, tvms_node_kind kind, set a, set b) {
  if (!is_point(b) || tvms_node_is_int(b.min, 0)) return everything;
  if (tvms_node_is_int(b.min, 1)) return a;
  return scale(e, kind, a, b.min);
}

// Remainders by something that may be negative: (-|b|, |b|).
static set around_zero(evaluation *e, tvms_node *divisor) {
  tvms_node *size = tvms_build_abs(e->unit, divisor, TVMS_NO_SPAN);
  if (!size) return everything;
  tvms_node *limit = plus(e->unit, size, -1);
  return (set){tvms_build_neg(e->unit, limit, TVMS_NO_SPAN), limit, false};
}

static set below(evaluation *e, tvms_node *divisor) {
  return (set){tvms_arith_number(e->unit, divisor->dtype, 0),
               plus(e->unit, divisor, -1), false};
}

// All of `a` in one block of the divisor: the remainder moves with it.
static bool mod_in_block(evaluation *e, set a, tvms_node *divisor, set *result) {
  if (!a.min || !a.max) return false;
  tvms_node *low = binary(e->unit, TVMS_NODE_FLOOR_DIV, a.min, divisor);
  tvms_node *high = binary(e->unit, TVMS_NODE_FLOOR_DIV, a.max, divisor);
  tvms_node *same = binary(e->unit, TVMS_NODE_EQ, high, low);
  if (!tvms_analyzer_can_prove(e->analyzer, same)) return false;
  tvms_node *block = binary(e->unit, TVMS_NODE_MUL, divisor, low);
  *result = (set){binary(e->unit, TVMS_NODE_SUB, a.min, block),
                  binary(e->unit, TVMS_NODE_SUB, a.max, block), false};
  return true;
}

// The largest remainder that the dividend's step allows.
static bool mod_by_step(evaluation *e, const tvms_binary *op, int64_t divisor,
                        set *result) {
  tvms_modular dividend = tvms_analyzer_modular_set(e->analyzer, op->a);
  int64_t step = dividend.coeff > 0 ? tvms_arith_gcd(dividend.coeff, divisor) : 0;
  if (step <= 1) return false;
  int64_t largest = divisor - step + dividend.base % step;
  if (largest < 0 || largest >= divisor) return false;
  tvms_dtype dtype = op->head.dtype;
  *result = (set){tvms_arith_number(e->unit, dtype, 0),
                  tvms_arith_number(e->unit, dtype, largest), false};
  return true;
}

static set remain(evaluation *e, const tvms_binary *op, set a, set b) {
  if (!is_point(b) || tvms_node_is_int(b.min, 0)) return everything;
  tvms_node *divisor = b.min;
  if (!tvms_analyzer_can_prove_ge(e->analyzer, divisor, 0))
    return around_zero(e, divisor);
  set result;
  bool constant = divisor->kind == TVMS_NODE_INT_IMM;
  if (op->head.kind == TVMS_NODE_FLOOR_MOD && constant
      && (mod_in_block(e, a, divisor, &result)
          || mod_by_step(e, op, tvms_as_int_imm(divisor)->value, &result))) {
    return result;
  }
  return below(e, divisor);
}

static set combine(evaluation *e, tvms_node *node, set a, set b) {
  tvms_node_kind kind = (tvms_node_kind)node->kind;
  if (is_point(a) && is_point(b)) return point(binary(e->unit, kind, a.min, b.min));
  if (kind >= TVMS_NODE_EQ) {
    return (set){tvms_arith_truth(e->unit, node->dtype, false),
                 tvms_arith_truth(e->unit, node->dtype, true), false};
  }
  if (a.empty || b.empty) return a.empty ? a : b;
  switch ((int)kind) {
  case TVMS_NODE_ADD:
    return (set){bounded(e, kind, a.min, b.min), bounded(e, kind, a.max, b.max), false};
  case TVMS_NODE_SUB:
    return (set){bounded(e, kind, a.min, b.max), bounded(e, kind, a.max, b.min), false};
  case TVMS_NODE_MUL: return multiply(e, a, b);
  case TVMS_NODE_DIV:
  case TVMS_NODE_FLOOR_DIV: return divide(e, kind, a, b);
  case TVMS_NODE_MOD:
  case TVMS_NODE_FLOOR_MOD: return remain(e, tvms_as_binary(node), a, b);
  case TVMS_NODE_MIN:
    return (set){bounded(e, kind, a.min, b.min),
                 a.max && b.max ? binary(e->unit, kind, a.max, b.max)
                                : (a.max ? a.max : b.max),
                 false};
  default:
    return (set){a.min && b.min ? binary(e->unit, kind, a.min, b.min)
                                : (a.min ? a.min : b.min),
                 bounded(e, kind, a.max, b.max), false};
  }
}

// ---- Expressions ----

static set eval_binary(evaluation *e, tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  set a = eval(e, op->a), b = eval(e, op->b);
  bool unchanged = is_point(a) && a.min == op->a && is_point(b) && b.min == op->b;
  return unchanged ? point(node) : combine(e, node, a, b);
}

// The ends of an interval relaxed over the domains, unless that may go on for ever.
static set eval_ends(evaluation *e, set s) {
  if (e->depth >= e->domains->count) return s;
  e->depth++;
  set low = s.min ? eval(e, s.min) : everything;
  set high = s.max ? eval(e, s.max) : everything;
  e->depth--;
  return (set){low.min, high.max, false};
}

static set eval_var(evaluation *e, tvms_node *var) {
  const set *domain = tvms_domains_get(e->domains, var);
  if (!domain) return point(var);
  if (domain->min == var && domain->max == var) return *domain;
  return eval_ends(e, *domain);
}

static set eval_ramp(evaluation *e, const tvms_node *node) {
  const tvms_ramp *ramp = tvms_as_ramp(node);
  if (!e->vectors || ramp->stride->kind != TVMS_NODE_INT_IMM) return everything;
  set base = eval(e, ramp->base);
  int64_t stride = tvms_as_int_imm(ramp->stride)->value;
  tvms_node *zero = tvms_arith_number(e->unit, ramp->base->dtype, 0), *reach = NULL;
  if (node->dtype.lanes > 0) {
    int64_t last = tvms_arith_wrap_mul(stride, node->dtype.lanes - 1);
    reach = tvms_arith_number(e->unit, ramp->base->dtype, last);
  }
  set steps = stride > 0 ? (set){zero, reach, false} : (set){reach, zero, false};
  return (set){bounded(e, TVMS_NODE_ADD, base.min, steps.min),
               bounded(e, TVMS_NODE_ADD, base.max, steps.max), false};
}

static set eval_cast(evaluation *e, const tvms_node *node) {
  set value = eval(e, tvms_as_cast(node)->value);
  if (value.empty) return value;
  tvms_span none = TVMS_NO_SPAN;
  tvms_node *min =
      value.min ? tvms_build_cast(e->unit, node->dtype, value.min, none) : NULL;
  if (value.min == value.max) return (set){min, min, false};
  tvms_node *max =
      value.max ? tvms_build_cast(e->unit, node->dtype, value.max, none) : NULL;
  return (set){min, max, false};
}

static tvms_walk_step is_relaxed(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  evaluation *e = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  bool relaxed = node->kind == TVMS_NODE_VAR && tvms_domains_get(e->domains, node);
  return relaxed ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static set eval_load(evaluation *e, tvms_node *node) {
  if (!tvms_dtype_is_int(node->dtype) && !tvms_dtype_is_uint(node->dtype)) {
    return everything;
  }
  tvms_visitor visitor = {.self = e, .enter = is_relaxed};
  bool fixed = tvms_walk(&e->unit->context->memory, node, &visitor);
  return fixed ? point(node) : everything;
}

static set join(evaluation *e, set a, set b) {
  if (a.empty) return b;
  if (b.empty) return a;
  return (set){bounded(e, TVMS_NODE_MIN, a.min, b.min),
               bounded(e, TVMS_NODE_MAX, a.max, b.max), false};
}

static set eval_inner(evaluation *e, tvms_node *node) {
  if (tvms_node_is_binary(node)) return eval_binary(e, node);
  switch ((int)node->kind) {
  case TVMS_NODE_INT_IMM: return point(node);
  case TVMS_NODE_VAR: return eval_var(e, node);
  case TVMS_NODE_RAMP: return eval_ramp(e, node);
  case TVMS_NODE_BROADCAST:
    return e->vectors ? eval(e, tvms_as_broadcast(node)->value) : everything;
  case TVMS_NODE_SELECT:
    return join(e, eval(e, tvms_as_select(node)->false_value),
                eval(e, tvms_as_select(node)->true_value));
  case TVMS_NODE_CAST: return eval_cast(e, node);
  case TVMS_NODE_BUFFER_LOAD: return eval_load(e, node);
  case TVMS_NODE_CALL:
    return tvms_call_opcode(node) == TVMS_TIR_vscale ? point(node) : everything;
  default: return everything;
  }
}

static set eval(evaluation *e, tvms_node *node) {
  tvms_memory *memory = &e->unit->context->memory;
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  tvms_trial_mute(&e->unit->context->diags);
  set result = eval_inner(e, node);
  tvms_trial_unmute(&e->unit->context->diags);
  tvms_memory_leave(memory);
  return result;
}

// ---- Entry points ----

static evaluation begin(const tvms_domains *domains) {
  return (evaluation){.domains = domains,
                      .unit = domains->unit,
                      .analyzer = tvms_analyzer_new(domains->unit)};
}

set tvms_int_set_of_expr(const tvms_domains *domains, tvms_node *expr) {
  evaluation e = begin(domains);
  set result = eval(&e, expr);
  tvms_analyzer_free(e.analyzer);
  return result;
}

set tvms_int_set_of_values(const tvms_domains *domains, set s) {
  evaluation e = begin(domains);
  set result = {s.min ? eval(&e, s.min).min : NULL, s.max ? eval(&e, s.max).max : NULL,
                s.empty};
  tvms_analyzer_free(e.analyzer);
  return result;
}

set tvms_int_set_of_ranges(const tvms_domains *domains, tvms_node *min,
                           tvms_node *extent) {
  evaluation e = begin(domains);
  set result;
  tvms_node *one = tvms_arith_number(e.unit, extent->dtype, 1);
  if (tvms_analyzer_can_prove_equal(e.analyzer, extent, one)) {
    result = eval(&e, min);
  } else {
    tvms_node *last = plus(e.unit, binary(e.unit, TVMS_NODE_ADD, min, extent), -1);
    result = eval_ends(&e, (set){min, tvms_analyzer_simplify(e.analyzer, last), false});
  }
  tvms_analyzer_free(e.analyzer);
  return result;
}

set tvms_int_set_of_index(tvms_unit *unit, tvms_node *index) {
  if (index->dtype.lanes == 1) return point(index);
  tvms_domains none;
  tvms_domains_init(&none, unit);
  evaluation e = begin(&none);
  e.vectors = true;
  set result = eval(&e, index);
  tvms_analyzer_free(e.analyzer);
  tvms_domains_fini(&none);
  return result;
}

static tvms_node *TVMS_NULLABLE simplify(tvms_unit *unit,
                                         tvms_node *TVMS_NULLABLE node) {
  return node ? tvms_arith_simplify(unit, node) : NULL;
}

set tvms_int_set_union(tvms_unit *unit, set a, set b) {
  if (a.empty) return b;
  if (b.empty) return a;
  tvms_node *min = a.min && b.min ? binary(unit, TVMS_NODE_MIN, a.min, b.min) : NULL;
  tvms_node *max = a.max && b.max ? binary(unit, TVMS_NODE_MAX, a.max, b.max) : NULL;
  return (set){simplify(unit, min), simplify(unit, max), false};
}

set tvms_int_set_intersect(tvms_unit *unit, set a, set b) {
  tvms_node *min = a.min && b.min ? binary(unit, TVMS_NODE_MAX, a.min, b.min)
                                  : (a.min ? a.min : b.min);
  tvms_node *max = a.max && b.max ? binary(unit, TVMS_NODE_MIN, a.max, b.max)
                                  : (a.max ? a.max : b.max);
  set result = {simplify(unit, min), simplify(unit, max), a.empty || b.empty};
  if (!min || !max || result.empty) return result;
  tvms_analyzer *analyzer = tvms_analyzer_new(unit);
  tvms_node *none = binary(unit, TVMS_NODE_LT, max, min);
  result.empty = tvms_analyzer_can_prove(analyzer, none);
  tvms_analyzer_free(analyzer);
  return result;
}

bool tvms_int_set_is_point(tvms_unit *unit, set s) {
  if (is_point(s)) return true;
  return s.min && s.max && tvms_arith_prove_equal(unit, s.min, s.max);
}

bool tvms_int_set_cover(tvms_unit *unit, set s, tvms_node **min, tvms_node **extent) {
  if (!s.min || !s.max || s.empty) return false;
  *min = simplify(unit, s.min);
  tvms_node *size = binary(unit, TVMS_NODE_SUB, plus(unit, s.max, 1), s.min);
  *extent = simplify(unit, size);
  return true;
}
