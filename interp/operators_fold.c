// Definitions of operators that fold: reductions, norms, softmax and products of matrices.
#include "interp/operators_fold.h"

#include "interp/prim.h"
#include "support/diag_ids.h"

#include <math.h>

static double *doubles(const tvms_interp_operator *o, int64_t count, double value) {
  double *made = tvms_arena_array(&o->f->context->scratch, double, count + 1);
  for (int64_t i = 0; i < count; i++)
    made[i] = value;
  return made;
}

// The number of elements over the axes whose flag is `wanted`.
static int64_t size_of(const tvms_tensor *tensor, const bool *axes, bool wanted) {
  int64_t size = 1;
  for (int d = 0; d < tensor->view.ndim; d++)
    size *= axes[d] == wanted ? tensor->shape[d] : 1;
  return size;
}

// A tensor in groups of elements that are folded together.
typedef struct {
  const tvms_interp_operator *o;
  const tvms_tensor *from;
  bool axes[TVMS_INTERP_MOST_DIMS];  // that are folded
  int64_t groups, each;
} folding;

static folding fold_over(const tvms_interp_operator *o, tvms_list axes, bool all) {
  folding g = {.o = o, .from = tvms_interp_operand(o, 0)};
  tvms_interp_axes(g.from, axes, all, g.axes);
  g.groups = size_of(g.from, g.axes, false);
  g.each = size_of(g.from, g.axes, true);
  return g;
}

// Folds f(x) of all elements into a number for each group.
static double *fold(const folding *g, double initial,
                    double (*f)(double folded, double x, double extra),
                    const double *TVMS_NULLABLE extra) {
  double *folded = doubles(g->o, g->groups, initial);
  tvms_interp_place at = {0};
  if (tvms_tensor_len(g->from) == 0) return folded;
  do {
    int64_t group = tvms_interp_part(g->from, at.index, g->axes, false);
    double x = tvms_interp_element_real(g->from, at.flat);
    folded[group] = f(folded[group], x, extra ? extra[group] : 0);
  } while (tvms_interp_next(g->o, g->from, &at));
  return folded;
}

static double add(double folded, double x, double extra) {
  (void)extra;
  return folded + x;
}
static double multiply(double folded, double x, double extra) {
  (void)extra;
  return folded * x;
}
static double larger(double folded, double x, double extra) {
  (void)extra;
  return x > folded ? x : folded;
}
static double smaller(double folded, double x, double extra) {
  (void)extra;
  return x < folded ? x : folded;
}
static double add_square(double folded, double x, double mean) {
  return folded + (x - mean) * (x - mean);
}
static double add_exp(double folded, double x, double most) {
  return folded + exp(x - most);
}

static double *means(const folding *g) {
  double *sums = fold(g, 0, add, NULL);
  for (int64_t i = 0; i < g->groups; i++)
    sums[i] /= (double)g->each;
  return sums;
}

// Means of (x - mean)²; mean NULL: 0.
static double *variances(const folding *g, const double *TVMS_NULLABLE mean) {
  double *sums = fold(g, 0, add_square, mean);
  for (int64_t i = 0; i < g->groups; i++)
    sums[i] /= (double)g->each;
  return sums;
}

// ---- Reductions ----

static int64_t fold_whole(tvms_opcode op, int64_t folded, int64_t x) {
  uint64_t a = (uint64_t)folded, b = (uint64_t)x;
  if (op == TVMS_R_max) return x > folded ? x : folded;
  if (op == TVMS_R_min) return x < folded ? x : folded;
  return (int64_t)(op == TVMS_R_prod ? a * b : a + b);
}

// Integers wrap as they do in their own data type, so no double can fold them.
static void reduce_whole(const tvms_interp_operator *o, const folding *g) {
  int64_t *folded = tvms_arena_array(&o->f->context->scratch, int64_t, g->groups + 1);
  for (int64_t i = 0; i < g->groups; i++)
    folded[i] = o->opcode == TVMS_R_max   ? INT64_MIN
                : o->opcode == TVMS_R_min ? INT64_MAX
                                          : o->opcode == TVMS_R_prod;
  tvms_interp_place at = {0};
  if (tvms_tensor_len(g->from) > 0) {
    do {
      int64_t group = tvms_interp_part(g->from, at.index, g->axes, false);
      folded[group] = fold_whole(o->opcode, folded[group],
                                 tvms_interp_element_whole(g->from, at.flat));
    } while (tvms_interp_next(o, g->from, &at));
  }
  for (int64_t i = 0; i < g->groups; i++) {
    if (o->opcode == TVMS_R_mean && g->each > 0) folded[i] /= g->each;
    tvms_interp_put_whole(o, i, folded[i]);
  }
}

void tvms_interp_define_reduction(const tvms_interp_operator *o) {
  tvms_list axes = tvms_attr_list(o->call, TVMS_ATTR_reduction_axis);
  folding g = fold_over(o, axes, !tvms_attr(o->call, TVMS_ATTR_reduction_axis));
  tvms_interp_need(o, g.groups == tvms_tensor_len(o->result));
  bool spread = o->opcode == TVMS_R_variance || o->opcode == TVMS_R_std;
  bool real = tvms_interp_is_real(g.from);
  // TVM gives these another data type than they are said to have.
  if (!real && spread)
    fault(o->f, TVMS_D_call_not_interpreted, o->call->head.span,
          tvms_op_of(o->opcode)->name);
  if (!real) {
    reduce_whole(o, &g);
    return;
  }
  double *folded = NULL;
  switch ((int)o->opcode) {
  case TVMS_R_max: folded = fold(&g, -INFINITY, larger, NULL); break;
  case TVMS_R_min: folded = fold(&g, INFINITY, smaller, NULL); break;
  case TVMS_R_prod: folded = fold(&g, 1, multiply, NULL); break;
  case TVMS_R_mean: folded = means(&g); break;
  case TVMS_R_variance:
  case TVMS_R_std: folded = variances(&g, means(&g)); break;
  default: folded = fold(&g, 0, add, NULL); break;
  }
  for (int64_t i = 0; i < g.groups; i++)
    tvms_interp_put_real(o, i, o->opcode == TVMS_R_std ? sqrt(folded[i]) : folded[i]);
}

// ---- Norms and softmax ----

void tvms_interp_define_softmax(const tvms_interp_operator *o) {
  folding g = fold_over(o, (tvms_list){NULL, 0}, false);
  int64_t axis = tvms_attr_int(o->call, TVMS_ATTR_axis_axis, -1);
  if (axis < 0) axis += g.from->view.ndim;
  tvms_interp_need(o, axis >= 0 && axis < g.from->view.ndim);
  g.axes[axis] = true;
  g.groups = size_of(g.from, g.axes, false);
  const double *most = fold(&g, -INFINITY, larger, NULL);
  const double *sums = fold(&g, 0, add_exp, most);
  bool logarithm = o->opcode == TVMS_R_nn_log_softmax;
  tvms_interp_place at = {0};
  if (tvms_tensor_len(g.from) == 0) return;
  do {
    int64_t group = tvms_interp_part(g.from, at.index, g.axes, false);
    double x = tvms_interp_element_real(g.from, at.flat) - most[group];
    tvms_interp_put_real(o, at.flat,
                         logarithm ? x - log(sums[group]) : exp(x) / sums[group]);
  } while (tvms_interp_next(o, g.from, &at));
}

// (x - mean) * scale * weight + bias; mean, weight and bias may be NULL.
static void write_normal(const folding *g, const double *TVMS_NULLABLE mean,
                         const double *variance, double epsilon,
                         const tvms_tensor *TVMS_NULLABLE weight,
                         const tvms_tensor *TVMS_NULLABLE bias) {
  tvms_interp_need(g->o, !weight || tvms_tensor_len(weight) == g->each);
  tvms_interp_need(g->o, !bias || tvms_tensor_len(bias) == g->each);
  tvms_interp_place at = {0};
  if (tvms_tensor_len(g->from) == 0) return;
  do {
    int64_t group = tvms_interp_part(g->from, at.index, g->axes, false);
    int64_t part = tvms_interp_part(g->from, at.index, g->axes, true);
    double x = tvms_interp_element_real(g->from, at.flat) - (mean ? mean[group] : 0);
    x /= sqrt(variance[group] + epsilon);
    if (weight) x *= tvms_interp_element_real(weight, part);
    if (bias) x += tvms_interp_element_real(bias, part);
    tvms_interp_put_real(g->o, at.flat, x);
  } while (tvms_interp_next(g->o, g->from, &at));
}

// Scale and offset count whatever `scale` and `center` say, as in TVM.
void tvms_interp_define_layer_norm(const tvms_interp_operator *o) {
  folding g = fold_over(o, tvms_attr_list(o->call, TVMS_ATTR_layer_norm_axes), false);
  const double *mean = means(&g);
  write_normal(&g, mean, variances(&g, mean),
               tvms_attr_float(o->call, TVMS_ATTR_layer_norm_epsilon, 1e-5),
               tvms_interp_operand(o, 1), tvms_interp_operand(o, 2));
}

void tvms_interp_define_rms_norm(const tvms_interp_operator *o) {
  folding g = fold_over(o, tvms_attr_list(o->call, TVMS_ATTR_rms_norm_axes), false);
  write_normal(&g, NULL, variances(&g, NULL),
               tvms_attr_float(o->call, TVMS_ATTR_rms_norm_epsilon, 1e-5),
               tvms_interp_operand(o, 1), NULL);
}

// ---- Products of matrices ----

// One side of a product: where an element of the result begins in it.
typedef struct {
  const tvms_tensor *from;
  int64_t step;   // to the next factor
  int64_t count;  // of factors
} side;

// A vector is a row on the left and a column on the right.
static side side_of(const tvms_tensor *from, bool left) {
  int ndim = from->view.ndim;
  bool row = left || ndim == 1;
  return (side){from, row ? 1 : from->shape[ndim - 1],
                from->shape[ndim - (row ? 1 : 2)]};
}

// The first factor for an element: `place` is its row or column.
static int64_t first_of(const tvms_interp_operator *o, const side *s, bool left,
                        const int64_t *index, int batches, int64_t place) {
  const tvms_tensor *t = s->from;
  int own = t->view.ndim - 2;
  int64_t at = 0;
  for (int d = 0; d < own; d++) {
    int64_t i = t->shape[d] == 1 ? 0 : index[d + batches - own];
    tvms_interp_need(o, i < t->shape[d]);
    at = at * t->shape[d] + i;
  }
  if (own < 0) return 0;
  int64_t rows = t->shape[own], columns = t->shape[own + 1];
  tvms_interp_need(o, place < (left ? rows : columns));
  return at * rows * columns + place * (left ? columns : 1);
}

static void put_product(const tvms_interp_operator *o, int64_t flat, const side *a,
                        int64_t i, const side *b, int64_t j) {
  bool real = tvms_interp_is_real(a->from) || tvms_interp_is_real(b->from);
  double sum = 0;
  uint64_t whole = 0;
  for (int64_t k = 0; k < a->count; k++, i += a->step, j += b->step) {
    if (real)
      sum +=
          tvms_interp_element_real(a->from, i) * tvms_interp_element_real(b->from, j);
    else
      whole += (uint64_t)tvms_interp_element_whole(a->from, i)
               * (uint64_t)tvms_interp_element_whole(b->from, j);
  }
  if (real)
    tvms_interp_put_real(o, flat, sum);
  else
    tvms_interp_put_whole(o, flat, (int64_t)whole);
}

void tvms_interp_define_matmul(const tvms_interp_operator *o) {
  const tvms_tensor *x = tvms_interp_operand(o, 0), *y = tvms_interp_operand(o, 1);
  tvms_interp_need(o, x->view.ndim > 0 && y->view.ndim > 0);
  side a = side_of(x, true), b = side_of(y, false);
  int rows = x->view.ndim > 1, columns = y->view.ndim > 1;
  int batches = o->result->view.ndim - rows - columns;
  tvms_interp_need(o, a.count == b.count && batches >= 0 && batches >= x->view.ndim - 2
                          && batches >= y->view.ndim - 2);
  tvms_interp_place at = {0};
  if (tvms_tensor_len(o->result) == 0) return;
  do {
    int64_t row = rows ? at.index[batches] : 0;
    int64_t column = columns ? at.index[batches + rows] : 0;
    for (int64_t k = 1; k < a.count; k++)
      tvms_interp_count_step(o->f, o->call->head.span);
    put_product(o, at.flat, &a, first_of(o, &a, true, at.index, batches, row), &b,
                first_of(o, &b, false, at.index, batches, column));
  } while (tvms_interp_next(o, o->result, &at));
}
