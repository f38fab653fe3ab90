// What the entry checks and loads of a tensor.
#include "backend/core/entry_tensors.h"

#include "interp/interp.h"
#include "ir/build.h"

#include <stdio.h>
#include <string.h>

static void check_rank_and_type(tvms_entry_maker *m, tvms_entry_tensor *t) {
  tvms_words *words = &m->words;
  const char *name = tvms_words_of_buffer(words, t->buffer);
  char rank[16], dtype_text[TVMS_DTYPE_TEXT];
  tvms_entry_require_kind(m, t->argument,
                          tvms_entry_negate(m, tvms_entry_equals(m, t->tensor, 0)),
                          "Tensor");
  tvms_entry_guard(m);
  uint32_t ndim =
      tvms_entry_load(m, TVMS_ENTRY_LOAD_INT32, t->tensor, TVMS_LAYOUT_TENSOR_NDIM);
  snprintf(rank, sizeof rank, "%u", t->buffer->shape.len);
  tvms_entry_require(m, tvms_entry_equals(m, ndim, t->buffer->shape.len), "ValueError",
                     tvms_words_message(words, tvms_words_expected(words, "%s", rank),
                                        "Mismatched %s.ndim on argument #%u", name,
                                        t->argument));
  tvms_dl_type type = tvms_interp_dl_type_of(t->buffer->element);
  uint32_t wanted = type.code | (uint32_t)type.bits << 8 | (uint32_t)type.lanes << 16;
  uint32_t got =
      tvms_entry_load(m, TVMS_ENTRY_LOAD_INT32, t->tensor, TVMS_LAYOUT_TENSOR_DTYPE);
  const char *text = tvms_dtype_text(t->buffer->element, dtype_text);
  tvms_entry_require(m, tvms_entry_equals(m, got, (int32_t)wanted), "TypeError",
                     tvms_words_message(words, tvms_words_expected(words, "%s", text),
                                        "Mismatched %s.dtype on argument #%u", name,
                                        t->argument));
  uint32_t device = tvms_entry_load(m, TVMS_ENTRY_LOAD_INT32, t->tensor,
                                    TVMS_LAYOUT_TENSOR_DEVICE_TYPE);
  tvms_entry_require(m, tvms_entry_equals(m, device, TVMS_DL_CPU), "ValueError",
                     tvms_words_message(words, tvms_words_expected(words, "cpu"),
                                        "Mismatched %s.device_type on argument #%u",
                                        name, t->argument));
}

// Loads sizes and strides; without strides those of the shape pointer are read instead,
// which is valid memory, and not used.
static void load_sizes(tvms_entry_maker *m, tvms_entry_tensor *t) {
  tvms_arena *arena = &m->context->scratch;
  uint32_t ndim = t->buffer->shape.len;
  t->shape = tvms_arena_array(arena, uint32_t, ndim);
  t->strides = tvms_arena_array(arena, uint32_t, ndim);
  uint32_t shape =
      tvms_entry_load(m, TVMS_ENTRY_LOAD_POINTER, t->tensor, TVMS_LAYOUT_TENSOR_SHAPE);
  uint32_t strides = tvms_entry_load(m, TVMS_ENTRY_LOAD_POINTER, t->tensor,
                                     TVMS_LAYOUT_TENSOR_STRIDES);
  t->byte_offset = tvms_entry_load(m, TVMS_ENTRY_LOAD_INT64, t->tensor,
                                   TVMS_LAYOUT_TENSOR_BYTE_OFFSET);
  t->data =
      tvms_entry_load(m, TVMS_ENTRY_LOAD_POINTER, t->tensor, TVMS_LAYOUT_TENSOR_DATA);
  t->no_strides = tvms_entry_equals(m, strides, 0);
  strides = tvms_entry_choose(m, t->no_strides, shape, strides);
  uint32_t compact = tvms_entry_number(m, 1);
  tvms_entry_guard(m);
  for (uint32_t i = ndim; i > 0; i--) {
    int64_t at = (int64_t)((i - 1) * sizeof(int64_t));
    t->shape[i - 1] = tvms_entry_take_with(m, TVMS_ENTRY_LOAD_INT64, shape, at);
    uint32_t given = tvms_entry_take_with(m, TVMS_ENTRY_LOAD_INT64, strides, at);
    t->strides[i - 1] = tvms_entry_choose(m, t->no_strides, compact, given);
    if (i > 1) compact = tvms_entry_take(m, TVMS_ENTRY_MUL, compact, t->shape[i - 1]);
  }
  m->params[t->index] = t->data;
}

// Gives a variable its first value.
static void bind_size(tvms_entry_maker *m, const tvms_node *size, uint32_t value,
                      const char *where) {
  if (size->kind != TVMS_NODE_VAR || tvms_words_known(&m->words, size)) return;
  tvms_entry_know(m, size, where, tvms_entry_narrow(m, value, size->dtype));
}

static void bind_offset(tvms_entry_maker *m, tvms_entry_tensor *t) {
  const tvms_buffer *buffer = t->buffer;
  const tvms_node *offset = buffer->elem_offset;
  tvms_words *words = &m->words;
  if (!offset || offset->kind != TVMS_NODE_VAR || tvms_words_known(words, offset))
    return;
  uint32_t bytes = tvms_entry_number(m, tvms_entry_element_bytes(buffer));
  uint32_t elements = tvms_entry_take(m, TVMS_ENTRY_FLOOR_DIV, t->byte_offset, bytes);
  bind_size(m, offset, elements, tvms_words_path(words, buffer, "byte_offset", -1));
  if (buffer->offset_factor <= 1) return;
  char text[64];
  snprintf(text, sizeof text, "data alignment=%lld bytes",
           (long long)(buffer->offset_factor * tvms_entry_element_bytes(buffer)));
  uint32_t factor = tvms_entry_number(m, buffer->offset_factor);
  uint32_t rest = tvms_entry_take(m, TVMS_ENTRY_FLOOR_MOD, elements, factor);
  tvms_entry_require(m, tvms_entry_equals(m, rest, 0), "ValueError",
                     tvms_words_message(words, tvms_words_expected(words, "%s", text),
                                        "Misaligned Tensor data on argument #%u",
                                        t->argument));
}

static void bind_sizes(tvms_entry_maker *m, tvms_entry_tensor *t) {
  const tvms_buffer *buffer = t->buffer;
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    bind_size(m, buffer->shape.items[i], t->shape[i],
              tvms_words_path(&m->words, buffer, "shape", (int)i));
  }
  for (uint32_t i = buffer->strides.len; i > 0; i--) {
    bind_size(m, buffer->strides.items[i - 1], t->strides[i - 1],
              tvms_words_path(&m->words, buffer, "strides", (int)i - 1));
  }
  bind_offset(m, t);
}

// A variable that an earlier place defined: its name in messages; NULL for the place that
// defined it itself.
static const char *earlier(tvms_entry_maker *m, const tvms_node *size,
                           const char *where) {
  const tvms_words_size_known *known = tvms_words_known(&m->words, size);
  return known && strcmp(known->path, where) != 0 ? known->path : NULL;
}

static void check_repeated(tvms_entry_maker *m, tvms_entry_tensor *t,
                           const tvms_node *size, uint32_t got, const char *where) {
  const char *first = size->kind == TVMS_NODE_VAR ? earlier(m, size, where) : NULL;
  if (!first) return;
  tvms_entry_require_same(
      m, got, tvms_entry_size_of(m, size),
      tvms_words_message(&m->words,
                         tvms_words_expected(&m->words, "to match %s", first),
                         "Mismatched %s on argument #%u", where, t->argument));
}

static void check_compact(tvms_entry_maker *m, tvms_entry_tensor *t) {
  const tvms_buffer *buffer = t->buffer;
  uint32_t compact = tvms_entry_number(m, 1), all = t->no_strides;
  for (uint32_t i = buffer->shape.len; i > 0; i--) {
    uint32_t size = tvms_entry_size_of(m, buffer->shape.items[i - 1]);
    uint32_t same = tvms_entry_take(m, TVMS_ENTRY_EQUAL, t->strides[i - 1], compact);
    uint32_t good = tvms_entry_either(m, same, tvms_entry_equals(m, size, 1));
    all =
        i == buffer->shape.len ? good : tvms_entry_take(m, TVMS_ENTRY_BOTH, all, good);
    if (i > 1) compact = tvms_entry_take(m, TVMS_ENTRY_MUL, compact, size);
  }
  // What the shape itself implies is right even if the shape is not the wanted one: that
  // is found, with a better message, below.
  if (!buffer->shape.len) return;
  tvms_entry_require(
      m, tvms_entry_either(m, all, t->no_strides), "ValueError",
      tvms_words_message(&m->words,
                         tvms_words_expected(&m->words, "to be compact array"),
                         "Mismatched %s.strides on argument #%u",
                         tvms_words_of_buffer(&m->words, buffer), t->argument));
}

static void check_device(tvms_entry_maker *m, tvms_entry_tensor *t) {
  tvms_words *words = &m->words;
  uint32_t id = tvms_entry_load(m, TVMS_ENTRY_LOAD_INT32, t->tensor,
                                TVMS_LAYOUT_TENSOR_DEVICE_ID);
  const char *where = tvms_words_path(words, t->buffer, "device_id", -1);
  if (!m->device_path) {
    m->device_id = id;
    m->device_path = where;
    return;
  }
  const char *expected = tvms_words_expected(words, "to match %s", m->device_path);
  tvms_entry_require_same(m, id, m->device_id,
                          tvms_words_message(words, expected,
                                             "Mismatched %s on argument #%u", where,
                                             t->argument));
}

// No data is right only for no elements; and loads need elements where they belong.
static void check_data(tvms_entry_maker *m, tvms_entry_tensor *t) {
  tvms_words *words = &m->words;
  uint32_t count = tvms_entry_number(m, 1);
  for (uint32_t i = 0; i < t->buffer->shape.len; i++) {
    uint32_t size = tvms_entry_size_of(m, t->buffer->shape.items[i]);
    count = tvms_entry_take(m, TVMS_ENTRY_MUL, count, size);
  }
  uint32_t empty = tvms_entry_equals(m, count, 0);
  tvms_entry_require(
      m,
      tvms_entry_either(m, empty,
                        tvms_entry_negate(m, tvms_entry_equals(m, t->data, 0))),
      "ValueError",
      tvms_words_message(words, tvms_words_expected(words, "non-NULL data pointer"),
                         "%s data pointer is NULL on argument #%u",
                         tvms_words_of_buffer(words, t->buffer), t->argument));
  int64_t size = t->buffer->element.code == TVMS_BOOL ? 1 : t->buffer->element.bits / 8;
  if (size < 2) return;
  char text[64];
  snprintf(text, sizeof text, "data alignment=%lld bytes", (long long)size);
  uint32_t rest =
      tvms_entry_take(m, TVMS_ENTRY_BITS_AND, t->data, tvms_entry_number(m, size - 1));
  tvms_entry_require(
      m, tvms_entry_either(m, empty, tvms_entry_equals(m, rest, 0)), "ValueError",
      tvms_words_message(words, tvms_words_expected(words, "%s", text),
                         "Misaligned Tensor data on argument #%u", t->argument));
}

void tvms_entry_check_tensor(tvms_entry_maker *m, tvms_entry_tensor *t) {
  const tvms_buffer *buffer = t->buffer;
  m->fixes = t->fixed;
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    check_repeated(m, t, buffer->shape.items[i], t->shape[i],
                   tvms_words_path(&m->words, buffer, "shape", (int)i));
  }
  if (!buffer->strides.len) check_compact(m, t);
  for (uint32_t i = buffer->strides.len; i > 0; i--) {
    check_repeated(m, t, buffer->strides.items[i - 1], t->strides[i - 1],
                   tvms_words_path(&m->words, buffer, "strides", (int)i - 1));
  }
  check_device(m, t);
  check_data(m, t);
  m->fixes = false;
}

static void check_constant(tvms_entry_maker *m, tvms_entry_tensor *t,
                           const tvms_node *size, uint32_t got, const char *field,
                           int at) {
  if (size->kind == TVMS_NODE_VAR) return;
  tvms_words *words = &m->words;
  const char *shown = tvms_words_of_size(words, size);
  tvms_entry_require_same(
      m, got, tvms_entry_size_of(m, size),
      tvms_words_message(words, tvms_words_expected(words, "%s", shown),
                         "Invalid %s on argument #%u",
                         tvms_words_path(words, t->buffer, field, at), t->argument));
}

static void check_constants(tvms_entry_maker *m, tvms_entry_tensor *t) {
  const tvms_buffer *buffer = t->buffer;
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    check_constant(m, t, buffer->shape.items[i], t->shape[i], "shape", (int)i);
  }
  for (uint32_t i = buffer->strides.len; i > 0; i--) {
    check_constant(m, t, buffer->strides.items[i - 1], t->strides[i - 1], "strides",
                   (int)i - 1);
  }
  const tvms_node *offset = buffer->elem_offset;
  if (offset && offset->kind == TVMS_NODE_VAR) return;
  int64_t bytes =
      offset && tvms_node_is_int_imm(offset)
          ? tvms_as_int_imm(offset)->value * tvms_entry_element_bytes(buffer)
          : 0;
  const char *expected = tvms_words_expected(&m->words, "%lld", (long long)bytes);
  tvms_entry_require_same(
      m, t->byte_offset, tvms_entry_number(m, bytes),
      tvms_words_message(&m->words, expected, "Invalid %s on argument #%u",
                         tvms_words_path(&m->words, buffer, "byte_offset", -1),
                         t->argument));
}

void tvms_entry_check_constants(tvms_entry_maker *m, tvms_entry_tensor *t) {
  m->fixes = t->fixed;
  check_constants(m, t);
  m->fixes = false;
}

void tvms_entry_load_tensor(tvms_entry_maker *m, tvms_entry_tensor *t) {
  m->fixes = t->fixed;
  check_rank_and_type(m, t);
  load_sizes(m, t);
  bind_sizes(m, t);
  m->fixes = false;
}
