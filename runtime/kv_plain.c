// The cache of attention without pages (runtime/kv_plain.h).
#include "runtime/kv_plain.h"

#include <string.h>

static uint64_t row_bytes(const tvms_kv_plain *cache) {
  const tvms_dl_tensor *data = cache->data;
  uint64_t bytes = (data->dtype.bits + 7u) / 8u * data->dtype.lanes;
  for (int32_t i = 1; i < data->ndim; i++)
    bytes *= (uint64_t)data->shape[i];
  return bytes;
}

// Rows of the kind that the cache has?
static bool check_rows(tvms_kv_plain *cache, const tvms_dl_tensor *rows) {
  const tvms_dl_tensor *has = cache->data;
  bool fits = has->dtype.code == rows->dtype.code && has->dtype.bits == rows->dtype.bits
              && has->dtype.lanes == rows->dtype.lanes && has->ndim == rows->ndim;
  for (int32_t i = 1; fits && i < has->ndim; i++)
    fits = has->shape[i] == rows->shape[i];
  return fits
         || cache->refuse(cache, "rows of its own data type and shape are expected");
}

// Doubles the tensor until it has so many rows.
static bool reserve(tvms_kv_plain *cache, int64_t wanted) {
  int64_t rows = cache->data->shape[0];
  if (wanted <= rows) return true;
  if (rows < 1) return cache->refuse(cache, "a cache that reserves a row is expected");
  while (rows < wanted) {
    if (__builtin_mul_overflow(rows, 2, &rows))
      return cache->refuse(cache, "fewer rows are expected");
  }
  return cache->widen(cache, rows);
}

// Copies `count` rows from row `from` to row `to` of the cache.
static void copy_rows(tvms_kv_plain *cache, int64_t to, const tvms_dl_tensor *rows,
                      int64_t from, int64_t count) {
  const tvms_dl_tensor *data = cache->data;
  uint64_t size = row_bytes(cache);
  if (count <= 0 || !size) return;
  memmove((char *)data->data + data->byte_offset + (uint64_t)to * size,
          (const char *)rows->data + rows->byte_offset + (uint64_t)from * size,
          (uint64_t)count * size);
}

bool tvms_kv_plain_append(tvms_kv_plain *cache, const tvms_dl_tensor *rows) {
  int64_t filled;
  if (!check_rows(cache, rows)) return false;
  if (__builtin_add_overflow(cache->filled, rows->shape[0], &filled))
    return cache->refuse(cache, "fewer rows are expected");
  if (!reserve(cache, filled)) return false;
  copy_rows(cache, cache->filled, rows, 0, rows->shape[0]);
  cache->filled = filled;
  return true;
}

bool tvms_kv_plain_fill(tvms_kv_plain *cache, int64_t filled) {
  if (filled > cache->data->shape[0])
    return cache->refuse(cache, "fewer filled rows are expected");
  if (filled >= 0) cache->filled = cache->position = filled;
  return true;
}

bool tvms_kv_plain_update(tvms_kv_plain *cache, const tvms_dl_tensor *rows) {
  if (!check_rows(cache, rows)) return false;
  if (rows->shape[0] != cache->filled)
    return cache->refuse(cache, "as many rows as are filled are expected");
  copy_rows(cache, 0, rows, 0, rows->shape[0]);
  return true;
}

bool tvms_kv_plain_check(tvms_kv_plain *cache, const int64_t *sizes, int64_t count) {
  const tvms_dl_tensor *data = cache->data;
  bool same = count == data->ndim && sizes[0] == cache->filled;
  for (int64_t i = 1; same && i < count; i++)
    same = sizes[i] == data->shape[i];
  return same || cache->refuse(cache, "the shape of what is filled is expected");
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

bool tvms_kv_plain_window(tvms_kv_plain *cache, const tvms_dl_tensor *rows,
                          int64_t most, int64_t sinks) {
  if (!check_rows(cache, rows)) return false;
  const int64_t given = rows->shape[0];
  const int64_t filled = cache->filled, position = cache->position;
  if (sinks < 0 || most < sinks || given > most - sinks)
    return cache->refuse(cache, "as many rows as the window holds are expected");
  if (filled <= most - given && !reserve(cache, filled + given)) return false;
  const int64_t first = least(given, most - position), room = cache->data->shape[0];
  if (first < 0 || position + first > room || sinks + given - first > room)
    return cache->refuse(cache, "a window that the cache has room for is expected");
  cache->filled = least(filled + given, most);
  cache->position = least(position + given, most);
  copy_rows(cache, position, rows, 0, first);
  if (first < given) {
    copy_rows(cache, sinks, rows, first, given - first);
    cache->position = given - first + sinks;
  }
  return true;
}

bool tvms_kv_plain_pop(tvms_kv_plain *cache, int64_t rows) {
  if (rows < 0 || rows > cache->filled)
    return cache->refuse(cache, "no more rows than are filled are expected");
  cache->filled -= rows;
  return true;
}
