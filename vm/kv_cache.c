// TVM: src/runtime/vm/lm_support.cc, AttentionKVCacheLegacy.
#include "vm/kv_cache.h"

#include <string.h>

static const char kind_of_cache[] = "relax.vm.AttentionKVCacheLegacy";

enum { KIND, DATA, FILLED, POSITION, ITEMS };

TVMS_NORETURN static void refuse(tvms_vm_machine *m, const char *expected) {
  fault(&m->frame, TVMS_D_wrong_argument, ((tvms_span){0, 0}), "of the cache",
        expected);
}

static tvms_value at(tvms_vm_machine *m, const tvms_value *args, uint32_t count,
                     uint32_t i, tvms_value_kind kind, const char *expected) {
  if (i >= count || args[i].kind != (uint8_t)kind) refuse(m, expected);
  return args[i];
}

static tvms_tensor *rows_at(tvms_vm_machine *m, const tvms_value *args, uint32_t count,
                            uint32_t i) {
  tvms_tensor *rows =
      at(m, args, count, i, TVMS_VALUE_TENSOR, "a tensor is expected").tensor;
  if (rows->view.ndim < 1) refuse(m, "a tensor with rows is expected");
  return rows;
}

static int64_t number_at(tvms_vm_machine *m, const tvms_value *args, uint32_t count,
                         uint32_t i) {
  return at(m, args, count, i, TVMS_VALUE_INT, "a number is expected").i;
}

static tvms_items *cache_of(tvms_vm_machine *m, tvms_value value) {
  bool is_cache = value.kind == TVMS_VALUE_STATE && value.tuple->len == ITEMS
                  && value.tuple->items[KIND].text == kind_of_cache;
  if (!is_cache) refuse(m, "a cache is expected");
  return value.tuple;
}

static tvms_items *cache_at(tvms_vm_machine *m, const tvms_value *args,
                            uint32_t count) {
  if (!count) refuse(m, "a cache is expected");
  return cache_of(m, args[0]);
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
static void check_rows(tvms_vm_machine *m, const tvms_tensor *data,
                       const tvms_tensor *rows) {
  tvms_dl_type a = data->view.dtype, b = rows->view.dtype;
  bool fits = a.code == b.code && a.bits == b.bits && a.lanes == b.lanes
              && data->view.ndim == rows->view.ndim;
  for (int32_t i = 1; fits && i < data->view.ndim; i++)
    fits = data->shape[i] == rows->shape[i];
  if (!fits) refuse(m, "rows of its own data type and shape are expected");
}

static void set_data(tvms_items *cache, tvms_tensor *data) {
  tvms_value_drop(cache->items[DATA]);
  cache->items[DATA] = tvms_value_of_tensor(data);
}

// Doubles the tensor until it has so many rows.
static void reserve(tvms_vm_machine *m, tvms_items *cache, int64_t wanted) {
  tvms_tensor *data = data_of(cache);
  int64_t rows = data->shape[0];
  if (wanted > rows && rows < 1) refuse(m, "a cache that reserves a row is expected");
  while (rows < wanted) {
    if (__builtin_mul_overflow(rows, 2, &rows)) refuse(m, "fewer rows are expected");
  }
  if (rows == data->shape[0]) return;
  size_t size = (size_t)data->view.ndim;
  int64_t *shape = tvms_arena_array(&m->interp->context->scratch, int64_t, size);
  memcpy(shape, data->shape, size * sizeof *shape);
  shape[0] = rows;
  tvms_tensor *wide =
      tvms_tensor_new(m->interp->heap, data->view.dtype, data->view.ndim, shape);
  if (!wide) fault(&m->frame, TVMS_D_tensor_not_made, ((tvms_span){0, 0}));
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

static void append(tvms_vm_machine *m, tvms_items *cache, const tvms_tensor *rows) {
  int64_t filled = cache->items[FILLED].i;
  check_rows(m, data_of(cache), rows);
  reserve(m, cache, filled + rows->shape[0]);
  copy_rows(cache, filled, rows, 0, rows->shape[0]);
  cache->items[FILLED].i = filled + rows->shape[0];
}

tvms_value tvms_vm_kv_cache_create(tvms_vm_machine *m, const tvms_value *args,
                                   uint32_t count) {
  const tvms_tensor *values = rows_at(m, args, count, 0);
  const tvms_tensor *shape =
      at(m, args, count, 1, TVMS_VALUE_SHAPE, "a shape is expected").tensor;
  int64_t filled = number_at(m, args, count, 2);
  if (shape->view.ndim < 1) refuse(m, "a shape with rows is expected");
  tvms_tensor *data = tvms_tensor_new(m->interp->heap, values->view.dtype,
                                      shape->view.ndim, shape->shape);
  if (!data) fault(&m->frame, TVMS_D_tensor_not_made, ((tvms_span){0, 0}));
  tvms_items *cache = tvms_items_new(m->interp->heap, TVMS_VALUE_STATE, ITEMS);
  cache->items[KIND] = (tvms_value){.kind = TVMS_VALUE_STR, .text = kind_of_cache};
  cache->items[DATA] = tvms_value_of_tensor(data);
  cache->items[FILLED] = (tvms_value){.kind = TVMS_VALUE_INT};
  cache->items[POSITION] = (tvms_value){.kind = TVMS_VALUE_INT};
  append(m, cache, values);
  if (filled > data_of(cache)->shape[0]) refuse(m, "fewer filled rows are expected");
  if (filled >= 0) cache->items[FILLED].i = cache->items[POSITION].i = filled;
  return (tvms_value){.kind = TVMS_VALUE_STATE, .tuple = cache};
}

tvms_value tvms_vm_kv_cache_append(tvms_vm_machine *m, const tvms_value *args,
                                   uint32_t count) {
  tvms_items *cache = cache_at(m, args, count);
  append(m, cache, rows_at(m, args, count, 1));
  return kept(cache);
}

tvms_value tvms_vm_kv_cache_update(tvms_vm_machine *m, const tvms_value *args,
                                   uint32_t count) {
  tvms_items *cache = cache_at(m, args, count);
  const tvms_tensor *rows = rows_at(m, args, count, 1);
  check_rows(m, data_of(cache), rows);
  if (rows->shape[0] != cache->items[FILLED].i)
    refuse(m, "as many rows as are filled are expected");
  copy_rows(cache, 0, rows, 0, rows->shape[0]);
  return kept(cache);
}

tvms_value tvms_vm_kv_cache_view(tvms_vm_machine *m, const tvms_value *args,
                                 uint32_t count) {
  const tvms_items *cache = cache_at(m, args, count);
  tvms_tensor *data = data_of(cache);
  size_t size = (size_t)data->view.ndim;
  int64_t *shape = tvms_arena_array(&m->interp->context->scratch, int64_t, size);
  memcpy(shape, data->shape, size * sizeof *shape);
  shape[0] = cache->items[FILLED].i;
  if (count > 1) {
    const tvms_tensor *asked =
        at(m, args, count, 1, TVMS_VALUE_SHAPE, "a shape is expected").tensor;
    bool same = (size_t)asked->view.ndim == size
                && memcmp(asked->shape, shape, size * sizeof *shape) == 0;
    if (!same) refuse(m, "the shape of what is filled is expected");
  }
  tvms_tensor *view =
      tvms_tensor_within(data, 0, data->view.dtype, data->view.ndim, shape);
  if (!view) fault(&m->frame, TVMS_D_tensor_not_made, ((tvms_span){0, 0}));
  return tvms_value_of_tensor(view);
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

tvms_value tvms_vm_kv_cache_window_override(tvms_vm_machine *m, const tvms_value *args,
                                            uint32_t count) {
  tvms_items *cache = cache_at(m, args, count);
  const tvms_tensor *rows = rows_at(m, args, count, 1);
  int64_t most = number_at(m, args, count, 2), given = rows->shape[0];
  int64_t sinks = count > 3 ? number_at(m, args, count, 3) : 0;
  int64_t filled = cache->items[FILLED].i, position = cache->items[POSITION].i;
  check_rows(m, data_of(cache), rows);
  if (sinks < 0 || most < sinks || given > most - sinks)
    refuse(m, "as many rows as the window holds are expected");
  if (filled + given <= most) reserve(m, cache, filled + given);
  int64_t first = least(given, most - position);
  cache->items[FILLED].i = least(filled + given, most);
  cache->items[POSITION].i = least(position + given, most);
  int64_t room = data_of(cache)->shape[0];
  if (first < 0 || position + first > room || sinks + given - first > room)
    refuse(m, "a window that the cache has room for is expected");
  copy_rows(cache, position, rows, 0, first);
  if (first < given) {
    copy_rows(cache, sinks, rows, first, given - first);
    cache->items[POSITION].i = given - first + sinks;
  }
  return kept(cache);
}

static const tvms_items *caches_at(tvms_vm_machine *m, const tvms_value *args,
                                   uint32_t count) {
  return at(m, args, count, 0, TVMS_VALUE_TUPLE, "a tuple of caches is expected").tuple;
}

tvms_value tvms_vm_kv_cache_array_popn(tvms_vm_machine *m, const tvms_value *args,
                                       uint32_t count) {
  const tvms_items *caches = caches_at(m, args, count);
  int64_t rows = number_at(m, args, count, 1);
  for (uint32_t i = 0; i < caches->len; i++) {
    tvms_items *cache = cache_of(m, caches->items[i]);
    if (rows < 0 || rows > cache->items[FILLED].i)
      refuse(m, "no more rows than are filled are expected");
    cache->items[FILLED].i -= rows;
  }
  return (tvms_value){0};
}

tvms_value tvms_vm_kv_cache_array_clear(tvms_vm_machine *m, const tvms_value *args,
                                        uint32_t count) {
  const tvms_items *caches = caches_at(m, args, count);
  for (uint32_t i = 0; i < caches->len; i++) {
    tvms_items *cache = cache_of(m, caches->items[i]);
    cache->items[FILLED].i = cache->items[POSITION].i = 0;
  }
  return (tvms_value){0};
}
