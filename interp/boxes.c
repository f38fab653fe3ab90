// The lists are not regions of memory of a statement: what is set in a branch is there behind it, so pointers
// are looked up among what the lists hold now.
#include "interp/boxes.h"

#include "interp/buffer.h"
#include "interp/prim.h"
#include "interp/tensor.h"
#include "runtime/box_object.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

struct tvms_interp_boxes {
  tvms_resource resource;
  tvms_memory *memory;
  struct tvms_interp_boxes *TVMS_NULLABLE older;  // of the frame
  TVMS_VEC(tvms_any) dropped;                     // what items were
  int64_t count;
  tvms_any items[];
};

// ---- Lists ----

static void drop_list(void *what) {
  struct tvms_interp_boxes *list = what;
  tvms_box_drop(list->items, list->count);
  if (list->dropped.len) tvms_box_drop(list->dropped.items, list->dropped.len);
  tvms_vec_fini(list->memory, &list->dropped);
  tvms_memory_free(list->memory, list);
}

tvms_any *tvms_interp_boxes_new(tvms_interp_frame *f, int64_t count, tvms_span span) {
  enum { MOST = 65535 };
  if (count < 0 || count > MOST)
    fault(f, TVMS_D_too_much_memory, span, (unsigned long long)count);
  tvms_memory *memory = &f->context->memory;
  size_t bytes = sizeof(struct tvms_interp_boxes) + (size_t)count * sizeof(tvms_any);
  struct tvms_interp_boxes *list = tvms_memory_alloc(memory, bytes);
  memset(list, 0, bytes);
  list->memory = memory;
  list->older = f->boxes;
  list->count = count;
  tvms_memory_hold(memory, &list->resource, drop_list, list);
  f->boxes = list;
  return list->items;
}

void tvms_interp_boxes_close(tvms_interp_frame *f) {
  while (f->boxes) {
    struct tvms_interp_boxes *list = f->boxes;
    f->boxes = list->older;
    tvms_memory_release(list->memory, &list->resource);
    drop_list(list);
  }
}

// ---- Memory ----

// Does a pointer stand in so many bytes, or just behind them?
static bool stands_in(const char *at, const void *base, uint64_t bytes,
                      tvms_interp_region *region) {
  const char *begin = base;
  if (!begin || at < begin || (uint64_t)(at - begin) > bytes) return false;
  *region = (tvms_interp_region){(char *)(uintptr_t)base, bytes, NULL};
  return true;
}

// Does it stand in them? What describes an object lies side by side.
static bool reads(const char *at, const void *base, uint64_t bytes,
                  tvms_interp_region *region) {
  return stands_in(at, base, bytes, region) && region->base + bytes != at;
}

static bool in_tensor(const char *at, const tvms_box_tensor *tensor, bool readable,
                      tvms_interp_region *region) {
  const tvms_dl_tensor *view = &tensor->tensor;
  uint64_t bytes, row = (uint64_t)view->ndim * sizeof(int64_t);
  if (!tvms_box_bytes(view->dtype, view->shape, view->ndim, &bytes)) return false;
  if (stands_in(at, tvms_box_data(view), bytes, region)) return true;
  return readable
         && (reads(at, tensor, sizeof tensor->head + sizeof *view, region)
             || reads(at, view->shape, row, region)
             || reads(at, view->strides, row, region));
}

static bool in_shape(const char *at, tvms_any value, tvms_interp_region *region) {
  int64_t count = 0;
  tvms_box_args a = {.args = &value, .count = 1};
  const int64_t *sizes = tvms_box_sizes_at(&a, 0, &count);
  size_t head = sizeof(tvms_any_object) + 2 * sizeof(int64_t);
  return reads(at, value.v.p, head, region)
         || reads(at, sizes, (uint64_t)count * sizeof *sizes, region);
}

static bool in_items(const char *at, const tvms_any *items, int64_t count,
                     bool readable, tvms_interp_region *region);

static bool in_object(const char *at, tvms_any value, bool readable,
                      tvms_interp_region *region) {
  int64_t count = 0;
  switch (value.type_index) {
  case TVMS_ANY_TENSOR: return in_tensor(at, value.v.p, readable, region);
  case TVMS_ANY_SHAPE: return readable && in_shape(at, value, region);
  case TVMS_ANY_ARRAY: {
    const tvms_any *items = tvms_box_items(value, &count);
    return items && in_items(at, items, count, readable, region);
  }
  default: return false;
  }
}

static bool in_items(const char *at, const tvms_any *items, int64_t count,
                     bool readable, tvms_interp_region *region) {
  bool listed =
      readable && stands_in(at, items, (uint64_t)count * sizeof *items, region);
  if (listed) return true;
  for (int64_t i = 0; i < count; i++)
    if (items[i].v.p && in_object(at, items[i], readable, region)) return true;
  return false;
}

tvms_interp_region tvms_interp_boxes_region(const tvms_interp_frame *f,
                                            const void *pointer, bool readable) {
  tvms_interp_region region = {0};
  for (const struct tvms_interp_boxes *list = f->boxes; list; list = list->older)
    if (in_items(pointer, list->items, list->count, readable, &region)) return region;
  return (tvms_interp_region){0};
}

// ---- Items ----

// The list that an item at a pointer belongs to.
static struct tvms_interp_boxes *TVMS_NULLABLE list_of(const tvms_interp_frame *f,
                                                       const char *at) {
  tvms_interp_region region;
  for (; f; f = f->outer) {
    for (struct tvms_interp_boxes *list = f->boxes; list; list = list->older) {
      uint64_t bytes = (uint64_t)list->count * sizeof(tvms_any);
      if (!stands_in(at, list->items, bytes, &region)) continue;
      size_t from = (size_t)(at - (const char *)list->items);
      if (from < bytes && from % sizeof(tvms_any) == 0) return list;
    }
  }
  return NULL;
}

tvms_interp_place tvms_interp_boxes_place(tvms_interp_frame *f, const tvms_call *call) {
  if (call->args.len < 2)
    fault(f, TVMS_D_too_few_arguments, call->head.span,
          tvms_symbol_text(f->context, tvms_as_operator(call->callee)->name));
  tvms_any *first = tvms_interp_eval(f, call->args.items[0], 0).p;
  int64_t index = tvms_interp_eval_int(f, call->args.items[1]);
  struct tvms_interp_boxes *list = first ? list_of(f, (const char *)first) : NULL;
  if (!list || index < 0 || index >= list->count - (first - list->items))
    fault(f, TVMS_D_outside_struct, call->head.span, 0LL, (long long)index);
  return (tvms_interp_place){list, first + index};
}

void tvms_interp_boxes_put(tvms_interp_place place, tvms_any value) {
  tvms_any held = *place.item;
  // That may unwind: the item still owns it then.
  if (held.type_index >= TVMS_ANY_OBJECT && held.v.p)
    tvms_vec_push(place.list->memory, &place.list->dropped, held);
  *place.item = value;
}

// ---- Values ----

static tvms_value tensor_value(tvms_interp_frame *f, const tvms_box_tensor *box,
                               tvms_span span) {
  const tvms_dl_tensor *view = &box->tensor;
  tvms_tensor *made =
      tvms_interp_new_tensor(f, span, view->dtype, view->ndim, view->shape);
  if (made->bytes) memcpy(made->view.data, tvms_box_data(view), made->bytes);
  return tvms_value_of_tensor(made);
}

tvms_value tvms_interp_boxes_value(tvms_interp_frame *f, tvms_any any, tvms_span span) {
  int64_t count = 0;
  switch (any.type_index) {
  case TVMS_ANY_INT: return (tvms_value){.kind = TVMS_VALUE_INT, .i = any.v.i};
  case TVMS_ANY_BOOL: return (tvms_value){.kind = TVMS_VALUE_BOOL, .i = any.v.i};
  case TVMS_ANY_FLOAT: return (tvms_value){.kind = TVMS_VALUE_FLOAT, .f = any.v.f};
  case TVMS_ANY_TENSOR: return tensor_value(f, any.v.p, span);
  case TVMS_ANY_SHAPE: {
    tvms_box_args a = {.args = &any, .count = 1};
    const int64_t *sizes = tvms_box_sizes_at(&a, 0, &count);
    tvms_tensor *shape = tvms_shape_new(f->interp->heap, (int32_t)count, sizes);
    return (tvms_value){.kind = TVMS_VALUE_SHAPE, .tensor = shape};
  }
  case TVMS_ANY_ARRAY: {
    const tvms_any *items = tvms_box_items(any, &count);
    tvms_items *tuple = tvms_tuple_new(f->interp->heap, (uint32_t)count);
    for (int64_t i = 0; i < count; i++)
      tuple->items[i] = tvms_interp_boxes_value(f, items[i], span);
    return (tvms_value){.kind = TVMS_VALUE_TUPLE, .tuple = tuple};
  }
  default: return (tvms_value){0};
  }
}

// ---- Calls ----

tvms_any tvms_interp_boxes_call(tvms_interp_frame *f, const char *name,
                                const tvms_any *args, int32_t count, tvms_span span) {
  tvms_any result = {0};
  // Nothing tells what code a pointer of the program points to.
  bool pointer = count > 0 && args[0].type_index == TVMS_ANY_POINTER;
  if (pointer && !strcmp(name, "vm.builtin.make_closure"))
    fault(f, TVMS_D_call_not_interpreted, span, name);
  if (tvms_box_find(name)(NULL, args, count, &result) == 0) return result;
  char text[256];
  // The last argument of a check says of whom it is.
  bool told = !strncmp(name, "vm.builtin.check_", 17) && count > 0
              && args[count - 1].type_index == TVMS_ANY_TEXT;
  snprintf(text, sizeof text, "%s%s: the arguments are not what is expected",
           told ? (const char *)args[count - 1].v.p : "", name);
  fault(f, TVMS_D_compiled_code_raised, span, "ValueError", text);
}
