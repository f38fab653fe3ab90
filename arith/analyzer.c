// Facts, scopes and proofs.
//
// An analyzer keeps five kinds of facts, each for the question that can use it: bounds and
// modular sets of variables (by variable), bounds of expressions, conditions that hold as
// they are written, inequalities between expressions, domains for symbolic sets. Entering a
// condition adds to all of them and leaving takes off what was added, so scopes nest; what
// is bound to a variable stays, which is right because a variable has one definition.
//
// A proof is a simplification to `true`. Simplifying asks for bounds and further proofs,
// which simplify again: the work is bounded by a budget per question and per function
// (arith/internal.h), beyond which an expression is taken as it is.
#include "arith/analyzer.h"

#include "arith/bound.h"
#include "arith/compare.h"
#include "arith/internal.h"
#include "arith/modular.h"
#include "arith/rewrite.h"
#include "ir/equal.h"
#include "ir/fold_const.h"
#include "ir/walk.h"
#include "support/trial.h"

// ---- Life ----

tvms_analyzer *tvms_analyzer_new(tvms_unit *unit) {
  tvms_memory *memory = &unit->context->memory;
  tvms_analyzer *analyzer = tvms_memory_alloc(memory, sizeof *analyzer);
  analyzer->unit = unit;
  analyzer->memory = memory;
  analyzer->most_effort = TVMS_MOST_EFFORT;
  tvms_node_map_init(&analyzer->vars, memory);
  analyzer->rewriter = (tvms_simplifier){.analyzer = analyzer};
  analyzer->normalizer = (tvms_simplifier){.analyzer = analyzer, .canonical = true};
  return analyzer;
}

void tvms_analyzer_be_patient(tvms_analyzer *analyzer) {
  analyzer->most_effort = 16 * (uint64_t)TVMS_MOST_EFFORT;
}

void tvms_analyzer_free(tvms_analyzer *TVMS_NULLABLE analyzer) {
  if (!analyzer) return;
  tvms_memory *memory = analyzer->memory;
  tvms_node_map_fini(&analyzer->vars);
  tvms_vec_fini(memory, &analyzer->bounds);
  tvms_vec_fini(memory, &analyzer->moduli);
  tvms_vec_fini(memory, &analyzer->literals);
  tvms_vec_fini(memory, &analyzer->sets);
  tvms_vec_fini(memory, &analyzer->facts);
  tvms_memory_free(memory, analyzer);
}

void tvms_analyzer_extend(tvms_analyzer *analyzer, uint32_t extensions) {
  analyzer->extensions = extensions;
}

// ---- Small arithmetic and building ----

int64_t tvms_arith_gcd(int64_t a, int64_t b) {
  uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
  uint64_t y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
  while (y != 0) {
    uint64_t rest = x % y;
    x = y;
    y = rest;
  }
  return x > INT64_MAX ? 1 : (int64_t)x;
}

int64_t tvms_arith_floor_div(int64_t a, int64_t b) {
  if (b == -1) return (int64_t)(0 - (uint64_t)a);
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

int64_t tvms_arith_floor_mod(int64_t a, int64_t b) {
  if (b == -1) return 0;
  int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

tvms_node *tvms_arith_number(tvms_unit *unit, tvms_dtype dtype, int64_t value) {
  tvms_dtype scalar = tvms_dtype_with_lanes(dtype, 1);
  tvms_node *number =
      tvms_dtype_is_real(dtype)
          ? tvms_float_imm_new(unit, scalar, (double)value, TVMS_NO_SPAN)
          : tvms_int_imm_new(unit, scalar, value, TVMS_NO_SPAN);
  if (dtype.lanes == 1) return number;
  return tvms_broadcast_new(unit, number, dtype.lanes, TVMS_NO_SPAN);
}

tvms_node *tvms_arith_truth(tvms_unit *unit, tvms_dtype dtype, bool value) {
  tvms_dtype boolean = tvms_dtype_with_lanes(TVMS_DTYPE(BOOL, 1), dtype.lanes);
  return tvms_arith_number(unit, boolean, value);
}

tvms_node *tvms_arith_fold_binary(tvms_unit *unit, tvms_node_kind kind, tvms_node *a,
                                  tvms_node *b) {
  tvms_node *folded = tvms_build_try_fold(unit, kind, a, b);
  return folded ? folded : tvms_binary_new(unit, kind, a, b, TVMS_NO_SPAN);
}

// ---- Facts ----

tvms_var_facts *TVMS_NULLABLE tvms_analyzer_find_facts(const tvms_analyzer *analyzer,
                                                       const tvms_node *var) {
  return (tvms_var_facts *)(void *)tvms_node_map_get(&analyzer->vars, var);
}

tvms_var_facts *tvms_analyzer_get_or_create_facts(tvms_analyzer *analyzer,
                                                  const tvms_node *var) {
  tvms_var_facts *facts = tvms_analyzer_find_facts(analyzer, var);
  if (facts) return facts;
  facts = tvms_arena_new(&analyzer->unit->arena, tvms_var_facts);
  facts->var = var;
  tvms_node_map_put(&analyzer->vars, var, (tvms_node *)(void *)facts);
  return facts;
}

void tvms_analyzer_bind(tvms_analyzer *analyzer, const tvms_node *var,
                        tvms_node *value) {
  value = tvms_analyzer_canonical_simplify(analyzer, value);
  value = tvms_analyzer_rewrite_simplify(analyzer, value);
  tvms_var_facts *facts = tvms_analyzer_get_or_create_facts(analyzer, var);
  facts->has_bound = facts->has_modular = true;
  facts->bound = tvms_analyzer_const_int_bound(analyzer, value);
  facts->modular = tvms_analyzer_modular_set(analyzer, value);
  facts->value = value;
}

void tvms_analyzer_bind_range(tvms_analyzer *analyzer, const tvms_node *var,
                              tvms_node *min, tvms_node *extent) {
  if (tvms_node_is_int(extent, 1)) {
    tvms_analyzer_bind(analyzer, var, min);
    return;
  }
  tvms_bound low = tvms_analyzer_const_int_bound(analyzer, min);
  tvms_bound size = tvms_analyzer_const_int_bound(analyzer, extent);
  tvms_var_facts *facts = tvms_analyzer_get_or_create_facts(analyzer, var);
  facts->has_bound = true;
  facts->bound.min = low.min;
  facts->value = NULL;  // of an earlier range of one value
  bool open = low.max == TVMS_POS_INF || size.max == TVMS_POS_INF;
  int64_t top = 0;
  open = open || __builtin_add_overflow(low.max, size.max - 1, &top);
  facts->bound.max = open ? TVMS_POS_INF : top;
  tvms_unit *unit = analyzer->unit;
  tvms_node *end = tvms_arith_fold_binary(unit, TVMS_NODE_ADD, min, extent);
  tvms_node *one = tvms_arith_number(unit, extent->dtype, 1);
  facts->set_min = min;
  facts->set_max = tvms_analyzer_simplify(
      analyzer, tvms_arith_fold_binary(unit, TVMS_NODE_SUB, end, one));
  tvms_node *itself = (tvms_node *)(uintptr_t)var;
  tvms_analyzer_enter_inequalities(
      analyzer, tvms_binary_new(unit, TVMS_NODE_GE, itself, min, TVMS_NO_SPAN));
  tvms_analyzer_enter_inequalities(
      analyzer, tvms_binary_new(unit, TVMS_NODE_LT, itself, end, TVMS_NO_SPAN));
}

// value = symbol * scale + offset with a positive scale, or NULL.
static const tvms_node *TVMS_NULLABLE linear_symbol(const tvms_node *value,
                                                    int64_t *offset) {
  while (value->kind == TVMS_NODE_ADD || value->kind == TVMS_NODE_SUB) {
    const tvms_binary *op = tvms_as_binary(value);
    if (op->b->kind == TVMS_NODE_INT_IMM) {
      int64_t number = tvms_as_int_imm(op->b)->value;
      *offset += value->kind == TVMS_NODE_ADD ? number : -number;
      value = op->a;
    } else if (op->a->kind == TVMS_NODE_INT_IMM && value->kind == TVMS_NODE_ADD) {
      *offset += tvms_as_int_imm(op->a)->value;
      value = op->b;
    } else {
      return NULL;
    }
  }
  int64_t scale = 1;
  while (value->kind == TVMS_NODE_MUL) {
    const tvms_binary *op = tvms_as_binary(value);
    bool right = op->b->kind == TVMS_NODE_INT_IMM;
    const tvms_node *factor = right ? op->b : op->a;
    if (factor->kind != TVMS_NODE_INT_IMM) return NULL;
    scale = tvms_arith_wrap_mul(scale, tvms_as_int_imm(factor)->value);
    value = right ? op->a : op->b;
  }
  return value->kind == TVMS_NODE_VAR && scale > 0 ? value : NULL;
}

void tvms_analyzer_mark_nonnegative(tvms_analyzer *analyzer, tvms_node *value) {
  int64_t offset = 0;
  const tvms_node *var = linear_symbol(value, &offset);
  if (!var || !tvms_dtype_is_index(var->dtype)) return;
  tvms_var_facts *facts = tvms_analyzer_get_or_create_facts(analyzer, var);
  facts->has_bound = true;
  facts->bound = (tvms_bound){-offset, TVMS_POS_INF};
}

// ---- Scopes ----

void tvms_arith_each_conjunct(tvms_node *condition,
                              void (*use)(void *self, tvms_node *part), void *self) {
  while (condition->kind == TVMS_NODE_AND) {
    tvms_arith_each_conjunct(tvms_as_binary(condition)->a, use, self);
    condition = tvms_as_binary(condition)->b;
  }
  use(self, condition);
}

static void add_literal(void *self, tvms_node *part) {
  tvms_analyzer *analyzer = self;
  tvms_unit *unit = analyzer->unit;
  if (tvms_arith_effect_of(analyzer->memory, part) > TVMS_EFFECT_PURE) return;
  tvms_vec_push(analyzer->memory, &analyzer->literals, part);
  tvms_node *negation =
      tvms_arith_normalize_bool(unit, tvms_not_new(unit, part, TVMS_NO_SPAN));
  tvms_node *twice = tvms_not_new(unit, negation, TVMS_NO_SPAN);
  tvms_vec_push(analyzer->memory, &analyzer->literals, twice);
}

void tvms_analyzer_enter_literals(tvms_analyzer *analyzer, tvms_node *condition) {
  if (!tvms_dtype_is_bool(condition->dtype)) return;
  condition = tvms_simplifier_visit(&analyzer->rewriter, condition);
  tvms_arith_each_conjunct(condition, add_literal, analyzer);
}

tvms_scope_mark tvms_analyzer_mark(const tvms_analyzer *analyzer) {
  return (tvms_scope_mark){analyzer->bounds.len, analyzer->moduli.len,
                           analyzer->literals.len, analyzer->sets.len,
                           analyzer->facts.len};
}

tvms_scope_mark tvms_analyzer_enter(tvms_analyzer *analyzer, tvms_node *condition) {
  tvms_scope_mark mark = tvms_analyzer_mark(analyzer);
  tvms_analyzer_enter_bounds(analyzer, condition);
  tvms_analyzer_enter_modular(analyzer, condition);
  tvms_analyzer_enter_literals(analyzer, condition);
  tvms_analyzer_enter_inequalities(analyzer, condition);
  return mark;
}

// dividend // divisor OP value, with OP one of EQ and LT to GE.
static void enter_dividend(tvms_analyzer *analyzer, tvms_node_kind kind,
                           const tvms_node *quotient, int64_t value) {
  const tvms_binary *op = tvms_as_binary(quotient);
  if (op->b->kind != TVMS_NODE_INT_IMM || tvms_as_int_imm(op->b)->value <= 0) return;
  int64_t divisor = tvms_as_int_imm(op->b)->value, start, end;
  if (__builtin_mul_overflow(value, divisor, &start)
      || __builtin_add_overflow(start, divisor, &end)) {
    return;
  }
  tvms_unit *unit = analyzer->unit;
  tvms_node *low = tvms_arith_number(unit, op->a->dtype, start);
  tvms_node *high = tvms_arith_number(unit, op->a->dtype, end);
  if (kind == TVMS_NODE_EQ || kind >= TVMS_NODE_GT) {
    tvms_node *from = kind == TVMS_NODE_GT ? high : low;
    tvms_analyzer_enter(analyzer,
                        tvms_arith_fold_binary(unit, TVMS_NODE_GE, op->a, from));
  }
  if (kind == TVMS_NODE_EQ || kind == TVMS_NODE_LT || kind == TVMS_NODE_LE) {
    tvms_node *to = kind == TVMS_NODE_LT ? low : high;
    tvms_analyzer_enter(analyzer,
                        tvms_arith_fold_binary(unit, TVMS_NODE_LT, op->a, to));
  }
}

static void enter_dividends(void *self, tvms_node *part) {
  static const uint8_t flipped[] = {
      [TVMS_NODE_EQ - TVMS_NODE_EQ] = TVMS_NODE_EQ,
      [TVMS_NODE_LT - TVMS_NODE_EQ] = TVMS_NODE_GT,
      [TVMS_NODE_LE - TVMS_NODE_EQ] = TVMS_NODE_GE,
      [TVMS_NODE_GT - TVMS_NODE_EQ] = TVMS_NODE_LT,
      [TVMS_NODE_GE - TVMS_NODE_EQ] = TVMS_NODE_LE,
  };
  int kind = part->kind;
  if (kind < TVMS_NODE_EQ || kind > TVMS_NODE_GE || kind == TVMS_NODE_NE) return;
  const tvms_node *a = tvms_as_binary(part)->a, *b = tvms_as_binary(part)->b;
  if (a->kind == TVMS_NODE_FLOOR_DIV && b->kind == TVMS_NODE_INT_IMM)
    enter_dividend(self, (tvms_node_kind)kind, a, tvms_as_int_imm(b)->value);
  if (b->kind == TVMS_NODE_FLOOR_DIV && a->kind == TVMS_NODE_INT_IMM) {
    tvms_node_kind turned = (tvms_node_kind)flipped[kind - TVMS_NODE_EQ];
    enter_dividend(self, turned, b, tvms_as_int_imm(a)->value);
  }
}

tvms_scope_mark tvms_analyzer_enter_fact(tvms_analyzer *analyzer,
                                         tvms_node *condition) {
  tvms_scope_mark mark = tvms_analyzer_enter(analyzer, condition);
  tvms_dialect release = (tvms_dialect)analyzer->unit->dialect;
  if (tvms_release_has(release, TVMS_FACT_conditions_bound_dividends))
    tvms_arith_each_conjunct(condition, enter_dividends, analyzer);
  return mark;
}

void tvms_analyzer_leave(tvms_analyzer *analyzer, tvms_scope_mark mark) {
  while (analyzer->moduli.len > mark.moduli) {
    const tvms_modular_undo *undo = &analyzer->moduli.items[--analyzer->moduli.len];
    undo->facts->has_modular = undo->had;
    undo->facts->modular = undo->old;
  }
  analyzer->bounds.len = mark.bounds;
  analyzer->literals.len = mark.literals;
  analyzer->sets.len = mark.sets;
  analyzer->facts.len = mark.facts;
}

// ---- Simplification ----

// Rewriting visits an expression again and again: beyond this size it is left to the
// normal form, which is linear.
enum { MOST_NODES = 4096 };

static tvms_walk_step count_node(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  uint32_t *count = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  return ++*count > MOST_NODES ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool is_huge(tvms_memory *memory, tvms_node *expr) {
  uint32_t count = 0;
  tvms_visitor visitor = {.self = &count, .enter = count_node};
  return !tvms_walk(memory, expr, &visitor);
}

tvms_node *tvms_analyzer_rewrite_simplify(tvms_analyzer *analyzer, tvms_node *expr) {
  enum { ROUNDS = 2 };
  if (tvms_node_is_binary(expr) && is_huge(analyzer->memory, expr)) return expr;
  tvms_analyzer_begin_query(analyzer);
  for (int i = 0; i < ROUNDS; i++) {
    tvms_node *next = tvms_simplifier_visit(&analyzer->rewriter, expr);
    if (next == expr) break;
    expr = next;
  }
  tvms_analyzer_end_query(analyzer);
  return expr;
}

tvms_node *tvms_analyzer_canonical_simplify(tvms_analyzer *analyzer, tvms_node *expr) {
  tvms_analyzer_begin_query(analyzer);
  expr = tvms_simplifier_visit(&analyzer->normalizer, expr);
  tvms_analyzer_end_query(analyzer);
  return expr;
}

tvms_node *tvms_analyzer_simplify_steps(tvms_analyzer *analyzer, tvms_node *expr,
                                        int steps) {
  expr = tvms_analyzer_canonical_simplify(analyzer, expr);
  for (int i = 0; i < steps && expr->kind != TVMS_NODE_INT_IMM; i++) {
    expr = i % 2 == 0 ? tvms_analyzer_rewrite_simplify(analyzer, expr)
                      : tvms_analyzer_canonical_simplify(analyzer, expr);
  }
  return expr;
}

tvms_node *tvms_analyzer_simplify(tvms_analyzer *analyzer, tvms_node *expr) {
  return tvms_analyzer_simplify_steps(analyzer, expr, 2);
}

tvms_node *tvms_arith_simplify(tvms_unit *unit, tvms_node *expr) {
  if (expr->kind == TVMS_NODE_INT_IMM || expr->kind == TVMS_NODE_VAR) return expr;
  tvms_analyzer *analyzer = tvms_analyzer_new(unit);
  tvms_node *result = tvms_analyzer_simplify(analyzer, expr);
  tvms_analyzer_free(analyzer);
  return result;
}

// ---- Proofs ----

bool tvms_analyzer_can_prove(tvms_analyzer *analyzer, tvms_node *condition) {
  return tvms_node_is_true(tvms_analyzer_simplify(analyzer, condition));
}

bool tvms_analyzer_can_prove_equal(tvms_analyzer *analyzer, tvms_node *a,
                                   tvms_node *b) {
  if (a == b) return true;
  if (a->kind == TVMS_NODE_INT_IMM && b->kind == TVMS_NODE_INT_IMM) {
    return tvms_as_int_imm(a)->value == tvms_as_int_imm(b)->value;
  }
  if (tvms_dtype_is_handle(a->dtype) || tvms_dtype_is_handle(b->dtype)) return false;
  tvms_unit *unit = analyzer->unit;
  tvms_diags *diags = &unit->context->diags;
  tvms_trial_mute(diags);
  bool match = tvms_build_match_dtypes(unit, &a, &b, TVMS_NO_SPAN);
  tvms_trial_unmute(diags);
  if (!match) return false;
  tvms_node *diff = tvms_arith_fold_binary(unit, TVMS_NODE_SUB, a, b);
  tvms_node *zero = tvms_arith_number(unit, diff->dtype, 0);
  return tvms_analyzer_can_prove(
      analyzer, tvms_arith_fold_binary(unit, TVMS_NODE_EQ, diff, zero));
}

bool tvms_arith_prove_equal(tvms_unit *unit, tvms_node *a, tvms_node *b) {
  if (tvms_node_same_expr(a, b)) return true;
  tvms_analyzer *analyzer = tvms_analyzer_new(unit);
  bool equal = tvms_analyzer_can_prove_equal(analyzer, a, b);
  tvms_analyzer_free(analyzer);
  return equal;
}

bool tvms_analyzer_can_prove_ge(tvms_analyzer *analyzer, tvms_node *expr,
                                int64_t bound) {
  if (expr->kind == TVMS_NODE_INT_IMM) return tvms_as_int_imm(expr)->value >= bound;
  tvms_node *simple = tvms_analyzer_rewrite_simplify(analyzer, expr);
  return tvms_analyzer_const_int_bound(analyzer, simple).min >= bound;
}

bool tvms_analyzer_can_prove_lt(tvms_analyzer *analyzer, tvms_node *expr,
                                int64_t bound) {
  if (expr->kind == TVMS_NODE_INT_IMM) return tvms_as_int_imm(expr)->value < bound;
  tvms_node *simple = tvms_analyzer_rewrite_simplify(analyzer, expr);
  return tvms_analyzer_const_int_bound(analyzer, simple).max < bound;
}

tvms_tir_opcode tvms_arith_opcode(const tvms_node *node) {
  tvms_tir_opcode opcode = tvms_call_opcode(node);
  int inputs = opcode ? tvms_tir_op_row_of(opcode)->inputs : -1;
  bool fits = inputs < 0 || (uint32_t)inputs == tvms_as_call(node)->args.len;
  return fits ? opcode : TVMS_TIR_NONE;
}

// ---- Effects ----

static tvms_walk_step note_effect(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  tvms_effect *strongest = self;
  tvms_effect effect = TVMS_EFFECT_PURE;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind == TVMS_NODE_BUFFER_LOAD) effect = TVMS_EFFECT_READ;
  if (node->kind == TVMS_NODE_CALL) {
    tvms_tir_opcode op = tvms_call_opcode(node);
    effect = op ? (tvms_effect)tvms_tir_op_row_of(op)->effect : TVMS_EFFECT_UPDATE;
  }
  if (effect > *strongest) *strongest = effect;
  return TVMS_WALK_ON;
}

tvms_effect tvms_arith_effect_of(tvms_memory *memory, tvms_node *expr) {
  tvms_effect strongest = TVMS_EFFECT_PURE;
  tvms_visitor visitor = {.self = &strongest, .enter = note_effect};
  tvms_walk(memory, expr, &visitor);
  return strongest;
}

static tvms_walk_step is_vscale(void *self, tvms_node *node, tvms_field_role role) {
  tvms_analyzer *analyzer = self;
  (void)role;
  analyzer->effort++;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  return tvms_call_opcode(node) == TVMS_TIR_vscale ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

bool tvms_analyzer_mentions_vscale(tvms_analyzer *analyzer, tvms_node *node) {
  tvms_visitor visitor = {.self = analyzer, .enter = is_vscale};
  return !tvms_walk(analyzer->memory, node, &visitor);
}
