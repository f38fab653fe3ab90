// RenormalizeSplitPattern: quotients of remainders become remainders of quotients.
//
// Before: i % 32 // 8, (i * 64 + j) // 512   After: i // 8 % 4, (i + j // 64) // 8
//
// Also x < c, for a positive c, becomes x // c < 1, so that such conditions on parts of one
// index look alike. Comparisons are first written with `<`. This comes after unrolling,
// when splits of loops are settled. TVM: s_tir.transform.RenormalizeSplitPattern.
#include "arith/internal.h"
#include "arith/scopes.h"
#include "passes/functions.h"

typedef struct {
  tvms_unit *unit;
  int again;  // results that are being rewritten in turn
} renormalizer;

static tvms_node *build(tvms_rewriter *r, tvms_node_kind kind, tvms_node *a,
                        tvms_node *b) {
  return tvms_arith_fold_binary(r->unit, kind, a, b);
}

static tvms_node *number(tvms_rewriter *r, const tvms_node *like, int64_t value) {
  return tvms_arith_number(r->unit, like->dtype, value);
}

static tvms_node *again(tvms_rewriter *r, tvms_node *node) {
  enum { MOST = 5 };
  renormalizer *n = r->self;
  if (n->again >= MOST) return node;
  n->again++;
  node = tvms_rewrite(r, node);
  n->again--;
  return node;
}

// x * c1 as the first term of a sum; the rest is *y.
static bool read_term(tvms_rewriter *r, tvms_node *sum, tvms_node **x, int64_t *c1,
                      tvms_node **y) {
  if (sum->kind != TVMS_NODE_ADD) return false;
  tvms_node *first = tvms_as_binary(sum)->a;
  *y = tvms_as_binary(sum)->b;
  if (first->kind == TVMS_NODE_ADD && tvms_as_binary(first)->a->kind == TVMS_NODE_MUL) {
    *y = build(r, TVMS_NODE_ADD, tvms_as_binary(first)->b, *y);
    first = tvms_as_binary(first)->a;
  }
  if (first->kind != TVMS_NODE_MUL) return false;
  *x = tvms_as_binary(first)->a;
  return tvms_node_int_in_lanes(tvms_as_binary(first)->b, c1);
}

static tvms_node *leave_floor_div(tvms_rewriter *r, tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  tvms_node *built = build(r, TVMS_NODE_FLOOR_DIV, op->a, op->b);
  if (built->kind != TVMS_NODE_FLOOR_DIV) return built;
  if (node != r->old) node = built;
  op = tvms_as_binary(node);
  int64_t c1, c2;
  if (!tvms_node_int_in_lanes(op->b, &c2) || c2 == 0) return node;
  tvms_node *x, *y;
  if (op->a->kind == TVMS_NODE_FLOOR_MOD
      && tvms_node_int_in_lanes(tvms_as_binary(op->a)->b, &c1)) {
    if (c1 % c2 != 0) return node;
    x = build(r, TVMS_NODE_FLOOR_DIV, tvms_as_binary(op->a)->a, op->b);
    y = number(r, op->b, tvms_arith_floor_div(c1, c2));
    return again(r, build(r, TVMS_NODE_FLOOR_MOD, x, y));
  }
  if (!read_term(r, op->a, &x, &c1, &y) || c1 <= 0 || c2 <= 0) return node;
  int64_t common = tvms_arith_gcd(c1, c2);
  if (common <= 1) return node;
  x = build(r, TVMS_NODE_MUL, x, number(r, op->b, c1 / common));
  y = build(r, TVMS_NODE_FLOOR_DIV, y, number(r, op->b, common));
  x = build(r, TVMS_NODE_ADD, x, y);
  return again(r, build(r, TVMS_NODE_FLOOR_DIV, x, number(r, op->b, c2 / common)));
}

static tvms_node *leave_lt(tvms_rewriter *r, tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  if (op->b->kind != TVMS_NODE_INT_IMM || tvms_as_int_imm(op->b)->value <= 0)
    return node;
  tvms_node *quotient = build(r, TVMS_NODE_FLOOR_DIV, op->a, op->b);
  return again(r, build(r, TVMS_NODE_LT, quotient, number(r, op->a, 1)));
}

static tvms_node *less(tvms_rewriter *r, tvms_node *a, tvms_node *b) {
  return build(r, TVMS_NODE_LT, a, b);
}

// TVM leaves `not` in front of a comparison of numbers, which is folded.
static tvms_node *negation(tvms_rewriter *r, tvms_node *a) {
  return tvms_rewrite(r, tvms_not_new(r->unit, a, TVMS_NO_SPAN));
}

static tvms_node *enter_le(tvms_rewriter *r, tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  return negation(r, less(r, op->b, op->a));
}

static tvms_node *enter_gt(tvms_rewriter *r, tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  return tvms_rewrite(r, less(r, op->b, op->a));
}

static tvms_node *enter_ge(tvms_rewriter *r, tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  return negation(r, less(r, op->a, op->b));
}

static tvms_node *leave_not(tvms_rewriter *r, tvms_node *node) {
  tvms_node *a = tvms_as_not(node)->a;
  if (a->kind == TVMS_NODE_NOT) return tvms_as_not(a)->a;
  if (a->kind < TVMS_NODE_LT || a->kind > TVMS_NODE_GE) return node;
  const tvms_binary *op = tvms_as_binary(a);
  switch ((int)a->kind) {
  case TVMS_NODE_LE: return less(r, op->b, op->a);
  case TVMS_NODE_GE: return less(r, op->a, op->b);
  case TVMS_NODE_LT: return build(r, TVMS_NODE_LE, op->b, op->a);
  default: return build(r, TVMS_NODE_LE, op->a, op->b);
  }
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  (void)run;
  renormalizer n = {.unit = unit};
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &n);
  r.roles = TVMS_IN(USE) | TVMS_IN(BODY) | TVMS_IN(ACCESS);
  tvms_scopes_choose_all(&r);
  r.leave[TVMS_NODE_FLOOR_DIV] = leave_floor_div;
  r.leave[TVMS_NODE_LT] = leave_lt;
  r.leave[TVMS_NODE_STORE] = tvms_scopes_keep_predicate;
  r.leave[TVMS_NODE_BUFFER_LOAD] = tvms_scopes_keep_predicate;
  r.leave[TVMS_NODE_NOT] = leave_not;
  r.enter[TVMS_NODE_LE] = enter_le;
  r.enter[TVMS_NODE_GT] = enter_gt;
  r.enter[TVMS_NODE_GE] = enter_ge;
  function = tvms_rewrite(&r, function);
  tvms_rewriter_fini(&r);
  return function;
}

void tvms_pass_renormalize_split_pattern(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
