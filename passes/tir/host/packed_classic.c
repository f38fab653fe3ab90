// Arguments of packed calls as TVM took them before 0.24.
//
//   x_type_index: T.int32 = …   assert …   for every parameter x
//   x: T.int32 = …                         for every parameter x
//   shape, strides, device and data of every tensor, each with its checks
//
// A value that is met first defines its variable; any other place is compared, and the message
// shows the condition: Argument f.a.shape[0] has an unsatisfied constraint: n == …
//
// Numbers of fields and of kinds of objects are those of 0.22.dev0, in which a tensor object begins
// with 16 bytes and an argument has no padding.
#include "passes/tir/host/packed_classic.h"

#include "passes/tir/host/packed_binder.h"
#include "support/diag_ids.h"
#include "support/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// What differs from the later layout.
enum { CLASSIC_UNION_VALUE = 14, CLASSIC_OBJECT_HEAD = 16, CLASSIC_TENSOR = 72 };

// A tensor at hand.
typedef struct {
  const char *name;
  const char *path;  // f.a
  tvms_node *handle;
  const tvms_buffer *buffer;
  tvms_node *shape;  // BUFFER of int64
  tvms_node *strides;
} tensor;

// ---- Statements ----

// A text that lives until all arguments are bound.
static const char *words(const tvms_packed_binder *b, const char *format, ...)
    TVMS_PRINTF(2, 3);

static const char *words(const tvms_packed_binder *b, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int len = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  size_t room = (size_t)(len < 0 ? 0 : len) + 1;
  char *text = tvms_arena_alloc(&b->unit->context->scratch, room);
  vsnprintf(text, room, format, again);
  va_end(again);
  return text;
}

static tvms_node *assertion(const tvms_packed_binder *b, tvms_node *condition,
                            const char *message) {
  tvms_assert *check = tvms_node_make(b->unit, ASSERT, TVMS_NO_SPAN);
  check->condition = condition;
  check->error_kind = tvms_bytes_copy(b->unit, "RuntimeError", 12);
  tvms_node *text = tvms_packed_text(b, message);
  check->message = tvms_list_copy(b->unit, &text, 1);
  return &check->head;
}

static void check_now(tvms_packed_binder *b, tvms_node *condition,
                      const char *message) {
  tvms_vec_push(b->memory, &b->out->loads, assertion(b, condition, message));
}

static void check_later(tvms_packed_binder *b, tvms_node *condition,
                        const char *message) {
  tvms_vec_push(b->memory, &b->out->checks, assertion(b, condition, message));
}

// Two values that must be equal, unless that is known.
static void check_same(tvms_packed_binder *b, tvms_node *x, tvms_node *y,
                       const char *path) {
  tvms_node *condition = tvms_packed_build(b, TVMS_NODE_EQ, x, y);
  tvms_node *open = tvms_analyzer_simplify(b->analyzer, condition);
  if (tvms_node_is_int_imm(open) && tvms_node_is_true(open)) return;
  tvms_strbuf text;
  tvms_strbuf_init(&text, b->memory);
  tvms_strbuf_printf(&text, "Argument %s has an unsatisfied constraint: %s", path,
                     tvms_packed_words_of(b, condition));
  check_later(b, open, tvms_strbuf_text(&text));
  tvms_strbuf_fini(&text);
}

// `arg` of the function is `value` of the caller. Returns true if that defined a variable.
static bool bind(tvms_packed_binder *b, tvms_node *arg, tvms_node *value,
                 const char *path) {
  if (arg->kind != TVMS_NODE_VAR || tvms_node_map_get(&b->defined, arg)) {
    check_same(b, arg, value, path);
    return false;
  }
  tvms_node_map_put(&b->defined, arg, arg);
  tvms_packed_load(b, arg, value);
  return true;
}

// ---- Kinds and values ----

static tvms_node *argument(const tvms_packed_binder *b, uint32_t param,
                           tvms_dtype dtype) {
  tvms_node *args[] = {b->out->args, tvms_packed_int(b, param),
                       tvms_packed_int(b, CLASSIC_UNION_VALUE)};
  return tvms_call_new_of(b->unit, dtype, TVMS_TIR_tvm_struct_get, args, 3,
                          TVMS_NO_SPAN);
}

static tvms_node *argument_as(const tvms_packed_binder *b, uint32_t param,
                              tvms_dtype travels, tvms_dtype dtype) {
  tvms_node *value = argument(b, param, travels);
  return tvms_dtype_same(travels, dtype)
             ? value
             : tvms_cast_new(b->unit, dtype, value, TVMS_NO_SPAN);
}

static tvms_node *pointer_value(const tvms_packed_binder *b, uint32_t param,
                                tvms_node *kind) {
  tvms_node *inside[] = {argument(b, param, TVMS_PACKED_HANDLE),
                         tvms_packed_int(b, CLASSIC_OBJECT_HEAD)};
  tvms_node *is_tensor =
      tvms_packed_build(b, TVMS_NODE_EQ, kind, tvms_packed_int(b, CLASSIC_TENSOR));
  return tvms_select_new(b->unit, is_tensor,
                         tvms_call_new_of(b->unit, TVMS_PACKED_HANDLE,
                                          TVMS_TIR_handle_add_byte_offset, inside, 2,
                                          TVMS_NO_SPAN),
                         inside[0], TVMS_NO_SPAN);
}

static tvms_node *real_value(const tvms_packed_binder *b, uint32_t param,
                             tvms_node *kind, tvms_dtype dtype) {
  tvms_node *is_real =
      tvms_packed_build(b, TVMS_NODE_EQ, kind, tvms_packed_int(b, TVMS_PACKED_FLOAT));
  return tvms_select_new(
      b->unit, is_real, argument_as(b, param, TVMS_DTYPE(FLOAT, 64), dtype),
      argument_as(b, param, TVMS_DTYPE(INT, 64), dtype), TVMS_NO_SPAN);
}

// Kinds that fit a parameter, in TVM's order, and what TVM calls them.
typedef struct {
  tvms_packed_kind kinds[3];
  uint32_t count;
  bool objects;  // and every object
  const char *expected;
} accepted;

static accepted accepted_by(tvms_dtype dtype) {
  if (tvms_dtype_is_handle(dtype))
    return (accepted){{TVMS_PACKED_NONE, TVMS_PACKED_POINTER, TVMS_PACKED_DL_TENSOR},
                      3,
                      true,
                      "pointer"};
  if (tvms_dtype_is_bool(dtype))
    return (accepted){{TVMS_PACKED_BOOL, TVMS_PACKED_INT}, 2, false, "boolean"};
  if (tvms_dtype_is_float(dtype))
    return (accepted){
        {TVMS_PACKED_FLOAT, TVMS_PACKED_INT, TVMS_PACKED_BOOL}, 3, false, "float"};
  return (accepted){{TVMS_PACKED_INT, TVMS_PACKED_BOOL}, 2, false, "int"};
}

static void check_kind(tvms_packed_binder *b, uint32_t param, tvms_node *kind,
                       tvms_dtype dtype) {
  accepted a = accepted_by(dtype);
  tvms_node *fits = NULL;
  for (uint32_t i = 0; i < a.count; i++) {
    tvms_node *same =
        tvms_packed_build(b, TVMS_NODE_EQ, kind, tvms_packed_int(b, a.kinds[i]));
    fits = fits ? tvms_packed_either(b, fits, same) : same;
  }
  if (a.objects)
    fits =
        tvms_packed_either(b, fits,
                           tvms_packed_build(b, TVMS_NODE_GE, kind,
                                             tvms_packed_int(b, TVMS_PACKED_OBJECT)));
  check_now(b, fits,
            words(b, "%s: Expect arg[%u] to be %s", b->out->symbol, param, a.expected));
}

// The value of a parameter, whose kind is loaded and checked first.
static tvms_node *TVMS_NULLABLE decode(tvms_packed_binder *b, uint32_t param) {
  tvms_node *var = b->out->function->params.items[param];
  tvms_dtype dtype = var->dtype, int64 = TVMS_DTYPE(INT, 64);
  bool whole = tvms_dtype_is_int(dtype) || tvms_dtype_is_uint(dtype);
  bool known = whole || tvms_dtype_is_bool(dtype) || tvms_dtype_is_handle(dtype)
               || dtype.code == TVMS_FLOAT;
  if (!known || !tvms_dtype_is_scalar(dtype)) {
    char text[TVMS_DTYPE_TEXT];
    tvms_diag_report(&b->unit->context->diags, TVMS_D_not_passed_packed, var->span,
                     tvms_dtype_text(dtype, text));
    return NULL;
  }
  const char *name = tvms_symbol_text(b->unit->context, tvms_as_var(var)->name);
  tvms_node *kind =
      tvms_packed_variable(b, TVMS_DTYPE(INT, 32), "%s_type_index%s", name, "");
  tvms_packed_load(b, kind,
                   tvms_packed_field_of(b, TVMS_DTYPE(INT, 32), b->out->args, param,
                                        TVMS_FIELD_ANY_TYPE_INDEX));
  check_kind(b, param, kind, dtype);
  if (tvms_dtype_is_handle(dtype)) return pointer_value(b, param, kind);
  return dtype.code == TVMS_FLOAT ? real_value(b, param, kind, dtype)
                                  : argument_as(b, param, int64, dtype);
}

// ---- Tensors ----

static tvms_node *field(const tvms_packed_binder *b, const tensor *t, tvms_dtype dtype,
                        tvms_packed_field of) {
  return tvms_packed_field_of(b, dtype, t->handle, 0, of);
}

// The sizes or strides as a buffer of int64, over a pointer of the same name.
static tvms_node *numbers(tvms_packed_binder *b, const tensor *t, tvms_packed_field of,
                          const char *suffix, uint32_t count) {
  tvms_context *context = b->unit->context;
  const char *name = words(b, "%s_%s_%s", b->out->symbol, t->name, suffix);
  tvms_sym sym = tvms_symbol_intern(context, name, strlen(name));
  // Messages about strides show the pointer in front of the buffer.
  bool second = of == TVMS_FIELD_TENSOR_STRIDES && count;
  const char *shown = second ? words(b, "%s_1", name) : name;
  tvms_node *size = tvms_packed_int(b, count);
  tvms_buffer *buffer = tvms_node_make(b->unit, BUFFER, TVMS_NO_SPAN);
  buffer->name = tvms_symbol_intern(context, shown, strlen(shown));
  buffer->element = TVMS_DTYPE(INT, 64);
  buffer->data = tvms_pointer_var_new(b->unit, sym, buffer->element,
                                      tvms_symbol_intern(context, "", 0), TVMS_NO_SPAN);
  buffer->shape = tvms_list_copy(b->unit, &size, 1);
  buffer->elem_offset = tvms_packed_int(b, 0);
  buffer->align = 64;
  buffer->offset_factor = 1;
  tvms_packed_load(b, buffer->data, field(b, t, TVMS_PACKED_HANDLE, of));
  tvms_decl_buffer *declare = tvms_node_make(b->unit, DECL_BUFFER, TVMS_NO_SPAN);
  declare->buffer = &buffer->head;
  tvms_vec_push(b->memory, &b->out->loads, &declare->head);
  return &buffer->head;
}

// Number k of them, as this dtype.
static tvms_node *number_as(const tvms_packed_binder *b, tvms_node *buffer, uint32_t k,
                            tvms_dtype dtype) {
  tvms_node *index = tvms_packed_int(b, k);
  return tvms_packed_cast(
      b, dtype, tvms_buffer_load_new(b->unit, buffer, &index, 1, NULL, TVMS_NO_SPAN));
}

static bool is_part_of_byte(tvms_dtype type) {
  return type.lanes == 1
         && ((type.code == TVMS_INT && (type.bits == 1 || type.bits == 4))
             || (type.code == TVMS_UINT && type.bits == 4));
}

static void check_element(tvms_packed_binder *b, const tensor *t) {
  tvms_dtype type = t->buffer->element;
  if (is_part_of_byte(type)) return;
  tvms_dtype byte = TVMS_DTYPE(UINT, 8), two_bytes = TVMS_DTYPE(UINT, 16);
  const struct {
    tvms_packed_field of;
    tvms_dtype dtype;
    int64_t value;
  } parts[] = {{TVMS_FIELD_TENSOR_TYPE_CODE, byte,
                type.code == TVMS_BOOL ? TVMS_UINT : type.code},
               {TVMS_FIELD_TENSOR_TYPE_BITS, byte, type.bits},
               {TVMS_FIELD_TENSOR_TYPE_LANES, two_bytes, type.lanes}};
  tvms_node *fits = NULL;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    tvms_node *wanted =
        tvms_int_imm_new(b->unit, parts[i].dtype, parts[i].value, TVMS_NO_SPAN);
    tvms_node *same = tvms_packed_build(
        b, TVMS_NODE_EQ, field(b, t, parts[i].dtype, parts[i].of), wanted);
    fits = fits ? tvms_packed_build(b, TVMS_NODE_AND, fits, same) : same;
  }
  char dtype[TVMS_DTYPE_TEXT];
  check_later(
      b, fits,
      words(b, "%s.dtype is expected to be %s", t->path, tvms_dtype_text(type, dtype)));
}

static tvms_dtype index_dtype(const tvms_buffer *buffer) {
  return buffer->shape.len ? buffer->shape.items[0]->dtype : TVMS_DTYPE(INT, 32);
}

static void check_compact(tvms_packed_binder *b, const tensor *t) {
  tvms_dtype type = index_dtype(t->buffer);
  tvms_node *one = tvms_int_imm_new(b->unit, type, 1, TVMS_NO_SPAN);
  tvms_node *expected = one, *all = NULL;
  for (uint32_t i = t->buffer->shape.len; i-- > 0;) {
    tvms_node *size = t->buffer->shape.items[i];
    tvms_node *stride = number_as(b, t->strides, i, type);
    tvms_node *fits =
        tvms_packed_either(b, tvms_packed_build(b, TVMS_NODE_EQ, size, one),
                           tvms_packed_build(b, TVMS_NODE_EQ, expected, stride));
    all = all ? tvms_packed_build(b, TVMS_NODE_AND, all, fits) : fits;
    expected = tvms_packed_build(b, TVMS_NODE_MUL, expected, size);
  }
  if (!all) return;
  tvms_node *stmts[] = {
      assertion(b, all, words(b, "%s.strides: expected to be compact array", t->path)),
      tvms_evaluate_new(b->unit, tvms_packed_int(b, 0), TVMS_NO_SPAN),
  };
  tvms_if_then_else *branch = tvms_node_make(b->unit, IF_THEN_ELSE, TVMS_NO_SPAN);
  branch->condition = tvms_packed_is_not_null(b, tvms_as_buffer(t->strides)->data);
  branch->then_case = tvms_seq_new(b->unit, stmts, 2, TVMS_NO_SPAN);
  tvms_vec_push(b->memory, &b->out->checks, &branch->head);
}

// Strides that the function names: given by the caller or, without any, those of a compact
// tensor. A broadcasting tensor steps by 0 where its size is 1.
static void bind_strides(tvms_packed_binder *b, const tensor *t) {
  tvms_node *compact = tvms_packed_int(b, 1);
  tvms_node *no_strides = tvms_packed_is_null(b, tvms_as_buffer(t->strides)->data);
  bool broadcasts = t->buffer->buffer_type != 0;
  if (broadcasts) compact = tvms_packed_cast(b, index_dtype(t->buffer), compact);
  for (uint32_t i = t->buffer->strides.len; i-- > 0;) {
    tvms_node *size = t->buffer->shape.items[i];
    tvms_node *value =
        tvms_build_if_then_else(b->unit, no_strides, compact,
                                number_as(b, t->strides, i, size->dtype), TVMS_NO_SPAN);
    if (broadcasts)
      value = tvms_build_if_then_else(
          b->unit, tvms_packed_build(b, TVMS_NODE_EQ, size, tvms_packed_int(b, 1)),
          tvms_packed_int(b, 0), value, TVMS_NO_SPAN);
    bind(b, t->buffer->strides.items[i], value, words(b, "%s.strides[%u]", t->path, i));
    compact =
        tvms_packed_build(b, TVMS_NODE_MUL, compact,
                          broadcasts ? size : number_as(b, t->shape, i, size->dtype));
    if (broadcasts) compact = tvms_analyzer_simplify(b->analyzer, compact);
  }
}

static void bind_offset(tvms_packed_binder *b, const tensor *t) {
  tvms_dtype uint64 = TVMS_DTYPE(UINT, 64), type = t->buffer->element;
  int64_t bytes = (type.bits * type.lanes + 7) / 8;
  tvms_node *offset = t->buffer->elem_offset;
  tvms_node *got = field(b, t, uint64, TVMS_FIELD_TENSOR_BYTE_OFFSET);
  if (tvms_node_is_int_imm(offset)) {
    int64_t expected = tvms_as_int_imm(offset)->value * bytes;
    bind(b, tvms_int_imm_new(b->unit, uint64, expected, TVMS_NO_SPAN), got,
         words(b, "%s.byte_offset", t->path));
    return;
  }
  const char *path = words(b, "%s.elem_offset", t->path);
  tvms_node *size = tvms_int_imm_new(b->unit, uint64, bytes, TVMS_NO_SPAN);
  tvms_node *elements = tvms_packed_cast(
      b, offset->dtype, tvms_packed_build(b, TVMS_NODE_DIV, got, size));
  if (!bind(b, offset, elements, path) || t->buffer->offset_factor <= 1) return;
  tvms_node *factor =
      tvms_int_imm_new(b->unit, offset->dtype, t->buffer->offset_factor, TVMS_NO_SPAN);
  check_same(b, tvms_packed_build(b, TVMS_NODE_MOD, offset, factor),
             tvms_int_imm_new(b->unit, offset->dtype, 0, TVMS_NO_SPAN), path);
}

static void bind_data(tvms_packed_binder *b, const tensor *t) {
  tvms_node *data = t->buffer->data;
  if (!bind(b, data, field(b, t, TVMS_PACKED_HANDLE, TVMS_FIELD_TENSOR_DATA),
            words(b, "%s.data", t->path)))
    return;
  tvms_node *size = tvms_int_imm_new(b->unit, index_dtype(t->buffer), 1, TVMS_NO_SPAN);
  for (uint32_t i = 0; i < t->buffer->shape.len; i++) {
    size = tvms_packed_build(b, TVMS_NODE_MUL, size, t->buffer->shape.items[i]);
  }
  tvms_node *empty = tvms_packed_build(b, TVMS_NODE_EQ, size, tvms_packed_int(b, 0));
  check_later(b, tvms_packed_either(b, empty, tvms_packed_is_not_null(b, data)),
              words(b, "%s is expected to have non-NULL data pointer", t->path));
  tvms_attr_stmt *aligned = tvms_node_make(b->unit, ATTR_STMT, TVMS_NO_SPAN);
  aligned->node = data;
  aligned->key = tvms_bytes_copy(b->unit, "storage_alignment", 17);
  aligned->value = tvms_packed_int(b, t->buffer->align);
  tvms_vec_push(b->memory, &b->out->loads, &aligned->head);
}

static void bind_shape(tvms_packed_binder *b, tensor *t) {
  t->shape = numbers(b, t, TVMS_FIELD_TENSOR_SHAPE, "shape", t->buffer->shape.len);
  if (is_part_of_byte(t->buffer->element)) return;
  for (uint32_t k = 0; k < t->buffer->shape.len; k++) {
    tvms_node *size = t->buffer->shape.items[k];
    bind(b, size, number_as(b, t->shape, k, size->dtype),
         words(b, "%s.shape[%u]", t->path, k));
  }
}

static void bind_tensor(tvms_packed_binder *b, uint32_t param) {
  tvms_node *handle = b->out->function->params.items[param];
  tvms_node *node = b->out->function->buffers.items[param];
  tensor t = {.handle = handle, .buffer = tvms_as_buffer(node)};
  t.name = tvms_symbol_text(b->unit->context, tvms_as_var(handle)->name);
  t.path = words(b, "%s.%s", b->out->symbol, t.name);
  tvms_dtype int32 = TVMS_DTYPE(INT, 32);
  uint32_t rank = t.buffer->shape.len;
  check_now(b, tvms_packed_is_not_null(b, handle),
            words(b, "%s is expected to have non-NULL DLTensor* pointer", t.path));
  check_now(b,
            tvms_packed_build(b, TVMS_NODE_EQ, tvms_packed_int(b, rank),
                              field(b, &t, int32, TVMS_FIELD_TENSOR_NDIM)),
            words(b, "%s.ndim is expected to equal %u", t.path, rank));
  check_element(b, &t);
  bind_shape(b, &t);
  t.strides =
      numbers(b, &t, TVMS_FIELD_TENSOR_STRIDES, "strides", t.buffer->strides.len);
  if (t.buffer->strides.len)
    bind_strides(b, &t);
  else
    check_compact(b, &t);
  bind_offset(b, &t);
  bind(b, tvms_packed_int(b, b->out->device_type),
       field(b, &t, int32, TVMS_FIELD_TENSOR_DEVICE_TYPE),
       words(b, "%s.device_type", t.path));
  bind(b, b->out->device_id, field(b, &t, int32, TVMS_FIELD_TENSOR_DEVICE_ID),
       words(b, "%s.device_id", t.path));
  b->out->has_device = true;
  bind_data(b, &t);
  tvms_decl_buffer *declare = tvms_node_make(b->unit, DECL_BUFFER, TVMS_NO_SPAN);
  declare->buffer = node;
  tvms_vec_push(b->memory, &b->out->declarations, &declare->head);
}

// ---- All arguments ----

static void bind_all(tvms_packed_binder *b) {
  const tvms_prim_func *function = b->out->function;
  uint32_t count = function->params.len;
  const char *symbol = b->out->symbol;
  check_now(
      b,
      tvms_packed_build(b, TVMS_NODE_EQ, b->out->num_args, tvms_packed_int(b, count)),
      words(b, "%s: num_args should be %u", symbol, count));
  if (count)
    check_now(b, tvms_packed_is_not_null(b, b->out->args),
              words(b, "%s: args pointer is NULL", symbol));
  tvms_node **values = tvms_arena_array(&b->unit->context->scratch, tvms_node *, count);
  for (uint32_t i = 0; i < count; i++) {
    values[i] = decode(b, i);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (values[i]) bind(b, function->params.items[i], values[i], symbol);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (function->buffers.items[i]) bind_tensor(b, i);
  }
}

void tvms_packed_classic_bind(tvms_packed_arguments *arguments) {
  tvms_context *context = arguments->unit->context;
  tvms_mark mark = tvms_arena_mark(&context->scratch);
  tvms_packed_binder b = {
      .out = arguments, .unit = arguments->unit, .memory = &context->memory};
  b.analyzer = tvms_analyzer_new(b.unit);
  tvms_node_map_init(&b.defined, b.memory);
  bind_all(&b);
  tvms_node_map_fini(&b.defined);
  tvms_analyzer_free(b.analyzer);
  tvms_arena_reset(&context->scratch, mark);
}
