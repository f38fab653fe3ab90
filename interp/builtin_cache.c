// The cache of attention that TVM's machine has without pages: one tensor that grows.
//
// A cache is a state of four items: its kind, the tensor, how many rows of it are filled, and where the
// next row of a window goes. A function that changes a cache gives it back.
// TVM: src/runtime/vm/lm_support.cc, AttentionKVCacheLegacy.
#include "interp/builtin.h"

#include <string.h>

static const char kind_of_cache[] = "relax.vm.AttentionKVCacheLegacy";

enum { KIND, DATA, FILLED, POSITION, ITEMS };

static tvms_tensor *rows_at(const tvms_builtin *b, uint32_t i) {
  tvms_tensor *rows = tvms_interp_builtin_tensor(b, i);
  if (rows->view.ndim < 1)
    tvms_interp_builtin_refuse(b, "a tensor with rows is expected");
  return rows;
}

static tvms_items *cache_of(const tvms_builtin *b, tvms_value value) {
  bool is_cache = value.kind == TVMS_VALUE_STATE && value.tuple->len == ITEMS
                  && value.tuple->items[KIND].text == kind_of_cache;
  if (!is_cache) tvms_interp_builtin_refuse(b, "a cache is expected");
  return value.tuple;
}

static tvms_items *cache_at(const tvms_builtin *b) {
  if (!b->count) tvms_interp_builtin_refuse(b, "a cache is expected");
  return cache_of(b, b->args[0]);
}

static tvms_tensor *data_of(const tvms_items *cache) {
  return cache->items[DATA].tensor;
}

static tvms_value kept(tvms_items *cache) {
  return tvms_value_keep((tvms_value){.kind = TVMS_VALUE_STATE, .tuple = cache});
}

static uint64_t row_bytes(const tvms_tensor *data) {
  return data->shape[0] ? data->bytes / (uint64_t)data->shape[0] : 0;
}

// Rows of the kind that the cache has.
static void check_rows(const tvms_builtin *b, const tvms_tensor *data,
                       const tvms_tensor *rows) {
  tvms_dl_type has = data->view.dtype, gets = rows->view.dtype;
  bool fits = has.code == gets.code && has.bits == gets.bits && has.lanes == gets.lanes
              && data->view.ndim == rows->view.ndim;
  for (int32_t i = 1; fits && i < data->view.ndim; i++)
    fits = data->shape[i] == rows->shape[i];
  if (!fits)
    tvms_interp_builtin_refuse(b, "rows of its own data type and shape are expected");
}

static void set_data(tvms_items *cache, tvms_tensor *data) {
  tvms_value_drop(cache->items[DATA]);
  cache->items[DATA] = tvms_value_of_tensor(data);
}

// Doubles the tensor until it has so many rows.
static void reserve(const tvms_builtin *b, tvms_items *cache, int64_t wanted) {
  tvms_tensor *data = data_of(cache);
  int64_t rows = data->shape[0];
  if (wanted > rows && rows < 1)
    tvms_interp_builtin_refuse(b, "a cache that reserves a row is expected");
  while (rows < wanted) {
    if (__builtin_mul_overflow(rows, 2, &rows))
      tvms_interp_builtin_refuse(b, "fewer rows are expected");
  }
  if (rows == data->shape[0]) return;
  size_t size = (size_t)data->view.ndim;
  int64_t *shape = tvms_arena_array(&b->frame->context->scratch, int64_t, size);
  memcpy(shape, data->shape, size * sizeof *shape);
  shape[0] = rows;
  tvms_tensor *wide =
      tvms_interp_builtin_new_tensor(b, data->view.dtype, data->view.ndim, shape);
  if (data->bytes) memcpy(wide->view.data, data->view.data, data->bytes);
  set_data(cache, wide);
}

// Copies `count` rows from row `from` to row `to` of the cache.
static void copy_rows(tvms_items *cache, int64_t to, const tvms_tensor *rows,
                      int64_t from, int64_t count) {
  uint64_t size = row_bytes(data_of(cache));
  if (count <= 0 || !size) return;
  memcpy((char *)data_of(cache)->view.data + (uint64_t)to * size,
         (const char *)rows->view.data + (uint64_t)from * size, (uint64_t)count * size);
}

static void append(const tvms_builtin *b, tvms_items *cache, const tvms_tensor *rows) {
  int64_t filled = cache->items[FILLED].i;
  check_rows(b, data_of(cache), rows);
  reserve(b, cache, filled + rows->shape[0]);
  copy_rows(cache, filled, rows, 0, rows->shape[0]);
  cache->items[FILLED].i = filled + rows->shape[0];
}

tvms_value tvms_interp_builtin_cache_create(const tvms_builtin *b) {
  const tvms_tensor *values = rows_at(b, 0);
  const tvms_tensor *shape = tvms_interp_builtin_shape(b, 1);
  int64_t filled = tvms_interp_builtin_number(b, 2);
  if (shape->view.ndim < 1)
    tvms_interp_builtin_refuse(b, "a shape with rows is expected");
  tvms_tensor *data = tvms_interp_builtin_new_tensor(b, values->view.dtype,
                                                     shape->view.ndim, shape->shape);
  tvms_items *cache = tvms_items_new(b->frame->interp->heap, TVMS_VALUE_STATE, ITEMS);
  cache->items[KIND] = (tvms_value){.kind = TVMS_VALUE_STR, .text = kind_of_cache};
  cache->items[DATA] = tvms_value_of_tensor(data);
  cache->items[FILLED] = (tvms_value){.kind = TVMS_VALUE_INT};
  cache->items[POSITION] = (tvms_value){.kind = TVMS_VALUE_INT};
  append(b, cache, values);
  if (filled > data_of(cache)->shape[0])
    tvms_interp_builtin_refuse(b, "fewer filled rows are expected");
  if (filled >= 0) cache->items[FILLED].i = cache->items[POSITION].i = filled;
  return (tvms_value){.kind = TVMS_VALUE_STATE, .tuple = cache};
}

tvms_value tvms_interp_builtin_cache_append(const tvms_builtin *b) {
  tvms_items *cache = cache_at(b);
  append(b, cache, rows_at(b, 1));
  return kept(cache);
}

tvms_value tvms_interp_builtin_cache_update(const tvms_builtin *b) {
  tvms_items *cache = cache_at(b);
  const tvms_tensor *rows = rows_at(b, 1);
  check_rows(b, data_of(cache), rows);
  if (rows->shape[0] != cache->items[FILLED].i)
    tvms_interp_builtin_refuse(b, "as many rows as are filled are expected");
  copy_rows(cache, 0, rows, 0, rows->shape[0]);
  return kept(cache);
}

tvms_value tvms_interp_builtin_cache_view(const tvms_builtin *b) {
  const tvms_items *cache = cache_at(b);
  tvms_tensor *data = data_of(cache);
  size_t size = (size_t)data->view.ndim;
  int64_t *shape = tvms_arena_array(&b->frame->context->scratch, int64_t, size);
  memcpy(shape, data->shape, size * sizeof *shape);
  shape[0] = cache->items[FILLED].i;
  if (b->count > 1) {
    const tvms_tensor *asked = tvms_interp_builtin_shape(b, 1);
    bool same = (size_t)asked->view.ndim == size
                && memcmp(asked->shape, shape, size * sizeof *shape) == 0;
    if (!same) tvms_interp_builtin_refuse(b, "the shape of what is filled is expected");
  }
  return tvms_interp_builtin_view(b, data, 0, data->view.dtype, data->view.ndim, shape);
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

tvms_value tvms_interp_builtin_cache_window(const tvms_builtin *b) {
  tvms_items *cache = cache_at(b);
  const tvms_tensor *rows = rows_at(b, 1);
  int64_t most = tvms_interp_builtin_number(b, 2), given = rows->shape[0];
  int64_t sinks = b->count > 3 ? tvms_interp_builtin_number(b, 3) : 0;
  int64_t filled = cache->items[FILLED].i, position = cache->items[POSITION].i;
  check_rows(b, data_of(cache), rows);
  if (sinks < 0 || most < sinks || given > most - sinks)
    tvms_interp_builtin_refuse(b, "as many rows as the window holds are expected");
  if (filled + given <= most) reserve(b, cache, filled + given);
  int64_t first = least(given, most - position);
  cache->items[FILLED].i = least(filled + given, most);
  cache->items[POSITION].i = least(position + given, most);
  int64_t room = data_of(cache)->shape[0];
  if (first < 0 || position + first > room || sinks + given - first > room)
    tvms_interp_builtin_refuse(b, "a window that the cache has room for is expected");
  copy_rows(cache, position, rows, 0, first);
  if (first < given) {
    copy_rows(cache, sinks, rows, first, given - first);
    cache->items[POSITION].i = given - first + sinks;
  }
  return kept(cache);
}

static const tvms_items *caches_at(const tvms_builtin *b) {
  return tvms_interp_builtin_items(b, 0, TVMS_VALUE_TUPLE,
                                   "a tuple of caches is expected");
}

tvms_value tvms_interp_builtin_cache_popn(const tvms_builtin *b) {
  const tvms_items *caches = caches_at(b);
  int64_t rows = tvms_interp_builtin_number(b, 1);
  for (uint32_t i = 0; i < caches->len; i++) {
    tvms_items *cache = cache_of(b, caches->items[i]);
    if (rows < 0 || rows > cache->items[FILLED].i)
      tvms_interp_builtin_refuse(b, "no more rows than are filled are expected");
    cache->items[FILLED].i -= rows;
  }
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_cache_clear(const tvms_builtin *b) {
  const tvms_items *caches = caches_at(b);
  for (uint32_t i = 0; i < caches->len; i++) {
    tvms_items *cache = cache_of(b, caches->items[i]);
    cache->items[FILLED].i = cache->items[POSITION].i = 0;
  }
  return (tvms_value){0};
}
