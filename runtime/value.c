// Objects in one doubly linked list per heap.
//
// The list makes freeing all of them, and one of them, a matter of pointers. A tensor and
// its data are one block, with the data aligned inside of it.
#include "runtime/value.h"

#include <string.h>

void tvms_heap_init(tvms_heap *heap, tvms_memory *memory) {
  *heap = (tvms_heap){.memory = memory, .largest = (uint64_t)1 << 40};
}

void tvms_heap_fini(tvms_heap *heap) {
  while (heap->newest) {
    tvms_object *older = heap->newest->older;
    tvms_memory_free(heap->memory, heap->newest);
    heap->newest = older;
  }
}

static void adopt(tvms_heap *heap, tvms_object *object, tvms_value_kind kind) {
  object->heap = heap;
  object->older = heap->newest;
  if (object->older) object->older->newer = object;
  heap->newest = object;
  object->count = 1;
  object->kind = (uint8_t)kind;
}

static void discard(tvms_object *object) {
  tvms_heap *heap = object->heap;
  const tvms_tensor *tensor = (const tvms_tensor *)object;
  if (object->kind == TVMS_VALUE_TENSOR && !tensor->base) heap->alive -= tensor->bytes;
  if (object->newer)
    object->newer->older = object->older;
  else
    heap->newest = object->older;
  if (object->older) object->older->newer = object->newer;
  tvms_memory_free(heap->memory, object);
}

bool tvms_tensor_measure(tvms_dl_type type, int32_t ndim, const int64_t *shape,
                         uint64_t *bytes) {
  *bytes = tvms_dl_element_size(type) * type.lanes;
  bool empty = false;
  for (int32_t i = 0; i < ndim; i++) {
    if (shape[i] < 0) return false;
    empty |= shape[i] == 0;
  }
  if (empty) {
    *bytes = 0;
    return true;
  }
  for (int32_t i = 0; i < ndim; i++) {
    if (__builtin_mul_overflow(*bytes, (uint64_t)shape[i], bytes)) return false;
  }
  return true;
}

static tvms_tensor *make(tvms_heap *heap, tvms_value_kind kind, int32_t ndim,
                         const int64_t *shape, uint64_t bytes) {
  size_t head = sizeof(tvms_tensor) + (size_t)ndim * sizeof(int64_t);
  size_t room = bytes ? (size_t)bytes + TVMS_TENSOR_ALIGNMENT : 0;
  tvms_tensor *tensor = tvms_memory_alloc(heap->memory, head + room);
  adopt(heap, &tensor->head, kind);
  heap->made += bytes;
  heap->alive += bytes;
  if (ndim) memcpy(tensor->shape, shape, (size_t)ndim * sizeof *shape);
  tensor->bytes = bytes;
  tensor->view = (tvms_dl_tensor){
      .device = {TVMS_DL_CPU, 0}, .ndim = ndim, .shape = tensor->shape};
  if (!bytes) return tensor;
  uintptr_t place = (uintptr_t)tensor + head + TVMS_TENSOR_ALIGNMENT - 1;
  char *data =
      (char *)tensor
      + (place / TVMS_TENSOR_ALIGNMENT * TVMS_TENSOR_ALIGNMENT - (uintptr_t)tensor);
  tensor->view.data = memset(data, 0xFF, (size_t)bytes);
  return tensor;
}

tvms_tensor *tvms_tensor_new(tvms_heap *heap, tvms_dl_type type, int32_t ndim,
                             const int64_t *shape) {
  uint64_t bytes;
  if (!tvms_tensor_measure(type, ndim, shape, &bytes) || bytes > heap->largest)
    return NULL;
  tvms_tensor *tensor = make(heap, TVMS_VALUE_TENSOR, ndim, shape, bytes);
  tensor->view.dtype = type;
  return tensor;
}

tvms_tensor *tvms_shape_new(tvms_heap *heap, int32_t ndim, const int64_t *shape) {
  return make(heap, TVMS_VALUE_SHAPE, ndim, shape, 0);
}

tvms_tensor *tvms_tensor_within(tvms_tensor *base, uint64_t offset, tvms_dl_type type,
                                int32_t ndim, const int64_t *shape) {
  uint64_t bytes;
  bool inside = tvms_tensor_measure(type, ndim, shape, &bytes) && offset <= base->bytes
                && bytes <= base->bytes - offset;
  if (!inside) return NULL;
  tvms_tensor *tensor = make(base->head.heap, TVMS_VALUE_TENSOR, ndim, shape, 0);
  tensor->view.dtype = type;
  tensor->bytes = bytes;
  if (bytes) tensor->view.data = (char *)base->view.data + offset;
  tensor->base = &base->head;
  base->head.count++;
  return tensor;
}

tvms_tensor *tvms_tensor_over(tvms_heap *heap, tvms_dl_type type, int32_t ndim,
                              const int64_t *shape, void *bytes, uint64_t size) {
  uint64_t needed;
  if (!tvms_tensor_measure(type, ndim, shape, &needed) || needed != size) return NULL;
  tvms_tensor *tensor = make(heap, TVMS_VALUE_TENSOR, ndim, shape, 0);
  tensor->view.dtype = type;
  if (size) tensor->view.data = bytes;
  tensor->bytes = size;
  heap->alive += size;
  return tensor;
}

tvms_items *tvms_items_new(tvms_heap *heap, tvms_value_kind kind, uint32_t len) {
  tvms_items *items =
      tvms_memory_alloc(heap->memory, sizeof *items + len * sizeof(tvms_value));
  adopt(heap, &items->head, kind);
  items->len = len;
  return items;
}

tvms_items *tvms_tuple_new(tvms_heap *heap, uint32_t len) {
  return tvms_items_new(heap, TVMS_VALUE_TUPLE, len);
}

int64_t tvms_tensor_len(const tvms_tensor *tensor) {
  int64_t len = 1;
  for (int32_t i = 0; i < tensor->view.ndim; i++) {
    if (tensor->shape[i] == 0) return 0;
  }
  for (int32_t i = 0; i < tensor->view.ndim; i++) {
    len *= tensor->shape[i];
  }
  return len;
}

static char *place_of(const tvms_tensor *tensor, int64_t at) {
  size_t size = tvms_dl_element_size(tensor->view.dtype) * tensor->view.dtype.lanes;
  return (char *)tensor->view.data + (size_t)at * size;
}

tvms_scalar tvms_tensor_get(const tvms_tensor *tensor, int64_t at) {
  return tvms_dl_element_get(place_of(tensor, at), tensor->view.dtype);
}

void tvms_tensor_set(tvms_tensor *tensor, int64_t at, tvms_scalar value) {
  tvms_dl_element_set(place_of(tensor, at), tensor->view.dtype, value);
}

tvms_value tvms_value_keep(tvms_value value) {
  if (value.kind >= TVMS_VALUE_SHAPE) value.object->count++;
  return value;
}

// Tuples of programs nest a few levels; the depth is that of the program's own types.
void tvms_value_drop(tvms_value value) {
  if (value.kind < TVMS_VALUE_SHAPE || --value.object->count) return;
  tvms_object *base = value.kind == TVMS_VALUE_TENSOR ? value.tensor->base : NULL;
  if (value.kind >= TVMS_VALUE_TUPLE) {
    for (uint32_t i = 0; i < value.tuple->len; i++) {
      tvms_value_drop(value.tuple->items[i]);
    }
  }
  discard(value.object);
  if (base) tvms_value_drop((tvms_value){.kind = base->kind, .object = base});
}
