// Descriptions of normalisations over some of the axes.
//
// layer_norm and rms_norm fold statistics first and then go over all elements. Sums of
// float16 are kept in float32. How many stages compute mean and variance differs between
// releases, and with it the names and the rounding.
#include "te/legalizers.h"

#include <stdio.h>

typedef struct {
  tvms_te *te;
  tvms_node *x;
  tvms_list shape;
  const bool *reduced;  // per dimension
  bool half;            // float16: sums are float32
} norm;

static tvms_memory *memory_of(tvms_te *te) {
  return &te->unit->context->memory;
}

static tvms_node *build(tvms_te *te, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return a && b ? tvms_build_binary(te->unit, kind, a, b, TVMS_NO_SPAN) : NULL;
}

static norm open_norm(tvms_legal *legal, tvms_node *x, tvms_list axes) {
  norm n = {.te = &legal->te, .x = x, .shape = tvms_te_shape(x)};
  n.reduced = tvms_legal_axes(legal, n.shape.len, axes, false);
  n.half = tvms_dtype_same(tvms_te_dtype(x), TVMS_DTYPE(FLOAT, 16));
  return n;
}

// How many elements one statistic is made of, in the dtype of the sums.
static tvms_node *count_of(const norm *n, tvms_dtype dtype) {
  tvms_node *count = tvms_te_const(n->te, dtype, 1);
  for (uint32_t i = 0; i < n->shape.len; i++) {
    if (n->reduced[i]) count = build(n->te, TVMS_NODE_MUL, count, n->shape.items[i]);
  }
  return count;
}

// The element of `tensor` at those axes whose flag is `reduced`.
static tvms_node *load_at(const norm *n, tvms_node *tensor, const tvms_stage *stage,
                          bool reduced) {
  tvms_node_vec indices = {0};
  for (uint32_t i = 0; i < n->shape.len; i++) {
    if (n->reduced[i] != reduced) continue;
    tvms_vec_push(memory_of(n->te), &indices, stage->axes.items[i]);
  }
  tvms_node *load = tvms_te_load(n->te, tensor, indices.items, indices.len);
  tvms_vec_fini(memory_of(n->te), &indices);
  return load;
}

// Opens a stage over the axes that stay, reducing the others; returns the element of x.
static tvms_node *open_reduction(const norm *n, tvms_stage *stage) {
  tvms_list kept = tvms_te_reduced_shape(n->te, n->shape, n->reduced, false);
  tvms_te_open(n->te, stage, kept, "ax");
  tvms_node_vec indices = {0};
  for (uint32_t i = 0, at = 0; i < n->shape.len; i++) {
    char name[32];
    snprintf(name, sizeof name, "k%u", i);
    tvms_vec_push(memory_of(n->te), &indices,
                  n->reduced[i] ? tvms_te_reduce(stage, name, n->shape.items[i])
                                : stage->axes.items[at++]);
  }
  tvms_node *x = tvms_te_load(n->te, n->x, indices.items, indices.len);
  tvms_vec_fini(memory_of(n->te), &indices);
  return n->half ? tvms_build_cast(n->te->unit, TVMS_DTYPE(FLOAT, 32), x, TVMS_NO_SPAN)
                 : x;
}

// NAME of the data with a suffix.
static const char *name_with(const norm *n, const char *suffix, char *buffer,
                             size_t size) {
  const char *name = tvms_symbol_text(n->te->unit->context, tvms_as_buffer(n->x)->name);
  snprintf(buffer, size, "%s%s", name, suffix);
  return buffer;
}

// (x - mean) * rsqrt(variance + epsilon) * gamma + beta, at one element.
static tvms_node *scale_and_shift(const norm *n, tvms_stage *stage, tvms_node *mean,
                                  tvms_node *variance, double epsilon, tvms_node *gamma,
                                  tvms_node *beta) {
  tvms_te *te = n->te;
  tvms_node *x = tvms_te_load(te, n->x, stage->axes.items, n->shape.len);
  tvms_node *small = tvms_te_const(te, variance->dtype, epsilon);
  tvms_node *away = build(te, TVMS_NODE_SUB, x, mean);
  tvms_node *scale =
      tvms_te_call(te, TVMS_TIR_rsqrt, build(te, TVMS_NODE_ADD, variance, small));
  tvms_node *y = build(te, TVMS_NODE_MUL, away, scale);
  if (n->half) y = tvms_build_cast(te->unit, TVMS_DTYPE(FLOAT, 16), y, TVMS_NO_SPAN);
  y = build(te, TVMS_NODE_MUL, y, load_at(n, gamma, stage, true));
  return build(te, TVMS_NODE_ADD, y, load_at(n, beta, stage, true));
}

// Since 0.24: the mean first, then the mean of the squared distances from it.
static bool layer_norm_two_passes(tvms_legal *legal, const norm *n, double epsilon,
                                  tvms_node *gamma, tvms_node *beta) {
  tvms_te *te = n->te;
  tvms_stage stage;
  char name[160];
  tvms_node *x = open_reduction(n, &stage);
  tvms_node *count = count_of(n, x->dtype);
  tvms_node *sum = tvms_te_close_fold(&stage, name_with(n, "_sum", name, sizeof name),
                                      TVMS_FOLD_SUM, x);
  tvms_te_open(te, &stage, tvms_te_shape(sum), "ax");
  tvms_node *mean = tvms_te_load(te, sum, stage.axes.items, stage.shape.len);
  mean = tvms_te_close(&stage, name_with(n, "_mean", name, sizeof name),
                       build(te, TVMS_NODE_DIV, mean, count));
  x = open_reduction(n, &stage);
  tvms_node *at = tvms_te_load(te, mean, stage.axes.items, stage.shape.len);
  tvms_node *away = build(te, TVMS_NODE_SUB, x, at);
  tvms_node *squares =
      tvms_te_close_fold(&stage, name_with(n, "_var_sum", name, sizeof name),
                         TVMS_FOLD_SUM, build(te, TVMS_NODE_MUL, away, away));
  tvms_te_open(te, &stage, n->shape, "ax");
  tvms_node *variance =
      build(te, TVMS_NODE_DIV, load_at(n, squares, &stage, false), count);
  tvms_node *y = scale_and_shift(n, &stage, load_at(n, mean, &stage, false), variance,
                                 epsilon, gamma, beta);
  return tvms_legal_return(legal, tvms_te_close(&stage, "T_layer_norm", y));
}

static void add_pairs(tvms_te *te, tvms_node *const lhs[2], tvms_node *const rhs[2],
                      tvms_node *result[2]) {
  result[0] = build(te, TVMS_NODE_ADD, lhs[0], rhs[0]);
  result[1] = build(te, TVMS_NODE_ADD, lhs[1], rhs[1]);
}

// Until 0.23: sums of x and of x * x in one pass.
static bool layer_norm_one_pass(tvms_legal *legal, const norm *n, double epsilon,
                                tvms_node *gamma, tvms_node *beta) {
  tvms_te *te = n->te;
  tvms_stage stage;
  char name[160];
  tvms_node *x = open_reduction(n, &stage);
  tvms_node *zero = tvms_te_const(te, x->dtype, 0);
  // The product of sizes is of the dtype of the data, in which TVM does not fold float16.
  tvms_node *count = count_of(n, tvms_te_dtype(n->x));
  tvms_node *init[] = {zero, zero}, *sums[2];
  tvms_node *values[] = {x, build(te, TVMS_NODE_MUL, x, x)};
  name_with(n, "_red_temp", name, sizeof name);
  tvms_te_close_pair(&stage, name, add_pairs, init, values, sums);
  tvms_te_open(te, &stage, n->shape, "ax");
  tvms_node *mean = build(te, TVMS_NODE_DIV, load_at(n, sums[0], &stage, false), count);
  tvms_node *square =
      build(te, TVMS_NODE_DIV, load_at(n, sums[1], &stage, false), count);
  tvms_node *variance =
      build(te, TVMS_NODE_SUB, square, build(te, TVMS_NODE_MUL, mean, mean));
  tvms_node *y = scale_and_shift(n, &stage, mean, variance, epsilon, gamma, beta);
  return tvms_legal_return(legal, tvms_te_close(&stage, "T_layer_norm", y));
}

bool tvms_legalize_layer_norm(tvms_legal *legal) {
  legal->name = "layer_norm";
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_node *gamma = tvms_legal_tensor(legal, tvms_legal_arg(legal, 1));
  tvms_node *beta = tvms_legal_tensor(legal, tvms_legal_arg(legal, 2));
  double epsilon = tvms_attr_float(legal->call, TVMS_ATTR_layer_norm_epsilon, 1e-5);
  norm n = open_norm(legal, x, tvms_attr_list(legal->call, TVMS_ATTR_layer_norm_axes));
  return tvms_release_has(legal->te.unit->dialect,
                          TVMS_FACT_layer_norm_takes_two_passes)
             ? layer_norm_two_passes(legal, &n, epsilon, gamma, beta)
             : layer_norm_one_pass(legal, &n, epsilon, gamma, beta);
}

// x * rsqrt(mean of x * x + epsilon) * weight, all in float32.
bool tvms_legalize_rms_norm(tvms_legal *legal) {
  legal->name = "rms_norm";
  tvms_te *te = &legal->te;
  tvms_dtype f32 = TVMS_DTYPE(FLOAT, 32);
  tvms_node *x = tvms_legal_tensor(legal, tvms_legal_arg(legal, 0));
  tvms_node *weight = tvms_legal_tensor(legal, tvms_legal_arg(legal, 1));
  tvms_dtype dtype = tvms_te_dtype(x);
  x = tvms_te_cast(te, x, f32, "T_cast", "ax");
  norm n = open_norm(legal, x, tvms_attr_list(legal->call, TVMS_ATTR_rms_norm_axes));
  double epsilon = tvms_attr_float(legal->call, TVMS_ATTR_rms_norm_epsilon, 1e-5);
  tvms_node *squares = tvms_te_multiply(te, x, x);
  squares = tvms_te_reduce_axes(te, squares, n.reduced, false, TVMS_FOLD_SUM);
  tvms_stage stage;
  tvms_te_open(te, &stage, tvms_te_shape(squares), "ax");
  tvms_node *mean = tvms_te_load(te, squares, stage.axes.items, stage.shape.len);
  mean = build(te, TVMS_NODE_DIV, mean, count_of(&n, f32));
  mean = build(te, TVMS_NODE_ADD, mean, tvms_te_const(te, dtype, epsilon));
  tvms_node *scale =
      tvms_te_close(&stage, "rsqrt", tvms_te_call(te, TVMS_TIR_rsqrt, mean));
  weight = tvms_te_cast(te, weight, f32, "T_cast", "ax");
  tvms_te_open(te, &stage, n.shape, "ax");
  tvms_node *y = build(te, TVMS_NODE_MUL, load_at(&n, scale, &stage, false),
                       tvms_te_load(te, x, stage.axes.items, n.shape.len));
  y = build(te, TVMS_NODE_MUL, y, load_at(&n, weight, &stage, true));
  y = tvms_te_close(&stage, "T_rms_norm", y);
  return tvms_legal_return(legal, tvms_te_cast(te, y, dtype, "T_cast", "ax"));
}
