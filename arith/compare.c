// Comparison of expressions: which of <, =, > are possible.
//
// Two ways, whose answers are combined: the simplified difference against 0, by its bounds
// and its modular set; and the known inequalities, which are kept as left OP right + offset
// so that x < y + 3 says something of x and y + 5, too. Inequalities are looked up; an
// analyzer that proves transitively (TVMS_PROVE_TRANSITIVELY) also chains them: a < b and
// b < c say that a < c. TVM: src/arith/transitive_comparison_analyzer.cc.
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
  bool chains =
      !s->canonical && (s->analyzer->extensions & TVMS_PROVE_TRANSITIVELY) != 0;
  return (tvms_compare)(result
                        & tvms_analyzer_compare_by_facts(s->analyzer, a, b, chains));
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
  static const uint8_t results[] = {TVMS_IS_EQ, TVMS_IS_NE, TVMS_IS_LE,
                                    TVMS_IS_LE, TVMS_IS_GE, TVMS_IS_GE};
  if (part->kind < TVMS_NODE_EQ || part->kind > TVMS_NODE_GE) return;
  if (tvms_arith_effect_of(analyzer->memory, part) > TVMS_EFFECT_PURE) return;
  const tvms_binary *op = tvms_as_binary(part);
  tvms_inequality fact = {.result = results[part->kind - TVMS_NODE_EQ]};
  // Integers: left < right is left <= right - 1.
  fact.offset = (part->kind == TVMS_NODE_GT) - (part->kind == TVMS_NODE_LT);
  fact.right = split_offset(op->b, 1, &fact.offset);
  fact.left = split_offset(op->a, -1, &fact.offset);
  if (fact.left || fact.right) tvms_vec_push(analyzer->memory, &analyzer->facts, fact);
}

void tvms_analyzer_enter_inequalities(tvms_analyzer *analyzer, tvms_node *condition) {
  tvms_arith_each_conjunct(condition, add_inequality, analyzer);
}

// What left OP right + known says about left and right + asked.
static tvms_compare conclude(tvms_compare result, int64_t known, int64_t asked) {
  switch ((int)result) {
  case TVMS_IS_EQ: return known == asked ? TVMS_IS_EQ : TVMS_IS_NE;
  case TVMS_IS_NE: return known == asked ? TVMS_IS_NE : TVMS_UNKNOWN;
  case TVMS_IS_LE:
    if (known < asked) return TVMS_IS_LT;
    return known == asked ? TVMS_IS_LE : TVMS_UNKNOWN;
  case TVMS_IS_GE:
    if (known > asked) return TVMS_IS_GT;
    return known == asked ? TVMS_IS_GE : TVMS_UNKNOWN;
  default: return TVMS_UNKNOWN;
  }
}

// The fact with `left` on its left; false if it does not mention it.
static bool turn_to(const tvms_inequality *fact, const tvms_node *TVMS_NULLABLE left,
                    tvms_inequality *turned) {
  *turned = *fact;
  if (same(left, fact->left)) return true;
  if (!same(left, fact->right)) return false;
  *turned = (tvms_inequality){.left = fact->right,
                              .right = fact->left,
                              .offset = tvms_arith_wrap_sub(0, fact->offset),
                              .result = (uint8_t)reverse((tvms_compare)fact->result)};
  return true;
}

// ---- Chains of inequalities ----

// A search from the left side over everything that it is compared with, directly or not.
typedef struct {
  tvms_analyzer *analyzer;
  const tvms_node *TVMS_NULLABLE left, *TVMS_NULLABLE right;
  TVMS_VEC(tvms_inequality) known;       // left OP something
  TVMS_VEC(const tvms_node *) seen;      // what was or will be a middle
  TVMS_VEC(const tvms_node *) to_visit;  // middles; the last comes first
} chain_search;

static bool implies(const tvms_inequality *a, const tvms_inequality *b) {
  if (a->result == b->result && a->offset == b->offset) return true;
  bool equal = a->result == TVMS_IS_EQ, ne = b->result == TVMS_IS_NE;
  bool le = a->result == TVMS_IS_LE, ge = a->result == TVMS_IS_GE;
  if (b->result == TVMS_IS_LE && a->offset <= b->offset && (equal || le)) return true;
  if (b->result == TVMS_IS_GE && a->offset >= b->offset && (equal || ge)) return true;
  return ne
         && ((equal && a->offset != b->offset) || (le && a->offset < b->offset)
             || (ge && a->offset > b->offset));
}

static bool was_seen(const chain_search *search, const tvms_node *TVMS_NULLABLE node) {
  for (uint32_t i = 0; i < search->seen.len; i++) {
    if (same(search->seen.items[i], node)) return true;
  }
  return false;
}

// Notes left OP right + offset, unless it is known already.
static void declare(chain_search *search, tvms_inequality fact) {
  tvms_memory *memory = search->analyzer->memory;
  tvms_inequality *weaker = NULL;
  for (uint32_t i = 0; i < search->known.len; i++) {
    tvms_inequality *known = &search->known.items[i];
    if (!same(known->right, fact.right)) continue;
    if (implies(known, &fact)) return;
    if (!weaker && implies(&fact, known)) weaker = known;
  }
  if (!same(fact.right, search->right) && !was_seen(search, fact.right)) {
    tvms_vec_push(memory, &search->seen, fact.right);
    tvms_vec_push(memory, &search->to_visit, fact.right);
  }
  if (weaker)
    *weaker = fact;
  else
    tvms_vec_push(memory, &search->known, fact);
}

// left OP middle and middle OP right, as one; UNKNOWN if they do not chain.
static uint8_t chained(uint8_t first, uint8_t second) {
  if (first == TVMS_IS_EQ) return second;
  if (second == TVMS_IS_EQ) return first;
  bool ordered = first == TVMS_IS_LE || first == TVMS_IS_GE;
  return first == second && ordered ? first : TVMS_UNKNOWN;
}

static void visit_middle(chain_search *search, const tvms_node *TVMS_NULLABLE middle) {
  tvms_analyzer *analyzer = search->analyzer;
  TVMS_VEC(tvms_inequality) found = {0};
  analyzer->effort += analyzer->facts.len;
  for (uint32_t i = 0; i < analyzer->facts.len; i++) {
    tvms_inequality fact;
    bool fits = turn_to(&analyzer->facts.items[i], middle, &fact);
    if (!fits || same(fact.right, search->left)) continue;
    for (uint32_t k = 0; k < search->known.len; k++) {
      const tvms_inequality *known = &search->known.items[k];
      if (!same(known->right, middle)) continue;
      tvms_inequality both = {.left = search->left, .right = fact.right};
      both.offset = tvms_arith_wrap_add(known->offset, fact.offset);
      both.result = chained(known->result, fact.result);
      if (both.result != TVMS_UNKNOWN) tvms_vec_push(analyzer->memory, &found, both);
    }
  }
  for (uint32_t i = 0; i < found.len; i++)
    declare(search, found.items[i]);
  tvms_vec_fini(analyzer->memory, &found);
}

// What chains from `left` to `right` say of left and right + asked.
static tvms_compare search_chains(tvms_analyzer *analyzer,
                                  const tvms_node *TVMS_NULLABLE left,
                                  const tvms_node *TVMS_NULLABLE right, int64_t asked) {
  chain_search search = {.analyzer = analyzer, .left = left, .right = right};
  tvms_memory *memory = analyzer->memory;
  for (uint32_t i = 0; i < analyzer->facts.len; i++) {
    tvms_inequality fact;
    if (turn_to(&analyzer->facts.items[i], left, &fact)) declare(&search, fact);
  }
  while (search.to_visit.len && !tvms_analyzer_out_of_budget(analyzer))
    visit_middle(&search, search.to_visit.items[--search.to_visit.len]);
  unsigned result = TVMS_UNKNOWN;
  for (uint32_t i = 0; i < search.known.len; i++) {
    const tvms_inequality *known = &search.known.items[i];
    if (same(known->right, right))
      result &= conclude((tvms_compare)known->result, known->offset, asked);
  }
  tvms_vec_fini(memory, &search.known);
  tvms_vec_fini(memory, &search.seen);
  tvms_vec_fini(memory, &search.to_visit);
  return (tvms_compare)result;
}

// ---- Questions ----

tvms_compare tvms_analyzer_compare_by_facts(tvms_analyzer *analyzer, const tvms_node *a,
                                            const tvms_node *b, bool transitively) {
  if (analyzer->facts.len == 0) return TVMS_UNKNOWN;
  int64_t offset = 0;
  const tvms_node *right = split_offset(b, 1, &offset);
  const tvms_node *left = split_offset(a, -1, &offset);
  if (transitively) {
    tvms_compare back = search_chains(analyzer, right, left, -offset);
    return (tvms_compare)(search_chains(analyzer, left, right, offset) & reverse(back));
  }
  unsigned result = TVMS_UNKNOWN;
  for (uint32_t i = 0; i < analyzer->facts.len; i++) {
    tvms_inequality fact;
    if (turn_to(&analyzer->facts.items[i], left, &fact) && same(fact.right, right))
      result &= conclude((tvms_compare)fact.result, fact.offset, offset);
  }
  return (tvms_compare)result;
}
