// Comparison of expressions: which of <, =, > are possible.
//
// Two ways, whose answers are combined: the simplified difference against 0, by its bounds
// and its modular set; and the known inequalities, which are kept as left OP right + offset
// so that x < y + 3 says something of x and y + 5, too. Inequalities are looked up, not
// chained: a < b and b < c say nothing here of a and c.
// TVM: src/arith/transitive_comparison_analyzer.cc, of which this is the direct part.
#include "arith/compare.h"

#include "arith/bound.h"
#include "arith/internal.h"
#include "arith/modular.h"
#include "arith/rewrite.h"
#include "ir/equal.h"

// ---- Bounds and remainders ----

tvms_compare tvms_simplifier_compare_to(tvms_simplifier *s, tvms_node *expr,
                                        int64_t value) {
  tvms_node *diff = tvms_simplifier_visit(s, expr);
  if (diff->kind == TVMS_NODE_INT_IMM) {
    int64_t number = tvms_as_int_imm(diff)->value;
    return number == value ? TVMS_IS_EQ : number > value ? TVMS_IS_GT : TVMS_IS_LT;
  }
  tvms_bound bound = tvms_analyzer_const_int_bound(s->analyzer, diff);
  if (bound.min == value && bound.max == value) return TVMS_IS_EQ;
  if (bound.min > value) return TVMS_IS_GT;
  if (bound.max < value) return TVMS_IS_LT;
  if (bound.min >= value) return TVMS_IS_GE;
  if (bound.max <= value) return TVMS_IS_LE;
  bool off = value == 0 && tvms_analyzer_modular_set(s->analyzer, diff).base != 0;
  return off ? TVMS_IS_NE : TVMS_UNKNOWN;
}

static bool is_settled(tvms_compare result) {
  return result == TVMS_IS_EQ || result == TVMS_IS_LT || result == TVMS_IS_GT;
}

tvms_compare tvms_simplifier_compare_exprs(tvms_simplifier *s, tvms_node *a,
                                           tvms_node *b) {
  tvms_node *diff = tvms_arith_fold_binary(s->analyzer->unit, TVMS_NODE_SUB, a, b);
  tvms_compare result = tvms_simplifier_compare_to(s, diff, 0);
  if (is_settled(result)) return result;
  return (tvms_compare)(result & tvms_analyzer_compare_by_facts(s->analyzer, a, b));
}

// ---- Known inequalities ----

// Takes a constant off: what is left of `node`, with the constant added to *offset.
static const tvms_node *TVMS_NULLABLE split_offset(const tvms_node *node, int64_t sign,
                                                   int64_t *offset) {
  if (node->kind == TVMS_NODE_INT_IMM) {
    *offset += sign * tvms_as_int_imm(node)->value;
    return NULL;
  }
  if (node->kind != TVMS_NODE_ADD && node->kind != TVMS_NODE_SUB) return node;
  const tvms_binary *op = tvms_as_binary(node);
  if (op->b->kind != TVMS_NODE_INT_IMM) return node;
  int64_t value = tvms_as_int_imm(op->b)->value;
  *offset += sign * (node->kind == TVMS_NODE_ADD ? value : -value);
  return op->a;
}

static bool same(const tvms_node *TVMS_NULLABLE a, const tvms_node *TVMS_NULLABLE b) {
  return a == b || (a && b && tvms_node_same_expr(a, b));
}

static tvms_compare reverse(tvms_compare result) {
  unsigned bits = result;
  bool less = bits & TVMS_IS_LT, greater = bits & TVMS_IS_GT;
  bits &= TVMS_IS_EQ;
  if (less) bits |= TVMS_IS_GT;
  if (greater) bits |= TVMS_IS_LT;
  return (tvms_compare)bits;
}

static void add_inequality(void *self, tvms_node *part) {
  tvms_analyzer *analyzer = self;
  static const uint8_t results[] = {TVMS_IS_EQ, TVMS_IS_NE, TVMS_IS_LT,
                                    TVMS_IS_LE, TVMS_IS_GT, TVMS_IS_GE};
  if (part->kind < TVMS_NODE_EQ || part->kind > TVMS_NODE_GE) return;
  const tvms_binary *op = tvms_as_binary(part);
  tvms_inequality fact = {.result = results[part->kind - TVMS_NODE_EQ]};
  fact.right = split_offset(op->b, 1, &fact.offset);
  fact.left = split_offset(op->a, -1, &fact.offset);
  if (fact.left || fact.right) tvms_vec_push(analyzer->memory, &analyzer->facts, fact);
}

void tvms_analyzer_enter_inequalities(tvms_analyzer *analyzer, tvms_node *condition) {
  tvms_arith_each_conjunct(condition, add_inequality, analyzer);
}

// What `left OP right + known` says about left and right + asked.
static tvms_compare conclude(tvms_compare known_result, int64_t known, int64_t asked) {
  if (known == asked) return known_result;
  bool up_to = known_result == TVMS_IS_LT || known_result == TVMS_IS_LE
               || known_result == TVMS_IS_EQ;
  bool down_to = known_result == TVMS_IS_GT || known_result == TVMS_IS_GE
                 || known_result == TVMS_IS_EQ;
  if (up_to && known < asked) return TVMS_IS_LT;
  if (down_to && known > asked) return TVMS_IS_GT;
  // Integers: left < right + n means left <= right + (n - 1), and the reverse.
  if (known_result == TVMS_IS_LT && known == asked + 1) return TVMS_IS_LE;
  if (known_result == TVMS_IS_GT && known == asked - 1) return TVMS_IS_GE;
  return TVMS_UNKNOWN;
}

tvms_compare tvms_analyzer_compare_by_facts(const tvms_analyzer *analyzer,
                                            const tvms_node *a, const tvms_node *b) {
  if (analyzer->facts.len == 0) return TVMS_UNKNOWN;
  int64_t offset = 0;
  const tvms_node *right = split_offset(b, 1, &offset);
  const tvms_node *left = split_offset(a, -1, &offset);
  unsigned result = TVMS_UNKNOWN;
  for (uint32_t i = 0; i < analyzer->facts.len; i++) {
    const tvms_inequality *fact = &analyzer->facts.items[i];
    tvms_compare known = (tvms_compare)fact->result;
    if (same(left, fact->left) && same(right, fact->right))
      result &= conclude(known, fact->offset, offset);
    else if (same(left, fact->right) && same(right, fact->left))
      result &= conclude(reverse(known), -fact->offset, offset);
  }
  return (tvms_compare)result;
}
