// Arguments of packed calls, as TVM takes them from its foreign function interface.
//
// A parameter x arrives as a TVMFFIAny. Its kind is checked; a number is converted, a tensor
// stays a handle, whose fields are then compared with the buffer of the parameter: number of dimensions,
// element type, sizes, strides, offset, device, data.
//
//   A: T.Buffer(("n", 4))     n: T.let[T.int32] = A's shape[0]     the first place defines n
//   B: T.Buffer((n, 4))       assert n == B's shape[0]             others must agree with it
//   C: T.Buffer((n + 1,))     assert C's shape[0] == n + 1         compound sizes come last
//
// A *path* names a value in messages: A.shape[0]. Definitions run first, since a size may
// be used by a parameter in front of the one that defines it.
#include "passes/tir/host/packed_arguments.h"

#include "passes/tir/host/packed_tensor.h"
#include "structinfo/make.h"
#include "support/strbuf.h"

#include <string.h>

// ---- One argument ----

static tvms_node *kind_is(const tvms_packed_binder *b, tvms_node *kind,
                          tvms_packed_kind wanted) {
  return tvms_packed_build(b, TVMS_NODE_EQ, kind, tvms_packed_int(b, wanted));
}

static tvms_node *union_value(const tvms_packed_binder *b, uint32_t param,
                              tvms_dtype dtype) {
  return tvms_packed_field_of(b, dtype, b->out->args, param,
                              TVMS_FIELD_ANY_UNION_VALUE);
}

static tvms_node *decode_pointer(tvms_packed_binder *b, uint32_t param, tvms_node *kind,
                                 const char *expected) {
  tvms_node *fits = tvms_packed_either(b, kind_is(b, kind, TVMS_PACKED_NONE),
                                       kind_is(b, kind, TVMS_PACKED_POINTER));
  fits = tvms_packed_either(b, fits, kind_is(b, kind, TVMS_PACKED_DL_TENSOR));
  fits = tvms_packed_either(
      b, fits,
      tvms_packed_build(b, TVMS_NODE_GE, kind, tvms_packed_int(b, TVMS_PACKED_OBJECT)));
  tvms_packed_check_kind(b, param, fits, expected);
  // A tensor object holds its DLTensor behind its head.
  enum { OBJECT_HEAD = 24 };
  tvms_node *value = union_value(b, param, TVMS_PACKED_HANDLE);
  tvms_node *inside[] = {value, tvms_packed_int(b, OBJECT_HEAD)};
  tvms_node *choice[] = {
      kind_is(b, kind, TVMS_PACKED_TENSOR),
      tvms_call_new_of(b->unit, TVMS_PACKED_HANDLE, TVMS_TIR_handle_add_byte_offset,
                       inside, 2, TVMS_NO_SPAN),
      value,
  };
  if (b->untyped)
    return tvms_select_new(b->unit, choice[0], choice[1], choice[2], TVMS_NO_SPAN);
  return tvms_call_new_of(b->unit, TVMS_PACKED_HANDLE, TVMS_TIR_if_then_else, choice, 3,
                          TVMS_NO_SPAN);
}

static tvms_node *raw_cast(const tvms_packed_binder *b, tvms_dtype dtype,
                           tvms_node *value) {
  return tvms_cast_new(b->unit, dtype, value, TVMS_NO_SPAN);
}

static tvms_node *decode_number(tvms_packed_binder *b, uint32_t param, tvms_node *kind,
                                tvms_dtype dtype) {
  tvms_dtype int64 = TVMS_DTYPE(INT, 64), real64 = TVMS_DTYPE(FLOAT, 64);
  tvms_node *is_int = kind_is(b, kind, TVMS_PACKED_INT);
  tvms_node *is_bool = kind_is(b, kind, TVMS_PACKED_BOOL);
  if (tvms_dtype_is_bool(dtype)) {
    tvms_packed_check_kind(b, param, tvms_packed_either(b, is_bool, is_int), "boolean");
    return raw_cast(b, dtype, union_value(b, param, int64));
  }
  if (!tvms_dtype_is_real(dtype)) {
    tvms_packed_check_kind(b, param, tvms_packed_either(b, is_int, is_bool), "int");
    tvms_node *value = union_value(b, param, int64);
    return tvms_dtype_same(dtype, int64) ? value : raw_cast(b, dtype, value);
  }
  tvms_node *is_float = kind_is(b, kind, TVMS_PACKED_FLOAT);
  tvms_packed_check_kind(
      b, param, tvms_packed_either(b, tvms_packed_either(b, is_float, is_int), is_bool),
      "float");
  tvms_node *real = union_value(b, param, real64);
  if (!tvms_dtype_same(dtype, real64)) real = raw_cast(b, dtype, real);
  return tvms_select_new(b->unit, kind_is(b, kind, TVMS_PACKED_FLOAT), real,
                         raw_cast(b, dtype, union_value(b, param, int64)),
                         TVMS_NO_SPAN);
}

// The handle of a tensor, and a pointer.
static void load_pointer(tvms_packed_binder *b, uint32_t param, tvms_node *kind) {
  tvms_node *var = b->out->function->params.items[param];
  tvms_packed_path path = tvms_packed_path_of(b, param, "");
  bool tensor = b->out->function->buffers.items[param] != NULL;
  tvms_node *value = decode_pointer(b, param, kind, tensor ? "Tensor" : "pointer");
  if (b->untyped) {
    tvms_packed_note_definition(b, var, var, &path);
    tvms_packed_load(b, var, value);
    b->handles[param] = var;
  } else if (tensor) {
    tvms_node *handle = tvms_packed_variable(b, TVMS_PACKED_HANDLE, "%s_handle%s",
                                             tvms_packed_name_of(b, param), "");
    tvms_packed_load(b, handle, value);
    b->handles[param] = handle;
  } else {
    tvms_node *pointer = tvms_call_new_of(
        b->unit, TVMS_PACKED_HANDLE, TVMS_TIR_reinterpret, &value, 1, TVMS_NO_SPAN);
    tvms_packed_note_definition(b, var, var, &path);
    tvms_packed_load(b, var, tvms_packed_typed(pointer, var->sinfo));
  }
}

static void decode(tvms_packed_binder *b, uint32_t param) {
  tvms_node *var = b->out->function->params.items[param];
  const char *name = tvms_packed_holder_name(b, param);
  tvms_node *kind =
      tvms_packed_variable(b, TVMS_DTYPE(INT, 32), "%s_type_index%s", name, "");
  tvms_packed_load(b, kind,
                   tvms_packed_field_of(b, TVMS_DTYPE(INT, 32), b->out->args, param,
                                        TVMS_FIELD_ANY_TYPE_INDEX));
  tvms_packed_path path = tvms_packed_path_of(b, param, "");
  if (b->out->function->buffers.items[param] || tvms_dtype_is_handle(var->dtype))
    load_pointer(b, param, kind);
  else
    tvms_packed_bind_scalar(b, var, decode_number(b, param, kind, var->dtype), &path);
}

// ---- All arguments ----

static void write_size(const tvms_packed_binder *b, tvms_strbuf *out,
                       const tvms_node *size) {
  const char *words = size->kind == TVMS_NODE_VAR
                          ? tvms_symbol_text(b->unit->context, tvms_as_var(size)->name)
                          : tvms_packed_words_of(b, size);
  tvms_strbuf_puts(out, words);
}

static void write_parameter(const tvms_packed_binder *b, tvms_strbuf *out,
                            uint32_t param) {
  const tvms_prim_func *function = b->out->function;
  const tvms_node *var = function->params.items[param];
  const tvms_node *buffer = function->buffers.items[param];
  char dtype[TVMS_DTYPE_TEXT];
  tvms_strbuf_printf(out, "%s: ", tvms_packed_name_of(b, param));
  if (!buffer) {
    bool pointer = tvms_dtype_is_handle(var->dtype) && !b->untyped;
    const char *type = !pointer     ? tvms_dtype_text(var->dtype, dtype)
                       : var->sinfo ? tvms_packed_words_of(b, var->sinfo)
                                    : "T.handle";
    tvms_strbuf_puts(out, type);
    return;
  }
  tvms_list shape = tvms_as_buffer(buffer)->shape;
  tvms_strbuf_puts(out, "Tensor([");
  for (uint32_t i = 0; i < shape.len; i++) {
    if (i) tvms_strbuf_puts(out, ", ");
    write_size(b, out, shape.items[i]);
  }
  tvms_strbuf_printf(out, "], %s)",
                     tvms_dtype_text(tvms_as_buffer(buffer)->element, dtype));
}

static tvms_node *write_signature(const tvms_packed_binder *b) {
  tvms_strbuf out;
  tvms_strbuf_init(&out, b->memory);
  tvms_strbuf_printf(&out, "%s(", b->out->symbol);
  for (uint32_t i = 0; i < b->out->function->params.len; i++) {
    if (i) tvms_strbuf_puts(&out, ", ");
    write_parameter(b, &out, i);
  }
  tvms_strbuf_puts(&out, ")");
  tvms_node *signature = tvms_packed_text(b, tvms_strbuf_text(&out));
  tvms_strbuf_fini(&out);
  return signature;
}

static void check_call(tvms_packed_binder *b) {
  uint32_t count = b->out->function->params.len;
  tvms_packed_digits n = tvms_packed_number(count);
  tvms_packed_check_now(
      b,
      tvms_packed_build(b, TVMS_NODE_EQ, b->out->num_args, tvms_packed_int(b, count)),
      "TypeError", TVMS_PACKED_PARTS("Expected ", n.text, " arguments", "", "`"));
  if (count)
    tvms_packed_check_now(b, tvms_packed_is_not_null(b, b->out->args), "TypeError",
                          TVMS_PACKED_PARTS("args pointer is NULL", "", "`"));
}

void tvms_packed_arguments_bind(tvms_packed_arguments *arguments) {
  tvms_context *context = arguments->unit->context;
  tvms_mark mark = tvms_arena_mark(&context->scratch);
  uint32_t count = arguments->function->params.len;
  tvms_packed_binder b = {
      .out = arguments, .unit = arguments->unit, .memory = &context->memory};
  b.untyped = !tvms_release_has(b.unit->dialect, TVMS_FACT_buffers_are_variables);
  b.analyzer = tvms_analyzer_new(b.unit);
  b.handles = tvms_arena_array(&context->scratch, tvms_node *, count);
  tvms_node_map_init(&b.defined, b.memory);
  b.when = tvms_packed_text(&b, " when calling:\n  `");
  b.signature = write_signature(&b);
  check_call(&b);
  for (uint32_t i = 0; i < count; i++) {
    decode(&b, i);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (arguments->function->buffers.items[i]) tvms_packed_bind_tensor(&b, i);
  }
  tvms_packed_check_pending(&b);
  tvms_vec_fini(b.memory, &b.pending);
  tvms_node_map_fini(&b.defined);
  tvms_analyzer_free(b.analyzer);
  tvms_arena_reset(&context->scratch, mark);
}

void tvms_packed_arguments_fini(tvms_packed_arguments *arguments) {
  tvms_memory *memory = &arguments->unit->context->memory;
  tvms_vec_fini(memory, &arguments->loads);
  tvms_vec_fini(memory, &arguments->checks);
  tvms_vec_fini(memory, &arguments->declarations);
}
