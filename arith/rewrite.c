// The rewriting visit: children first, then constants, known conditions and rules.
//
// Each kind of node has a visit that simplifies its operands, folds constants, replaces a
// condition that holds or fails in an open scope by its truth, and then tries the rules of
// arith/rewrite.rules from top to bottom; the first that applies gives the result. A rule
// may ask for its result to be simplified again, five times inside one another at most, so
// rules that feed each other end.
//
// The order of the rules is the order of preference among equal forms, and what comes out
// is printed: rules stand as TVM tries them. TVM: src/arith/rewrite_simplify.cc.
#include "arith/rewrite.h"

#include "arith/and_of_ors.h"
#include "arith/canonical.h"
#include "arith/compare.h"
#include "arith/match.h"
#include "arith/rules.h"
#include "ir/equal.h"
#include "ir/fold_const.h"
#include "ir/fold_ops.h"
#include "ir/rewrite.h"
#include "support/trial.h"

#include <math.h>

static tvms_unit *unit_of(const tvms_simplifier *s) {
  return s->analyzer->unit;
}

tvms_node *tvms_simplifier_visit(tvms_simplifier *s, tvms_node *node) {
  tvms_memory *memory = s->analyzer->memory;
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  if (tvms_analyzer_out_of_budget(s->analyzer)) {
    tvms_memory_leave(memory);
    return node;
  }
  s->analyzer->effort += TVMS_RULES_EFFORT;
  tvms_node *result = s->canonical ? tvms_simplifier_visit_canonical(s, node)
                                   : tvms_simplifier_visit_rewrite(s, node);
  tvms_memory_leave(memory);
  return result;
}

tvms_node *tvms_simplifier_revisit(tvms_simplifier *s, tvms_node *node) {
  enum { MOST = 5 };
  if (s->again >= MOST) return node;
  s->again++;
  tvms_node *result = tvms_simplifier_visit(s, node);
  s->again--;
  return result;
}

// ---- Known conditions ----

tvms_node *tvms_arith_normalize_bool(tvms_unit *unit, tvms_node *node) {
  static const uint8_t opposite[] = {
      [TVMS_NODE_EQ - TVMS_NODE_EQ] = TVMS_NODE_NE,
      [TVMS_NODE_NE - TVMS_NODE_EQ] = TVMS_NODE_EQ,
      [TVMS_NODE_LT - TVMS_NODE_EQ] = TVMS_NODE_GE,
      [TVMS_NODE_LE - TVMS_NODE_EQ] = TVMS_NODE_GT,
      [TVMS_NODE_GT - TVMS_NODE_EQ] = TVMS_NODE_LE,
      [TVMS_NODE_GE - TVMS_NODE_EQ] = TVMS_NODE_LT,
  };
  bool negated = false;
  while (node->kind == TVMS_NODE_NOT) {
    node = tvms_as_not(node)->a;
    negated = !negated;
  }
  bool junction = node->kind == TVMS_NODE_AND || node->kind == TVMS_NODE_OR;
  if (negated && junction) {
    const tvms_binary *op = tvms_as_binary(node);
    tvms_node_kind kind = node->kind == TVMS_NODE_OR ? TVMS_NODE_AND : TVMS_NODE_OR;
    tvms_node *a = tvms_not_new(unit, op->a, TVMS_NO_SPAN);
    tvms_node *b = tvms_not_new(unit, op->b, TVMS_NO_SPAN);
    return tvms_arith_fold_binary(unit, kind, tvms_arith_normalize_bool(unit, a),
                                  tvms_arith_normalize_bool(unit, b));
  }
  if (node->kind < TVMS_NODE_EQ || node->kind > TVMS_NODE_GE) {
    return negated ? tvms_not_new(unit, node, TVMS_NO_SPAN) : node;
  }
  const tvms_binary *op = tvms_as_binary(node);
  tvms_node_kind kind = (tvms_node_kind)node->kind;
  if (negated) kind = (tvms_node_kind)opposite[kind - TVMS_NODE_EQ];
  if (kind == TVMS_NODE_GT)
    return tvms_arith_fold_binary(unit, TVMS_NODE_LT, op->b, op->a);
  if (kind == TVMS_NODE_GE)
    return tvms_arith_fold_binary(unit, TVMS_NODE_LE, op->b, op->a);
  return kind == (tvms_node_kind)node->kind
             ? node
             : tvms_arith_fold_binary(unit, kind, op->a, op->b);
}

// The constant that an expression is by the conditions of the open scopes, or NULL.
static tvms_node *TVMS_NULLABLE known_truth(tvms_simplifier *s, tvms_node *node) {
  // Conditions are known to the rewriter only, as in TVM.
  if (s->canonical) return NULL;
  for (uint32_t i = 0; i < s->analyzer->literals.len; i++) {
    const tvms_node *literal = s->analyzer->literals.items[i];
    if (tvms_node_same_expr(literal, node))
      return tvms_arith_truth(unit_of(s), node->dtype, true);
    bool negated = literal->kind == TVMS_NODE_NOT
                   && tvms_node_same_expr(tvms_as_not(literal)->a, node);
    if (negated) return tvms_arith_truth(unit_of(s), node->dtype, false);
  }
  return NULL;
}

// ---- Binary operators ----

static tvms_node *visit_operands(tvms_simplifier *s, tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  tvms_node *a = tvms_simplifier_visit(s, op->a), *b = tvms_simplifier_visit(s, op->b);
  if (a == op->a && b == op->b) return node;
  return tvms_binary_new(unit_of(s), (tvms_node_kind)node->kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *TVMS_NULLABLE fold_node(tvms_simplifier *s, tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  return tvms_build_try_fold(unit_of(s), (tvms_node_kind)node->kind, op->a, op->b);
}

static tvms_node *visit_arithmetic(tvms_simplifier *s, tvms_node *node) {
  node = visit_operands(s, node);
  tvms_node *folded = fold_node(s, node);
  return folded ? folded : tvms_simplifier_apply_rules(s, node);
}

static tvms_node *visit_truth(tvms_simplifier *s, tvms_node *node) {
  node = visit_operands(s, node);
  tvms_node *known = fold_node(s, node);
  if (!known) known = known_truth(s, node);
  return known ? known : tvms_simplifier_apply_rules(s, node);
}

static tvms_node *visit_under(tvms_simplifier *s, tvms_node *condition,
                              tvms_node *node) {
  tvms_scope_mark mark = tvms_analyzer_enter(s->analyzer, condition);
  tvms_node *result = tvms_simplifier_visit(s, node);
  tvms_analyzer_leave(s->analyzer, mark);
  return result;
}

// Each side of `and` simplified where the other holds, of `or` where the other fails: in
// turn, twice at most, and no longer than it helps.
static tvms_node *visit_constrained(tvms_simplifier *s, tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  tvms_node *sides[] = {op->a, op->b};
  for (int turn = 0, idle = 0; turn < 4 && idle < 2; turn++) {
    tvms_node **side = &sides[turn % 2], *other = sides[1 - turn % 2];
    if (node->kind == TVMS_NODE_OR) {
      other = tvms_not_new(unit_of(s), other, TVMS_NO_SPAN);
      other = tvms_arith_normalize_bool(unit_of(s), other);
    }
    tvms_node *updated = visit_under(s, other, *side);
    idle = updated == *side ? idle + 1 : 0;
    *side = updated;
  }
  if (sides[0] == op->a && sides[1] == op->b) return node;
  return tvms_binary_new(unit_of(s), (tvms_node_kind)node->kind, sides[0], sides[1],
                         TVMS_NO_SPAN);
}

static tvms_node *visit_junction(tvms_simplifier *s, tvms_node *node) {
  uint32_t extensions = s->canonical ? 0 : s->analyzer->extensions;
  node = extensions & TVMS_CONSTRAIN_BRANCHES ? visit_constrained(s, node)
                                              : visit_operands(s, node);
  tvms_node *known = fold_node(s, node);
  if (!known) known = known_truth(s, node);
  if (known) return known;
  if (extensions & TVMS_CONVERT_TO_AND_OF_ORS)
    return tvms_arith_and_of_ors(s->analyzer, node);
  return tvms_simplifier_apply_rules(s, node);
}

static tvms_node *compared(tvms_simplifier *s, tvms_node_kind kind, tvms_node *a,
                           tvms_node *b) {
  tvms_node *node = tvms_binary_new(unit_of(s), kind, a, b, TVMS_NO_SPAN);
  return tvms_simplifier_apply_rules(s, node);
}

// `not node` by the rules of negation; constants fold.
static tvms_node *negated(tvms_simplifier *s, tvms_node *node) {
  return tvms_simplifier_apply_rules(s, tvms_not_new(unit_of(s), node, TVMS_NO_SPAN));
}

static tvms_node *visit_ne(tvms_simplifier *s, tvms_node *node) {
  node = visit_operands(s, node);
  tvms_node *known = fold_node(s, node);
  if (!known) known = known_truth(s, node);
  if (known) return known;
  const tvms_binary *op = tvms_as_binary(node);
  if (tvms_dtype_is_index(op->a->dtype)) {
    tvms_compare result = tvms_simplifier_compare_exprs(s, op->a, op->b);
    if (result == TVMS_IS_NE || result == TVMS_IS_GT || result == TVMS_IS_LT) {
      return tvms_arith_truth(unit_of(s), node->dtype, true);
    }
    if (result == TVMS_IS_EQ) return tvms_arith_truth(unit_of(s), node->dtype, false);
    if (result == TVMS_IS_GE) return compared(s, TVMS_NODE_LT, op->b, op->a);
    if (result == TVMS_IS_LE) return compared(s, TVMS_NODE_LT, op->a, op->b);
  }
  return negated(s, compared(s, TVMS_NODE_EQ, op->a, op->b));
}

// What a comparison says about `a <= b`.
static tvms_node *settle_le(tvms_simplifier *s, tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  switch (tvms_simplifier_compare_exprs(s, op->a, op->b)) {
  case TVMS_IS_LE:
  case TVMS_IS_LT:
  case TVMS_IS_EQ: return tvms_arith_truth(unit_of(s), node->dtype, true);
  case TVMS_IS_GT: return tvms_arith_truth(unit_of(s), node->dtype, false);
  case TVMS_IS_NE: return compared(s, TVMS_NODE_LT, op->a, op->b);
  case TVMS_IS_GE: return compared(s, TVMS_NODE_EQ, op->a, op->b);
  case TVMS_INCONSISTENT:
  case TVMS_UNKNOWN: break;
  }
  return node;
}

static tvms_node *visit_le(tvms_simplifier *s, tvms_node *node) {
  node = visit_operands(s, node);
  tvms_node *known = fold_node(s, node);
  if (!known) known = known_truth(s, node);
  if (known) return known;
  const tvms_binary *op = tvms_as_binary(node);
  node = negated(s, compared(s, TVMS_NODE_LT, op->b, op->a));
  if (node->kind != TVMS_NODE_LE) return node;
  return tvms_dtype_is_index(tvms_as_binary(node)->a->dtype) ? settle_le(s, node)
                                                             : node;
}

// `a > b` and `a >= b` are simplified as `b < a` and `b <= a`.
static tvms_node *visit_flipped(tvms_simplifier *s, tvms_node *node,
                                tvms_node_kind kind) {
  const tvms_binary *op = tvms_as_binary(node);
  return tvms_simplifier_visit(s,
                               tvms_arith_fold_binary(unit_of(s), kind, op->b, op->a));
}

// ---- Others ----

static tvms_node *visit_not(tvms_simplifier *s, tvms_node *node) {
  tvms_node *a = tvms_simplifier_visit(s, tvms_as_not(node)->a);
  if (a->kind == TVMS_NODE_INT_IMM) {
    return tvms_arith_truth(unit_of(s), a->dtype, !tvms_node_is_true(a));
  }
  if (a != tvms_as_not(node)->a) node = tvms_not_new(unit_of(s), a, TVMS_NO_SPAN);
  tvms_node *known = known_truth(s, node);
  return known ? known : tvms_simplifier_apply_rules(s, node);
}

// As visit_under for what is evaluated only if the condition holds.
static tvms_node *visit_where(tvms_simplifier *s, tvms_node *condition,
                              tvms_node *node) {
  tvms_scope_mark mark = tvms_analyzer_enter_fact(s->analyzer, condition);
  tvms_node *result = tvms_simplifier_visit(s, node);
  tvms_analyzer_leave(s->analyzer, mark);
  return result;
}

static tvms_node *visit_select(tvms_simplifier *s, tvms_node *node) {
  const tvms_select *select = tvms_as_select(node);
  tvms_node *condition = tvms_simplifier_visit(s, select->condition);
  tvms_node *otherwise = tvms_analyzer_rewrite_simplify(
      s->analyzer, tvms_not_new(unit_of(s), condition, TVMS_NO_SPAN));
  tvms_node *yes = visit_where(s, condition, select->true_value);
  tvms_node *no = visit_under(s, otherwise, select->false_value);
  if (condition->kind == TVMS_NODE_INT_IMM)
    return tvms_node_is_true(condition) ? yes : no;
  if (condition != select->condition || yes != select->true_value
      || no != select->false_value) {
    node = tvms_select_new(unit_of(s), condition, yes, no, TVMS_NO_SPAN);
  }
  return tvms_simplifier_apply_rules(s, node);
}

static tvms_node *visit_children(tvms_simplifier *s, tvms_node *node);

static tvms_node *visit_if_then_else(tvms_simplifier *s, tvms_node *node) {
  tvms_list args = tvms_as_call(node)->args;
  tvms_node *condition = tvms_simplifier_visit(s, args.items[0]);
  tvms_node *otherwise = tvms_not_new(unit_of(s), condition, TVMS_NO_SPAN);
  tvms_node *yes = visit_where(s, condition, args.items[1]);
  tvms_node *no = visit_under(s, otherwise, args.items[2]);
  if (condition->kind == TVMS_NODE_INT_IMM)
    return tvms_node_is_true(condition) ? yes : no;
  if (condition == args.items[0] && yes == args.items[1] && no == args.items[2]) {
    return node;
  }
  tvms_node *parts[] = {condition, yes, no};
  return tvms_call_new(unit_of(s), node->dtype, tvms_as_call(node)->callee, parts, 3,
                       TVMS_NO_SPAN);
}

static bool is_number(const tvms_node *node) {
  return node->kind == TVMS_NODE_INT_IMM || node->kind == TVMS_NODE_FLOAT_IMM;
}

// if c: (if d: x else: k) else: k  is  if c and d: x else: k.
static tvms_node *merge_nested_choice(tvms_simplifier *s, tvms_node *node) {
  tvms_list outer = tvms_as_call(node)->args;
  if (tvms_arith_opcode(outer.items[1]) != TVMS_TIR_if_then_else) return node;
  tvms_list inner = tvms_as_call(outer.items[1])->args;
  bool same = is_number(inner.items[2]) && is_number(outer.items[2])
              && tvms_node_same_expr(inner.items[2], outer.items[2]);
  if (!same) return node;
  tvms_node *both =
      tvms_arith_fold_binary(unit_of(s), TVMS_NODE_AND, outer.items[0], inner.items[0]);
  tvms_node *parts[] = {both, inner.items[1], outer.items[2]};
  return tvms_call_new(unit_of(s), node->dtype, tvms_as_call(node)->callee, parts, 3,
                       TVMS_NO_SPAN);
}

static tvms_node *fold_clz(tvms_simplifier *s, tvms_node *node, const tvms_node *arg) {
  uint64_t value = (uint64_t)tvms_as_int_imm(arg)->value;
  int bits = arg->dtype.bits;
  if (bits < 64) value &= ((uint64_t)1 << bits) - 1;
  int used = value ? 64 - __builtin_clzll(value) : 0;
  return tvms_arith_number(unit_of(s), node->dtype, bits - used);
}

static tvms_node *fold_ceil(tvms_simplifier *s, tvms_node *node, tvms_node *arg) {
  if (arg->kind == TVMS_NODE_FLOAT_IMM) {
    double value = ceil(tvms_as_float_imm(arg)->value);
    return tvms_float_imm_new(unit_of(s), node->dtype, value, TVMS_NO_SPAN);
  }
  if (arg->kind == TVMS_NODE_INT_IMM) {
    double value = (double)tvms_as_int_imm(arg)->value;
    return tvms_float_imm_new(unit_of(s), node->dtype, value, TVMS_NO_SPAN);
  }
  if (tvms_arith_opcode(arg) != TVMS_TIR_log2) return node;
  const tvms_node *inner = tvms_as_call(arg)->args.items[0];
  if (inner->kind != TVMS_NODE_FLOAT_IMM) return node;
  double value = ceil(log2(tvms_as_float_imm(inner)->value));
  return tvms_float_imm_new(unit_of(s), node->dtype, value, TVMS_NO_SPAN);
}

static tvms_node *fold_shift(tvms_simplifier *s, tvms_node *node, tvms_tir_opcode op) {
  tvms_list args = tvms_as_call(node)->args;
  if (args.items[0]->kind != TVMS_NODE_INT_IMM
      || args.items[1]->kind != TVMS_NODE_INT_IMM) {
    return node;
  }
  tvms_diags *diags = &unit_of(s)->context->diags;
  tvms_trial_mute(diags);
  tvms_node *folded =
      tvms_build_bitwise(unit_of(s), op, args.items[0], args.items[1], TVMS_NO_SPAN);
  tvms_trial_unmute(diags);
  return folded ? folded : node;
}

static tvms_node *visit_call(tvms_simplifier *s, tvms_node *node) {
  tvms_tir_opcode op = tvms_arith_opcode(node);
  node = op == TVMS_TIR_if_then_else ? visit_if_then_else(s, node)
                                     : visit_children(s, node);
  if (node->kind != TVMS_NODE_CALL || tvms_arith_opcode(node) != op) return node;
  if (op == TVMS_TIR_shift_left || op == TVMS_TIR_shift_right) {
    return fold_shift(s, node, op);
  }
  if (op == TVMS_TIR_if_then_else) return merge_nested_choice(s, node);
  bool unary = op == TVMS_TIR_likely || op == TVMS_TIR_ceil || op == TVMS_TIR_clz;
  if (!unary || tvms_as_call(node)->args.len != 1) return node;
  tvms_node *arg = tvms_as_call(node)->args.items[0];
  if (op == TVMS_TIR_ceil) return fold_ceil(s, node, arg);
  bool constant = arg->kind == TVMS_NODE_INT_IMM;
  if (op == TVMS_TIR_clz) return constant ? fold_clz(s, node, arg) : node;
  if (constant) return arg;
  tvms_node *known = known_truth(s, arg);
  return known ? known : node;
}

static tvms_node *visit_var(tvms_simplifier *s, tvms_node *node) {
  if (tvms_dtype_is_bool(node->dtype)) {
    tvms_node *known = known_truth(s, node);
    if (known) return known;
  }
  const tvms_var_facts *facts = tvms_analyzer_find_facts(s->analyzer, node);
  return facts && facts->value ? facts->value : node;
}

static tvms_node *visit_cast(tvms_simplifier *s, tvms_node *node) {
  tvms_node *old = tvms_as_cast(node)->value, *value = tvms_simplifier_visit(s, old);
  tvms_diags *diags = &unit_of(s)->context->diags;
  tvms_trial_mute(diags);
  tvms_node *result = tvms_build_cast(unit_of(s), node->dtype, value, node->span);
  tvms_trial_unmute(diags);
  if (result && (value != old || result->kind != TVMS_NODE_CAST)) return result;
  return node;
}

static tvms_node *visit_let(tvms_simplifier *s, tvms_node *node) {
  const tvms_let *let = tvms_as_let(node);
  tvms_node *value = tvms_simplifier_visit(s, let->value);
  if (is_number(let->value) || let->value->kind == TVMS_NODE_VAR) {
    tvms_analyzer_bind(s->analyzer, let->var, value);
    return tvms_simplifier_visit(s, let->body);
  }
  tvms_node *body = tvms_simplifier_visit(s, let->body);
  if (value == let->value && body == let->body) return node;
  return tvms_let_new(unit_of(s), let->var, value, body, TVMS_NO_SPAN);
}

// ---- Everything else: children of the kinds that simplification looks into ----

static tvms_list visit_list(tvms_simplifier *s, tvms_list list) {
  tvms_list result = list;
  for (uint32_t i = 0; i < list.len; i++) {
    if (!list.items[i]) continue;
    tvms_node *item = tvms_simplifier_visit(s, list.items[i]);
    if (item == list.items[i]) continue;
    if (result.items == list.items) {
      result = tvms_list_copy(unit_of(s), list.items, list.len);
    }
    result.items[i] = item;
  }
  return result;
}

static tvms_node *visit_children(tvms_simplifier *s, tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_CALL: {
    tvms_list args = visit_list(s, tvms_as_call(node)->args);
    if (args.items == tvms_as_call(node)->args.items) return node;
    node = tvms_node_copy(unit_of(s), node);
    tvms_as_call(node)->args = args;
    return node;
  }
  case TVMS_NODE_BUFFER_LOAD: {
    tvms_list indices = visit_list(s, tvms_as_buffer_load(node)->indices);
    if (indices.items == tvms_as_buffer_load(node)->indices.items) return node;
    node = tvms_node_copy(unit_of(s), node);
    tvms_as_buffer_load(node)->indices = indices;
    return node;
  }
  case TVMS_NODE_RAMP: {
    const tvms_ramp *ramp = tvms_as_ramp(node);
    tvms_node *base = tvms_simplifier_visit(s, ramp->base),
              *stride = tvms_simplifier_visit(s, ramp->stride);
    if (base == ramp->base && stride == ramp->stride) return node;
    return tvms_ramp_new(unit_of(s), base, stride, node->dtype.lanes, TVMS_NO_SPAN);
  }
  case TVMS_NODE_BROADCAST: {
    tvms_node *value = tvms_simplifier_visit(s, tvms_as_broadcast(node)->value);
    if (value == tvms_as_broadcast(node)->value) return node;
    return tvms_broadcast_new(unit_of(s), value, node->dtype.lanes, TVMS_NO_SPAN);
  }
  case TVMS_NODE_SHUFFLE: {
    tvms_shuffle now = *tvms_as_shuffle(node);
    now.vectors = visit_list(s, now.vectors);
    now.indices = visit_list(s, now.indices);
    return tvms_node_copy_changed(unit_of(s), node, &now.head);
  }
  default: return node;
  }
}

tvms_node *tvms_simplifier_visit_rewrite(tvms_simplifier *s, tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_ADD:
  case TVMS_NODE_SUB:
  case TVMS_NODE_MUL:
  case TVMS_NODE_DIV:
  case TVMS_NODE_MOD:
  case TVMS_NODE_FLOOR_DIV:
  case TVMS_NODE_FLOOR_MOD:
  case TVMS_NODE_MIN:
  case TVMS_NODE_MAX: return visit_arithmetic(s, node);
  case TVMS_NODE_EQ:
  case TVMS_NODE_LT: return visit_truth(s, node);
  case TVMS_NODE_AND:
  case TVMS_NODE_OR: return visit_junction(s, node);
  case TVMS_NODE_NE: return visit_ne(s, node);
  case TVMS_NODE_LE: return visit_le(s, node);
  case TVMS_NODE_GT: return visit_flipped(s, node, TVMS_NODE_LT);
  case TVMS_NODE_GE: return visit_flipped(s, node, TVMS_NODE_LE);
  case TVMS_NODE_NOT: return visit_not(s, node);
  case TVMS_NODE_SELECT: return visit_select(s, node);
  case TVMS_NODE_CALL: return visit_call(s, node);
  case TVMS_NODE_VAR: return visit_var(s, node);
  case TVMS_NODE_CAST: return visit_cast(s, node);
  case TVMS_NODE_LET: return visit_let(s, node);
  default: return visit_children(s, node);
  }
}
