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

#include "arith/analyzer.h"
#include "ir/fold_ops.h"
#include "ir/node_map.h"
#include "structinfo/make.h"
#include "support/strbuf.h"

#include <stdio.h>
#include <string.h>

enum { PATH_SIZE = 160 };

// A parameter and a value of it.
typedef struct {
  uint32_t index;
  char text[PATH_SIZE];
} value_path;

// A variable that has a value: where it came from first.
typedef struct {
  tvms_node *value;
  value_path path;
} definition;

// A compound size, to be compared when everything is defined.
typedef struct {
  tvms_node *condition;
  tvms_node *expected;
  value_path path;
} pending_check;

typedef struct {
  tvms_packed_arguments *out;
  tvms_unit *unit;
  tvms_memory *memory;
  tvms_analyzer *analyzer;
  tvms_node_map defined;  // VAR -> definition
  TVMS_VEC(pending_check) pending;
  tvms_node **handles;   // by parameter: VAR of the handle of a tensor
  tvms_node *when;       // the part of messages in front of the signature
  tvms_node *signature;  // f(A: Tensor([n], float32), …)
} binder;

// ---- Building ----

static tvms_node *build(const binder *b, tvms_node_kind kind, tvms_node *x,
                        tvms_node *y) {
  return tvms_build_binary(b->unit, kind, x, y, TVMS_NO_SPAN);
}

static tvms_node *int32(const binder *b, int64_t value) {
  return tvms_int_imm_new(b->unit, TVMS_DTYPE(INT, 32), value, TVMS_NO_SPAN);
}

static tvms_node *text(const binder *b, const char *value) {
  return tvms_string_imm_new(b->unit, value, strlen(value), TVMS_NO_SPAN);
}

static tvms_node *pointer_type(const binder *b, tvms_dtype element, tvms_sym scope) {
  tvms_struct_SINFO_POINTER *type =
      tvms_node_make(b->unit, SINFO_POINTER, TVMS_NO_SPAN);
  type->head.dtype = element;
  type->scope = scope;
  return &type->head;
}

static tvms_node *typed(tvms_node *call, tvms_node *TVMS_NULLABLE type) {
  call->sinfo = type;
  return call;
}

static tvms_node *field_of(const binder *b, tvms_dtype dtype, tvms_node *base,
                           int64_t index, tvms_packed_field field) {
  tvms_node *args[] = {base, int32(b, index), int32(b, field)};
  return tvms_call_new_of(b->unit, dtype, TVMS_TIR_tvm_struct_get, args, 3,
                          TVMS_NO_SPAN);
}

static const tvms_dtype handle_dtype = {TVMS_HANDLE, 64, 1};

static tvms_node *is_null(const binder *b, tvms_node *pointer) {
  return tvms_call_new_of(b->unit, TVMS_DTYPE(BOOL, 1), TVMS_TIR_isnullptr, &pointer, 1,
                          TVMS_NO_SPAN);
}

static tvms_node *is_not_null(const binder *b, tvms_node *pointer) {
  return tvms_not_new(b->unit, is_null(b, pointer), TVMS_NO_SPAN);
}

static tvms_node *cast(const binder *b, tvms_dtype dtype, tvms_node *value) {
  return tvms_build_cast(b->unit, dtype, value, TVMS_NO_SPAN);
}

static tvms_node *variable(const binder *b, tvms_dtype dtype, const char *format,
                           const char *first, const char *second) {
  char name[256];
  int len = snprintf(name, sizeof name, format, first, second);
  if (len >= (int)sizeof name) len = (int)sizeof name - 1;
  tvms_sym sym = tvms_symbol_intern(b->unit->context, name, (size_t)len);
  return tvms_var_new(b->unit, sym, dtype, TVMS_NO_SPAN);
}

static void load(binder *b, tvms_node *var, tvms_node *value) {
  tvms_bind *bind = tvms_node_make(b->unit, BIND, TVMS_NO_SPAN);
  bind->var = var;
  bind->value = value;
  tvms_vec_push(b->memory, &b->out->loads, &bind->head);
}

// The text of a node, types of constants included.
static const char *words_of(const binder *b, const tvms_node *node) {
  const tvms_context *context = b->unit->context;
  return context->describe ? context->describe(b->unit, node)
                           : tvms_sinfo_describe(b->unit, node);
}

// ---- Checks ----

// An assertion whose message is `parts`, up to a NULL, with `when` and the signature in the
// place of the part "".
static tvms_node *assertion(binder *b, tvms_node *condition, const char *kind,
                            const char *const *parts) {
  enum { MOST = 12 };
  tvms_node *message[MOST];
  uint32_t count = 0;
  for (; *parts; parts++) {
    if (**parts) {
      message[count++] = text(b, *parts);
      continue;
    }
    message[count++] = b->when;
    message[count++] = b->signature;
  }
  tvms_assert *check = tvms_node_make(b->unit, ASSERT, TVMS_NO_SPAN);
  check->condition = condition;
  check->error_kind = tvms_bytes_copy(b->unit, kind, (uint32_t)strlen(kind));
  check->message = tvms_list_copy(b->unit, message, count);
  return &check->head;
}

#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void check_now(binder *b, tvms_node *condition, const char *kind,
                      const char *const *parts) {
  tvms_vec_push(b->memory, &b->out->loads, assertion(b, condition, kind, parts));
}

static void check_later(binder *b, tvms_node *condition, const char *const *parts) {
  tvms_vec_push(b->memory, &b->out->checks,
                assertion(b, condition, "ValueError", parts));
}

typedef struct {
  char text[12];
} digits;

static digits number(uint32_t value) {
  digits d;
  snprintf(d.text, sizeof d.text, "%u", value);
  return d;
}

static void check_kind(binder *b, uint32_t param, tvms_node *condition,
                       const char *expected) {
  digits n = number(param);
  check_now(
      b, condition, "TypeError",
      PARTS("Mismatched type on argument #", n.text, "", "`,\n  expected ", expected));
}

// ---- Definitions ----

static void note_definition(binder *b, tvms_node *var, tvms_node *value,
                            const value_path *path) {
  definition *d = tvms_arena_new(&b->unit->context->scratch, definition);
  *d = (definition){value, *path};
  tvms_node_map_put(&b->defined, var, (tvms_node *)(void *)d);
}

static const definition *definition_of(const binder *b, const tvms_node *var) {
  return (const definition *)(const void *)tvms_node_map_get(&b->defined, var);
}

// The condition simplified, or NULL if it always holds.
static tvms_node *open_condition(binder *b, tvms_node *x, tvms_node *y) {
  tvms_node *condition =
      tvms_analyzer_simplify(b->analyzer, build(b, TVMS_NODE_EQ, x, y));
  return tvms_node_is_int_imm(condition) && tvms_node_is_true(condition) ? NULL
                                                                         : condition;
}

static void check_same(binder *b, const definition *first, tvms_node *value,
                       const value_path *path) {
  tvms_node *condition = open_condition(b, first->value, value);
  if (!condition) return;
  digits n = number(path->index);
  bool other = first->path.text[0] && strcmp(first->path.text, path->text);
  if (other)
    check_later(b, condition,
                PARTS("Mismatched ", path->text, " on argument #", n.text, "",
                      "`,\n  expected to match ", first->path.text));
  else
    check_later(b, condition,
                PARTS("Mismatched ", path->text, " on argument #", n.text, "",
                      "`,\n  expected matching value"));
}

// `arg` of the function is `value` of the caller. Returns true if that defined a variable.
static bool bind_scalar(binder *b, tvms_node *arg, tvms_node *value,
                        const value_path *path) {
  if (arg->kind == TVMS_NODE_VAR) {
    const definition *first = definition_of(b, arg);
    if (first) {
      check_same(b, first, value, path);
      return false;
    }
    note_definition(b, arg, arg, path);
    load(b, arg, value);
    return true;
  }
  tvms_node *condition = open_condition(b, arg, value);
  if (!condition) return false;
  pending_check check = {condition, arg, *path};
  tvms_vec_push(b->memory, &b->pending, check);
  return false;
}

// ---- Words for compound sizes ----

static void write_expression(const binder *b, tvms_strbuf *out, const tvms_node *node);

static void write_call(const binder *b, tvms_strbuf *out, const char *name,
                       const tvms_binary *binary) {
  tvms_strbuf_printf(out, "%s(", name);
  write_expression(b, out, binary->a);
  tvms_strbuf_puts(out, ", ");
  write_expression(b, out, binary->b);
  tvms_strbuf_puts(out, ")");
}

static void write_infix(const binder *b, tvms_strbuf *out, const char *sign,
                        const tvms_binary *binary) {
  write_expression(b, out, binary->a);
  tvms_strbuf_printf(out, " %s ", sign);
  write_expression(b, out, binary->b);
}

static void write_variable(const binder *b, tvms_strbuf *out, const tvms_node *var) {
  const definition *d = definition_of(b, var);
  const char *name = tvms_symbol_text(b->unit->context, tvms_as_var(var)->name);
  tvms_strbuf_puts(out, d && d->path.text[0] ? d->path.text : name);
}

// With paths for variables, without types and, as TVM does, without parentheses.
static void write_expression(const binder *b, tvms_strbuf *out, const tvms_node *node) {
  switch ((int)node->kind) {
  case TVMS_NODE_VAR: write_variable(b, out, node); break;
  case TVMS_NODE_INT_IMM:
    tvms_strbuf_printf(out, "%lld", (long long)tvms_as_int_imm(node)->value);
    break;
  case TVMS_NODE_CAST: write_expression(b, out, tvms_as_cast(node)->value); break;
  case TVMS_NODE_ADD: write_infix(b, out, "+", tvms_as_binary(node)); break;
  case TVMS_NODE_SUB: write_infix(b, out, "-", tvms_as_binary(node)); break;
  case TVMS_NODE_MUL: write_infix(b, out, "*", tvms_as_binary(node)); break;
  case TVMS_NODE_DIV: write_infix(b, out, "/", tvms_as_binary(node)); break;
  case TVMS_NODE_MOD: write_infix(b, out, "%", tvms_as_binary(node)); break;
  case TVMS_NODE_FLOOR_DIV: write_call(b, out, "floordiv", tvms_as_binary(node)); break;
  case TVMS_NODE_FLOOR_MOD: write_call(b, out, "floormod", tvms_as_binary(node)); break;
  case TVMS_NODE_MIN: write_call(b, out, "min", tvms_as_binary(node)); break;
  case TVMS_NODE_MAX: write_call(b, out, "max", tvms_as_binary(node)); break;
  default: tvms_strbuf_puts(out, words_of(b, node)); break;
  }
}

static void check_pending(binder *b) {
  for (uint32_t i = 0; i < b->pending.len; i++) {
    pending_check *check = &b->pending.items[i];
    tvms_strbuf expected;
    tvms_strbuf_init(&expected, b->memory);
    write_expression(b, &expected, check->expected);
    digits n = number(check->path.index);
    check_later(b, check->condition,
                PARTS("Invalid ", check->path.text, " on argument #", n.text, "",
                      "`,\n  expected ", tvms_strbuf_text(&expected)));
    tvms_strbuf_fini(&expected);
  }
}

// ---- One argument ----

static tvms_node *kind_is(const binder *b, tvms_node *kind, tvms_packed_kind wanted) {
  return build(b, TVMS_NODE_EQ, kind, int32(b, wanted));
}

static tvms_node *either(const binder *b, tvms_node *x, tvms_node *y) {
  return build(b, TVMS_NODE_OR, x, y);
}

static tvms_node *union_value(const binder *b, uint32_t param, tvms_dtype dtype) {
  return field_of(b, dtype, b->out->args, param, TVMS_FIELD_ANY_UNION_VALUE);
}

static tvms_node *decode_pointer(binder *b, uint32_t param, tvms_node *kind,
                                 const char *expected) {
  tvms_node *fits = either(b, kind_is(b, kind, TVMS_PACKED_NONE),
                           kind_is(b, kind, TVMS_PACKED_POINTER));
  fits = either(b, fits, kind_is(b, kind, TVMS_PACKED_DL_TENSOR));
  fits = either(b, fits, build(b, TVMS_NODE_GE, kind, int32(b, TVMS_PACKED_OBJECT)));
  check_kind(b, param, fits, expected);
  // A tensor object holds its DLTensor behind its head.
  enum { OBJECT_HEAD = 24 };
  tvms_node *value = union_value(b, param, handle_dtype);
  tvms_node *inside[] = {value, int32(b, OBJECT_HEAD)};
  tvms_node *choice[] = {
      kind_is(b, kind, TVMS_PACKED_TENSOR),
      tvms_call_new_of(b->unit, handle_dtype, TVMS_TIR_handle_add_byte_offset, inside,
                       2, TVMS_NO_SPAN),
      value,
  };
  return tvms_call_new_of(b->unit, handle_dtype, TVMS_TIR_if_then_else, choice, 3,
                          TVMS_NO_SPAN);
}

static tvms_node *raw_cast(const binder *b, tvms_dtype dtype, tvms_node *value) {
  return tvms_cast_new(b->unit, dtype, value, TVMS_NO_SPAN);
}

static tvms_node *decode_number(binder *b, uint32_t param, tvms_node *kind,
                                tvms_dtype dtype) {
  tvms_dtype int64 = TVMS_DTYPE(INT, 64), real64 = TVMS_DTYPE(FLOAT, 64);
  tvms_node *is_int = kind_is(b, kind, TVMS_PACKED_INT);
  tvms_node *is_bool = kind_is(b, kind, TVMS_PACKED_BOOL);
  if (tvms_dtype_is_bool(dtype)) {
    check_kind(b, param, either(b, is_bool, is_int), "boolean");
    return raw_cast(b, dtype, union_value(b, param, int64));
  }
  if (!tvms_dtype_is_real(dtype)) {
    check_kind(b, param, either(b, is_int, is_bool), "int");
    tvms_node *value = union_value(b, param, int64);
    return tvms_dtype_same(dtype, int64) ? value : raw_cast(b, dtype, value);
  }
  tvms_node *is_float = kind_is(b, kind, TVMS_PACKED_FLOAT);
  check_kind(b, param, either(b, either(b, is_float, is_int), is_bool), "float");
  tvms_node *real = union_value(b, param, real64);
  if (!tvms_dtype_same(dtype, real64)) real = raw_cast(b, dtype, real);
  return tvms_select_new(b->unit, kind_is(b, kind, TVMS_PACKED_FLOAT), real,
                         raw_cast(b, dtype, union_value(b, param, int64)),
                         TVMS_NO_SPAN);
}

static const char *name_of(const binder *b, uint32_t param) {
  const tvms_prim_func *function = b->out->function;
  const tvms_node *buffer = function->buffers.items[param];
  tvms_sym name = buffer ? tvms_as_buffer(buffer)->name
                         : tvms_as_var(function->params.items[param])->name;
  return tvms_symbol_text(b->unit->context, name);
}

static value_path path_of(const binder *b, uint32_t param, const char *field) {
  value_path path = {.index = param};
  snprintf(path.text, sizeof path.text, "%.120s%s", name_of(b, param), field);
  return path;
}

static value_path element_path(const binder *b, uint32_t param, const char *field,
                               uint32_t i) {
  char text[40];
  snprintf(text, sizeof text, ".%s[%u]", field, i);
  return path_of(b, param, text);
}

static void decode(binder *b, uint32_t param) {
  tvms_node *var = b->out->function->params.items[param];
  const char *name = name_of(b, param);
  tvms_node *kind = variable(b, TVMS_DTYPE(INT, 32), "%s_type_index%s", name, "");
  load(
      b, kind,
      field_of(b, TVMS_DTYPE(INT, 32), b->out->args, param, TVMS_FIELD_ANY_TYPE_INDEX));
  value_path path = path_of(b, param, "");
  if (b->out->function->buffers.items[param]) {
    tvms_node *handle = variable(b, handle_dtype, "%s_handle%s", name, "");
    load(b, handle, decode_pointer(b, param, kind, "Tensor"));
    b->handles[param] = handle;
  } else if (tvms_dtype_is_handle(var->dtype)) {
    tvms_node *value = decode_pointer(b, param, kind, "pointer");
    tvms_node *pointer = tvms_call_new_of(b->unit, handle_dtype, TVMS_TIR_reinterpret,
                                          &value, 1, TVMS_NO_SPAN);
    note_definition(b, var, var, &path);
    load(b, var, typed(pointer, var->sinfo));
  } else {
    bind_scalar(b, var, decode_number(b, param, kind, var->dtype), &path);
  }
}

// ---- One tensor ----

typedef struct {
  uint32_t param;
  const tvms_buffer *buffer;
  tvms_node *handle;
  const char *name;
  digits index;
  tvms_node *shape;  // pointers to int64
  tvms_node *strides;
} tensor;

static void check_rank_and_type(binder *b, const tensor *t) {
  check_kind(b, t->param, is_not_null(b, t->handle), "Tensor");
  tvms_node *ndim =
      field_of(b, TVMS_DTYPE(INT, 32), t->handle, 0, TVMS_FIELD_TENSOR_NDIM);
  digits rank = number(t->buffer->shape.len);
  check_now(b, build(b, TVMS_NODE_EQ, int32(b, t->buffer->shape.len), ndim),
            "ValueError",
            PARTS("Mismatched ", t->name, ".ndim on argument #", t->index.text, "",
                  "`,\n  expected ", rank.text));
  tvms_dtype element = t->buffer->element, byte = TVMS_DTYPE(UINT, 8);
  if (element.code != TVMS_BOOL && element.bits < 8 && element.code < TVMS_HANDLE)
    return;
  tvms_dtype two_bytes = TVMS_DTYPE(UINT, 16);
  uint8_t bits = element.code == TVMS_BOOL ? 8 : element.bits;
  const struct {
    tvms_packed_field field;
    tvms_dtype dtype;
    int64_t value;
  } parts[] = {{TVMS_FIELD_TENSOR_TYPE_CODE, byte, element.code},
               {TVMS_FIELD_TENSOR_TYPE_BITS, byte, bits},
               {TVMS_FIELD_TENSOR_TYPE_LANES, two_bytes, element.lanes}};
  tvms_node *fits = NULL;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    tvms_node *got = field_of(b, parts[i].dtype, t->handle, 0, parts[i].field);
    tvms_node *wanted =
        tvms_int_imm_new(b->unit, parts[i].dtype, parts[i].value, TVMS_NO_SPAN);
    tvms_node *same = build(b, TVMS_NODE_EQ, got, wanted);
    fits = fits ? build(b, TVMS_NODE_AND, fits, same) : same;
  }
  char dtype[TVMS_DTYPE_TEXT];
  check_now(b, fits, "TypeError",
            PARTS("Mismatched ", t->name, ".dtype on argument #", t->index.text, "",
                  "`,\n  expected ", tvms_dtype_text(element, dtype)));
}

static tvms_node *pointer_field(binder *b, const tensor *t, tvms_packed_field field,
                                const char *suffix) {
  char name[128];
  snprintf(name, sizeof name, "%.110s_%s", t->name, suffix);
  tvms_node *var = variable(b, handle_dtype, "%s_%s", b->out->symbol, name);
  tvms_node *type = pointer_type(b, TVMS_DTYPE(INT, 64), 0);
  var->sinfo = type;
  load(b, var, typed(field_of(b, handle_dtype, t->handle, 0, field), type));
  return var;
}

static tvms_node *element(const binder *b, tvms_node *pointer, uint32_t i) {
  return field_of(b, TVMS_DTYPE(INT, 64), pointer, i, TVMS_FIELD_INT64_ELEMENT);
}

static tvms_dtype index_dtype(const tvms_buffer *buffer) {
  return buffer->shape.len ? buffer->shape.items[0]->dtype : TVMS_DTYPE(INT, 32);
}

static void bind_shape(binder *b, tensor *t) {
  t->shape = pointer_field(b, t, TVMS_FIELD_TENSOR_SHAPE, "shape");
  tvms_dtype type = t->buffer->element;
  bool packed = (type.code == TVMS_INT || type.code == TVMS_UINT) && type.lanes == 1
                && (type.bits == 4 || (type.bits == 1 && type.code == TVMS_INT));
  for (uint32_t i = 0; i < t->buffer->shape.len && !packed; i++) {
    tvms_node *size = t->buffer->shape.items[i];
    value_path path = element_path(b, t->param, "shape", i);
    bind_scalar(b, size, cast(b, size->dtype, element(b, t->shape, i)), &path);
  }
}

static void check_compact(binder *b, const tensor *t) {
  tvms_dtype type = index_dtype(t->buffer);
  tvms_node *expected = tvms_int_imm_new(b->unit, type, 1, TVMS_NO_SPAN);
  tvms_node *one = tvms_int_imm_new(b->unit, type, 1, TVMS_NO_SPAN);
  tvms_node *all = NULL;
  for (uint32_t i = t->buffer->shape.len; i > 0; i--) {
    tvms_node *size = t->buffer->shape.items[i - 1];
    tvms_node *stride = cast(b, type, element(b, t->strides, i - 1));
    tvms_node *fits = either(b, build(b, TVMS_NODE_EQ, size, one),
                             build(b, TVMS_NODE_EQ, expected, stride));
    all = all ? build(b, TVMS_NODE_AND, all, fits) : fits;
    expected = build(b, TVMS_NODE_MUL, expected, size);
  }
  if (!all) return;
  tvms_if_then_else *branch = tvms_node_make(b->unit, IF_THEN_ELSE, TVMS_NO_SPAN);
  branch->condition = is_not_null(b, t->strides);
  branch->then_case =
      assertion(b, all, "ValueError",
                PARTS("Mismatched ", t->name, ".strides on argument #", t->index.text,
                      "", "`,\n  expected to be compact array"));
  tvms_vec_push(b->memory, &b->out->checks, &branch->head);
}

static void bind_given_strides(binder *b, const tensor *t) {
  tvms_node *compact = int32(b, 1);
  for (uint32_t i = t->buffer->strides.len; i > 0; i--) {
    tvms_dtype type = t->buffer->shape.items[i - 1]->dtype;
    tvms_node *given = cast(b, type, element(b, t->strides, i - 1));
    tvms_node *value = tvms_build_if_then_else(b->unit, is_null(b, t->strides), compact,
                                               given, TVMS_NO_SPAN);
    value_path path = element_path(b, t->param, "strides", i - 1);
    bind_scalar(b, t->buffer->strides.items[i - 1], value, &path);
    compact =
        build(b, TVMS_NODE_MUL, compact, cast(b, type, element(b, t->shape, i - 1)));
  }
}

static void bind_strides(binder *b, tensor *t) {
  t->strides = pointer_field(b, t, TVMS_FIELD_TENSOR_STRIDES, "strides");
  if (t->buffer->strides.len)
    bind_given_strides(b, t);
  else
    check_compact(b, t);
}

static void check_factor(binder *b, const tensor *t, int64_t bytes) {
  if (t->buffer->offset_factor <= 1) return;
  tvms_node *offset = t->buffer->elem_offset;
  tvms_node *factor =
      tvms_int_imm_new(b->unit, offset->dtype, t->buffer->offset_factor, TVMS_NO_SPAN);
  tvms_node *zero = tvms_int_imm_new(b->unit, offset->dtype, 0, TVMS_NO_SPAN);
  tvms_node *fits =
      build(b, TVMS_NODE_EQ, build(b, TVMS_NODE_MOD, offset, factor), zero);
  fits = tvms_analyzer_simplify(b->analyzer, fits);
  if (tvms_node_is_int_imm(fits)) return;
  digits alignment = number((uint32_t)(t->buffer->offset_factor * bytes));
  check_now(b, fits, "ValueError",
            PARTS("Misaligned Tensor data on argument #", t->index.text, "",
                  "`,\n  expected data alignment=", alignment.text, " bytes"));
}

static void bind_offset(binder *b, const tensor *t) {
  tvms_dtype uint64 = TVMS_DTYPE(UINT, 64), type = t->buffer->element;
  int64_t bytes = (type.bits * type.lanes + 7) / 8;
  tvms_node *offset = t->buffer->elem_offset;
  tvms_node *got = field_of(b, uint64, t->handle, 0, TVMS_FIELD_TENSOR_BYTE_OFFSET);
  value_path path = path_of(b, t->param, ".byte_offset");
  if (tvms_node_is_int_imm(offset)) {
    int64_t expected = tvms_as_int_imm(offset)->value * bytes;
    bind_scalar(b, tvms_int_imm_new(b->unit, uint64, expected, TVMS_NO_SPAN), got,
                &path);
    return;
  }
  tvms_node *size = tvms_int_imm_new(b->unit, uint64, bytes, TVMS_NO_SPAN);
  tvms_node *elements = cast(b, offset->dtype, build(b, TVMS_NODE_DIV, got, size));
  if (bind_scalar(b, offset, elements, &path)) check_factor(b, t, bytes);
}

static void bind_device(binder *b, const tensor *t) {
  tvms_dtype int32_type = TVMS_DTYPE(INT, 32);
  tvms_node *type =
      field_of(b, int32_type, t->handle, 0, TVMS_FIELD_TENSOR_DEVICE_TYPE);
  tvms_node *fits = build(b, TVMS_NODE_EQ, int32(b, b->out->device_type), type);
  check_now(b, tvms_analyzer_simplify(b->analyzer, fits), "ValueError",
            PARTS("Mismatched ", t->name, ".device_type on argument #", t->index.text,
                  "", "`,\n  expected ", b->out->device));
  value_path path = path_of(b, t->param, ".device_id");
  bind_scalar(b, b->out->device_id,
              field_of(b, int32_type, t->handle, 0, TVMS_FIELD_TENSOR_DEVICE_ID),
              &path);
  b->out->has_device = true;
}

// The data, as a pointer to elements; a tensor without elements need not have any.
static tvms_node *bind_data(binder *b, const tensor *t) {
  tvms_node *raw = field_of(b, handle_dtype, t->handle, 0, TVMS_FIELD_TENSOR_DATA);
  tvms_node *data = tvms_call_new_of(b->unit, handle_dtype, TVMS_TIR_reinterpret, &raw,
                                     1, TVMS_NO_SPAN);
  typed(data, t->buffer->data->sinfo);
  tvms_dtype type = index_dtype(t->buffer);
  tvms_node *size = tvms_int_imm_new(b->unit, type, 1, TVMS_NO_SPAN);
  for (uint32_t i = 0; i < t->buffer->shape.len; i++) {
    size = build(b, TVMS_NODE_MUL, size, t->buffer->shape.items[i]);
  }
  tvms_node *zero = tvms_int_imm_new(b->unit, size->dtype, 0, TVMS_NO_SPAN);
  tvms_node *fits = either(b, build(b, TVMS_NODE_EQ, size, zero), is_not_null(b, data));
  check_later(b, fits,
              PARTS(t->name, " data pointer is NULL on argument #", t->index.text, "",
                    "`,\n  expected non-NULL data pointer"));
  tvms_attr_stmt *aligned = tvms_node_make(b->unit, ATTR_STMT, TVMS_NO_SPAN);
  aligned->node = (tvms_node *)(uintptr_t)&t->buffer->head;
  aligned->key = tvms_bytes_copy(b->unit, "storage_alignment", 17);
  aligned->value = int32(b, t->buffer->align);
  tvms_vec_push(b->memory, &b->out->loads, &aligned->head);
  return data;
}

static void bind_tensor(binder *b, uint32_t param) {
  tvms_node *node = b->out->function->buffers.items[param];
  tensor t = {.param = param,
              .buffer = tvms_as_buffer(node),
              .handle = b->handles[param],
              .name = name_of(b, param),
              .index = number(param)};
  check_rank_and_type(b, &t);
  bind_shape(b, &t);
  bind_strides(b, &t);
  bind_offset(b, &t);
  bind_device(b, &t);
  tvms_decl_buffer *declare = tvms_node_make(b->unit, DECL_BUFFER, TVMS_NO_SPAN);
  declare->source = bind_data(b, &t);
  declare->buffer = node;
  tvms_vec_push(b->memory, &b->out->declarations, &declare->head);
}

// ---- All arguments ----

static void write_size(const binder *b, tvms_strbuf *out, const tvms_node *size) {
  const char *words = size->kind == TVMS_NODE_VAR
                          ? tvms_symbol_text(b->unit->context, tvms_as_var(size)->name)
                          : words_of(b, size);
  tvms_strbuf_puts(out, words);
}

static void write_parameter(const binder *b, tvms_strbuf *out, uint32_t param) {
  const tvms_prim_func *function = b->out->function;
  const tvms_node *var = function->params.items[param];
  const tvms_node *buffer = function->buffers.items[param];
  char dtype[TVMS_DTYPE_TEXT];
  tvms_strbuf_printf(out, "%s: ", name_of(b, param));
  if (!buffer) {
    bool pointer = tvms_dtype_is_handle(var->dtype);
    const char *type = !pointer     ? tvms_dtype_text(var->dtype, dtype)
                       : var->sinfo ? words_of(b, var->sinfo)
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

static tvms_node *write_signature(const binder *b) {
  tvms_strbuf out;
  tvms_strbuf_init(&out, b->memory);
  tvms_strbuf_printf(&out, "%s(", b->out->symbol);
  for (uint32_t i = 0; i < b->out->function->params.len; i++) {
    if (i) tvms_strbuf_puts(&out, ", ");
    write_parameter(b, &out, i);
  }
  tvms_strbuf_puts(&out, ")");
  tvms_node *signature = text(b, tvms_strbuf_text(&out));
  tvms_strbuf_fini(&out);
  return signature;
}

static void check_call(binder *b) {
  uint32_t count = b->out->function->params.len;
  digits n = number(count);
  check_now(b, build(b, TVMS_NODE_EQ, b->out->num_args, int32(b, count)), "TypeError",
            PARTS("Expected ", n.text, " arguments", "", "`"));
  if (count)
    check_now(b, is_not_null(b, b->out->args), "TypeError",
              PARTS("args pointer is NULL", "", "`"));
}

void tvms_packed_arguments_bind(tvms_packed_arguments *arguments) {
  tvms_context *context = arguments->unit->context;
  tvms_mark mark = tvms_arena_mark(&context->scratch);
  uint32_t count = arguments->function->params.len;
  binder b = {.out = arguments, .unit = arguments->unit, .memory = &context->memory};
  b.analyzer = tvms_analyzer_new(b.unit);
  b.handles = tvms_arena_array(&context->scratch, tvms_node *, count);
  tvms_node_map_init(&b.defined, b.memory);
  b.when = text(&b, " when calling:\n  `");
  b.signature = write_signature(&b);
  check_call(&b);
  for (uint32_t i = 0; i < count; i++) {
    decode(&b, i);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (arguments->function->buffers.items[i]) bind_tensor(&b, i);
  }
  check_pending(&b);
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
