// The canonical visit: index arithmetic as sums of splits, everything else by rewriting.
//
// A value is carried upwards in the weakest form that holds it: PLAIN (a node), SPLIT, or
// SUM (arith/canonical.h says what they are). Addition makes sums, multiplication by a
// constant scales them, division and modulo by a constant work on their parts, and
// `normalize` turns a value into a node where something else needs one. Only int32 and int64
// scalars have this form; for any other kind or dtype the rewriting visit answers, and calls
// back here for the parts.
//
// What comes out is printed, so the steps and their order are TVM's, not the shortest ones:
// where TVM normalizes a value early and loses information, so does this.
// TVM: src/arith/canonical_simplify.cc.
#include "arith/canonical.h"

#include "arith/bound.h"
#include "arith/canonical_sum.h"
#include "arith/compare.h"
#include "arith/rewrite.h"
#include "ir/equal.h"
#include "ir/fold_const.h"

typedef enum { PLAIN, SPLIT, SUM } form;

// A value in one of the three forms. A sum is owned by whoever holds the value.
typedef struct {
  form form;
  tvms_node *node;
  tvms_canonical_split split;
  tvms_sum *sum;
} value;

static value mutate(tvms_simplifier *s, tvms_node *node);

static tvms_unit *unit_of(const tvms_simplifier *s) {
  return s->analyzer->unit;
}

static value plain(tvms_node *node) {
  return (value){.form = PLAIN, .node = node};
}
static value as_split(tvms_canonical_split split) {
  return (value){.form = SPLIT, .split = split};
}
static value as_sum(tvms_sum *sum) {
  return (value){.form = SUM, .sum = sum};
}

static tvms_node *normalize(tvms_simplifier *s, value v) {
  if (v.form == PLAIN) return v.node;
  if (v.form == SPLIT) return tvms_canonical_split_node(unit_of(s), &v.split, 1);
  return tvms_canonical_sum_node(unit_of(s), v.sum);
}

static tvms_node *number(tvms_simplifier *s, tvms_dtype dtype, int64_t n) {
  return tvms_arith_number(unit_of(s), dtype, n);
}

static tvms_dtype dtype_of(value v) {
  if (v.form == PLAIN) return v.node->dtype;
  return v.form == SPLIT ? v.split.index->dtype : v.sum->dtype;
}

static bool is_number(value v, int64_t *n) {
  if (v.form != PLAIN || v.node->kind != TVMS_NODE_INT_IMM) return false;
  *n = tvms_as_int_imm(v.node)->value;
  return true;
}

static tvms_canonical_split to_split(tvms_simplifier *s, value v) {
  if (v.form == SPLIT) return v.split;
  if (v.form == SUM && v.sum->base == 0 && v.sum->len == 1) return v.sum->args[0];
  return tvms_canonical_split_of(normalize(s, v));
}

static tvms_sum *to_sum(tvms_simplifier *s, value v) {
  if (v.form == SUM) return v.sum;
  tvms_sum *sum = tvms_canonical_sum_new(unit_of(s), dtype_of(v));
  if (!is_number(v, &sum->base))
    tvms_canonical_sum_append(unit_of(s), sum, to_split(s, v));
  return sum;
}

// Folds constants and neutral elements; a value in normal form is kept as it is.
static bool fold(tvms_simplifier *s, tvms_node_kind kind, value a, value b,
                 value *result) {
  if (a.form == PLAIN && b.form == PLAIN) {
    tvms_node *folded = tvms_build_try_fold(unit_of(s), kind, a.node, b.node);
    if (folded) *result = plain(folded);
    return folded != NULL;
  }
  bool sum = kind == TVMS_NODE_ADD || kind == TVMS_NODE_SUB;
  bool product = kind == TVMS_NODE_MUL;
  int64_t n;
  if (is_number(a, &n)) {
    bool neutral = (n == 0 && kind == TVMS_NODE_ADD) || (n == 1 && product);
    *result = neutral ? b : a;
    return neutral || (n == 0 && !sum);
  }
  if (!is_number(b, &n)) return false;
  bool modulo = kind == TVMS_NODE_MOD || kind == TVMS_NODE_FLOOR_MOD;
  if (modulo) {
    *result = plain(number(s, dtype_of(a), 0));
    return n == 1;
  }
  bool neutral = sum ? n == 0 : n == 1;
  *result = neutral ? a : b;
  return neutral || (n == 0 && product);
}

// ---- Sums and products ----

static value mutate_sum(tvms_simplifier *s, tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  value a = mutate(s, op->a), b = mutate(s, op->b);
  value folded;
  if (fold(s, (tvms_node_kind)node->kind, a, b, &folded)) return folded;
  int64_t sign = node->kind == TVMS_NODE_ADD ? 1 : -1, n;
  tvms_sum *sum = to_sum(s, a);
  if (is_number(b, &n))
    sum->base = tvms_arith_wrap_add(sum->base, tvms_arith_wrap_mul(n, sign));
  else if (b.form == SUM)
    tvms_canonical_sum_add_sum(unit_of(s), sum, b.sum, sign);
  else
    tvms_canonical_sum_add(unit_of(s), sum, to_split(s, b), sign);
  return as_sum(sum);
}

// Multiplies the factors of a product onto *result; constants go to *scale.
static void multiply_factors(tvms_simplifier *s, tvms_node *product, tvms_node **result,
                             int64_t *scale) {
  while (product->kind == TVMS_NODE_MUL) {
    multiply_factors(s, tvms_as_binary(product)->a, result, scale);
    product = tvms_as_binary(product)->b;
  }
  if (product->kind == TVMS_NODE_INT_IMM)
    *scale = tvms_arith_wrap_mul(*scale, tvms_as_int_imm(product)->value);
  else
    *result = tvms_arith_fold_binary(unit_of(s), TVMS_NODE_MUL, *result, product);
}

// True for a product in normal form without a constant.
static bool is_normal_product(const tvms_node *node) {
  if (node->kind != TVMS_NODE_MUL) return false;
  for (; node->kind == TVMS_NODE_MUL; node = tvms_as_binary(node)->a) {
    const tvms_node *right = tvms_as_binary(node)->b;
    if (right->kind == TVMS_NODE_INT_IMM || right->kind == TVMS_NODE_MUL) return false;
  }
  return node->kind != TVMS_NODE_INT_IMM;
}

static value mutate_mul(tvms_simplifier *s, tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  value a = mutate(s, op->a), b = mutate(s, op->b);
  value folded;
  if (fold(s, TVMS_NODE_MUL, a, b, &folded)) return folded;
  int64_t n;
  if (is_number(a, &n)) {
    value swap = a;
    a = b;
    b = swap;
  }
  if (is_number(b, &n) && a.form == SUM) {
    tvms_canonical_sum_scale(a.sum, n);
    return a;
  }
  if (is_number(b, &n)) {
    tvms_canonical_split split = to_split(s, a);
    split.scale = tvms_arith_wrap_mul(split.scale, n);
    return as_split(split);
  }
  tvms_node *result = normalize(s, a);
  int64_t scale = 1;
  if (result != s->product && !is_normal_product(result)) {
    tvms_node *left = result;
    result = number(s, node->dtype, 1);
    multiply_factors(s, left, &result, &scale);
  }
  multiply_factors(s, normalize(s, b), &result, &scale);
  if (scale != 1) {
    tvms_node *factor = number(s, node->dtype, scale);
    result = tvms_arith_fold_binary(unit_of(s), TVMS_NODE_MUL, result, factor);
  }
  bool same = result->kind == TVMS_NODE_MUL && tvms_as_binary(result)->a == op->a
              && tvms_as_binary(result)->b == op->b;
  if (same) result = node;
  s->product = scale == 1 && result->kind == TVMS_NODE_MUL ? result : NULL;
  return plain(result);
}

// ---- Division by a constant ----

static tvms_canonical_split with_rounding(tvms_simplifier *s,
                                          tvms_canonical_split split, bool floor) {
  if (!tvms_canonical_split_fits(&split, floor)) {
    split = tvms_canonical_split_of(tvms_canonical_split_node(unit_of(s), &split, 1));
  }
  split.floor = floor;
  return split;
}

static tvms_node *mod_node(tvms_simplifier *s, tvms_node *a, int64_t by, bool floor) {
  tvms_node_kind kind = floor ? TVMS_NODE_FLOOR_MOD : TVMS_NODE_MOD;
  return tvms_arith_fold_binary(unit_of(s), kind, a, number(s, a->dtype, by));
}

static tvms_canonical_split split_div(tvms_simplifier *s, tvms_canonical_split lhs,
                                      int64_t by, bool floor) {
  lhs = with_rounding(s, lhs, floor);
  if (lhs.scale % by == 0) {
    lhs.scale /= by;
    return lhs;
  }
  if (by % lhs.scale != 0) {
    lhs = tvms_canonical_split_of(tvms_canonical_split_node(unit_of(s), &lhs, 1));
    lhs.lower = by;
    lhs.floor = floor;
    return lhs;
  }
  int64_t lower = tvms_arith_wrap_mul(lhs.lower, by / lhs.scale);
  bool folds = lhs.upper == TVMS_POS_INF || (lower != 0 && lhs.upper % lower == 0);
  if (!folds && lhs.upper <= lower) {
    return tvms_canonical_split_of(number(s, lhs.index->dtype, 0));
  }
  if (!folds) {
    lhs.index = mod_node(s, lhs.index, lhs.upper, floor);
    lhs.upper = TVMS_POS_INF;
  }
  lhs.scale = 1;
  lhs.lower = lower;
  return lhs;
}

// 0 <= e < by, so that e leaves a division or a modulo.
static bool is_below(tvms_simplifier *s, tvms_node *e, int64_t by) {
  return tvms_simplifier_compare_to(s, e, by) == TVMS_IS_LT
         && tvms_analyzer_can_prove_ge(s->analyzer, e, 0);
}

// lhs / by + rest / by, where `by` divides lhs.
static tvms_sum *add_quotient(tvms_simplifier *s, tvms_sum *lhs, tvms_sum *rest,
                              int64_t by, bool floor) {
  tvms_canonical_sum_divide(lhs, by);
  tvms_node *extra = tvms_canonical_sum_node(unit_of(s), rest);
  if (extra->kind == TVMS_NODE_INT_IMM) {
    int64_t n = tvms_as_int_imm(extra)->value;
    lhs->base =
        tvms_arith_wrap_add(lhs->base, floor ? tvms_arith_floor_div(n, by) : n / by);
    return lhs;
  }
  bool gone = floor ? is_below(s, extra, by)
                    : tvms_simplifier_compare_to(s, extra, by) == TVMS_IS_LT;
  if (!gone) {
    tvms_canonical_split split =
        split_div(s, tvms_canonical_split_of(extra), by, floor);
    tvms_canonical_sum_add(unit_of(s), lhs, split, 1);
  }
  return lhs;
}

// floordiv(floormod(sum, by * m), by) is floormod(floordiv(sum, by), m): since 0.25,
// where the sum has parts that `by` divides. Returns false if it does not apply.
static bool div_of_mod(tvms_simplifier *s, const tvms_canonical_split *a, int64_t by,
                       value *result) {
  bool fits = tvms_release_has(unit_of(s)->dialect, TVMS_FACT_div_of_mod_folds)
              && a->lower == 1 && a->scale == 1 && a->upper != TVMS_POS_INF
              && a->upper % by == 0 && tvms_canonical_split_fits(a, true);
  if (!fits) return false;
  value raw = mutate(s, a->index);
  if (raw.form != SUM) return false;
  tvms_sum *lhs, *rest;
  tvms_canonical_sum_separate(unit_of(s), raw.sum, by, &lhs, &rest);
  if (tvms_canonical_sum_is_zero(lhs)) return false;
  tvms_node *quotient =
      tvms_canonical_sum_node(unit_of(s), add_quotient(s, lhs, rest, by, true));
  *result = plain(tvms_simplifier_visit(s, mod_node(s, quotient, a->upper / by, true)));
  return true;
}

static value div_const(tvms_simplifier *s, value a, int64_t by, bool floor) {
  if (by == 1) return a;
  if (a.form == SUM) {
    tvms_sum *lhs, *rest;
    tvms_canonical_sum_separate(unit_of(s), a.sum, by, &lhs, &rest);
    if (tvms_canonical_sum_is_zero(rest)) {
      tvms_canonical_sum_divide(lhs, by);
      return as_sum(lhs);
    }
    bool splits = floor
                  || (tvms_analyzer_can_prove_ge(
                          s->analyzer, tvms_canonical_sum_node(unit_of(s), lhs), 0)
                      && tvms_analyzer_can_prove_ge(
                          s->analyzer, tvms_canonical_sum_node(unit_of(s), rest), 0));
    if (splits) return as_sum(add_quotient(s, lhs, rest, by, floor));
  } else {
    tvms_bound bound = tvms_analyzer_const_int_bound(s->analyzer, normalize(s, a));
    if (bound.min >= 0 && bound.max < by) return plain(number(s, dtype_of(a), 0));
    value result;
    if (floor && a.form == SPLIT && div_of_mod(s, &a.split, by, &result)) return result;
  }
  return as_split(split_div(s, to_split(s, a), by, floor));
}

// ---- Modulo by a constant ----

static tvms_canonical_split split_mod(tvms_simplifier *s, tvms_canonical_split lhs,
                                      int64_t by, bool floor) {
  lhs = with_rounding(s, lhs, floor);
  if (lhs.scale % by == 0) {
    lhs.scale = 0;
    return lhs;
  }
  if (by % lhs.scale == 0) {
    int64_t upper = tvms_arith_wrap_mul(lhs.lower, by / lhs.scale);
    bool shrinks = lhs.upper == TVMS_POS_INF || (upper != 0 && lhs.upper % upper == 0);
    if (shrinks && upper < lhs.upper && lhs.upper != TVMS_POS_INF) {
      tvms_node *inner = tvms_simplifier_visit(s, mod_node(s, lhs.index, upper, floor));
      tvms_canonical_split updated = to_split(s, plain(inner));
      if (lhs.lower != 1) updated = split_div(s, updated, lhs.lower, floor);
      updated.scale = tvms_arith_wrap_mul(updated.scale, lhs.scale);
      return updated;
    }
    if (shrinks) {
      lhs.upper = upper;
      return lhs;
    }
    if (upper % lhs.upper == 0) return lhs;
  }
  lhs = tvms_canonical_split_of(tvms_canonical_split_node(unit_of(s), &lhs, 1));
  lhs.floor = floor;
  lhs.upper = by;
  return lhs;
}

static value floor_mod_sum(tvms_simplifier *s, tvms_sum *sum, int64_t by) {
  tvms_sum *lhs, *rest;
  tvms_canonical_sum_separate(unit_of(s), sum, by, &lhs, &rest);
  tvms_node *extra = tvms_canonical_sum_node(unit_of(s), rest);
  if (extra->kind == TVMS_NODE_INT_IMM) return plain(mod_node(s, extra, by, true));
  if (is_below(s, extra, by)) return plain(extra);
  rest->base = tvms_arith_floor_mod(rest->base, by);
  return as_split(split_mod(s, to_split(s, as_sum(rest)), by, true));
}

static value trunc_mod_sum(tvms_simplifier *s, tvms_sum *sum, int64_t by) {
  tvms_sum *lhs, *rest;
  tvms_canonical_sum_separate(unit_of(s), sum, by, &lhs, &rest);
  if (tvms_canonical_sum_is_zero(rest)) return plain(number(s, sum->dtype, 0));
  bool positive = tvms_analyzer_can_prove_ge(
                      s->analyzer, tvms_canonical_sum_node(unit_of(s), lhs), 0)
                  && tvms_analyzer_can_prove_ge(
                      s->analyzer, tvms_canonical_sum_node(unit_of(s), rest), 0);
  if (positive) {
    tvms_node *extra = tvms_canonical_sum_node(unit_of(s), rest);
    if (extra->kind == TVMS_NODE_INT_IMM) return plain(mod_node(s, extra, by, false));
    if (tvms_simplifier_compare_to(s, extra, by) == TVMS_IS_LT) return plain(extra);
    sum = rest;
  }
  tvms_bound bound = tvms_analyzer_const_int_bound(
      s->analyzer, tvms_canonical_sum_node(unit_of(s), sum));
  int64_t base = sum->base % by;
  if (bound.min >= 0
      && tvms_arith_wrap_add(tvms_arith_wrap_sub(bound.min, sum->base), base) >= 0) {
    sum->base = base;
  }
  return as_split(split_mod(s, to_split(s, as_sum(sum)), by, false));
}

static value mod_const(tvms_simplifier *s, value a, int64_t by, bool floor) {
  if (a.form == SUM) {
    return floor ? floor_mod_sum(s, a.sum, by) : trunc_mod_sum(s, a.sum, by);
  }
  tvms_bound bound = tvms_analyzer_const_int_bound(s->analyzer, normalize(s, a));
  if (bound.min >= 0 && bound.max < by) return a;
  return as_split(split_mod(s, to_split(s, a), by, floor));
}

// ---- Division and modulo by an expression ----

enum { MOST_FACTORS = 64 };

typedef struct {
  tvms_node *items[MOST_FACTORS];
  uint32_t len;
  int64_t scale;
  bool too_many;
} factors;

static void collect_factors(factors *f, tvms_node *product) {
  while (product->kind == TVMS_NODE_MUL) {
    collect_factors(f, tvms_as_binary(product)->a);
    product = tvms_as_binary(product)->b;
  }
  if (product->kind == TVMS_NODE_INT_IMM)
    f->scale = tvms_arith_wrap_mul(f->scale, tvms_as_int_imm(product)->value);
  else if (f->len < MOST_FACTORS)
    f->items[f->len++] = product;
  else
    f->too_many = true;
}

// Cancels common factors of *a and *b; their product is *common. Returns false if there
// are none.
static bool cancel_factors(tvms_simplifier *s, tvms_node **a, tvms_node **b,
                           tvms_node **common) {
  if ((*b)->kind == TVMS_NODE_INT_IMM) return false;
  factors left = {.scale = 1}, right = {.scale = 1};
  collect_factors(&left, *a);
  collect_factors(&right, *b);
  if (left.too_many || right.too_many) return false;
  tvms_unit *unit = unit_of(s);
  tvms_dtype dtype = (*b)->dtype;
  tvms_node *rest = number(s, dtype, 1), *shared = number(s, dtype, 1);
  uint32_t cancelled = 0;
  for (uint32_t i = 0; i < right.len; i++) {
    uint32_t j = 0;
    while (j < left.len
           && !(left.items[j] && tvms_node_same_expr(right.items[i], left.items[j]))) {
      j++;
    }
    tvms_node **target = j < left.len ? &shared : &rest;
    *target = tvms_arith_fold_binary(unit, TVMS_NODE_MUL, *target, right.items[i]);
    if (j == left.len) continue;
    left.items[j] = NULL;
    cancelled++;
  }
  int64_t gcd = tvms_arith_gcd(left.scale, right.scale);
  if (gcd == 0) gcd = 1;
  if (cancelled == 0 && gcd == 1) return false;
  tvms_node *product = number(s, dtype, 1);
  for (uint32_t j = 0; j < left.len; j++) {
    if (!left.items[j]) continue;
    product = tvms_arith_fold_binary(unit, TVMS_NODE_MUL, product, left.items[j]);
  }
  tvms_node_kind mul = TVMS_NODE_MUL;
  *a = tvms_arith_fold_binary(unit, mul, product, number(s, dtype, left.scale / gcd));
  *b = tvms_arith_fold_binary(unit, mul, rest, number(s, dtype, right.scale / gcd));
  *common = tvms_arith_fold_binary(unit, mul, shared, number(s, dtype, gcd));
  return true;
}

static value mutate_division(tvms_simplifier *s, tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  tvms_node_kind kind = (tvms_node_kind)node->kind;
  bool modulo = kind == TVMS_NODE_MOD || kind == TVMS_NODE_FLOOR_MOD;
  bool floor = kind == TVMS_NODE_FLOOR_DIV || kind == TVMS_NODE_FLOOR_MOD;
  value a = mutate(s, op->a), b = mutate(s, op->b);
  value folded;
  if (fold(s, kind, a, b, &folded)) return folded;
  int64_t by;
  if (is_number(b, &by) && by > 0) {
    return modulo ? mod_const(s, a, by, floor) : div_const(s, a, by, floor);
  }
  tvms_node *x = normalize(s, a), *y = normalize(s, b), *common;
  if (cancel_factors(s, &x, &y, &common)) {
    tvms_node *result = tvms_arith_fold_binary(unit_of(s), kind, x, y);
    if (modulo)
      result = tvms_arith_fold_binary(unit_of(s), TVMS_NODE_MUL, result, common);
    return plain(result);
  }
  if (x == op->a && y == op->b) return plain(node);
  return plain(tvms_binary_new(unit_of(s), kind, x, y, TVMS_NO_SPAN));
}

// ---- Casts and comparison ----

static value mutate_cast(tvms_simplifier *s, tvms_node *node) {
  value v = mutate(s, tvms_as_cast(node)->value);
  if (v.form == SUM && tvms_canonical_sum_takes_cast(s->analyzer, v.sum, node->dtype)) {
    tvms_canonical_sum_cast(unit_of(s), v.sum, node->dtype);
    return v;
  }
  if (v.form == SPLIT
      && tvms_canonical_split_takes_cast(s->analyzer, &v.split, node->dtype)) {
    tvms_canonical_split_cast(unit_of(s), &v.split, node->dtype);
    return v;
  }
  return plain(tvms_simplifier_visit_rewrite(s, node));
}

static int64_t common_scale(const tvms_sum *sum, bool *scaled) {
  int64_t gcd = sum->base;
  *scaled = false;
  for (uint32_t i = 0; i < sum->len; i++) {
    int64_t scale = sum->args[i].scale;
    if (scale >= -1 && scale <= 1) continue;
    *scaled = true;
    gcd = tvms_arith_gcd(gcd, scale);
  }
  return gcd;
}

static bool proves_below(tvms_simplifier *s, tvms_node *e, int64_t bound) {
  tvms_unit *unit = unit_of(s);
  tvms_node *upper = number(s, e->dtype, bound), *zero = number(s, e->dtype, 0);
  return tvms_analyzer_can_prove(s->analyzer,
                                 tvms_arith_fold_binary(unit, TVMS_NODE_LT, e, upper))
         && tvms_analyzer_can_prove(
             s->analyzer, tvms_arith_fold_binary(unit, TVMS_NODE_GE, e, zero));
}

static tvms_node *below_zero(tvms_simplifier *s, tvms_node *e) {
  tvms_node *zero = number(s, e->dtype, 0);
  return tvms_arith_fold_binary(unit_of(s), TVMS_NODE_LT, e, zero);
}

// yn div (d * lower) mod (upper / (d * lower)), for a split whose modulo d divides.
static tvms_node *reduce_split(tvms_simplifier *s, const tvms_canonical_split *split,
                               int64_t d) {
  int64_t lower = d * split->lower;
  tvms_dtype dtype = split->index->dtype;
  tvms_node *quotient = tvms_arith_fold_binary(unit_of(s), TVMS_NODE_FLOOR_DIV,
                                               split->index, number(s, dtype, lower));
  return tvms_arith_fold_binary(unit_of(s), TVMS_NODE_FLOOR_MOD, quotient,
                                number(s, dtype, split->upper / lower));
}

// a < b as a sum below zero, divided by the common factor d of most of its terms: the
// other terms may leave when they lie in [0, d).
static value mutate_less(tvms_simplifier *s, tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  tvms_unit *unit = unit_of(s);
  value diff = mutate(s, tvms_arith_fold_binary(unit, TVMS_NODE_SUB, op->a, op->b));
  bool scaled = false;
  int64_t gcd = diff.form == SUM ? common_scale(diff.sum, &scaled) : 1;
  if (!scaled || gcd <= 1) return plain(tvms_simplifier_visit_rewrite(s, node));
  tvms_sum *divisible, *rest;
  tvms_canonical_sum_separate(unit, diff.sum, gcd, &divisible, &rest);
  if (proves_below(s, tvms_canonical_sum_node(unit, rest), gcd)) {
    tvms_canonical_sum_divide(divisible, gcd);
    return mutate(s, below_zero(s, tvms_canonical_sum_node(unit, divisible)));
  }
  const tvms_canonical_split *only = rest->len == 1 ? &rest->args[0] : NULL;
  bool signed_well =
      only
      && (only->scale == 1
          || tvms_release_has(unit->dialect, TVMS_FACT_lt_divides_scaled_splits));
  if (signed_well && only->upper != TVMS_POS_INF
      && only->upper % (gcd * only->lower) == 0) {
    tvms_canonical_sum_divide(divisible, gcd);
    tvms_node *sum = tvms_arith_fold_binary(unit, TVMS_NODE_ADD,
                                            tvms_canonical_sum_node(unit, divisible),
                                            reduce_split(s, only, gcd));
    return mutate(s, below_zero(s, sum));
  }
  return plain(tvms_simplifier_visit_rewrite(s, node));
}

// ---- Dispatch ----

static value mutate_inner(tvms_simplifier *s, tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_ADD:
  case TVMS_NODE_SUB:
    if (tvms_dtype_is_index(node->dtype)) return mutate_sum(s, node);
    break;
  case TVMS_NODE_MUL:
    if (tvms_dtype_is_index(node->dtype)) return mutate_mul(s, node);
    break;
  case TVMS_NODE_DIV:
  case TVMS_NODE_MOD:
  case TVMS_NODE_FLOOR_DIV:
  case TVMS_NODE_FLOOR_MOD:
    if (tvms_dtype_is_index(node->dtype)) return mutate_division(s, node);
    break;
  case TVMS_NODE_CAST:
    if (tvms_dtype_is_index(node->dtype)) return mutate_cast(s, node);
    break;
  case TVMS_NODE_LT:
    if (tvms_dtype_is_index(tvms_as_binary(node)->a->dtype))
      return mutate_less(s, node);
    break;
  default: break;
  }
  return plain(tvms_simplifier_visit_rewrite(s, node));
}

static value mutate(tvms_simplifier *s, tvms_node *node) {
  tvms_memory *memory = s->analyzer->memory;
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  value result = mutate_inner(s, node);
  tvms_memory_leave(memory);
  return result;
}

tvms_node *tvms_simplifier_visit_canonical(tvms_simplifier *s, tvms_node *node) {
  return normalize(s, mutate(s, node));
}
