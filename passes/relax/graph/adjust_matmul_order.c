// AdjustMatmulOrder: of a chain of three products the cheaper order.
//
// Before: lv = R.matmul(a, b); gv = R.matmul(lv, x)      with a: (n, 4), b: (4, n), x: (n, 1)
// After:  lv = R.matmul(b, x); gv = R.matmul(a, lv)
//
// Two weights (parameters behind the first num_input) are multiplied with each other first, since
// that can be done beforehand. Else the number of multiplications decides, if it can be proved to
// be less, with what the attributes tir_var_lower_bound and tir_var_upper_bound say. The inner
// product may be transposed. TVM: relax.transform.AdjustMatmulOrder.
#include "arith/analyzer.h"
#include "ir/object.h"
#include "passes/relax/analysis/compile_time.h"
#include "passes/relax/graph/op_calls.h"
#include "passes/relax/pattern/rewrite.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

#include <string.h>

enum {
  INNER_LEFT,
  INNER_RIGHT,
  TRANSPOSED_LEFT,
  TRANSPOSED_RIGHT,
  FORMS,
  MOST_AXES = 64
};

typedef struct {
  tvms_node_map compile_time;
  const tvms_function *function;
  tvms_pattern *parts[3];  // a, b, c
  tvms_pattern *transposed[2];
  tvms_pattern *roots[FORMS];
} adjustment;

// One of the three factors.
typedef struct {
  tvms_node *expr;
  tvms_node *dims[MOST_AXES];
  uint32_t ndim;
  bool weight;
} factor;

// ---- Numbers of multiplications ----

static tvms_node *times(tvms_relax_mutator *m, tvms_node *a, tvms_node *b) {
  return tvms_dim_binary(&m->prover, TVMS_NODE_MUL, a, b);
}

static tvms_node *product(tvms_relax_mutator *m, tvms_node *const *dims,
                          uint32_t count) {
  tvms_node *all = tvms_sinfo_dim_new(m->unit, 1);
  for (uint32_t i = 0; i < count; i++)
    all = times(m, all, dims[i]);
  return all;
}

static bool is_one(const tvms_node *dim) {
  return tvms_node_is_int(dim, 1);
}

// The batch axes of a product of factors with these, in front of the last two. False if it cannot
// be told.
static bool broadcast(tvms_relax_mutator *m, const factor *a, const factor *b,
                      factor *result) {
  uint32_t x = a->ndim, y = b->ndim, len = x > y ? x : y;
  result->ndim = len;
  for (uint32_t i = 0; i < len; i++) {
    tvms_node *p = i < x ? a->dims[x - 1 - i] : NULL;
    tvms_node *q = i < y ? b->dims[y - 1 - i] : NULL;
    tvms_node *dim = !q || (p && is_one(q)) ? p : q;
    bool fits = !p || !q || is_one(p) || is_one(q) || tvms_dim_equal(&m->prover, p, q);
    if (!fits) return false;
    result->dims[len - 1 - i] = dim;
  }
  return true;
}

static factor batch_of(const factor *f) {
  factor batch = {.ndim = f->ndim - 2};
  memcpy(batch.dims, f->dims, batch.ndim * sizeof *f->dims);
  return batch;
}

// What both orders cost, and that no size is 0. False if the batches do not fit.
static bool count_both(tvms_relax_mutator *m, const factor f[3], tvms_node **left_first,
                       tvms_node **right_first, tvms_node **positive) {
  factor a = batch_of(&f[0]), b = batch_of(&f[1]), c = batch_of(&f[2]);
  factor ab, bc, left, right;
  if (!broadcast(m, &a, &b, &ab) || !broadcast(m, &b, &c, &bc)) return false;
  if (!broadcast(m, &ab, &c, &left) || !broadcast(m, &a, &bc, &right)) return false;
  tvms_node *batches[] = {
      product(m, ab.dims, ab.ndim), product(m, left.dims, left.ndim),
      product(m, bc.dims, bc.ndim), product(m, right.dims, right.ndim)};
  tvms_node *n = f[0].dims[f[0].ndim - 2], *r = f[0].dims[f[0].ndim - 1];
  tvms_node *k = f[2].dims[f[2].ndim - 2], *l = f[2].dims[f[2].ndim - 1];
  tvms_node *terms[4][4] = {{batches[0], n, r, k},
                            {batches[1], n, k, l},
                            {batches[2], r, k, l},
                            {batches[3], n, r, l}};
  tvms_node *costs[4],
      *sizes[] = {batches[0], batches[2], batches[1], batches[3], n, r, k, l};
  for (uint32_t i = 0; i < 4; i++)
    costs[i] = product(m, terms[i], 4);
  *left_first = tvms_dim_binary(&m->prover, TVMS_NODE_ADD, costs[0], costs[1]);
  *right_first = tvms_dim_binary(&m->prover, TVMS_NODE_ADD, costs[2], costs[3]);
  *positive = tvms_bool_imm_new(m->unit, true, TVMS_NO_SPAN);
  for (uint32_t i = 0; i < 8; i++) {
    tvms_node *more = tvms_dim_binary_int(&m->prover, TVMS_NODE_GT, sizes[i], 0);
    *positive = tvms_dim_binary(&m->prover, TVMS_NODE_AND, *positive, more);
  }
  return true;
}

// The bounds that an attribute gives to symbolic dimensions, as a condition.
static tvms_node *with_bounds(const adjustment *a, tvms_relax_mutator *m,
                              tvms_node *condition, const char *key, bool upper) {
  const tvms_node *bounds = tvms_object_map_get(a->function->attrs, key);
  tvms_list params = a->function->params;
  for (uint32_t i = 0; bounds && i < params.len; i++) {
    tvms_list dims;
    if (!tvms_sinfo_is_tensor(params.items[i]->sinfo)) continue;
    if (!tvms_sinfo_dims(params.items[i]->sinfo, &dims)) continue;
    for (uint32_t k = 0; k < dims.len; k++) {
      tvms_node *dim = dims.items[k];
      if (dim->kind != TVMS_NODE_VAR) continue;
      const char *name = tvms_symbol_text(m->unit->context, tvms_as_var(dim)->name);
      int64_t bound;
      if (!tvms_object_as_int(tvms_object_map_get(bounds, name), &bound)) continue;
      tvms_node_kind kind = upper ? TVMS_NODE_LT : TVMS_NODE_GE;
      tvms_node *fact = tvms_dim_binary_int(&m->prover, kind, dim, bound);
      condition = tvms_dim_binary(&m->prover, TVMS_NODE_AND, condition, fact);
    }
  }
  return condition;
}

// ---- The order ----

static tvms_node *matmul(tvms_relax_mutator *m, tvms_node *a, tvms_node *b) {
  return tvms_relax_op_matmul(m, a, b, (tvms_dtype){0});
}

static tvms_node *left_to_right(tvms_relax_mutator *m, const factor f[3]) {
  return matmul(m, matmul(m, f[0].expr, f[1].expr), f[2].expr);
}

static tvms_node *right_to_left(tvms_relax_mutator *m, const factor f[3]) {
  return matmul(m, f[0].expr, matmul(m, f[1].expr, f[2].expr));
}

static tvms_node *cheaper(const adjustment *a, tvms_relax_mutator *m, const factor f[3],
                          tvms_node *value) {
  tvms_node *left, *right, *condition, *made = value;
  if (!count_both(m, f, &left, &right, &condition)) return value;
  condition = with_bounds(a, m, condition, "tir_var_lower_bound", false);
  condition = with_bounds(a, m, condition, "tir_var_upper_bound", true);
  tvms_analyzer *analyzer = tvms_analyzer_new(m->unit);
  tvms_scope_mark mark = tvms_analyzer_enter(analyzer, condition);
  tvms_node *less = tvms_dim_binary(&m->prover, TVMS_NODE_LT, left, right);
  tvms_node *greater = tvms_dim_binary(&m->prover, TVMS_NODE_LT, right, left);
  if (tvms_analyzer_can_prove(analyzer, less)) {
    made = left_to_right(m, f);
  } else if (tvms_analyzer_can_prove(analyzer, greater)) {
    made = right_to_left(m, f);
  }
  tvms_analyzer_leave(analyzer, mark);
  tvms_analyzer_free(analyzer);
  return made;
}

static bool transpose(tvms_relax_mutator *m, factor *f) {
  if (f->ndim < 2) return false;
  f->expr = f->ndim == 2 ? tvms_relax_op_permute(m, f->expr, NULL, 2)
                         : tvms_relax_op_transpose(m, f->expr, f->ndim);
  tvms_node *last = f->dims[f->ndim - 1];
  f->dims[f->ndim - 1] = f->dims[f->ndim - 2];
  f->dims[f->ndim - 2] = last;
  f->weight = false;
  return true;
}

static bool read_factor(const adjustment *a, const tvms_pattern_match *match,
                        uint32_t i, factor *f) {
  tvms_list dims;
  f->expr = tvms_relax_pattern_expr(match, a->parts[i]);
  const tvms_node *value = tvms_relax_pattern_value(match, a->parts[i]);
  f->weight =
      value->kind == TVMS_NODE_VAR && tvms_node_map_get(&a->compile_time, value);
  if (!tvms_sinfo_is_tensor(f->expr->sinfo) || !tvms_sinfo_dims(f->expr->sinfo, &dims))
    return false;
  if (dims.len == 0 || dims.len >= MOST_AXES) return false;
  f->ndim = dims.len;
  memcpy(f->dims, dims.items, dims.len * sizeof *f->dims);
  return true;
}

// A vector as a matrix: a row (`in_front`) or a column.
static void widen(tvms_relax_mutator *m, factor *f, bool in_front) {
  if (f->ndim != 1) return;
  tvms_node *one = tvms_sinfo_dim_new(m->unit, 1);
  f->dims[1] = in_front ? f->dims[0] : one;
  if (in_front) f->dims[0] = one;
  f->ndim = 2;
}

static tvms_node *reorder(const tvms_pattern_rule *rule, tvms_relax_mutator *m,
                          const tvms_pattern_match *match, const tvms_pattern *root,
                          tvms_node *value) {
  const adjustment *a = rule->data;
  factor f[3];
  for (uint32_t i = 0; i < 3; i++)
    if (!read_factor(a, match, i, &f[i])) return value;
  if (f[0].weight && f[1].weight && f[2].weight) return value;
  for (uint32_t i = 0; i < 2; i++) {
    if (root != a->roots[TRANSPOSED_LEFT + i]) continue;
    if (!tvms_relax_op_is_transpose(tvms_relax_pattern_value(match, a->transposed[i])))
      return value;
    if (!transpose(m, &f[i]) || !transpose(m, &f[i + 1])) return value;
  }
  if (f[0].weight && f[1].weight) return left_to_right(m, f);
  if (f[1].weight && f[2].weight) return right_to_left(m, f);
  widen(m, &f[0], true);
  widen(m, &f[1], root == a->roots[INNER_RIGHT]);
  widen(m, &f[2], false);
  return cheaper(a, m, f, value);
}

static void make_patterns(adjustment *a, tvms_pattern_set *set) {
  for (uint32_t i = 0; i < 3; i++)
    a->parts[i] = tvms_relax_pattern_any(set);
  tvms_pattern *x = a->parts[0], *y = a->parts[1], *z = a->parts[2];
  tvms_pattern *left = tvms_relax_pattern_op(set, TVMS_R_matmul, 2, x, y);
  tvms_pattern *right = tvms_relax_pattern_op(set, TVMS_R_matmul, 2, y, z);
  tvms_pattern *left_back = tvms_relax_pattern_op(set, TVMS_R_matmul, 2, y, x);
  tvms_pattern *right_back = tvms_relax_pattern_op(set, TVMS_R_matmul, 2, z, y);
  a->transposed[0] = tvms_relax_pattern_op(set, TVMS_R_permute_dims, 1, left_back);
  a->transposed[1] = tvms_relax_pattern_op(set, TVMS_R_permute_dims, 1, right_back);
  a->roots[INNER_LEFT] = tvms_relax_pattern_op(set, TVMS_R_matmul, 2, left, z);
  a->roots[INNER_RIGHT] = tvms_relax_pattern_op(set, TVMS_R_matmul, 2, x, right);
  a->roots[TRANSPOSED_LEFT] =
      tvms_relax_pattern_op(set, TVMS_R_matmul, 2, a->transposed[0], z);
  a->roots[TRANSPOSED_RIGHT] =
      tvms_relax_pattern_op(set, TVMS_R_matmul, 2, x, a->transposed[1]);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  adjustment a = {.function = tvms_as_function(function)};
  tvms_pattern_rule rule = {
      .roots = a.roots, .root_count = FORMS, .replace = reorder, .data = &a};
  tvms_node_map_init(&a.compile_time, &run->context->memory);
  tvms_relax_compile_time(&a.compile_time, function);
  tvms_relax_pattern_set_init(&rule.set, run->context, &unit->arena);
  make_patterns(&a, &rule.set);
  tvms_node *changed = tvms_relax_pattern_rewrite(run, unit, function, &rule);
  tvms_relax_pattern_set_fini(&rule.set);
  tvms_node_map_fini(&a.compile_time);
  return changed;
}

void tvms_pass_adjust_matmul_order(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
