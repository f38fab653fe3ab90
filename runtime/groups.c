// Parts are sorted by what they hold, stably, so that the first of equal ones is where the value
// occurs first; runs of equal parts are the groups. Elements are compared as integers of the order
// that their kind has; single ones are sorted by these, byte by byte.
#include "runtime/groups.h"

#include "runtime/keys.h"

#include <string.h>

enum { LISTS = 7 };

static bool is_real(const tvms_dl_tensor *x) {
  return x->dtype.code == TVMS_DL_FLOAT || x->dtype.code == TVMS_DL_BFLOAT;
}

// ---- Elements ----

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

static uint64_t bits_at(const tvms_groups_parts *p, int64_t element) {
  uint64_t bits = 0;  // the lowest bytes come first
  const char *from = p->data + (uint64_t)element * p->size;
  switch (p->size) {
  case 1: memcpy(&bits, from, 1); break;
  case 2: memcpy(&bits, from, 2); break;
  case 4: memcpy(&bits, from, 4); break;
  default: memcpy(&bits, from, 8); break;
  }
  return bits;
}

static uint64_t key_at(const tvms_groups_parts *p, int64_t element) {
  const tvms_dl_tensor *x = p->tensor;
  uint64_t bits = bits_at(p, element);
  if (is_real(x)) return key_of_real(bits, x);
  if (x->dtype.code != TVMS_DL_INT) return bits;
  uint64_t sign = (uint64_t)1 << (x->dtype.bits - 1);
  return (bits ^ sign) & (sign | (sign - 1));
}

int64_t tvms_groups_next(const tvms_groups_parts *parts, int64_t element) {
  uint64_t sign = (uint64_t)1 << (parts->tensor->dtype.bits - 1);
  uint64_t counts = is_real(parts->tensor) ? sign - 1 : UINT64_MAX;
  while (element < parts->count && !(bits_at(parts, element) & counts))
    element++;
  return element;
}

// ---- Parts ----

static int64_t extent(const tvms_dl_tensor *x, int32_t from, int32_t to) {
  int64_t product = 1;
  for (int32_t i = from; i < to; i++)
    product *= x->shape[i];
  return product;
}

tvms_groups_parts tvms_groups_parts_of(const tvms_dl_tensor *tensor, const char *data,
                                       int32_t axis) {
  bool whole = axis < 0;
  return (tvms_groups_parts){
      .tensor = tensor,
      .data = data,
      .size = (tensor->dtype.bits + 7u) / 8,
      .count = whole ? extent(tensor, 0, tensor->ndim) : tensor->shape[axis],
      .before = whole ? 1 : extent(tensor, 0, axis),
      .behind = whole ? 1 : extent(tensor, axis + 1, tensor->ndim),
  };
}

// Element `k` of a part.
static int64_t place(const tvms_groups_parts *p, int64_t part, int64_t k) {
  return (k / p->behind * p->count + part) * p->behind + k % p->behind;
}

static int compare(const tvms_groups_parts *p, int64_t a, int64_t b) {
  for (int64_t k = 0; k < p->before * p->behind; k++) {
    uint64_t x = key_at(p, place(p, a, k)), y = key_at(p, place(p, b, k));
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

// Sorts by merging runs of 1, 2, 4 …; `spare` is as long as `items`. Returns the list that is sorted.
static int64_t *sort(const tvms_groups_parts *p, int64_t *items, int64_t *spare) {
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

// ---- Groups ----

size_t tvms_groups_room(const tvms_groups_parts *parts) {
  size_t items, bytes;
  bool fits = !__builtin_mul_overflow((uint64_t)parts->count + 1, LISTS, &items)
              && !__builtin_mul_overflow(items, sizeof(int64_t), &bytes);
  return fits ? items : 0;
}

// `keys`: of the parts in order, if they are single elements.
static void count_runs(const tvms_groups_parts *p, const int64_t *order,
                       const uint64_t *keys, tvms_groups *g) {
  bool single = p->before * p->behind == 1;
  for (int64_t i = 0; i < p->count; i++) {
    bool new =
        i == 0
        || (single ? keys[i - 1] != keys[i] : compare(p, order[i - 1], order[i]) != 0);
    if (new) {
      g->first[g->len] = order[i];
      g->counts[g->len++] = 0;
    }
    g->counts[g->len - 1]++;
    g->of[order[i]] = g->len - 1;
  }
}

// Groups in the order of their first parts: those are met in that order. `now` and `counts` are spare lists.
static void order_by_occurrence(tvms_groups *g, int64_t parts, int64_t *now,
                                int64_t *counts) {
  int64_t met = 0;
  for (int64_t i = 0; i < parts; i++) {
    int64_t group = g->of[i];
    if (g->first[group] == i) now[group] = met++;
    g->of[i] = now[group];
  }
  memcpy(counts, g->counts, (size_t)g->len * sizeof *counts);
  for (int64_t group = 0; group < g->len; group++)
    g->counts[now[group]] = counts[group];
  met = 0;
  for (int64_t i = 0; i < parts; i++) {
    if (g->of[i] == met) g->first[met++] = i;
  }
}

tvms_groups tvms_groups_make(const tvms_groups_parts *parts, bool sorted,
                             int64_t *memory) {
  int64_t *lists[LISTS];
  for (int i = 0; i < LISTS; i++)
    lists[i] = memory + i * (parts->count + 1);
  tvms_groups made = {0, lists[0], lists[1], lists[2]};
  for (int64_t i = 0; i < parts->count; i++)
    lists[3][i] = i;
  uint64_t *keys = (uint64_t *)lists[5], *spare_keys = (uint64_t *)lists[6];
  bool single = parts->before * parts->behind == 1;
  for (int64_t i = 0; single && i < parts->count; i++)
    keys[i] = key_at(parts, i);
  int64_t *order =
      single ? tvms_order_by_keys(keys, spare_keys, lists[3], lists[4], parts->count)
             : sort(parts, lists[3], lists[4]);
  count_runs(parts, order, keys, &made);
  if (!sorted) order_by_occurrence(&made, parts->count, lists[3], lists[4]);
  return made;
}

void tvms_groups_values(const tvms_groups_parts *parts, const tvms_groups *groups,
                        char *to) {
  tvms_groups_parts made = *parts;
  made.count = groups->len;
  for (int64_t i = 0; i < groups->len; i++) {
    for (int64_t k = 0; k < parts->before * parts->behind; k++)
      memcpy(to + (uint64_t)place(&made, i, k) * parts->size,
             parts->data + (uint64_t)place(parts, groups->first[i], k) * parts->size,
             parts->size);
  }
}
