// The steps of an entry (backend/core/entry.h).
//
// The order is TVM 0.27's (tvm_ffi_binder.cc): first what must hold before anything is
// read (count, kinds, rank, data type, device), then sizes that were seen before, strides
// and data pointers, then constants and compound sizes. One difference: an object that is
// no tensor is refused where a tensor is expected; TVM would read it as one.
#include "backend/core/entry.h"

#include "backend/core/words.h"
#include "interp/interp.h"
#include "ir/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Where the fields of a tvms_dl_tensor stand.
#define AT(field) ((int64_t)offsetof(tvms_dl_tensor, field))

// A parameter that is a tensor, as it was passed; numbers are steps.
typedef struct {
  const tvms_buffer *buffer;
  uint32_t index;   // of the parameter
  uint32_t tensor;  // its tvms_dl_tensor
  uint32_t *shape;  // as passed
  uint32_t *strides;
  uint32_t no_strides;  // a truth
  uint32_t byte_offset;
  uint32_t data;
} tensor_param;

// An entry in the making.
typedef struct {
  tvms_context *context;
  const tvms_prim_func *function;
  tvms_words words;
  TVMS_VEC(tvms_entry_step) steps;
  tensor_param *tensors;
  uint32_t tensor_count;
  uint32_t *params;
  uint32_t *vars;
  bool guards;  // the next step is guarded
  tvms_contract contract;
  tvms_entry_result *results;
  uint32_t workspace;
  uint32_t device_id;
  const char *TVMS_NULLABLE device_path;  // NULL: no device was seen
} maker;

// ---- Steps ----

static uint32_t add(maker *m, tvms_entry_step step) {
  step.guarded = m->guards;
  m->guards = false;
  tvms_vec_push(&m->context->memory, &m->steps, step);
  return m->steps.len - 1;
}

static uint32_t take(maker *m, tvms_entry_step_kind kind, uint32_t a, uint32_t b) {
  return add(m, (tvms_entry_step){.kind = (uint8_t)kind, .a = a, .b = b});
}

static uint32_t take_with(maker *m, tvms_entry_step_kind kind, uint32_t a,
                          int64_t number) {
  return add(m, (tvms_entry_step){.kind = (uint8_t)kind, .a = a, .number = number});
}

static uint32_t choose(maker *m, uint32_t condition, uint32_t yes, uint32_t no) {
  return add(m,
             (tvms_entry_step){TVMS_ENTRY_CHOOSE, .a = condition, .b = yes, .c = no});
}

static uint32_t number(maker *m, int64_t value) {
  return take_with(m, TVMS_ENTRY_NUMBER, 0, value);
}

static uint32_t equals(maker *m, uint32_t value, int64_t constant) {
  return take_with(m, TVMS_ENTRY_IS, value, constant);
}

static uint32_t either(maker *m, uint32_t a, uint32_t b) {
  return take(m, TVMS_ENTRY_EITHER, a, b);
}

// Truth: one of two constants.
static uint32_t either_of(maker *m, uint32_t value, int64_t one, int64_t other) {
  uint32_t first = equals(m, value, one);
  return either(m, first, equals(m, value, other));
}

static uint32_t negate(maker *m, uint32_t truth) {
  return take(m, TVMS_ENTRY_NOT, truth, 0);
}

// What follows is right only if what was checked holds.
static void guard(maker *m) {
  m->guards = true;
}

// ---- Checks ----

static void require(maker *m, uint32_t truth, const char *error, const char *text) {
  add(m, (tvms_entry_step){TVMS_ENTRY_CHECK, .a = truth, .error = error, .text = text});
}

static void require_same(maker *m, uint32_t got, uint32_t wanted, const char *text) {
  add(m, (tvms_entry_step){TVMS_ENTRY_CHECK_EQUAL, .a = got, .b = wanted,
                           .error = "ValueError", .text = text});
}

static void require_kind(maker *m, uint32_t index, uint32_t truth, const char *kind) {
  require(m, truth, "TypeError",
          tvms_words_message(&m->words, tvms_words_expected(&m->words, "%s", kind),
                             "Mismatched type on argument #%u", index));
}

// ---- Sizes ----

TVMS_NORETURN static void refuse(maker *m, const tvms_node *size) {
  tvms_diag_report(&m->context->diags, TVMS_D_not_compiled, size->span,
                   "this size of a parameter");
  tvms_memory_unwind(&m->context->memory, TVMS_FOUND_ERRORS);
}

static uint32_t narrow(maker *m, uint32_t value, tvms_dtype dtype) {
  if (tvms_dtype_is_bool(dtype)) return negate(m, equals(m, value, 0));
  if (dtype.bits >= 64) return value;
  bool is_signed = dtype.code == TVMS_INT;
  return take_with(m, is_signed ? TVMS_ENTRY_SIGNED : TVMS_ENTRY_UNSIGNED, value,
                   dtype.bits);
}

static uint32_t size_of(maker *m, const tvms_node *size);

static uint32_t compound_size(maker *m, const tvms_node *size) {
  static const struct {
    tvms_node_kind kind;
    tvms_entry_step_kind step;
  } forms[] = {
      {TVMS_NODE_ADD, TVMS_ENTRY_ADD},
      {TVMS_NODE_SUB, TVMS_ENTRY_SUB},
      {TVMS_NODE_MUL, TVMS_ENTRY_MUL},
      {TVMS_NODE_DIV, TVMS_ENTRY_DIV},
      {TVMS_NODE_MOD, TVMS_ENTRY_MOD},
      {TVMS_NODE_FLOOR_DIV, TVMS_ENTRY_FLOOR_DIV},
      {TVMS_NODE_FLOOR_MOD, TVMS_ENTRY_FLOOR_MOD},
      {TVMS_NODE_MIN, TVMS_ENTRY_MIN},
      {TVMS_NODE_MAX, TVMS_ENTRY_MAX},
  };
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    if (forms[i].kind != size->kind) continue;
    const tvms_binary *binary = tvms_as_binary(size);
    uint32_t a = size_of(m, binary->a), b = size_of(m, binary->b);
    bool divides =
        forms[i].step >= TVMS_ENTRY_DIV && forms[i].step <= TVMS_ENTRY_FLOOR_MOD;
    if (divides && binary->b->kind != TVMS_NODE_INT_IMM) {
      add(m, (tvms_entry_step){TVMS_ENTRY_CHECK, .a = negate(m, equals(m, b, 0)),
                               .error = "ZeroDivisionError", .text = "division by zero",
                               .span = size->span});
      guard(m);
    }
    return take(m, forms[i].step, a, b);
  }
  refuse(m, size);
}

// An integer expression of sizes that are known.
static uint32_t size_of(maker *m, const tvms_node *size) {
  if (size->kind == TVMS_NODE_INT_IMM) return number(m, tvms_as_int_imm(size)->value);
  if (size->kind == TVMS_NODE_VAR) {
    if (!m->vars[size->id]) refuse(m, size);
    return m->vars[size->id] - 1;
  }
  if (size->kind == TVMS_NODE_CAST) {
    uint32_t value = size_of(m, tvms_as_cast(size)->value);
    return narrow(m, value, size->dtype);
  }
  return compound_size(m, size);
}

static void know(maker *m, const tvms_node *var, const char *where, uint32_t value) {
  tvms_words_size_known size = {var, where};
  tvms_vec_push(&m->context->memory, &m->words.known, size);
  m->vars[var->id] = value + 1;
}

// ---- Kinds of arguments ----

static uint32_t decode_pointer(maker *m, uint32_t index, uint32_t args, int64_t slot,
                               uint32_t kind, bool tensor) {
  uint32_t is_tensor = equals(m, kind, TVMS_ANY_TENSOR);
  uint32_t good = either_of(m, kind, TVMS_ANY_NONE, TVMS_ANY_POINTER);
  good = either(m, good, equals(m, kind, TVMS_ANY_DL_TENSOR));
  uint32_t object = is_tensor;
  if (!tensor) object = take(m, TVMS_ENTRY_AT_LEAST, kind, number(m, TVMS_ANY_OBJECT));
  require_kind(m, index, either(m, good, object), tensor ? "Tensor" : "pointer");
  int64_t at = slot + (int64_t)offsetof(tvms_any, v);
  uint32_t value = take_with(m, TVMS_ENTRY_LOAD_POINTER, args, at);
  uint32_t content = take_with(m, TVMS_ENTRY_OFFSET, value, TVMS_OBJECT_HEAD);
  return choose(m, is_tensor, content, value);
}

// A number in 64 bits: an integer as it is in its own type, the bits of a double.
static uint32_t decode_number(maker *m, uint32_t index, uint32_t args, int64_t slot,
                              uint32_t kind, tvms_dtype dtype) {
  uint32_t whole = either_of(m, kind, TVMS_ANY_INT, TVMS_ANY_BOOL);
  int64_t at = slot + (int64_t)offsetof(tvms_any, v);
  uint32_t value = take_with(m, TVMS_ENTRY_LOAD_INT64, args, at);
  if (!tvms_dtype_is_real(dtype)) {
    require_kind(m, index, whole, tvms_dtype_is_bool(dtype) ? "boolean" : "int");
    return narrow(m, value, dtype);
  }
  uint32_t is_real = equals(m, kind, TVMS_ANY_FLOAT);
  require_kind(m, index, either(m, whole, is_real), "float");
  return choose(m, is_real, value, take(m, TVMS_ENTRY_REAL, value, 0));
}

static void decode_argument(maker *m, uint32_t i, uint32_t args, int64_t slot) {
  const tvms_node *param = m->function->params.items[i];
  const tvms_node *buffer = m->function->buffers.items[i];
  int64_t at = slot + (int64_t)offsetof(tvms_any, type_index);
  uint32_t kind = take_with(m, TVMS_ENTRY_LOAD_INT32, args, at);
  if (buffer) {
    tensor_param *tensor = &m->tensors[m->tensor_count++];
    tensor->buffer = tvms_as_buffer(buffer);
    tensor->index = i;
    tensor->tensor = decode_pointer(m, i, args, slot, kind, true);
    return;
  }
  bool handle = tvms_dtype_is_handle(param->dtype);
  m->params[i] = handle ? decode_pointer(m, i, args, slot, kind, false)
                        : decode_number(m, i, args, slot, kind, param->dtype);
  know(m, param, tvms_words_of_var(&m->words, param), m->params[i]);
}

// An object that holds `count` items: a tuple or a shape. Returns where the items are.
static uint32_t decode_object(maker *m, uint32_t index, uint32_t args, int64_t slot,
                              int32_t wanted, uint32_t count, const char *name) {
  int64_t at = slot + (int64_t)offsetof(tvms_any, type_index);
  uint32_t kind = take_with(m, TVMS_ENTRY_LOAD_INT32, args, at);
  require_kind(m, index, equals(m, kind, wanted), name);
  at = slot + (int64_t)offsetof(tvms_any, v);
  uint32_t object = take_with(m, TVMS_ENTRY_LOAD_POINTER, args, at);
  guard(m);
  uint32_t size = take_with(m, TVMS_ENTRY_LOAD_INT64, object, TVMS_OBJECT_HEAD + 8);
  char text[32];
  snprintf(text, sizeof text, "%u", count);
  require(m, equals(m, size, count), "ValueError",
          tvms_words_message(&m->words, tvms_words_expected(&m->words, "%s", text),
                             "Mismatched length of the %s on argument #%u", name,
                             index));
  uint32_t items = take_with(m, TVMS_ENTRY_LOAD_POINTER, object, TVMS_OBJECT_HEAD);
  guard(m);
  return items;
}

static void decode_shape(maker *m, uint32_t first, uint32_t rank, uint32_t args,
                         int64_t slot) {
  uint32_t items = decode_object(m, first, args, slot, TVMS_ANY_SHAPE, rank, "Shape");
  for (uint32_t i = 0; i < rank; i++) {
    const tvms_node *param = m->function->params.items[first + i];
    int64_t at = (int64_t)(i * sizeof(int64_t));
    uint32_t value = take_with(m, TVMS_ENTRY_LOAD_INT64, items, at);
    m->params[first + i] = narrow(m, value, param->dtype);
    know(m, param, tvms_words_of_var(&m->words, param), m->params[first + i]);
  }
}

// How many values there are up to the end of a tuple.
static uint32_t items_of(const char *text) {
  uint32_t depth = 0, count = 0;
  for (; *text && (depth || *text != ')'); text++) {
    bool begins = *text == 't' || *text == 'n' || *text == 's' || *text == '(';
    count += begins && !depth;
    if (*text == '(') depth++;
    if (*text == ')') depth--;
  }
  return count;
}

// Arguments as the text of the contract has them, up to the end of a tuple. Returns where the text
// ends, and puts the next parameter into *next.
static const char *decode_values(maker *m, const char *text, uint32_t args,
                                 uint32_t *next) {
  for (int64_t slot = 0; *text && *text != ')'; slot += (int64_t)sizeof(tvms_any)) {
    char kind = *text++;
    if (kind == '(') {
      uint32_t items =
          decode_object(m, *next, args, slot, TVMS_ANY_ARRAY, items_of(text), "Array");
      text = decode_values(m, text, items, next) + 1;
    } else if (kind == 's') {
      uint32_t rank = 0;
      for (; *text >= '0' && *text <= '9'; text++)
        rank = rank * 10 + (uint32_t)(*text - '0');
      decode_shape(m, *next, rank, args, slot);
      *next += rank;
    } else {
      decode_argument(m, (*next)++, args, slot);
    }
  }
  return text;
}

static void decode_arguments(maker *m, uint32_t args) {
  uint32_t next = 0;
  if (m->contract.input_text) {
    decode_values(m, m->contract.input_text, args, &next);
    return;
  }
  for (uint32_t i = 0; i < m->contract.inputs; i++)
    decode_argument(m, i, args, (int64_t)(i * sizeof(tvms_any)));
}

// ---- Tensors ----

static void check_rank_and_type(maker *m, tensor_param *t) {
  tvms_words *words = &m->words;
  const char *name = tvms_words_of_buffer(words, t->buffer);
  char rank[16], dtype_text[TVMS_DTYPE_TEXT];
  require_kind(m, t->index, negate(m, equals(m, t->tensor, 0)), "Tensor");
  guard(m);
  uint32_t ndim = take_with(m, TVMS_ENTRY_LOAD_INT32, t->tensor, AT(ndim));
  snprintf(rank, sizeof rank, "%u", t->buffer->shape.len);
  require(m, equals(m, ndim, t->buffer->shape.len), "ValueError",
          tvms_words_message(words, tvms_words_expected(words, "%s", rank),
                             "Mismatched %s.ndim on argument #%u", name, t->index));
  tvms_dl_type type = tvms_interp_dl_type_of(t->buffer->element);
  uint32_t wanted = type.code | (uint32_t)type.bits << 8 | (uint32_t)type.lanes << 16;
  uint32_t got = take_with(m, TVMS_ENTRY_LOAD_INT32, t->tensor, AT(dtype));
  const char *text = tvms_dtype_text(t->buffer->element, dtype_text);
  require(m, equals(m, got, (int32_t)wanted), "TypeError",
          tvms_words_message(words, tvms_words_expected(words, "%s", text),
                             "Mismatched %s.dtype on argument #%u", name, t->index));
  uint32_t device = take_with(m, TVMS_ENTRY_LOAD_INT32, t->tensor, AT(device.type));
  require(m, equals(m, device, TVMS_DL_CPU), "ValueError",
          tvms_words_message(words, tvms_words_expected(words, "cpu"),
                             "Mismatched %s.device_type on argument #%u", name,
                             t->index));
}

// Loads sizes and strides; without strides those of the shape pointer are read instead,
// which is valid memory, and not used.
static void load_sizes(maker *m, tensor_param *t) {
  tvms_arena *arena = &m->context->scratch;
  uint32_t ndim = t->buffer->shape.len;
  t->shape = tvms_arena_array(arena, uint32_t, ndim);
  t->strides = tvms_arena_array(arena, uint32_t, ndim);
  uint32_t shape = take_with(m, TVMS_ENTRY_LOAD_POINTER, t->tensor, AT(shape));
  uint32_t strides = take_with(m, TVMS_ENTRY_LOAD_POINTER, t->tensor, AT(strides));
  t->byte_offset = take_with(m, TVMS_ENTRY_LOAD_INT64, t->tensor, AT(byte_offset));
  t->data = take_with(m, TVMS_ENTRY_LOAD_POINTER, t->tensor, AT(data));
  t->no_strides = equals(m, strides, 0);
  strides = choose(m, t->no_strides, shape, strides);
  uint32_t compact = number(m, 1);
  guard(m);
  for (uint32_t i = ndim; i > 0; i--) {
    int64_t at = (int64_t)((i - 1) * sizeof(int64_t));
    t->shape[i - 1] = take_with(m, TVMS_ENTRY_LOAD_INT64, shape, at);
    uint32_t given = take_with(m, TVMS_ENTRY_LOAD_INT64, strides, at);
    t->strides[i - 1] = choose(m, t->no_strides, compact, given);
    if (i > 1) compact = take(m, TVMS_ENTRY_MUL, compact, t->shape[i - 1]);
  }
  m->params[t->index] = t->data;
}

// Gives a variable its first value.
static void bind_size(maker *m, const tvms_node *size, uint32_t value,
                      const char *where) {
  if (size->kind != TVMS_NODE_VAR || tvms_words_known(&m->words, size)) return;
  know(m, size, where, narrow(m, value, size->dtype));
}

static int64_t element_bytes(const tvms_buffer *buffer) {
  tvms_dl_type type = tvms_interp_dl_type_of(buffer->element);
  return (int64_t)(tvms_dl_element_size(type) * type.lanes);
}

static void bind_offset(maker *m, tensor_param *t) {
  const tvms_buffer *buffer = t->buffer;
  const tvms_node *offset = buffer->elem_offset;
  tvms_words *words = &m->words;
  if (!offset || offset->kind != TVMS_NODE_VAR || tvms_words_known(words, offset))
    return;
  uint32_t bytes = number(m, element_bytes(buffer));
  uint32_t elements = take(m, TVMS_ENTRY_FLOOR_DIV, t->byte_offset, bytes);
  bind_size(m, offset, elements, tvms_words_path(words, buffer, "byte_offset", -1));
  if (buffer->offset_factor <= 1) return;
  char text[64];
  snprintf(text, sizeof text, "data alignment=%lld bytes",
           (long long)(buffer->offset_factor * element_bytes(buffer)));
  uint32_t factor = number(m, buffer->offset_factor);
  uint32_t rest = take(m, TVMS_ENTRY_FLOOR_MOD, elements, factor);
  require(m, equals(m, rest, 0), "ValueError",
          tvms_words_message(words, tvms_words_expected(words, "%s", text),
                             "Misaligned Tensor data on argument #%u", t->index));
}

static void bind_sizes(maker *m, tensor_param *t) {
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
static const char *earlier(maker *m, const tvms_node *size, const char *where) {
  const tvms_words_size_known *known = tvms_words_known(&m->words, size);
  return known && strcmp(known->path, where) != 0 ? known->path : NULL;
}

static void check_repeated(maker *m, tensor_param *t, const tvms_node *size,
                           uint32_t got, const char *where) {
  const char *first = size->kind == TVMS_NODE_VAR ? earlier(m, size, where) : NULL;
  if (!first) return;
  require_same(m, got, size_of(m, size),
               tvms_words_message(&m->words,
                                  tvms_words_expected(&m->words, "to match %s", first),
                                  "Mismatched %s on argument #%u", where, t->index));
}

static void check_compact(maker *m, tensor_param *t) {
  const tvms_buffer *buffer = t->buffer;
  uint32_t compact = number(m, 1), all = t->no_strides;
  for (uint32_t i = buffer->shape.len; i > 0; i--) {
    uint32_t size = size_of(m, buffer->shape.items[i - 1]);
    uint32_t same = take(m, TVMS_ENTRY_EQUAL, t->strides[i - 1], compact);
    uint32_t good = either(m, same, equals(m, size, 1));
    all = i == buffer->shape.len ? good : take(m, TVMS_ENTRY_BOTH, all, good);
    if (i > 1) compact = take(m, TVMS_ENTRY_MUL, compact, size);
  }
  // What the shape itself implies is right even if the shape is not the wanted one: that
  // is found, with a better message, below.
  if (!buffer->shape.len) return;
  require(m, either(m, all, t->no_strides), "ValueError",
          tvms_words_message(&m->words,
                             tvms_words_expected(&m->words, "to be compact array"),
                             "Mismatched %s.strides on argument #%u",
                             tvms_words_of_buffer(&m->words, buffer), t->index));
}

static void check_device(maker *m, tensor_param *t) {
  tvms_words *words = &m->words;
  uint32_t id = take_with(m, TVMS_ENTRY_LOAD_INT32, t->tensor, AT(device.id));
  const char *where = tvms_words_path(words, t->buffer, "device_id", -1);
  if (!m->device_path) {
    m->device_id = id;
    m->device_path = where;
    return;
  }
  const char *expected = tvms_words_expected(words, "to match %s", m->device_path);
  require_same(m, id, m->device_id,
               tvms_words_message(words, expected, "Mismatched %s on argument #%u",
                                  where, t->index));
}

// No data is right only for no elements; and loads need elements where they belong.
static void check_data(maker *m, tensor_param *t) {
  tvms_words *words = &m->words;
  uint32_t count = number(m, 1);
  for (uint32_t i = 0; i < t->buffer->shape.len; i++) {
    uint32_t size = size_of(m, t->buffer->shape.items[i]);
    count = take(m, TVMS_ENTRY_MUL, count, size);
  }
  uint32_t empty = equals(m, count, 0);
  require(m, either(m, empty, negate(m, equals(m, t->data, 0))), "ValueError",
          tvms_words_message(words, tvms_words_expected(words, "non-NULL data pointer"),
                             "%s data pointer is NULL on argument #%u",
                             tvms_words_of_buffer(words, t->buffer), t->index));
  int64_t size = t->buffer->element.code == TVMS_BOOL ? 1 : t->buffer->element.bits / 8;
  if (size < 2) return;
  char text[64];
  snprintf(text, sizeof text, "data alignment=%lld bytes", (long long)size);
  uint32_t rest = take(m, TVMS_ENTRY_BITS_AND, t->data, number(m, size - 1));
  require(m, either(m, empty, equals(m, rest, 0)), "ValueError",
          tvms_words_message(words, tvms_words_expected(words, "%s", text),
                             "Misaligned Tensor data on argument #%u", t->index));
}

static void check_tensor(maker *m, tensor_param *t) {
  const tvms_buffer *buffer = t->buffer;
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
}

static void check_constant(maker *m, tensor_param *t, const tvms_node *size,
                           uint32_t got, const char *field, int at) {
  if (size->kind == TVMS_NODE_VAR) return;
  tvms_words *words = &m->words;
  const char *shown = tvms_words_of_size(words, size);
  require_same(m, got, size_of(m, size),
               tvms_words_message(words, tvms_words_expected(words, "%s", shown),
                                  "Invalid %s on argument #%u",
                                  tvms_words_path(words, t->buffer, field, at),
                                  t->index));
}

static void check_constants(maker *m, tensor_param *t) {
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
  int64_t bytes = offset && tvms_node_is_int_imm(offset)
                      ? tvms_as_int_imm(offset)->value * element_bytes(buffer)
                      : 0;
  const char *expected = tvms_words_expected(&m->words, "%lld", (long long)bytes);
  require_same(m, t->byte_offset, number(m, bytes),
               tvms_words_message(&m->words, expected, "Invalid %s on argument #%u",
                                  tvms_words_path(&m->words, buffer, "byte_offset", -1),
                                  t->index));
}

// ---- Results ----

static void plan_tensor(maker *m, tvms_entry_result *r, const tvms_buffer *buffer) {
  tvms_arena *arena = &m->context->scratch;
  r->ndim = buffer->shape.len;
  r->dims = tvms_arena_array(arena, uint32_t, r->ndim);
  r->strides = tvms_arena_array(arena, uint32_t, r->ndim);
  uint32_t compact = number(m, 1);
  for (uint32_t i = r->ndim; i > 0; i--) {
    r->dims[i - 1] = size_of(m, buffer->shape.items[i - 1]);
    r->strides[i - 1] = compact;
    compact = take(m, TVMS_ENTRY_MUL, compact, r->dims[i - 1]);
  }
  r->bytes = take(m, TVMS_ENTRY_MUL, compact, number(m, element_bytes(buffer)));
}

// What the results and the workspace need, once the sizes are known.
static void plan_results(maker *m) {
  const char *text = m->contract.result_text;
  m->results =
      tvms_arena_array(&m->context->scratch, tvms_entry_result, m->contract.results);
  for (uint32_t i = 0; text && *text; text++) {
    if (*text != 't' && *text != 'n' && *text != 's') continue;
    tvms_entry_result *r = &m->results[i];
    r->param = m->contract.inputs + i++;
    const tvms_buffer *buffer = tvms_as_buffer(m->function->buffers.items[r->param]);
    r->kind = *text;
    r->element = buffer->element;
    if (r->kind == 't') plan_tensor(m, r, buffer);
    if (r->kind == 's') r->ndim = (uint32_t)atoi(text + 1);
  }
  if (!m->contract.has_workspace) return;
  uint32_t last = m->function->params.len - 1;
  const tvms_buffer *buffer = tvms_as_buffer(m->function->buffers.items[last]);
  m->workspace = size_of(m, buffer->shape.items[0]);
}

// ---- The whole ----

// The number of arguments of a call.
static uint32_t argument_count(const maker *m) {
  const char *text = m->contract.input_text;
  return text ? items_of(text) : m->contract.inputs;
}

static void make(maker *m) {
  uint32_t params = argument_count(m);
  uint32_t args = take(m, TVMS_ENTRY_ARGUMENTS, 0, 0);
  require(m, equals(m, take(m, TVMS_ENTRY_COUNT, 0, 0), params), "TypeError",
          tvms_words_message(&m->words, "", "Expected %u arguments", params));
  if (params) {
    require(m, negate(m, equals(m, args, 0)), "TypeError",
            tvms_words_message(&m->words, "", "args pointer is NULL"));
  }
  guard(m);
  decode_arguments(m, args);
  for (uint32_t i = 0; i < m->tensor_count; i++) {
    check_rank_and_type(m, &m->tensors[i]);
    load_sizes(m, &m->tensors[i]);
    bind_sizes(m, &m->tensors[i]);
  }
  for (uint32_t i = 0; i < m->tensor_count; i++) {
    check_tensor(m, &m->tensors[i]);
  }
  for (uint32_t i = 0; i < m->tensor_count; i++) {
    check_constants(m, &m->tensors[i]);
  }
  plan_results(m);
}

const tvms_entry *tvms_entry_new(tvms_context *context, const tvms_member *member,
                                 bool serves) {
  const tvms_prim_func *function = tvms_as_prim_func(member->function);
  tvms_arena *arena = &context->scratch;
  uint32_t params = function->params.len;
  maker m = {.context = context,
             .function = function,
             .words = {.context = context, .function = function}};
  m.tensors = tvms_arena_array(arena, tensor_param, params);
  m.params = tvms_arena_array(arena, uint32_t, params);
  m.vars = tvms_arena_array(arena, uint32_t, member->unit->next_id);
  m.contract = (tvms_contract){.inputs = params};
  if (serves) m.contract = tvms_call_contract(function);
  m.words.signature = tvms_words_signature(&m.words, member, m.contract.inputs);
  make(&m);
  tvms_entry *entry = tvms_arena_new(arena, tvms_entry);
  *entry = (tvms_entry){context, function,   m.steps.len, NULL,       m.params,
                        m.vars,  m.contract, m.results,   m.workspace};
  entry->steps = tvms_arena_array(arena, tvms_entry_step, m.steps.len);
  memcpy(entry->steps, m.steps.items, m.steps.len * sizeof *m.steps.items);
  tvms_vec_fini(&context->memory, &m.steps);
  tvms_vec_fini(&context->memory, &m.words.known);
  return entry;
}
