// Rewrite rules that need more than a pattern and a condition.
//
// arith/rewrite.rules names them with `!name` in the place where they are tried. Each gets the
// node whose operands are simplified and returns the result, or NULL if it does not apply.
#include "arith/rules.h"

#include "arith/bound.h"
#include "arith/compare.h"
#include "arith/modular.h"
#include "arith/rewrite.h"

static tvms_node *binary(tvms_simplifier *s, tvms_node_kind kind, tvms_node *a,
                         tvms_node *b) {
  return tvms_arith_fold_binary(s->analyzer->unit, kind, a, b);
}

static tvms_node *number_like(tvms_simplifier *s, const tvms_node *like,
                              int64_t value) {
  return tvms_arith_number(s->analyzer->unit, like->dtype, value);
}

static bool int_value(const tvms_node *node, int64_t *value) {
  if (node->kind != TVMS_NODE_INT_IMM) return false;
  *value = tvms_as_int_imm(node)->value;
  return true;
}

// ---- ramp / broadcast ----

// ramp(base, c1, lanes) OP broadcast(c2, lanes).
typedef struct {
  tvms_node *base, *stride, *divisor;
  int64_t c1, c2;
  int lanes;  // negative: scalable
  tvms_modular set;
} ramp_division;

static bool read_ramp(tvms_simplifier *s, const tvms_node *node, ramp_division *r) {
  const tvms_binary *op = tvms_as_binary(node);
  if (op->a->kind != TVMS_NODE_RAMP || op->b->kind != TVMS_NODE_BROADCAST) return false;
  r->base = tvms_as_ramp(op->a)->base;
  r->stride = tvms_as_ramp(op->a)->stride;
  r->divisor = tvms_as_broadcast(op->b)->value;
  r->lanes = node->dtype.lanes;
  if (!int_value(r->stride, &r->c1) || !int_value(r->divisor, &r->c2)) return false;
  r->set = tvms_analyzer_modular_set(s->analyzer, r->base);
  return r->c2 != 0;
}

static tvms_node *make_ramp(tvms_simplifier *s, const ramp_division *r, tvms_node *base,
                            tvms_node *stride) {
  return tvms_ramp_new(s->analyzer->unit, base, stride, r->lanes, TVMS_NO_SPAN);
}

static tvms_node *make_broadcast(tvms_simplifier *s, const ramp_division *r,
                                 tvms_node *value) {
  return tvms_broadcast_new(s->analyzer->unit, value, r->lanes, TVMS_NO_SPAN);
}

// Are all lanes in one block of c2? `in_step`: the base's step must cover them, too.
static bool one_block(const ramp_division *r, bool round_down) {
  int64_t last =
      tvms_arith_wrap_add(r->set.base, tvms_arith_wrap_mul(r->lanes - 1, r->c1));
  return round_down ? tvms_arith_floor_div(r->set.base, r->c2)
                          == tvms_arith_floor_div(last, r->c2)
                    : r->set.base / r->c2 == last / r->c2;
}

static bool step_covers(const ramp_division *r) {
  int64_t last =
      tvms_arith_wrap_add(r->set.base, tvms_arith_wrap_mul(r->lanes - 1, r->c1));
  return r->set.coeff != 0 && r->c2 % r->set.coeff == 0 && last < r->set.coeff;
}

tvms_node *TVMS_NULLABLE tvms_rule_ramp_tdiv(tvms_simplifier *s, tvms_node *node) {
  ramp_division r;
  if (!read_ramp(s, node, &r)) return NULL;
  tvms_node *quotient = binary(s, TVMS_NODE_DIV, r.base, r.divisor);
  if (r.c1 % r.c2 == 0) {
    return make_ramp(s, &r, quotient, binary(s, TVMS_NODE_DIV, r.stride, r.divisor));
  }
  if (r.lanes < 0 || !tvms_analyzer_can_prove_ge(s->analyzer, r.base, 0)) return NULL;
  bool same = r.set.coeff % r.c2 == 0 && one_block(&r, false);
  return same ? make_broadcast(s, &r, quotient) : NULL;
}

static tvms_node *mod_of_base(tvms_simplifier *s, const ramp_division *r,
                              tvms_node_kind kind) {
  return binary(s, kind, number_like(s, r->base, r->set.base), r->divisor);
}

tvms_node *TVMS_NULLABLE tvms_rule_ramp_tmod(tvms_simplifier *s, tvms_node *node) {
  ramp_division r;
  if (!read_ramp(s, node, &r)) return NULL;
  if (r.c1 % r.c2 == 0) {
    return make_broadcast(s, &r, binary(s, TVMS_NODE_MOD, r.base, r.divisor));
  }
  bool whole =
      r.set.coeff % r.c2 == 0 && tvms_analyzer_can_prove_ge(s->analyzer, r.base, 0);
  if (!whole) return NULL;
  tvms_node *ramp = make_ramp(s, &r, mod_of_base(s, &r, TVMS_NODE_MOD), r.stride);
  if (r.lanes > 0 && one_block(&r, false)) return ramp;
  return binary(s, TVMS_NODE_MOD, ramp, make_broadcast(s, &r, r.divisor));
}

tvms_node *TVMS_NULLABLE tvms_rule_ramp_floor_div(tvms_simplifier *s, tvms_node *node) {
  ramp_division r;
  if (!read_ramp(s, node, &r)) return NULL;
  tvms_node *quotient = binary(s, TVMS_NODE_FLOOR_DIV, r.base, r.divisor);
  if (r.c1 % r.c2 == 0) {
    return make_ramp(s, &r, quotient,
                     binary(s, TVMS_NODE_FLOOR_DIV, r.stride, r.divisor));
  }
  if (r.lanes < 0 || !one_block(&r, true)) return NULL;
  bool same = r.set.coeff % r.c2 == 0 || step_covers(&r);
  return same ? make_broadcast(s, &r, quotient) : NULL;
}

tvms_node *TVMS_NULLABLE tvms_rule_ramp_floor_mod(tvms_simplifier *s, tvms_node *node) {
  ramp_division r;
  if (!read_ramp(s, node, &r)) return NULL;
  tvms_node *rest = binary(s, TVMS_NODE_FLOOR_MOD, r.base, r.divisor);
  if (r.c1 % r.c2 == 0) return make_broadcast(s, &r, rest);
  bool block = r.lanes > 0 && one_block(&r, true);
  if (r.set.coeff % r.c2 == 0) {
    tvms_node *base = mod_of_base(s, &r, TVMS_NODE_FLOOR_MOD);
    tvms_node *ramp = make_ramp(s, &r, base, r.stride);
    if (block) return ramp;
    return binary(s, TVMS_NODE_FLOOR_MOD, ramp, make_broadcast(s, &r, r.divisor));
  }
  return block && step_covers(&r) ? make_ramp(s, &r, rest, r.stride) : NULL;
}

// ---- Remainders and quotients ----

tvms_node *TVMS_NULLABLE tvms_rule_tmod_modular(tvms_simplifier *s, tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  int64_t c;
  if (!int_value(op->b, &c) || c <= 0) return NULL;
  tvms_modular set = tvms_analyzer_modular_set(s->analyzer, op->a);
  if (set.coeff % c != 0 || !tvms_analyzer_can_prove_ge(s->analyzer, op->a, 0))
    return NULL;
  return binary(s, TVMS_NODE_MOD, number_like(s, op->a, set.base), op->b);
}

tvms_node *TVMS_NULLABLE tvms_rule_floor_mod_range(tvms_simplifier *s,
                                                   tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  int64_t c;
  if (!int_value(op->b, &c) || c <= 0) return NULL;
  tvms_modular set = tvms_analyzer_modular_set(s->analyzer, op->a);
  if (set.coeff % c == 0) {
    return binary(s, TVMS_NODE_FLOOR_MOD, number_like(s, op->a, set.base), op->b);
  }
  tvms_bound bound = tvms_analyzer_const_int_bound(s->analyzer, op->a);
  return bound.min >= 0 && bound.max < c ? op->a : NULL;
}

tvms_node *TVMS_NULLABLE tvms_rule_floor_mod_unsigned(tvms_simplifier *s,
                                                      tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  int64_t c;
  if (!int_value(op->b, &c) || c <= 0 || (c & (c - 1)) != 0) return NULL;
  tvms_modular set = tvms_analyzer_modular_set(s->analyzer, op->a);
  if (set.coeff % c != 0) return NULL;
  return binary(s, TVMS_NODE_FLOOR_MOD, number_like(s, op->a, set.base), op->b);
}

tvms_node *TVMS_NULLABLE tvms_rule_floor_div_unsigned(tvms_simplifier *s,
                                                      tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  int64_t c;
  if (!int_value(op->b, &c) || c <= 0) return NULL;
  tvms_bound bound = tvms_analyzer_const_int_bound(s->analyzer, op->a);
  return bound.min >= 0 && bound.max < c ? number_like(s, op->a, 0) : NULL;
}

// x * c1 as it stands in a sum.
static bool read_product(const tvms_node *node, tvms_node **x, tvms_node **c1) {
  if (node->kind != TVMS_NODE_MUL) return false;
  const tvms_binary *op = tvms_as_binary(node);
  *x = op->a;
  *c1 = op->b;
  return op->b->kind == TVMS_NODE_INT_IMM;
}

// Reads x * c1 + y, x * c1 or y + x * c1.
static bool read_sum(const tvms_node *node, tvms_node **x, tvms_node **c1,
                     tvms_node **y) {
  *y = NULL;
  if (node->kind == TVMS_NODE_ADD) {
    const tvms_binary *op = tvms_as_binary(node);
    *y = op->b;
    if (read_product(op->a, x, c1)) return true;
    *y = op->a;
    return read_product(op->b, x, c1);
  }
  return read_product(node, x, c1);
}

// (x * c1 + y) // c2: what c2 divides leaves the division, or c1 leaves the divisor.
tvms_node *TVMS_NULLABLE tvms_rule_floor_div_product(tvms_simplifier *s,
                                                     tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  tvms_node *x, *factor, *y, *divisor = op->b;
  int64_t c1, c2;
  if (!int_value(divisor, &c2) || !read_sum(op->a, &x, &factor, &y)) return NULL;
  if (c2 == 0) return node;
  int_value(factor, &c1);
  if (!y) y = number_like(s, x, 0);
  tvms_node *rest_c1 = binary(s, TVMS_NODE_FLOOR_MOD, factor, divisor);
  tvms_node *rest_y = binary(s, TVMS_NODE_FLOOR_MOD, y, divisor);
  tvms_node *residue = binary(
      s, TVMS_NODE_FLOOR_DIV,
      binary(s, TVMS_NODE_ADD, binary(s, TVMS_NODE_MUL, x, rest_c1), rest_y), divisor);
  tvms_node *y_div = binary(s, TVMS_NODE_FLOOR_DIV, y, divisor);
  if (tvms_simplifier_compare_to(s, y_div, 0) == TVMS_IS_EQ)
    y_div = number_like(s, x, 0);
  tvms_bound bound = tvms_analyzer_const_int_bound(s->analyzer, residue);
  if (bound.max == bound.min) {
    tvms_node *product =
        binary(s, TVMS_NODE_MUL, x, binary(s, TVMS_NODE_FLOOR_DIV, factor, divisor));
    tvms_node *rest = binary(s, TVMS_NODE_ADD, y_div, number_like(s, x, bound.max));
    return binary(s, TVMS_NODE_ADD, product, rest);
  }
  if (c1 > 0 && c2 > 0 && c2 % c1 == 0
      && tvms_analyzer_can_prove_lt(s->analyzer, rest_y, c1)) {
    tvms_node *smaller = number_like(s, x, c2 / c1);
    return binary(s, TVMS_NODE_ADD, binary(s, TVMS_NODE_FLOOR_DIV, x, smaller), y_div);
  }
  return NULL;
}

// ---- Bounds and comparison ----

tvms_node *TVMS_NULLABLE tvms_rule_extreme_by_bounds(tvms_simplifier *s,
                                                     tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  tvms_bound a = tvms_analyzer_const_int_bound(s->analyzer, op->a);
  tvms_bound b = tvms_analyzer_const_int_bound(s->analyzer, op->b);
  bool minimum = node->kind == TVMS_NODE_MIN;
  if (minimum ? a.max <= b.min : a.min >= b.max) return op->a;
  if (minimum ? b.max <= a.min : b.min >= a.max) return op->b;
  return NULL;
}

tvms_node *TVMS_NULLABLE tvms_rule_equal_by_comparison(tvms_simplifier *s,
                                                       tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  tvms_compare result = tvms_simplifier_compare_exprs(s, op->a, op->b);
  if (result == TVMS_IS_EQ)
    return tvms_arith_truth(s->analyzer->unit, node->dtype, true);
  bool apart = result == TVMS_IS_NE || result == TVMS_IS_GT || result == TVMS_IS_LT;
  return apart ? tvms_arith_truth(s->analyzer->unit, node->dtype, false) : NULL;
}

tvms_node *TVMS_NULLABLE tvms_rule_less_by_comparison(tvms_simplifier *s,
                                                      tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  tvms_compare result = tvms_simplifier_compare_exprs(s, op->a, op->b);
  if (result == TVMS_IS_LT)
    return tvms_arith_truth(s->analyzer->unit, node->dtype, true);
  bool never = result == TVMS_IS_EQ || result == TVMS_IS_GT || result == TVMS_IS_GE;
  return never ? tvms_arith_truth(s->analyzer->unit, node->dtype, false) : NULL;
}

// x + c, x - c and c - x give c (with its sign); the offset that comparisons may move.
static tvms_node *take_offset(tvms_node *node, int64_t *offset) {
  *offset = 0;
  if (node->kind != TVMS_NODE_ADD && node->kind != TVMS_NODE_SUB) return node;
  const tvms_binary *op = tvms_as_binary(node);
  int64_t c;
  if (int_value(op->b, &c)) {
    *offset = node->kind == TVMS_NODE_ADD ? c : -c;
    return op->a;
  }
  if (node->kind == TVMS_NODE_SUB && int_value(op->a, &c)) {
    *offset = c;
    return op->b;
  }
  return node;
}

tvms_node *TVMS_NULLABLE tvms_rule_less_merge_constants(tvms_simplifier *s,
                                                        tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  int64_t left_offset, right_offset;
  tvms_node *left = take_offset(op->a, &left_offset);
  tvms_node *right = take_offset(op->b, &right_offset);
  if (left_offset == 0 && right_offset == 0) return NULL;
  int64_t diff = tvms_arith_wrap_sub(right_offset, left_offset);
  tvms_node *merged = NULL;
  if (diff == 0) {
    merged = binary(s, TVMS_NODE_LT, left, right);
  } else if (diff == 1) {
    merged = binary(s, TVMS_NODE_LE, left, right);
  } else if (diff < 0 && right_offset != 0) {
    tvms_node *moved = binary(s, TVMS_NODE_ADD, left, number_like(s, left, -diff));
    merged = binary(s, TVMS_NODE_LT, moved, right);
  } else if (diff > 0 && left_offset != 0) {
    tvms_node *moved = binary(s, TVMS_NODE_ADD, right, number_like(s, right, diff));
    merged = binary(s, TVMS_NODE_LT, left, moved);
  }
  return merged ? tvms_simplifier_revisit(s, merged) : NULL;
}

static int64_t factor_of(tvms_simplifier *s, const tvms_node *node) {
  tvms_modular set = tvms_analyzer_modular_set(s->analyzer, node);
  return tvms_arith_gcd(set.base, set.coeff);
}

tvms_node *TVMS_NULLABLE tvms_rule_less_common_factor(tvms_simplifier *s,
                                                      tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  int64_t factor = tvms_arith_gcd(factor_of(s, op->a), factor_of(s, op->b));
  if (factor <= 1) return NULL;
  tvms_node *divisor = number_like(s, op->a, factor);
  tvms_node *left = binary(s, TVMS_NODE_FLOOR_DIV, op->a, divisor);
  tvms_node *right = binary(s, TVMS_NODE_FLOOR_DIV, op->b, divisor);
  return tvms_simplifier_revisit(s, binary(s, TVMS_NODE_LT, left, right));
}
