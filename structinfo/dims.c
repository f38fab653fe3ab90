// Proofs about dimensions, and arithmetic on them.
//
// An answer of a prover is one-sided: true means proved, false means not proved. A rule that
// must know whether two dimensions differ asks tvms_dim_differ, not for the negation of
// tvms_dim_equal. Dimensions are int64 and folded as TVM folds them when it builds them, so a
// result may be printed without simplifying it first. Constants are answered at once, and the
// analyzer of arith/ is made for the first question that needs it.
#include "structinfo/dims.h"

#include "arith/index_map.h"
#include "ir/fold.h"
#include "ir/node_map.h"
#include "ir/rewrite.h"

void tvms_prover_init(tvms_prover *prover, tvms_unit *unit) {
  prover->unit = unit;
  prover->analyzer = NULL;
}

void tvms_prover_fini(tvms_prover *prover) {
  tvms_analyzer_free(prover->analyzer);
  prover->analyzer = NULL;
}

// Made when it is first needed: most functions have constant shapes.
static tvms_analyzer *analyzer_of(tvms_prover *prover) {
  if (!prover->analyzer) prover->analyzer = tvms_analyzer_new(prover->unit);
  return prover->analyzer;
}

void tvms_prover_assume_dims(tvms_prover *prover, tvms_list dims) {
  for (uint32_t i = 0; i < dims.len; i++) {
    if (dims.items[i]->kind != TVMS_NODE_VAR) continue;
    tvms_analyzer_mark_nonnegative(analyzer_of(prover), dims.items[i]);
  }
}

void tvms_prover_assume(tvms_prover *prover, const tvms_node *sinfo) {
  if (sinfo->kind == TVMS_NODE_SINFO_TENSOR) {
    const tvms_node *shape = tvms_as_sinfo_tensor(sinfo)->shape;
    if (shape && shape->kind == TVMS_NODE_SHAPE_EXPR) {
      tvms_prover_assume_dims(prover, tvms_as_shape_expr(shape)->values);
    }
  } else if (sinfo->kind == TVMS_NODE_SINFO_SHAPE) {
    tvms_prover_assume_dims(prover, tvms_as_sinfo_shape(sinfo)->values);
  } else if (sinfo->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(sinfo)->fields;
    for (uint32_t i = 0; i < fields.len; i++) {
      tvms_prover_assume(prover, fields.items[i]);
    }
  }
}

// Both are constants: decided without an analyzer.
static bool constants(const tvms_node *a, const tvms_node *b, int64_t *x, int64_t *y) {
  if (a->kind != TVMS_NODE_INT_IMM || b->kind != TVMS_NODE_INT_IMM) return false;
  *x = tvms_as_int_imm(a)->value;
  *y = tvms_as_int_imm(b)->value;
  return true;
}

bool tvms_dim_equal(tvms_prover *prover, tvms_node *a, tvms_node *b) {
  int64_t x, y;
  if (a == b) return true;
  if (constants(a, b, &x, &y)) return x == y;
  return tvms_analyzer_can_prove_equal(analyzer_of(prover), a, b);
}

bool tvms_dim_proved(tvms_prover *prover, tvms_node *condition) {
  return tvms_analyzer_can_prove(analyzer_of(prover), condition);
}

bool tvms_dim_differ(tvms_prover *prover, tvms_node *a, tvms_node *b) {
  int64_t x, y;
  if (a == b) return false;
  if (constants(a, b, &x, &y)) return x != y;
  tvms_node *differ = tvms_dim_binary(prover, TVMS_NODE_NE, a, b);
  return differ && tvms_dim_proved(prover, differ);
}

bool tvms_dim_less(tvms_prover *prover, tvms_node *a, tvms_node *b) {
  int64_t x, y;
  if (constants(a, b, &x, &y)) return x < y;
  tvms_node *less = tvms_dim_binary(prover, TVMS_NODE_LT, a, b);
  return less && tvms_dim_proved(prover, less);
}

tvms_node *tvms_dim_simplify(tvms_prover *prover, tvms_node *dim) {
  if (dim->kind == TVMS_NODE_INT_IMM || dim->kind == TVMS_NODE_VAR) return dim;
  return tvms_analyzer_simplify(analyzer_of(prover), dim);
}

// ---- Substitution ----

typedef struct {
  tvms_dim_lookup *lookup;
  void *data;
} substitution;

static tvms_node *TVMS_NULLABLE replace_var(tvms_rewriter *rewriter, tvms_node *var) {
  substitution *subst = rewriter->self;
  tvms_node *value = subst->lookup(subst->data, var);
  return value ? value : var;
}

tvms_node *tvms_dim_substitute(tvms_unit *unit, tvms_node *dim, tvms_dim_lookup *lookup,
                               void *data) {
  if (dim->kind == TVMS_NODE_INT_IMM) return dim;
  substitution subst = {lookup, data};
  tvms_rewriter rewriter = {0};
  tvms_rewriter_init(&rewriter, unit, &subst);
  rewriter.enter[TVMS_NODE_VAR] = replace_var;
  tvms_node *result = tvms_rewrite(&rewriter, dim);
  tvms_rewriter_fini(&rewriter);
  return result;
}

// ---- Arithmetic ----

tvms_node *tvms_dim_binary(tvms_prover *prover, tvms_node_kind kind, tvms_node *a,
                           tvms_node *b) {
  return tvms_build_binary(prover->unit, kind, a, b, TVMS_NO_SPAN);
}

tvms_node *tvms_dim_binary_int(tvms_prover *prover, tvms_node_kind kind, tvms_node *a,
                               int64_t b) {
  tvms_node *constant =
      tvms_int_imm_new(prover->unit, TVMS_DTYPE(INT, 64), b, TVMS_NO_SPAN);
  return tvms_dim_binary(prover, kind, a, constant);
}

bool tvms_dim_map_shape(tvms_prover *prover, const tvms_node *map, tvms_list shape,
                        tvms_node **extents, bool *at_zero) {
  return tvms_arith_map_shape(prover->unit, analyzer_of(prover), map, shape, extents,
                              at_zero);
}

tvms_node *tvms_dim_product(tvms_prover *prover, tvms_list dims) {
  tvms_node *product =
      tvms_int_imm_new(prover->unit, TVMS_DTYPE(INT, 64), 1, TVMS_NO_SPAN);
  for (uint32_t i = 0; i < dims.len && product; i++) {
    product = tvms_dim_binary(prover, TVMS_NODE_MUL, product, dims.items[i]);
  }
  return product;
}
