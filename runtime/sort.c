// Sorting along an axis of tensors: tvm.contrib.sort.*.
//
// TVM's functions take some pairs of data types; these take any integers and reals. A place
// that its data type does not hold wraps or is rounded. TVM: contrib/sort/sort.cc.
#include "runtime/keys.h"
#include "runtime/number.h"
#include "runtime/order.h"
#include "runtime/packed.h"

#include <string.h>

// ---- Arguments ----

static const tvms_dl_tensor *tensor_in(const tvms_any *arg) {
  if (arg->type_index == TVMS_ANY_DL_TENSOR) return arg->v.p;
  if (arg->type_index == TVMS_ANY_TENSOR)
    return (const tvms_dl_tensor *)((const char *)arg->v.p + TVMS_OBJECT_HEAD);
  return NULL;
}

static bool number_in(const tvms_any *arg, int64_t *value) {
  *value = arg->v.i;
  return arg->type_index == TVMS_ANY_INT || arg->type_index == TVMS_ANY_BOOL;
}

static bool is_compact(const tvms_dl_tensor *tensor) {
  int64_t step = 1;
  for (int32_t i = tensor->ndim; i > 0 && tensor->strides; i--) {
    if (tensor->shape[i - 1] > 1 && tensor->strides[i - 1] != step) return false;
    step *= tensor->shape[i - 1];
  }
  return true;
}

static const char *wrong_with(const tvms_dl_tensor *TVMS_NULLABLE tensor) {
  if (!tensor) return "a tensor is expected";
  if (tensor->device.type != TVMS_DL_CPU) return "a tensor of the CPU is expected";
  if (tensor->dtype.lanes != 1 || tensor->dtype.code == TVMS_DL_HANDLE
      || !tvms_dl_element_size(tensor->dtype)) {
    return "a tensor of numbers is expected";
  }
  return is_compact(tensor) ? NULL : "a compact tensor is expected";
}

// Elements before, along and behind the axis.
typedef struct {
  int64_t before, length, behind;
} extents;

static const char *take_axis(const tvms_dl_tensor *data, const tvms_any *arg,
                             int64_t *axis, extents *e) {
  if (!number_in(arg, axis)) return "the axis must be a number";
  if (*axis < 0) *axis += data->ndim;
  if (*axis < 0 || *axis >= data->ndim) return "there is no such axis";
  *e = (extents){1, data->shape[*axis], 1};
  for (int32_t i = 0; i < data->ndim; i++) {
    if (i < *axis) e->before *= data->shape[i];
    if (i > *axis) e->behind *= data->shape[i];
  }
  return NULL;
}

// Has `out` the shape of `data`, with `length` in the place of the axis?
static bool has_shape(const tvms_dl_tensor *out, const tvms_dl_tensor *data,
                      int64_t axis, int64_t length) {
  if (out->ndim != data->ndim) return false;
  for (int32_t i = 0; i < data->ndim; i++) {
    if (out->shape[i] != (i == axis ? length : data->shape[i])) return false;
  }
  return true;
}

// ---- Elements ----

static char *address(const tvms_dl_tensor *tensor, int64_t at) {
  size_t size = tvms_dl_element_size(tensor->dtype);
  return (char *)tensor->data + tensor->byte_offset + (size_t)at * size;
}

static void write_place(const tvms_dl_tensor *out, int64_t at, int64_t place) {
  tvms_dl_type whole = {TVMS_DL_INT, 64, 1};
  tvms_scalar value = tvms_scalar_convert((tvms_scalar){.i = place}, whole, out->dtype);
  tvms_dl_element_set(address(out, at), out->dtype, value);
}

static void write_key(const tvms_dl_tensor *out, int64_t at, tvms_scalar key) {
  tvms_dl_element_set(address(out, at), out->dtype, key);
}

static void read_items(const tvms_dl_tensor *data, int64_t begin, int64_t step,
                       int64_t from, int64_t to, tvms_order_item *items) {
  for (int64_t k = from; k < to; k++) {
    items[k].place = k;
    items[k].key = tvms_dl_element_get(address(data, begin + k * step), data->dtype);
  }
}

// Room for `count` items and the spare half that sorting takes.
static tvms_order_item *room_for(tvms_memory *memory, int64_t count,
                                 tvms_order_item **spare) {
  size_t all = (size_t)count + (size_t)(count + 1) / 2 + 1;
  tvms_order_item *items = tvms_memory_alloc(memory, all * sizeof *items);
  *spare = items + count;
  return items;
}

// ---- sort, argsort ----

typedef struct {
  const tvms_dl_tensor *data, *out;
  const tvms_dl_tensor *TVMS_NULLABLE counts;  // how many of each row are sorted
  int64_t axis;
  extents e;
  tvms_order order;
  bool places;  // and not elements
} job;

static const char *take_job(job *j, const tvms_any *args, int32_t count, bool counted) {
  int32_t more = counted;
  if (count != 4 + more) return "it takes a tensor, its result, an axis and an order";
  j->data = tensor_in(&args[0]);
  if (counted) j->counts = tensor_in(&args[1]);
  j->out = tensor_in(&args[1 + more]);
  const char *wrong = wrong_with(j->data);
  if (!wrong && counted) wrong = wrong_with(j->counts);
  if (!wrong) wrong = wrong_with(j->out);
  if (!wrong) wrong = take_axis(j->data, &args[2 + more], &j->axis, &j->e);
  int64_t ascends;
  if (wrong) return wrong;
  if (!number_in(&args[3 + more], &ascends)) return "the order must be a truth value";
  if (!has_shape(j->out, j->data, j->axis, j->e.length))
    return "the result must have the shape of the data";
  j->order = (tvms_order){.kind = (uint8_t)tvms_order_kind_of(j->data->dtype),
                          .descends = !ascends};
  return NULL;
}

// The number of elements of a row that are sorted, from the front.
static int64_t sorted_of(const job *j, int64_t row) {
  if (!j->counts) return j->e.length;
  int64_t count = tvms_dl_element_get(address(j->counts, row), j->counts->dtype).i;
  return count < 0 ? 0 : count;
}

// A number that is ordered as a key is. False: NaN, which has no order.
static bool number_of(const tvms_order *order, tvms_scalar key, uint64_t *number) {
  uint64_t sign = (uint64_t)1 << 63, bits = (uint64_t)key.i;
  if (order->kind == TVMS_ORDER_REAL) {
    double value = key.f + 0.0;  // -0 is 0
    if (value != value) return false;
    memcpy(&bits, &value, sizeof bits);
    bits = bits & sign ? ~bits : bits | sign;
  } else if (order->kind == TVMS_ORDER_SIGNED) {
    bits ^= sign;
  }
  *number = order->descends ? ~bits : bits;
  return true;
}

// The order of some items: a list of their places in `lists`, which has room for four numbers each. NULL: they are few, or
// one is NaN.
static const int64_t *TVMS_NULLABLE order_by_keys(const tvms_order *order,
                                                  const tvms_order_item *items,
                                                  int64_t count, uint64_t *lists) {
  enum { FEW = 32 };
  uint64_t *keys = lists, *spare_keys = lists + count;
  int64_t *places = (int64_t *)(lists + 2 * count);
  if (count < FEW) return NULL;
  for (int64_t i = 0; i < count; i++) {
    places[i] = i;
    if (!number_of(order, items[i].key, &keys[i])) return NULL;
  }
  return tvms_order_by_keys(keys, spare_keys, places, places + count, count);
}

static uint64_t *lists_for(tvms_memory *memory, int64_t count) {
  return tvms_memory_alloc(memory, (4 * (size_t)count + 1) * sizeof(uint64_t));
}

static const char *sort_rows(const job *j, tvms_memory *memory) {
  tvms_order_item *spare, *items = room_for(memory, j->e.length, &spare);
  uint64_t *lists = lists_for(memory, j->e.length);
  const char *wrong = NULL;
  for (int64_t row = 0; row < j->e.before * j->e.behind && !wrong; row++) {
    int64_t step = j->e.behind;
    int64_t begin = row / step * j->e.length * step + row % step;
    int64_t sorted = sorted_of(j, row);
    if (sorted > j->e.length) {
      wrong = "a count is larger than the axis";
      continue;
    }
    read_items(j->data, begin, step, 0, j->e.length, items);
    const int64_t *order = order_by_keys(&j->order, items, sorted, lists);
    if (!order) tvms_order_sort(&j->order, items, sorted, spare);
    for (int64_t k = 0; k < j->e.length; k++) {
      const tvms_order_item *item = &items[order && k < sorted ? order[k] : k];
      if (j->places) write_place(j->out, begin + k * step, item->place);
      if (!j->places) write_key(j->out, begin + k * step, item->key);
    }
  }
  tvms_memory_free(memory, lists);
  tvms_memory_free(memory, items);
  return wrong;
}

const char *tvms_packed_sort(tvms_memory *memory, const tvms_any *args, int32_t count) {
  job j = {.places = false};
  const char *wrong = take_job(&j, args, count, false);
  if (!wrong && !tvms_dl_same_type(j.data->dtype, j.out->dtype))
    wrong = "the result must have the data type of the data";
  return wrong ? wrong : sort_rows(&j, memory);
}

const char *tvms_packed_argsort(tvms_memory *memory, const tvms_any *args,
                                int32_t count) {
  job j = {.places = true};
  const char *wrong = take_job(&j, args, count, false);
  return wrong ? wrong : sort_rows(&j, memory);
}

// The first elements of each row, as many as a tensor says; the others keep their places.
const char *tvms_packed_argsort_nms(tvms_memory *memory, const tvms_any *args,
                                    int32_t count) {
  job j = {.places = true};
  const char *wrong = take_job(&j, args, count, true);
  if (wrong) return wrong;
  int64_t rows = 1;
  for (int32_t i = 0; i < j.counts->ndim; i++)
    rows *= j.counts->shape[i];
  uint8_t code = j.counts->dtype.code;
  if (code != TVMS_DL_INT && code != TVMS_DL_UINT) return "counts must be integers";
  if (rows != j.e.before * j.e.behind) return "there must be one count for every row";
  return sort_rows(&j, memory);
}

// ---- topk ----

typedef struct {
  const tvms_dl_tensor *data;
  const tvms_dl_tensor *TVMS_NULLABLE values;
  const tvms_dl_tensor *TVMS_NULLABLE places;
  int64_t k, axis;
  extents e;
  tvms_order order;
} top;

static const char *take_results(top *t, const tvms_any *args, int32_t count) {
  const tvms_any *kind = &args[count - 2];
  if (kind->type_index != TVMS_ANY_TEXT) return "what is returned must be a text";
  const char *which = kind->v.p;
  bool both = strcmp(which, "both") == 0;
  if (!both && strcmp(which, "values") != 0 && strcmp(which, "indices") != 0)
    return "what is returned is 'both', 'values' or 'indices'";
  if (count != 6 + both) return "it takes a tensor for every result";
  const char *wrong = wrong_with(tensor_in(&args[1]));
  if (!wrong && both) wrong = wrong_with(tensor_in(&args[2]));
  if (wrong) return wrong;
  bool places_only = *which == 'i';
  t->values = places_only ? NULL : tensor_in(&args[1]);
  t->places = both ? tensor_in(&args[2]) : places_only ? tensor_in(&args[1]) : NULL;
  return NULL;
}

static const char *take_top(top *t, const tvms_any *args, int32_t count) {
  if (count < 6) return "it takes tensors, k, an axis, what is returned and an order";
  t->data = tensor_in(&args[0]);
  const char *wrong = wrong_with(t->data);
  if (!wrong) wrong = take_results(t, args, count);
  if (!wrong) wrong = take_axis(t->data, &args[count - 3], &t->axis, &t->e);
  int64_t ascends;
  if (wrong) return wrong;
  if (!number_in(&args[count - 4], &t->k)) return "k must be a number";
  if (!number_in(&args[count - 1], &ascends)) return "the order must be a truth value";
  if (t->k < 1) t->k = t->e.length;
  if ((t->values && !has_shape(t->values, t->data, t->axis, t->k))
      || (t->places && !has_shape(t->places, t->data, t->axis, t->k))) {
    return "results must have the shape of the data, with k along the axis";
  }
  if (t->values && !tvms_dl_same_type(t->data->dtype, t->values->dtype))
    return "the values must have the data type of the data";
  t->order = (tvms_order){.kind = (uint8_t)tvms_order_kind_of(t->data->dtype),
                          .descends = !ascends,
                          .by_place = true};
  return NULL;
}

// The first element of a line from `k` on that comes before one of a greater place, `bar`. Comparisons with NaN are false.
#define NEXT_BEFORE(TYPE, MEMBER)                                                      \
  static int64_t next_##TYPE(const top *t, int64_t begin, int64_t k,                   \
                             tvms_scalar bar) {                                        \
    const TYPE *line = (const TYPE *)(const void *)address(t->data, begin);            \
    int64_t step = t->e.behind;                                                        \
    if (t->order.descends) {                                                           \
      while (k < t->e.length && !(bar.MEMBER < line[k * step]))                        \
        k++;                                                                           \
    } else {                                                                           \
      while (k < t->e.length && !(line[k * step] < bar.MEMBER))                        \
        k++;                                                                           \
    }                                                                                  \
    return k;                                                                          \
  }
NEXT_BEFORE(float, f)
NEXT_BEFORE(double, f)
NEXT_BEFORE(int32_t, i)
NEXT_BEFORE(int64_t, i)
#undef NEXT_BEFORE

static int64_t next_before(const top *t, int64_t begin, int64_t k, tvms_scalar bar) {
  tvms_dl_type type = t->data->dtype;
  if (type.code == TVMS_DL_FLOAT && type.bits == 32)
    return next_float(t, begin, k, bar);
  if (type.code == TVMS_DL_FLOAT && type.bits == 64)
    return next_double(t, begin, k, bar);
  if (type.code == TVMS_DL_INT && type.bits == 32)
    return next_int32_t(t, begin, k, bar);
  if (type.code == TVMS_DL_INT && type.bits == 64)
    return next_int64_t(t, begin, k, bar);
  return k;
}

static void write_best(const top *t, int64_t at, const tvms_order_item *item) {
  if (t->places) write_place(t->places, at, item->place);
  if (t->values) write_key(t->values, at, item->key);
}

// A row of which many are taken, sorted as a whole. False: one is NaN, or there are few.
static bool take_sorted(const top *t, int64_t begin, int64_t to, int64_t taken,
                        tvms_order_item *items, uint64_t *lists) {
  int64_t step = t->e.behind;
  read_items(t->data, begin, step, 0, t->e.length, items);
  const int64_t *order = order_by_keys(&t->order, items, t->e.length, lists);
  for (int64_t k = 0; order && k < taken; k++)
    write_best(t, to + k * step, &items[order[k]]);
  return order != NULL;
}

// The best ones of a row, sorted. If there are fewer than k, the rest is not written.
static void take_row(const top *t, int64_t row, tvms_order_item *items,
                     tvms_order_item *spare, uint64_t *lists) {
  enum { MANY = 16 };  // of so many one
  int64_t step = t->e.behind, column = row % step, index = row / step;
  int64_t begin = index * t->e.length * step + column;
  int64_t taken = t->k < t->e.length ? t->k : t->e.length;
  int64_t to = index * t->k * step + column;
  if (taken >= t->e.length / MANY && take_sorted(t, begin, to, taken, items, lists))
    return;
  read_items(t->data, begin, step, 0, taken, items);
  tvms_order_heap(&t->order, items, taken);
  for (int64_t k = taken;
       taken && (k = next_before(t, begin, k, items[0].key)) < t->e.length; k++) {
    tvms_order_item next = {
        k, tvms_dl_element_get(address(t->data, begin + k * step), t->data->dtype)};
    if (tvms_order_before(&t->order, &next, &items[0]))
      tvms_order_heap_exchange(&t->order, items, taken, next);
  }
  tvms_order_sort(&t->order, items, taken, spare);
  for (int64_t k = 0; k < taken; k++)
    write_best(t, to + k * step, &items[k]);
}

const char *tvms_packed_topk(tvms_memory *memory, const tvms_any *args, int32_t count) {
  top t = {.k = 0};
  const char *wrong = take_top(&t, args, count);
  if (wrong) return wrong;
  tvms_order_item *spare, *items = room_for(memory, t.e.length + 1, &spare);
  uint64_t *lists = lists_for(memory, t.e.length);
  for (int64_t row = 0; row < t.e.before * t.e.behind; row++)
    take_row(&t, row, items, spare, lists);
  tvms_memory_free(memory, lists);
  tvms_memory_free(memory, items);
  return NULL;
}
