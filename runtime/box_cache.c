// The cache of attention without pages (runtime/kv_plain.h) as an object.
//
// A function that changes a cache gives it back. A view is a tensor in the memory of the cache; the last
// one is kept and served again when nobody else has it, so that a step of a model allocates nothing.
#include "runtime/box_object.h"
#include "runtime/kv_plain.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  tvms_any_object head;
  uint64_t is_cache;
  tvms_box_tensor *data;
  tvms_box_tensor *TVMS_NULLABLE view;
  int64_t filled, position;
} cache_object;

// A cache in a call.
typedef struct {
  tvms_kv_plain plain;  // first
  tvms_box_args *a;
  cache_object *object;
} opened;

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

static bool widen(tvms_kv_plain *plain, int64_t rows) {
  enum { MOST = 32 };
  opened *c = (opened *)plain;
  const tvms_dl_tensor *has = plain->data;
  int64_t sizes[MOST];
  if (has->ndim > MOST) return plain->refuse(plain, "fewer dimensions are expected");
  memcpy(sizes, has->shape, (size_t)has->ndim * sizeof *sizes);
  sizes[0] = rows;
  tvms_box_tensor *wide =
      tvms_box_tensor_new(c->a, has->dtype, has->ndim, sizes, NULL, NULL);
  if (!wide) return false;
  uint64_t filled = 0;
  sizes[0] = plain->filled;
  bool counted = tvms_box_bytes(has->dtype, sizes, has->ndim, &filled);
  if (counted && filled) memcpy(wide->tensor.data, has->data, (size_t)filled);
  tvms_box_release(&c->object->data->head);
  c->object->data = wide;
  plain->data = &wide->tensor;
  return true;
}

static bool refuse(tvms_kv_plain *plain, const char *text) {
  tvms_box_fail(((opened *)plain)->a, "ValueError", text);
  return false;
}

static opened open_object(tvms_box_args *a, cache_object *object) {
  return (opened){.plain = {.data = &object->data->tensor,
                            .filled = object->filled,
                            .position = object->position,
                            .widen = widen,
                            .refuse = refuse},
                  .a = a,
                  .object = object};
}

// False after an error.
static bool open_cache(tvms_box_args *a, tvms_any value, opened *c) {
  cache_object *object = value.type_index == TVMS_ANY_OBJECT ? value.v.p : NULL;
  if (!object || object->is_cache != is_cache) return !tvms_box_refuse(a, "a cache");
  *c = open_object(a, object);
  return true;
}

static bool open_first(tvms_box_args *a, opened *c) {
  return open_cache(a, a->count ? a->args[0] : (tvms_any){0}, c);
}

// Keeps what the call has changed.
static void put_back(const opened *c) {
  c->object->filled = c->plain.filled;
  c->object->position = c->plain.position;
}

static const tvms_dl_tensor *TVMS_NULLABLE rows_at(tvms_box_args *a, int32_t i) {
  const tvms_dl_tensor *rows = tvms_box_tensor_at(a, i);
  if (rows && rows->ndim < 1) tvms_box_refuse(a, "a tensor with rows");
  return a->failed ? NULL : rows;
}

static int32_t give_back(const opened *c, tvms_any *result) {
  put_back(c);
  tvms_box_keep(&c->object->head);
  return tvms_box_give(result, TVMS_ANY_OBJECT, c->object);
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
  opened c = open_object(&a, cache);
  bool good =
      tvms_kv_plain_append(&c.plain, values) && tvms_kv_plain_fill(&c.plain, filled);
  put_back(&c);
  if (good) return tvms_box_give(result, TVMS_ANY_OBJECT, cache);
  tvms_box_release(&cache->head);
  return -1;
}

int32_t tvms_box_cache_append(void *raise, const tvms_any *args, int32_t count,
                              tvms_any *result) {
  tvms_box_args a =
      tvms_box_open(raise, "vm.builtin.attention_kv_cache_append", args, count);
  opened c = {.object = NULL};
  const tvms_dl_tensor *rows = open_first(&a, &c) ? rows_at(&a, 1) : NULL;
  if (!rows || !tvms_kv_plain_append(&c.plain, rows)) return -1;
  return give_back(&c, result);
}

int32_t tvms_box_cache_update(void *raise, const tvms_any *args, int32_t count,
                              tvms_any *result) {
  tvms_box_args a =
      tvms_box_open(raise, "vm.builtin.attention_kv_cache_update", args, count);
  opened c = {.object = NULL};
  const tvms_dl_tensor *rows = open_first(&a, &c) ? rows_at(&a, 1) : NULL;
  if (!rows || !tvms_kv_plain_update(&c.plain, rows)) return -1;
  return give_back(&c, result);
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
  opened c = {.object = NULL};
  if (!open_first(&a, &c)) return -1;
  cache_object *cache = c.object;
  tvms_dl_tensor *data = &cache->data->tensor;
  if (count > 1) {
    int64_t rank;
    const int64_t *asked = tvms_box_sizes_at(&a, 1, &rank);
    if (!asked || !tvms_kv_plain_check(&c.plain, asked, rank)) return -1;
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

int32_t tvms_box_cache_window(void *raise, const tvms_any *args, int32_t count,
                              tvms_any *result) {
  tvms_box_args a = tvms_box_open(
      raise, "vm.builtin.attention_kv_cache_window_override", args, count);
  opened c = {.object = NULL};
  const tvms_dl_tensor *rows = open_first(&a, &c) ? rows_at(&a, 1) : NULL;
  int64_t most = rows ? tvms_box_number(&a, 2) : 0;
  int64_t sinks = rows && count > 3 ? tvms_box_number(&a, 3) : 0;
  if (a.failed || !tvms_kv_plain_window(&c.plain, rows, most, sinks)) return -1;
  return give_back(&c, result);
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
    opened c = {.object = NULL};
    if (open_cache(&a, items[i], &c) && tvms_kv_plain_pop(&c.plain, rows)) put_back(&c);
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
    opened c = {.object = NULL};
    if (open_cache(&a, items[i], &c)) c.object->filled = c.object->position = 0;
  }
  return a.failed ? -1 : 0;
}
