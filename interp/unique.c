// Parts are sorted by what they hold, stably, so that the first of equal ones is where the value
// occurs first; runs of equal parts are the values.
#include "interp/unique.h"

#include <string.h>

typedef struct {
  const tvms_tensor *x;
  int64_t count;           // of parts
  int64_t before, behind;  // elements of a part: of the axes in front and behind
  bool real;
} parts;

static int64_t extent(const tvms_tensor *x, int32_t from, int32_t to) {
  int64_t product = 1;
  for (int32_t i = from; i < to; i++)
    product *= x->shape[i];
  return product;
}

// Element `k` of a part.
static int64_t place(const parts *p, int64_t part, int64_t k) {
  return (k / p->behind * p->count + part) * p->behind + k % p->behind;
}

// What is not a number is equal to itself and greater than anything else.
static int compare_real(double a, double b) {
  bool nan_a = a != a, nan_b = b != b;
  if (nan_a || nan_b) return nan_a - nan_b;
  return (a > b) - (a < b);
}

static int compare(const parts *p, int64_t a, int64_t b) {
  for (int64_t k = 0; k < p->before * p->behind; k++) {
    tvms_scalar x = tvms_tensor_get(p->x, place(p, a, k));
    tvms_scalar y = tvms_tensor_get(p->x, place(p, b, k));
    int order = p->real ? compare_real(x.f, y.f) : (x.i > y.i) - (x.i < y.i);
    if (order) return order;
  }
  return 0;
}

// Sorts by merging runs of 1, 2, 4 …; `spare` is as long as `items`.
static int64_t *sort(const parts *p, int64_t *items, int64_t *spare, int64_t len) {
  for (int64_t run = 1; run < len; run *= 2) {
    for (int64_t begin = 0; begin < len; begin += 2 * run) {
      int64_t middle = begin + run < len ? begin + run : len;
      int64_t end = begin + 2 * run < len ? begin + 2 * run : len;
      int64_t a = begin, b = middle;
      for (int64_t to = begin; to < end; to++) {
        bool left = b == end || (a < middle && compare(p, items[a], items[b]) <= 0);
        spare[to] = left ? items[a++] : items[b++];
      }
    }
    int64_t *sorted = spare;
    spare = items;
    items = sorted;
  }
  return items;
}

typedef struct {
  int64_t len;     // of values
  int64_t *first;  // part in which each occurs first
  int64_t *counts;
  int64_t *of;  // by part: its value
} groups;

static groups group(const parts *p, tvms_arena *scratch) {
  int64_t *a = tvms_arena_array(scratch, int64_t, p->count + 1);
  int64_t *b = tvms_arena_array(scratch, int64_t, p->count + 1);
  groups g = {0, tvms_arena_array(scratch, int64_t, p->count + 1),
              tvms_arena_array(scratch, int64_t, p->count + 1),
              tvms_arena_array(scratch, int64_t, p->count + 1)};
  for (int64_t i = 0; i < p->count; i++)
    a[i] = i;
  int64_t *order = sort(p, a, b, p->count);
  for (int64_t i = 0; i < p->count; i++) {
    bool new = i == 0 || compare(p, order[i - 1], order[i]) != 0;
    if (new) {
      g.first[g.len] = order[i];
      g.counts[g.len++] = 0;
    }
    g.counts[g.len - 1]++;
    g.of[order[i]] = g.len - 1;
  }
  return g;
}

// Values in the order of their first parts: those are met in that order.
static groups in_order_of_occurrence(const groups *g, int64_t count,
                                     tvms_arena *scratch) {
  groups made = {g->len, tvms_arena_array(scratch, int64_t, count + 1),
                 tvms_arena_array(scratch, int64_t, count + 1),
                 tvms_arena_array(scratch, int64_t, count + 1)};
  int64_t *now = tvms_arena_array(scratch, int64_t, count + 1), met = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t value = g->of[i];
    if (g->first[value] == i) {
      now[value] = met;
      made.first[met] = i;
      made.counts[met++] = g->counts[value];
    }
    made.of[i] = now[value];
  }
  return made;
}

static tvms_value vector_of(tvms_heap *heap, const int64_t *items, int64_t len) {
  tvms_dl_type type = {TVMS_DL_INT, 64, 1};
  tvms_tensor *made = tvms_tensor_new(heap, type, 1, &len);
  if (!made) return (tvms_value){0};
  for (int64_t i = 0; i < len; i++)
    tvms_tensor_set(made, i, (tvms_scalar){.i = items[i]});
  return tvms_value_of_tensor(made);
}

static tvms_value values_of(tvms_heap *heap, tvms_arena *scratch, const parts *p,
                            const groups *g, const tvms_interp_unique *how) {
  int32_t ndim = how->by_axis ? p->x->view.ndim : 1;
  int64_t *shape = tvms_arena_array(scratch, int64_t, ndim + 1);
  if (how->by_axis) memcpy(shape, p->x->shape, (size_t)ndim * sizeof *shape);
  shape[how->by_axis ? how->axis : 0] = g->len;
  tvms_tensor *made = tvms_tensor_new(heap, p->x->view.dtype, ndim, shape);
  if (!made) return (tvms_value){0};
  parts to = *p;
  to.count = g->len;
  for (int64_t i = 0; i < g->len; i++) {
    for (int64_t k = 0; k < p->before * p->behind; k++) {
      tvms_tensor_set(made, place(&to, i, k),
                      tvms_tensor_get(p->x, place(p, g->first[i], k)));
    }
  }
  return tvms_value_of_tensor(made);
}

tvms_value tvms_interp_unique_of(tvms_heap *heap, tvms_arena *scratch,
                                 const tvms_tensor *x, const tvms_interp_unique *how) {
  int32_t ndim = x->view.ndim, axis = (int32_t)how->axis;
  uint8_t code = x->view.dtype.code;
  parts p = {.x = x, .count = extent(x, 0, ndim), .before = 1, .behind = 1};
  p.real = code == TVMS_DL_FLOAT || code == TVMS_DL_BFLOAT;
  if (how->by_axis) {
    p.count = x->shape[axis];
    p.before = extent(x, 0, axis);
    p.behind = extent(x, axis + 1, ndim);
  }
  groups g = group(&p, scratch);
  if (!how->sorted) g = in_order_of_occurrence(&g, p.count, scratch);
  tvms_value values = values_of(heap, scratch, &p, &g, how);
  if (!how->index && !how->inverse && !how->counts) return values;
  tvms_items *tuple = tvms_tuple_new(
      heap, 1u + (uint32_t)how->index + (uint32_t)how->inverse + (uint32_t)how->counts);
  uint32_t at = 0;
  tuple->items[at++] = values;
  if (how->index) tuple->items[at++] = vector_of(heap, g.first, g.len);
  if (how->inverse) tuple->items[at++] = vector_of(heap, g.of, p.count);
  if (how->counts) tuple->items[at++] = vector_of(heap, g.counts, g.len);
  return (tvms_value){.kind = TVMS_VALUE_TUPLE, .tuple = tuple};
}
