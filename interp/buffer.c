// Buffers: what memory they stand for, and the checked way to an element.
//
// A buffer is a view on memory that a region describes: of a tensor that was passed, or of
// an allocation that still lives. Both the indices and the address are checked, so a view
// with strange strides cannot reach beyond its memory.
#include "interp/buffer.h"

#include "interp/boxes.h"
#include "interp/expr.h"
#include "interp/frame.h"
#include "support/diag_ids.h"
static const char *name_of(const tvms_interp_frame *f, const tvms_node *buffer) {
  return tvms_symbol_text(f->context, tvms_as_buffer(buffer)->name);
}

void tvms_interp_add_region(tvms_interp_frame *f, void *base, uint64_t bytes) {
  tvms_interp_region memory = {base, bytes, NULL};
  tvms_vec_push(&f->context->memory, &f->regions, memory);
}

// The memory that a pointer stands in; a pointer just past the end belongs to it too. Of objects that is the
// elements of tensors, or what can only be read, too.
static tvms_interp_region find_region(const tvms_interp_frame *f, const void *pointer,
                                      bool readable) {
  const char *at = pointer;
  tvms_interp_region past = {0};
  if (!at) return past;
  for (; f; f = f->outer) {
    for (uint32_t i = f->regions.len; i > 0; i--) {
      tvms_interp_region memory = f->regions.items[i - 1];
      if (!memory.base) continue;  // of a tensor without elements
      if (at >= memory.base && at < memory.base + memory.bytes) return memory;
      if (at == memory.base + memory.bytes) past = memory;
    }
    if (!f->boxes) continue;
    tvms_interp_region held = tvms_interp_boxes_region(f, pointer, readable);
    if (held.base && at < held.base + held.bytes) return held;
    if (held.base) past = held;
  }
  return past;
}

static uint64_t bytes_behind(tvms_interp_region memory, const void *pointer) {
  if (!memory.base) return 0;
  return memory.bytes - (uint64_t)((const char *)pointer - memory.base);
}

uint64_t tvms_interp_bytes_from(const tvms_interp_frame *f, const void *pointer) {
  return bytes_behind(find_region(f, pointer, false), pointer);
}

uint64_t tvms_interp_readable_from(const tvms_interp_frame *f, const void *pointer) {
  return bytes_behind(find_region(f, pointer, true), pointer);
}

uint32_t tvms_interp_begin_memory(const tvms_interp_frame *f) {
  return f->regions.len;
}

void tvms_interp_end_memory(tvms_interp_frame *f, uint32_t mark) {
  while (f->regions.len > mark) {
    tvms_tensor *owner = f->regions.items[--f->regions.len].owner;
    if (owner) tvms_value_drop(tvms_value_of_tensor(owner));
  }
}

static uint64_t within_limit(tvms_interp_frame *f, uint64_t bytes, tvms_span span) {
  if (bytes > f->interp->heap->largest) {
    fault(f, TVMS_D_too_much_memory, span, (unsigned long long)bytes);
  }
  return bytes;
}

// Bytes of an allocation; faults if they are too many.
static uint64_t bytes_of(tvms_interp_frame *f, tvms_dtype element, tvms_list extents,
                         tvms_span span) {
  tvms_dl_type type = tvms_interp_dl_type_of(element);
  uint64_t bytes = tvms_dl_element_size(type) * type.lanes;
  if (!bytes) {
    char text[TVMS_DTYPE_TEXT];
    fault(f, TVMS_D_no_memory_of_kind, span, tvms_dtype_text(element, text));
  }
  for (uint32_t i = 0; i < extents.len; i++) {
    int64_t extent = tvms_interp_eval_int(f, extents.items[i]);
    if (extent < 0) extent = 0;
    if (__builtin_mul_overflow(bytes, (uint64_t)extent, &bytes)) bytes = UINT64_MAX;
  }
  return within_limit(f, bytes, span);
}

static void *take_bytes(tvms_interp_frame *f, uint64_t count, tvms_span span) {
  int64_t bytes = (int64_t)count;
  // One byte more: then it has an address of its own even if it is empty.
  int64_t taken = bytes + 1;
  tvms_dl_type byte = {TVMS_DL_UINT, 8, 1};
  tvms_tensor *owner = tvms_tensor_new(f->interp->heap, byte, 1, &taken);
  if (!owner) fault(f, TVMS_D_too_much_memory, span, (unsigned long long)bytes);
  tvms_interp_region memory = {owner->view.data, (uint64_t)bytes, owner};
  tvms_vec_push(&f->context->memory, &f->regions, memory);
  return memory.base;
}

void *tvms_interp_allocate(tvms_interp_frame *f, tvms_dtype element, tvms_list extents,
                           tvms_span span) {
  return take_bytes(f, bytes_of(f, element, extents, span), span);
}

// Adds the least and the greatest of `index * stride` for indices below `extent`; false if
// they are too large to tell.
static bool widen_reach(int64_t extent, int64_t stride, int64_t *least, int64_t *most) {
  int64_t far;
  if (__builtin_mul_overflow(extent - 1, stride, &far)) return false;
  int64_t *end = far < 0 ? least : most;
  return !__builtin_add_overflow(*end, far, end);
}

// Strides may leave gaps between rows: memory reaches to the last element.
static uint64_t bytes_of_strided(tvms_interp_frame *f, const tvms_buffer *buffer,
                                 tvms_span span) {
  int64_t least = 0, most = 0;
  for (uint32_t i = 0; i < buffer->shape.len && i < buffer->strides.len; i++) {
    int64_t extent = tvms_interp_eval_int(f, buffer->shape.items[i]);
    int64_t stride = tvms_interp_eval_int(f, buffer->strides.items[i]);
    if (extent <= 0) return 0;
    if (!widen_reach(extent, stride, &least, &most)) most = INT64_MAX - 1;
  }
  uint64_t bytes = bytes_of(f, buffer->element, (tvms_list){0}, span);
  if (__builtin_mul_overflow(bytes, (uint64_t)most + 1, &bytes)) bytes = UINT64_MAX;
  return within_limit(f, bytes, span);
}

// A view with room for its dimensions; used again each time the buffer is defined.
static tvms_interp_view *view_of(tvms_interp_frame *f, const tvms_buffer *buffer) {
  tvms_interp_view **slot = &f->views[buffer->head.id];
  if (*slot) return *slot;
  tvms_interp_view *v = tvms_arena_new(&f->context->scratch, tvms_interp_view);
  uint32_t ndim = buffer->shape.len;
  v->ndim = ndim;
  v->shape = tvms_arena_array(&f->context->scratch, int64_t, ndim);
  v->strides = tvms_arena_array(&f->context->scratch, int64_t, ndim);
  v->type = tvms_interp_dl_type_of(buffer->element);
  v->size = tvms_dl_element_size(v->type) * v->type.lanes;
  v->constant = !buffer->elem_offset || buffer->elem_offset->kind == TVMS_NODE_INT_IMM;
  for (uint32_t i = 0; i < ndim; i++) {
    v->constant &= buffer->shape.items[i]->kind == TVMS_NODE_INT_IMM;
  }
  for (uint32_t i = 0; i < buffer->strides.len; i++) {
    v->constant &= buffer->strides.items[i]->kind == TVMS_NODE_INT_IMM;
  }
  *slot = v;
  return v;
}

void tvms_interp_settle_view(tvms_interp_view *v) {
  int64_t least = v->offset, most = v->offset;
  v->whole = false;
  for (uint32_t i = 0; i < v->ndim; i++) {
    if (v->shape[i] < 0) return;
    if (v->shape[i] == 0) continue;  // then no access is good
    if (!widen_reach(v->shape[i], v->strides[i], &least, &most)) return;
  }
  int64_t size = (int64_t)v->size, begin, end;
  if (!v->memory.base || most == INT64_MAX) return;
  if (__builtin_mul_overflow(least, size, &begin)) return;
  if (__builtin_mul_overflow(most + 1, size, &end)) return;
  int64_t at = (int64_t)((uintptr_t)v->data - (uintptr_t)v->memory.base);
  if (__builtin_add_overflow(begin, at, &begin)
      || __builtin_add_overflow(end, at, &end))
    return;
  v->whole = begin >= 0 && (uint64_t)end <= v->memory.bytes;
}

// Evaluates sizes, strides and offset of a buffer whose data are known.
static void measure_view(tvms_interp_frame *f, tvms_interp_view *v,
                         const tvms_buffer *buffer, void *data) {
  v->data = data;
  v->memory = find_region(f, data, false);
  int64_t compact = 1;
  for (uint32_t i = v->ndim; i > 0; i--) {
    v->shape[i - 1] = tvms_interp_eval_int(f, buffer->shape.items[i - 1]);
    v->strides[i - 1] = compact;
    compact = (int64_t)((uint64_t)compact * (uint64_t)v->shape[i - 1]);
  }
  tvms_list strides = tvms_buffer_strides(&buffer->head);
  for (uint32_t i = 0; i < strides.len; i++) {
    v->strides[i] = tvms_interp_eval_int(f, strides.items[i]);
  }
  v->offset = 0;
  const tvms_node *offset = buffer->elem_offset;
  if (!offset) return;
  // An offset that nobody gave a value is an unused name of the buffer itself.
  if (offset->kind == TVMS_NODE_VAR && !f->bound[offset->id]) return;
  v->offset = tvms_interp_eval_int(f, offset);
}

static void fill_view(tvms_interp_frame *f, tvms_interp_view *v,
                      const tvms_buffer *buffer, void *data) {
  measure_view(f, v, buffer, data);
  tvms_interp_settle_view(v);
}

tvms_interp_view *tvms_interp_define_buffer(tvms_interp_frame *f, const tvms_node *node,
                                            void *data) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  tvms_interp_view *v = view_of(f, buffer);
  v->defined = true;
  if (data)
    tvms_interp_bind_var(f, buffer->data, (tvms_scalar){.p = data});
  else
    data = tvms_interp_eval(f, buffer->data, 0).p;
  fill_view(f, v, buffer, data);
  return v;
}

void tvms_interp_allocate_buffer(tvms_interp_frame *f, const tvms_node *node) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  uint64_t bytes = tvms_buffer_strides(node).len
                       ? bytes_of_strided(f, buffer, node->span)
                       : bytes_of(f, buffer->element, buffer->shape, node->span);
  tvms_interp_define_buffer(f, node, take_bytes(f, bytes, node->span));
}

tvms_interp_view *tvms_interp_use_buffer(tvms_interp_frame *f, const tvms_node *node,
                                         tvms_span span) {
  tvms_interp_view *v = f->views[node->id];
  if (v && v->defined) return v;
  const tvms_buffer *buffer = tvms_as_buffer(node);
  if (buffer->data->kind == TVMS_NODE_VAR && !f->bound[buffer->data->id]) {
    fault(f, TVMS_D_buffer_without_memory, span, name_of(f, node));
  }
  void *data = tvms_interp_eval(f, buffer->data, 0).p;
  if (v && v->constant && v->data == data) return v;
  v = view_of(f, buffer);
  fill_view(f, v, buffer, data);
  return v;
}

static int64_t flat_index(const tvms_interp_view *v, const int64_t *index) {
  int64_t flat = v->offset;
  for (uint32_t i = 0; i < v->ndim; i++) {
    flat += index[i] * v->strides[i];
  }
  return flat;
}

char *tvms_interp_address_at(tvms_interp_frame *f, tvms_interp_view *v,
                             tvms_list indices) {
  int64_t flat = v->offset;
  for (uint32_t i = 0; i < v->ndim && i < indices.len; i++) {
    flat += tvms_interp_eval_int(f, indices.items[i]) * v->strides[i];
  }
  return (char *)v->data + flat * (int64_t)v->size;
}

void tvms_interp_check_index(tvms_interp_frame *f, const tvms_interp_view *v,
                             const tvms_node *buffer, uint32_t at, int64_t index,
                             tvms_span span) {
  if (index >= 0 && index < v->shape[at]) return;
  fault(f, TVMS_D_index_out_of_bounds, span, (long long)index, at, name_of(f, buffer),
        (long long)v->shape[at]);
}

char *tvms_interp_element_of(tvms_interp_frame *f, const tvms_interp_view *v,
                             const tvms_node *buffer, const int64_t *index,
                             tvms_span span) {
  for (uint32_t i = 0; i < v->ndim; i++)
    tvms_interp_check_index(f, v, buffer, i, index[i], span);
  int64_t flat = flat_index(v, index);
  char *at = (char *)v->data + flat * (int64_t)v->size;
  bool inside = v->memory.base && at >= v->memory.base
                && at + v->size <= v->memory.base + v->memory.bytes;
  if (!inside) {
    fault(f, TVMS_D_outside_memory, span, name_of(f, buffer), (long long)flat,
          (unsigned long long)v->memory.bytes);
  }
  return at;
}

char *tvms_interp_element_at(tvms_interp_frame *f, tvms_interp_view *v,
                             const tvms_node *buffer, tvms_list indices, uint32_t lane,
                             tvms_span span) {
  enum { FEW = 16 };
  int64_t few[FEW];
  int64_t *index =
      v->ndim <= FEW ? few : tvms_arena_array(&f->context->scratch, int64_t, v->ndim);
  if (indices.len != v->ndim) {
    fault(f, TVMS_D_wrong_index_count, span, name_of(f, buffer), v->ndim,
          tvms_diag_plural(v->ndim), indices.len,
          indices.len == 1 ? "index" : "indices");
  }
  uint32_t part = lane % v->type.lanes;
  for (uint32_t i = 0; i < v->ndim; i++) {
    index[i] = tvms_interp_eval(f, indices.items[i], lane / v->type.lanes).i;
    tvms_interp_check_index(f, v, buffer, i, index[i], span);
  }
  return tvms_interp_element_of(f, v, buffer, index, span)
         + part * (v->size / v->type.lanes);
}
