// The cache of attention that TVM's machine has without pages: one tensor that grows.
//
// A function that changes a cache gives it back. A view is a tensor in the memory of the cache; the last
// one is kept and served again when nobody else has it, so that a step of a model allocates nothing.
// TVM: src/runtime/vm/lm_support.cc, AttentionKVCacheLegacy; interp/builtin_cache.c is the same for the
// interpreter.
#include "runtime/box_object.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  tvms_any_object head;
  uint64_t is_cache;
  tvms_box_tensor *data;
  tvms_box_tensor *TVMS_NULLABLE view;
  int64_t filled, position;
} cache_object;

static const uint64_t is_cache = UINT64_C(0x656863614376544b);

enum { LEAVES = 1, FREES = 2 };

static void delete_cache(void *object, int flags) {
  cache_object *cache = object;
  if (flags & LEAVES) {
    tvms_box_release(&cache->data->head);
    if (cache->view) tvms_box_release(&cache->view->head);
  }
  if (flags & FREES) free(object);
}

static cache_object *TVMS_NULLABLE cache_of(tvms_box_args *a, tvms_any value) {
  cache_object *cache = value.type_index == TVMS_ANY_OBJECT ? value.v.p : NULL;
  if (cache && cache->is_cache == is_cache) return cache;
  tvms_box_refuse(a, "a cache");
  return NULL;
}

static cache_object *TVMS_NULLABLE cache_at(tvms_box_args *a) {
  return cache_of(a, a->count ? a->args[0] : (tvms_any){0});
}

static const tvms_dl_tensor *TVMS_NULLABLE rows_at(tvms_box_args *a, int32_t i) {
  const tvms_dl_tensor *rows = tvms_box_tensor_at(a, i);
  if (rows && rows->ndim < 1) tvms_box_refuse(a, "a tensor with rows");
  return a->failed ? NULL : rows;
}

static uint64_t row_bytes(const tvms_box_tensor *data) {
  uint64_t bytes = 0;
  const tvms_dl_tensor *tensor = &data->tensor;
  tvms_box_bytes(tensor->dtype, tensor->shape + 1, tensor->ndim - 1, &bytes);
  return bytes;
}

// Rows of the kind that the cache has.
static bool check_rows(tvms_box_args *a, const cache_object *cache,
                       const tvms_dl_tensor *rows) {
  const tvms_dl_tensor *has = &cache->data->tensor;
  bool fits = has->dtype.code == rows->dtype.code && has->dtype.bits == rows->dtype.bits
              && has->dtype.lanes == rows->dtype.lanes && has->ndim == rows->ndim;
  for (int32_t i = 1; fits && i < has->ndim; i++)
    fits = has->shape[i] == rows->shape[i];
  if (!fits) tvms_box_refuse(a, "rows of the data type and shape of the cache");
  return fits;
}

// Doubles the tensor until it has so many rows.
static bool reserve(tvms_box_args *a, cache_object *cache, int64_t wanted) {
  enum { MOST = 32 };
  const tvms_dl_tensor *has = &cache->data->tensor;
  int64_t sizes[MOST], rows = has->shape[0];
  if (wanted <= rows) return true;
  if (rows < 1 || has->ndim > MOST)
    return !tvms_box_refuse(a, "a cache that reserves a row");
  while (rows < wanted) {
    if (__builtin_mul_overflow(rows, 2, &rows)) return !tvms_box_no_memory(a);
  }
  memcpy(sizes, has->shape, (size_t)has->ndim * sizeof *sizes);
  sizes[0] = rows;
  tvms_box_tensor *wide =
      tvms_box_tensor_new(a, has->dtype, has->ndim, sizes, NULL, NULL);
  if (!wide) return false;
  size_t filled = (size_t)cache->filled * row_bytes(cache->data);
  if (filled) memcpy(wide->tensor.data, has->data, filled);
  tvms_box_release(&cache->data->head);
  cache->data = wide;
  return true;
}

// Copies `count` rows from row `from` to row `to` of the cache.
static void copy_rows(cache_object *cache, int64_t to, const tvms_dl_tensor *rows,
                      int64_t from, int64_t count) {
  uint64_t size = row_bytes(cache->data);
  if (count <= 0 || !size) return;
  memmove((char *)cache->data->tensor.data + (uint64_t)to * size,
          tvms_box_data(rows) + (uint64_t)from * size, (uint64_t)count * size);
}

static bool append(tvms_box_args *a, cache_object *cache, const tvms_dl_tensor *rows) {
  int64_t filled = cache->filled;
  bool good = check_rows(a, cache, rows) && reserve(a, cache, filled + rows->shape[0]);
  if (!good) return false;
  copy_rows(cache, filled, rows, 0, rows->shape[0]);
  cache->filled = filled + rows->shape[0];
  return true;
}

static int32_t give_back(cache_object *cache, tvms_any *result) {
  tvms_box_keep(&cache->head);
  return tvms_box_give(result, TVMS_ANY_OBJECT, cache);
}

int32_t tvms_box_cache_create(void *raise, const tvms_any *args, int32_t count,
                              tvms_any *result) {
  tvms_box_args a =
      tvms_box_open(raise, "vm.builtin.attention_kv_cache_create", args, count);
  int64_t rank = 0;
  const tvms_dl_tensor *values = rows_at(&a, 0);
  const int64_t *sizes = values ? tvms_box_sizes_at(&a, 1, &rank) : NULL;
  int64_t filled = sizes ? tvms_box_number(&a, 2) : 0;
  if (a.failed) return -1;
  if (rank != values->ndim) return tvms_box_refuse(&a, "a shape with rows");
  tvms_box_tensor *data =
      tvms_box_tensor_new(&a, values->dtype, (int32_t)rank, sizes, NULL, NULL);
  cache_object *cache = data ? malloc(sizeof *cache) : NULL;
  if (data && !cache) {
    tvms_box_release(&data->head);
    return tvms_box_no_memory(&a);
  }
  if (!cache) return -1;
  *cache = (cache_object){
      .head = {((uint64_t)1 << 32) + 1, TVMS_ANY_OBJECT, 0, delete_cache},
      .is_cache = is_cache,
      .data = data};
  bool good = append(&a, cache, values);
  if (good && filled > cache->data->tensor.shape[0])
    good = !tvms_box_refuse(&a, "a number of filled rows that the cache has");
  if (!good) {
    tvms_box_release(&cache->head);
    return -1;
  }
  if (filled >= 0) cache->filled = cache->position = filled;
  return tvms_box_give(result, TVMS_ANY_OBJECT, cache);
}

int32_t tvms_box_cache_append(void *raise, const tvms_any *args, int32_t count,
                              tvms_any *result) {
  tvms_box_args a =
      tvms_box_open(raise, "vm.builtin.attention_kv_cache_append", args, count);
  cache_object *cache = cache_at(&a);
  const tvms_dl_tensor *rows = cache ? rows_at(&a, 1) : NULL;
  if (!rows || !append(&a, cache, rows)) return -1;
  return give_back(cache, result);
}

int32_t tvms_box_cache_update(void *raise, const tvms_any *args, int32_t count,
                              tvms_any *result) {
  tvms_box_args a =
      tvms_box_open(raise, "vm.builtin.attention_kv_cache_update", args, count);
  cache_object *cache = cache_at(&a);
  const tvms_dl_tensor *rows = cache ? rows_at(&a, 1) : NULL;
  if (!rows || !check_rows(&a, cache, rows)) return -1;
  if (rows->shape[0] != cache->filled)
    return tvms_box_refuse(&a, "a tensor with as many rows as are filled");
  copy_rows(cache, 0, rows, 0, rows->shape[0]);
  return give_back(cache, result);
}

// A view of the filled rows that nobody else has, or NULL.
static tvms_box_tensor *TVMS_NULLABLE free_view(const cache_object *cache) {
  tvms_box_tensor *view = cache->view;
  bool alone =
      view && view->owner == &cache->data->head
      && (uint32_t)__atomic_load_n(&view->head.references, __ATOMIC_ACQUIRE) == 1;
  return alone ? view : NULL;
}

int32_t tvms_box_cache_view(void *raise, const tvms_any *args, int32_t count,
                            tvms_any *result) {
  tvms_box_args a =
      tvms_box_open(raise, "vm.builtin.attention_kv_cache_view", args, count);
  cache_object *cache = cache_at(&a);
  if (!cache) return -1;
  tvms_dl_tensor *data = &cache->data->tensor;
  if (count > 1) {
    int64_t rank;
    const int64_t *asked = tvms_box_sizes_at(&a, 1, &rank);
    if (!asked) return -1;
    bool same = rank == data->ndim && asked[0] == cache->filled;
    for (int64_t i = 1; same && i < rank; i++)
      same = asked[i] == data->shape[i];
    if (!same) return tvms_box_refuse(&a, "the shape of what is filled");
  }
  tvms_box_tensor *view = free_view(cache);
  if (!view) {
    view = tvms_box_tensor_new(&a, data->dtype, data->ndim, data->shape,
                               &cache->data->head, data->data);
    if (!view) return -1;
    if (cache->view) tvms_box_release(&cache->view->head);
    cache->view = view;
  }
  view->sizes[0] = cache->filled;
  tvms_box_keep(&view->head);
  return tvms_box_give(result, TVMS_ANY_TENSOR, view);
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

int32_t tvms_box_cache_window(void *raise, const tvms_any *args, int32_t count,
                              tvms_any *result) {
  tvms_box_args a = tvms_box_open(
      raise, "vm.builtin.attention_kv_cache_window_override", args, count);
  cache_object *cache = cache_at(&a);
  const tvms_dl_tensor *rows = cache ? rows_at(&a, 1) : NULL;
  int64_t most = rows ? tvms_box_number(&a, 2) : 0;
  int64_t sinks = rows && count > 3 ? tvms_box_number(&a, 3) : 0;
  if (a.failed || !check_rows(&a, cache, rows)) return -1;
  int64_t given = rows->shape[0];
  int64_t filled = cache->filled, position = cache->position;
  if (sinks < 0 || most < sinks || given > most - sinks)
    return tvms_box_refuse(&a, "a tensor with as many rows as the window holds");
  if (filled + given <= most && !reserve(&a, cache, filled + given)) return -1;
  int64_t first = least(given, most - position);
  int64_t room = cache->data->tensor.shape[0];
  if (first < 0 || position + first > room || sinks + given - first > room)
    return tvms_box_refuse(&a, "a window that the cache has room for");
  cache->filled = least(filled + given, most);
  cache->position = least(position + given, most);
  copy_rows(cache, position, rows, 0, first);
  if (first < given) {
    copy_rows(cache, sinks, rows, first, given - first);
    cache->position = given - first + sinks;
  }
  return give_back(cache, result);
}

static const tvms_any *TVMS_NULLABLE caches_at(tvms_box_args *a, int64_t *len) {
  const tvms_any *items = a->count ? tvms_box_items(a->args[0], len) : NULL;
  if (!items) tvms_box_refuse(a, "a tuple of caches");
  return items;
}

int32_t tvms_box_cache_popn(void *raise, const tvms_any *args, int32_t count,
                            tvms_any *result) {
  tvms_box_args a =
      tvms_box_open(raise, "vm.builtin.attention_kv_cache_array_popn", args, count);
  int64_t len = 0;
  const tvms_any *items = caches_at(&a, &len);
  int64_t rows = items ? tvms_box_number(&a, 1) : 0;
  (void)result;
  for (int64_t i = 0; i < len && !a.failed; i++) {
    cache_object *cache = cache_of(&a, items[i]);
    if (!cache) break;
    if (rows < 0 || rows > cache->filled)
      tvms_box_refuse(&a, "no more rows than are filled");
    else
      cache->filled -= rows;
  }
  return a.failed ? -1 : 0;
}

int32_t tvms_box_cache_clear(void *raise, const tvms_any *args, int32_t count,
                             tvms_any *result) {
  tvms_box_args a =
      tvms_box_open(raise, "vm.builtin.attention_kv_cache_array_clear", args, count);
  int64_t len = 0;
  const tvms_any *items = caches_at(&a, &len);
  (void)result;
  for (int64_t i = 0; i < len && !a.failed; i++) {
    cache_object *cache = cache_of(&a, items[i]);
    if (cache) cache->filled = cache->position = 0;
  }
  return a.failed ? -1 : 0;
}
