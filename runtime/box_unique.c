// relax.run.unique, nonzero and shape_to_tensor: results whose sizes depend on the data.
//
// Parts are sorted by what they hold, stably, so that the first of equal ones is where the value occurs
// first; runs of equal parts are the values. Elements are compared as integers of the order that their
// kind has, NaN last. interp/unique.c is the same for the interpreter: both give what numpy gives.
#include "runtime/box_object.h"

#include <stdlib.h>
#include <string.h>

static const tvms_dl_type int64_type = {TVMS_DL_INT, 64, 1};

typedef struct {
  const tvms_dl_tensor *x;
  const char *data;
  size_t size;             // of an element
  int64_t count;           // of parts
  int64_t before, behind;  // elements of a part: of the axes in front and behind
} parts;

typedef struct {
  int64_t len;     // of values
  int64_t *first;  // part in which each occurs first
  int64_t *counts;
  int64_t *of;             // by part: its value
  int64_t *order, *spare;  // parts
  int64_t *memory;         // of all these
} groups;

static bool is_real(const tvms_dl_tensor *x) {
  return x->dtype.code == TVMS_DL_FLOAT || x->dtype.code == TVMS_DL_BFLOAT;
}

// An integer that is ordered as an element of a real kind is: negative ones are turned around.
static uint64_t key_of_real(uint64_t bits, const tvms_dl_tensor *x) {
  uint64_t sign = (uint64_t)1 << (x->dtype.bits - 1), size = bits & (sign - 1);
  int exponent = x->dtype.code == TVMS_DL_BFLOAT ? 8
                 : x->dtype.bits == 16           ? 5
                 : x->dtype.bits == 32           ? 8
                                                 : 11;
  uint64_t infinity = (((uint64_t)1 << exponent) - 1) << (x->dtype.bits - 1 - exponent);
  if (size > infinity) return UINT64_MAX;
  return bits & sign ? sign - size : sign + size;
}

static uint64_t key_at(const tvms_dl_tensor *x, const char *at) {
  uint64_t bits = 0;
  memcpy(&bits, at, (x->dtype.bits + 7u) / 8);  // the lowest bytes come first
  if (is_real(x)) return key_of_real(bits, x);
  if (x->dtype.code != TVMS_DL_INT) return bits;
  uint64_t sign = (uint64_t)1 << (x->dtype.bits - 1);
  return (bits ^ sign) & (sign | (sign - 1));
}

// Element `k` of a part.
static int64_t place(const parts *p, int64_t part, int64_t k) {
  return (k / p->behind * p->count + part) * p->behind + k % p->behind;
}

static int compare(const parts *p, int64_t a, int64_t b) {
  for (int64_t k = 0; k < p->before * p->behind; k++) {
    uint64_t x = key_at(p->x, p->data + (uint64_t)place(p, a, k) * p->size);
    uint64_t y = key_at(p->x, p->data + (uint64_t)place(p, b, k) * p->size);
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

// Sorts by merging runs of 1, 2, 4 …
static int64_t *sort(const parts *p, int64_t *items, int64_t *spare) {
  for (int64_t run = 1; run < p->count; run *= 2) {
    for (int64_t begin = 0; begin < p->count; begin += 2 * run) {
      int64_t middle = begin + run < p->count ? begin + run : p->count;
      int64_t end = begin + 2 * run < p->count ? begin + 2 * run : p->count;
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

static bool group(const parts *p, groups *g) {
  uint64_t bytes;
  bool fits =
      !__builtin_mul_overflow((uint64_t)p->count + 1, 5 * sizeof(int64_t), &bytes);
  g->memory = fits ? malloc(bytes) : NULL;
  if (!g->memory) return false;
  int64_t *lists[5];
  for (int i = 0; i < 5; i++)
    lists[i] = g->memory + i * (p->count + 1);
  g->first = lists[0];
  g->counts = lists[1];
  g->of = lists[2];
  for (int64_t i = 0; i < p->count; i++)
    lists[3][i] = i;
  g->order = sort(p, lists[3], lists[4]);
  g->spare = g->order == lists[3] ? lists[4] : lists[3];
  g->len = 0;
  for (int64_t i = 0; i < p->count; i++) {
    bool new = i == 0 || compare(p, g->order[i - 1], g->order[i]) != 0;
    if (new) {
      g->first[g->len] = g->order[i];
      g->counts[g->len++] = 0;
    }
    g->counts[g->len - 1]++;
    g->of[g->order[i]] = g->len - 1;
  }
  return true;
}

// Values in the order of their first parts: those are met in that order.
static void order_by_occurrence(groups *g, int64_t count) {
  int64_t met = 0, *now = g->spare, *counts = g->order;
  for (int64_t i = 0; i < count; i++) {
    int64_t value = g->of[i];
    if (g->first[value] == i) now[value] = met++;
    g->of[i] = now[value];
  }
  memcpy(counts, g->counts, (size_t)g->len * sizeof *counts);
  for (int64_t value = 0; value < g->len; value++)
    g->counts[now[value]] = counts[value];
  met = 0;
  for (int64_t i = 0; i < count; i++) {
    if (g->of[i] == met) g->first[met++] = i;
  }
}

static bool give_vector(tvms_box_args *a, const int64_t *items, int64_t len,
                        tvms_any *box) {
  tvms_box_tensor *made = tvms_box_tensor_new(a, int64_type, 1, &len, NULL, NULL);
  if (!made) return false;
  if (len) memcpy(made->tensor.data, items, (size_t)len * sizeof *items);
  return !tvms_box_give(box, TVMS_ANY_TENSOR, made);
}

static bool give_values(tvms_box_args *a, const parts *p, const groups *g, int32_t axis,
                        tvms_any *box) {
  enum { MOST = 32 };
  int64_t sizes[MOST];
  int32_t ndim = axis < 0 ? 1 : p->x->ndim;
  if (ndim > MOST) return !tvms_box_refuse(a, "a tensor of fewer dimensions");
  if (axis >= 0) memcpy(sizes, p->x->shape, (size_t)ndim * sizeof *sizes);
  sizes[axis < 0 ? 0 : axis] = g->len;
  tvms_box_tensor *made = tvms_box_tensor_new(a, p->x->dtype, ndim, sizes, NULL, NULL);
  if (!made) return false;
  parts to = *p;
  to.count = g->len;
  for (int64_t i = 0; i < g->len; i++) {
    for (int64_t k = 0; k < p->before * p->behind; k++)
      memcpy((char *)made->tensor.data + (uint64_t)place(&to, i, k) * p->size,
             p->data + (uint64_t)place(p, g->first[i], k) * p->size, p->size);
  }
  return !tvms_box_give(box, TVMS_ANY_TENSOR, made);
}

static int64_t extent(const tvms_dl_tensor *x, int32_t from, int32_t to) {
  int64_t product = 1;
  for (int32_t i = from; i < to; i++)
    product *= x->shape[i];
  return product;
}

static bool flag_at(const tvms_box_args *a, int32_t i) {
  int32_t kind = i < a->count ? a->args[i].type_index : TVMS_ANY_NONE;
  return (kind == TVMS_ANY_INT || kind == TVMS_ANY_BOOL) && a->args[i].v.i != 0;
}

// What is asked for beside the values.
static bool give_all(tvms_box_args *a, const parts *p, const groups *g, int32_t axis,
                     tvms_any *boxes, int32_t *count) {
  bool good = give_values(a, p, g, axis, &boxes[(*count)++]);
  if (good && flag_at(a, 2))
    good = give_vector(a, g->first, g->len, &boxes[(*count)++]);
  if (good && flag_at(a, 3)) good = give_vector(a, g->of, p->count, &boxes[(*count)++]);
  if (good && flag_at(a, 4))
    good = give_vector(a, g->counts, g->len, &boxes[(*count)++]);
  return good;
}

static bool open_parts(tvms_box_args *a, parts *p, int32_t *axis) {
  const tvms_dl_tensor *x = tvms_box_tensor_at(a, 0);
  if (!x) return false;
  *p = (parts){.x = x,
               .data = tvms_box_data(x),
               .size = (x->dtype.bits + 7u) / 8,
               .count = extent(x, 0, x->ndim),
               .before = 1,
               .behind = 1};
  *axis = -1;
  if (x->dtype.lanes != 1 || x->dtype.bits > 64)
    return !tvms_box_refuse(a, "a tensor of numbers");
  if (a->count <= 5 || a->args[5].type_index != TVMS_ANY_INT) return true;
  int64_t wanted = a->args[5].v.i < 0 ? a->args[5].v.i + x->ndim : a->args[5].v.i;
  if (wanted < 0 || wanted >= x->ndim)
    return !tvms_box_refuse(a, "an axis of the tensor");
  *axis = (int32_t)wanted;
  p->count = x->shape[*axis];
  p->before = extent(x, 0, *axis);
  p->behind = extent(x, *axis + 1, x->ndim);
  return true;
}

// unique(x, sorted, return_index, return_inverse, return_counts, axis)
int32_t tvms_box_unique(void *raise, const tvms_any *args, int32_t count,
                        tvms_any *result) {
  tvms_box_args a = tvms_box_open(raise, "relax.run.unique", args, count);
  parts p;
  groups g;
  int32_t axis, made = 0, status = -1;
  tvms_any boxes[4] = {0};
  if (!open_parts(&a, &p, &axis)) return -1;
  if (!group(&p, &g)) return tvms_box_no_memory(&a);
  if (!flag_at(&a, 1)) order_by_occurrence(&g, p.count);
  bool good = give_all(&a, &p, &g, axis, boxes, &made);
  free(g.memory);
  if (good && made > 1) {
    status = tvms_box_make_tuple(raise, boxes, made, result);
  } else if (good) {
    *result = boxes[0];
    return 0;
  }
  tvms_box_drop(boxes, made);
  return status;
}

static bool is_zero(const tvms_dl_tensor *x, const char *at) {
  uint64_t bits = 0;
  memcpy(&bits, at, (x->dtype.bits + 7u) / 8);
  return is_real(x) ? !(bits & (((uint64_t)1 << (x->dtype.bits - 1)) - 1)) : !bits;
}

// The places of the elements that are not zero: one row per dimension, a scalar has one.
int32_t tvms_box_nonzero(void *raise, const tvms_any *args, int32_t count,
                         tvms_any *result) {
  tvms_box_args a = tvms_box_open(raise, "relax.run.nonzero", args, count);
  parts p;
  int32_t axis;
  if (!open_parts(&a, &p, &axis)) return -1;
  int64_t found = 0, at = 0, ndim = p.x->ndim ? p.x->ndim : 1;
  for (int64_t i = 0; i < p.count; i++)
    found += !is_zero(p.x, p.data + (uint64_t)i * p.size);
  int64_t sizes[] = {ndim, found};
  tvms_box_tensor *made = tvms_box_tensor_new(&a, int64_type, 2, sizes, NULL, NULL);
  if (!made) return -1;
  int64_t *rows = made->tensor.data;
  for (int64_t i = 0; i < p.count; i++) {
    if (is_zero(p.x, p.data + (uint64_t)i * p.size)) continue;
    int64_t rest = i;
    for (int64_t d = ndim; d > 0; d--) {
      int64_t size = p.x->ndim ? p.x->shape[d - 1] : 1;
      rows[(d - 1) * found + at] = rest % size;
      rest /= size;
    }
    at++;
  }
  return tvms_box_give(result, TVMS_ANY_TENSOR, made);
}

int32_t tvms_box_shape_to_tensor(void *raise, const tvms_any *args, int32_t count,
                                 tvms_any *result) {
  tvms_box_args a = tvms_box_open(raise, "relax.run.shape_to_tensor", args, count);
  int64_t len;
  const int64_t *sizes = tvms_box_sizes_at(&a, 0, &len);
  return sizes && give_vector(&a, sizes, len, result) ? 0 : -1;
}
