// The cache of attention without pages (runtime/kv_plain.h) as a value of the interpreter.
//
// A cache is a state of four items: its kind, the tensor, how many rows of it are filled, and where the
// next row of a window goes. A function that changes a cache gives it back.
#include "interp/builtin.h"
#include "runtime/kv_plain.h"

#include <string.h>

static const char kind_of_cache[] = "relax.vm.AttentionKVCacheLegacy";

enum { KIND, DATA, FILLED, POSITION, ITEMS };

// A cache in a call.
typedef struct {
  tvms_kv_plain plain;  // first
  const tvms_builtin *b;
  tvms_items *items;
} cache;

static tvms_tensor *data_of(const tvms_items *items) {
  return items->items[DATA].tensor;
}

static int64_t *sizes_of_rows(const tvms_builtin *b, const tvms_tensor *data,
                              int64_t rows) {
  size_t size = (size_t)data->view.ndim;
  int64_t *shape = tvms_builtin_scratch(b, int64_t, size);
  memcpy(shape, data->shape, size * sizeof *shape);
  shape[0] = rows;
  return shape;
}

static bool widen(tvms_kv_plain *plain, int64_t rows) {
  cache *c = (cache *)plain;
  const tvms_tensor *data = data_of(c->items);
  tvms_tensor *wide = tvms_interp_builtin_new_tensor(
      c->b, data->view.dtype, data->view.ndim, sizes_of_rows(c->b, data, rows));
  if (data->bytes) memcpy(wide->view.data, data->view.data, data->bytes);
  tvms_value_drop(c->items->items[DATA]);
  c->items->items[DATA] = tvms_value_of_tensor(wide);
  plain->data = &wide->view;
  return true;
}

static bool refuse(tvms_kv_plain *plain, const char *text) {
  tvms_interp_builtin_refuse(((cache *)plain)->b, text);
}

static cache cache_of(const tvms_builtin *b, tvms_value value) {
  bool is_cache = value.kind == TVMS_VALUE_STATE && value.tuple->len == ITEMS
                  && value.tuple->items[KIND].text == kind_of_cache;
  if (!is_cache) tvms_interp_builtin_refuse(b, "a cache is expected");
  tvms_items *items = value.tuple;
  return (cache){.plain = {.data = &data_of(items)->view,
                           .filled = items->items[FILLED].i,
                           .position = items->items[POSITION].i,
                           .widen = widen,
                           .refuse = refuse},
                 .b = b,
                 .items = items};
}

static cache cache_at(const tvms_builtin *b) {
  return cache_of(b, b->count ? b->args[0] : (tvms_value){0});
}

// Keeps what the call has changed.
static tvms_items *put_back(const cache *c) {
  c->items->items[FILLED].i = c->plain.filled;
  c->items->items[POSITION].i = c->plain.position;
  return c->items;
}

static tvms_value give_back(const cache *c) {
  return tvms_value_keep((tvms_value){.kind = TVMS_VALUE_STATE, .tuple = put_back(c)});
}

static const tvms_dl_tensor *rows_at(const tvms_builtin *b, uint32_t i) {
  tvms_tensor *rows = tvms_interp_builtin_tensor(b, i);
  if (rows->view.ndim < 1)
    tvms_interp_builtin_refuse(b, "a tensor with rows is expected");
  return &rows->view;
}

tvms_value tvms_interp_builtin_cache_create(const tvms_builtin *b) {
  const tvms_dl_tensor *values = rows_at(b, 0);
  const tvms_tensor *shape = tvms_interp_builtin_shape(b, 1);
  int64_t filled = tvms_interp_builtin_number(b, 2);
  if (shape->view.ndim < 1)
    tvms_interp_builtin_refuse(b, "a shape with rows is expected");
  tvms_tensor *data =
      tvms_interp_builtin_new_tensor(b, values->dtype, shape->view.ndim, shape->shape);
  tvms_items *items = tvms_items_new(b->frame->interp->heap, TVMS_VALUE_STATE, ITEMS);
  items->items[KIND] = (tvms_value){.kind = TVMS_VALUE_STR, .text = kind_of_cache};
  items->items[DATA] = tvms_value_of_tensor(data);
  items->items[FILLED] = (tvms_value){.kind = TVMS_VALUE_INT};
  items->items[POSITION] = (tvms_value){.kind = TVMS_VALUE_INT};
  const tvms_value made = {.kind = TVMS_VALUE_STATE, .tuple = items};
  cache c = cache_of(b, made);
  (void)(tvms_kv_plain_append(&c.plain, values)
         && tvms_kv_plain_fill(&c.plain, filled));
  put_back(&c);
  return made;
}

tvms_value tvms_interp_builtin_cache_append(const tvms_builtin *b) {
  cache c = cache_at(b);
  (void)tvms_kv_plain_append(&c.plain, rows_at(b, 1));
  return give_back(&c);
}

tvms_value tvms_interp_builtin_cache_update(const tvms_builtin *b) {
  cache c = cache_at(b);
  (void)tvms_kv_plain_update(&c.plain, rows_at(b, 1));
  return give_back(&c);
}

tvms_value tvms_interp_builtin_cache_view(const tvms_builtin *b) {
  cache c = cache_at(b);
  tvms_tensor *data = data_of(c.items);
  if (b->count > 1) {
    const tvms_tensor *asked = tvms_interp_builtin_shape(b, 1);
    (void)tvms_kv_plain_check(&c.plain, asked->shape, asked->view.ndim);
  }
  return tvms_interp_builtin_view(b, data, 0, data->view.dtype, data->view.ndim,
                                  sizes_of_rows(b, data, c.plain.filled));
}

tvms_value tvms_interp_builtin_cache_window(const tvms_builtin *b) {
  cache c = cache_at(b);
  const tvms_dl_tensor *rows = rows_at(b, 1);
  int64_t most = tvms_interp_builtin_number(b, 2);
  int64_t sinks = b->count > 3 ? tvms_interp_builtin_number(b, 3) : 0;
  (void)tvms_kv_plain_window(&c.plain, rows, most, sinks);
  return give_back(&c);
}

static const tvms_items *caches_at(const tvms_builtin *b) {
  return tvms_interp_builtin_items(b, 0, TVMS_VALUE_TUPLE,
                                   "a tuple of caches is expected");
}

tvms_value tvms_interp_builtin_cache_popn(const tvms_builtin *b) {
  const tvms_items *caches = caches_at(b);
  int64_t rows = tvms_interp_builtin_number(b, 1);
  for (uint32_t i = 0; i < caches->len; i++) {
    cache c = cache_of(b, caches->items[i]);
    (void)tvms_kv_plain_pop(&c.plain, rows);
    put_back(&c);
  }
  return (tvms_value){0};
}

tvms_value tvms_interp_builtin_cache_clear(const tvms_builtin *b) {
  const tvms_items *caches = caches_at(b);
  for (uint32_t i = 0; i < caches->len; i++) {
    cache c = cache_of(b, caches->items[i]);
    c.plain.filled = c.plain.position = 0;
    put_back(&c);
  }
  return (tvms_value){0};
}
