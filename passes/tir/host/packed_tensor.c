// One tensor among packed arguments: its DLTensor against the buffer of the parameter.
#include "passes/tir/host/packed_tensor.h"

#include "ir/fold_ops.h"

#include <stdio.h>
#include <string.h>

static tvms_node *pointer_type(const tvms_packed_binder *b, tvms_dtype element,
                               tvms_sym scope) {
  tvms_struct_SINFO_POINTER *type =
      tvms_node_make(b->unit, SINFO_POINTER, TVMS_NO_SPAN);
  type->head.dtype = element;
  type->scope = scope;
  return &type->head;
}

typedef struct {
  uint32_t param;
  const tvms_buffer *buffer;
  tvms_node *handle;
  const char *name;
  tvms_packed_digits index;
  tvms_node *shape;  // pointers to int64
  tvms_node *strides;
} tensor;

static void check_rank_and_type(tvms_packed_binder *b, const tensor *t) {
  tvms_packed_check_kind(b, t->param, tvms_packed_is_not_null(b, t->handle), "Tensor");
  tvms_node *ndim = tvms_packed_field_of(b, TVMS_DTYPE(INT, 32), t->handle, 0,
                                         TVMS_FIELD_TENSOR_NDIM);
  tvms_packed_digits rank = tvms_packed_number(t->buffer->shape.len);
  tvms_packed_check_now(
      b,
      tvms_packed_build(b, TVMS_NODE_EQ, tvms_packed_int(b, t->buffer->shape.len),
                        ndim),
      "ValueError",
      TVMS_PACKED_PARTS("Mismatched ", t->name, ".ndim on argument #", t->index.text,
                        "", "`,\n  expected ", rank.text));
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
    tvms_node *got =
        tvms_packed_field_of(b, parts[i].dtype, t->handle, 0, parts[i].field);
    tvms_node *wanted =
        tvms_int_imm_new(b->unit, parts[i].dtype, parts[i].value, TVMS_NO_SPAN);
    tvms_node *same = tvms_packed_build(b, TVMS_NODE_EQ, got, wanted);
    fits = fits ? tvms_packed_build(b, TVMS_NODE_AND, fits, same) : same;
  }
  char dtype[TVMS_DTYPE_TEXT];
  tvms_packed_check_now(
      b, fits, "TypeError",
      TVMS_PACKED_PARTS("Mismatched ", t->name, ".dtype on argument #", t->index.text,
                        "", "`,\n  expected ", tvms_dtype_text(element, dtype)));
}

static tvms_node *pointer_field(tvms_packed_binder *b, const tensor *t,
                                tvms_packed_field field, const char *suffix) {
  char name[128];
  snprintf(name, sizeof name, "%.110s_%s", tvms_packed_holder_name(b, t->param),
           suffix);
  tvms_node *var =
      tvms_packed_variable(b, TVMS_PACKED_HANDLE, "%s_%s", b->out->symbol, name);
  tvms_node *type = b->untyped ? NULL : pointer_type(b, TVMS_DTYPE(INT, 64), 0);
  var->sinfo = type;
  tvms_packed_load(
      b, var,
      tvms_packed_typed(
          tvms_packed_field_of(b, TVMS_PACKED_HANDLE, t->handle, 0, field), type));
  return var;
}

static tvms_node *element(const tvms_packed_binder *b, tvms_node *pointer, uint32_t i) {
  return tvms_packed_field_of(b, TVMS_DTYPE(INT, 64), pointer, i,
                              TVMS_FIELD_INT64_ELEMENT);
}

static tvms_dtype index_dtype(const tvms_buffer *buffer) {
  return buffer->shape.len ? buffer->shape.items[0]->dtype : TVMS_DTYPE(INT, 32);
}

static void bind_shape(tvms_packed_binder *b, tensor *t) {
  t->shape = pointer_field(b, t, TVMS_FIELD_TENSOR_SHAPE, "shape");
  tvms_dtype type = t->buffer->element;
  bool packed = (type.code == TVMS_INT || type.code == TVMS_UINT) && type.lanes == 1
                && (type.bits == 4 || (type.bits == 1 && type.code == TVMS_INT));
  for (uint32_t i = 0; i < t->buffer->shape.len && !packed; i++) {
    tvms_node *size = t->buffer->shape.items[i];
    tvms_packed_path path = tvms_packed_element_path(b, t->param, "shape", i);
    tvms_packed_bind_scalar(
        b, size, tvms_packed_cast(b, size->dtype, element(b, t->shape, i)), &path);
  }
}

static void check_compact(tvms_packed_binder *b, const tensor *t) {
  tvms_dtype type = index_dtype(t->buffer);
  tvms_node *expected = tvms_int_imm_new(b->unit, type, 1, TVMS_NO_SPAN);
  tvms_node *one = tvms_int_imm_new(b->unit, type, 1, TVMS_NO_SPAN);
  tvms_node *all = NULL;
  for (uint32_t i = t->buffer->shape.len; i > 0; i--) {
    tvms_node *size = t->buffer->shape.items[i - 1];
    tvms_node *stride = tvms_packed_cast(b, type, element(b, t->strides, i - 1));
    tvms_node *fits =
        tvms_packed_either(b, tvms_packed_build(b, TVMS_NODE_EQ, size, one),
                           tvms_packed_build(b, TVMS_NODE_EQ, expected, stride));
    all = all ? tvms_packed_build(b, TVMS_NODE_AND, all, fits) : fits;
    expected = tvms_packed_build(b, TVMS_NODE_MUL, expected, size);
  }
  if (!all) return;
  tvms_if_then_else *branch = tvms_node_make(b->unit, IF_THEN_ELSE, TVMS_NO_SPAN);
  branch->condition = tvms_packed_is_not_null(b, t->strides);
  branch->then_case = tvms_packed_assertion(
      b, all, "ValueError",
      TVMS_PACKED_PARTS("Mismatched ", t->name, ".strides on argument #", t->index.text,
                        "", "`,\n  expected to be compact array"));
  tvms_vec_push(b->memory, &b->out->checks, &branch->head);
}

static void bind_given_strides(tvms_packed_binder *b, const tensor *t) {
  tvms_node *compact = tvms_packed_int(b, 1);
  for (uint32_t i = t->buffer->strides.len; i > 0; i--) {
    tvms_dtype type = t->buffer->shape.items[i - 1]->dtype;
    tvms_node *given = tvms_packed_cast(b, type, element(b, t->strides, i - 1));
    tvms_node *value = tvms_build_if_then_else(
        b->unit, tvms_packed_is_null(b, t->strides), compact, given, TVMS_NO_SPAN);
    tvms_packed_path path = tvms_packed_element_path(b, t->param, "strides", i - 1);
    tvms_packed_bind_scalar(b, t->buffer->strides.items[i - 1], value, &path);
    compact = tvms_packed_build(b, TVMS_NODE_MUL, compact,
                                tvms_packed_cast(b, type, element(b, t->shape, i - 1)));
  }
}

// Strides of a buffer that repeats what has the size 1: up to 0.25.
static void bind_repeating_strides(tvms_packed_binder *b, const tensor *t) {
  tvms_node *compact =
      tvms_int_imm_new(b->unit, index_dtype(t->buffer), 1, TVMS_NO_SPAN);
  for (uint32_t i = t->buffer->shape.len; i > 0; i--) {
    tvms_node *size = t->buffer->shape.items[i - 1];
    tvms_node *value = tvms_packed_cast(b, size->dtype, element(b, t->strides, i - 1));
    value = tvms_build_if_then_else(b->unit, tvms_packed_is_null(b, t->strides),
                                    compact, value, TVMS_NO_SPAN);
    tvms_node *one = tvms_int_imm_new(b->unit, size->dtype, 1, TVMS_NO_SPAN);
    value = tvms_build_if_then_else(
        b->unit, tvms_packed_build(b, TVMS_NODE_EQ, size, one),
        tvms_int_imm_new(b->unit, value->dtype, 0, TVMS_NO_SPAN), value, TVMS_NO_SPAN);
    tvms_packed_path path = tvms_packed_element_path(b, t->param, "strides", i - 1);
    tvms_packed_bind_scalar(b, t->buffer->strides.items[i - 1], value, &path);
    compact = tvms_packed_build(b, TVMS_NODE_MUL, compact, size);
    compact = tvms_analyzer_simplify(b->analyzer, compact);
  }
}

static void bind_strides(tvms_packed_binder *b, tensor *t) {
  t->strides = pointer_field(b, t, TVMS_FIELD_TENSOR_STRIDES, "strides");
  if (t->buffer->strides.len && t->buffer->buffer_type && b->untyped)
    bind_repeating_strides(b, t);
  else if (t->buffer->strides.len)
    bind_given_strides(b, t);
  else
    check_compact(b, t);
}

static void check_factor(tvms_packed_binder *b, const tensor *t, int64_t bytes) {
  if (t->buffer->offset_factor <= 1) return;
  tvms_node *offset = t->buffer->elem_offset;
  tvms_node *factor =
      tvms_int_imm_new(b->unit, offset->dtype, t->buffer->offset_factor, TVMS_NO_SPAN);
  tvms_node *zero = tvms_int_imm_new(b->unit, offset->dtype, 0, TVMS_NO_SPAN);
  tvms_node *fits = tvms_packed_build(
      b, TVMS_NODE_EQ, tvms_packed_build(b, TVMS_NODE_MOD, offset, factor), zero);
  fits = tvms_analyzer_simplify(b->analyzer, fits);
  if (tvms_node_is_int_imm(fits)) return;
  tvms_packed_digits alignment =
      tvms_packed_number((uint32_t)(t->buffer->offset_factor * bytes));
  tvms_packed_check_now(
      b, fits, "ValueError",
      TVMS_PACKED_PARTS("Misaligned Tensor data on argument #", t->index.text, "",
                        "`,\n  expected data alignment=", alignment.text, " bytes"));
}

static void bind_offset(tvms_packed_binder *b, const tensor *t) {
  tvms_dtype uint64 = TVMS_DTYPE(UINT, 64), type = t->buffer->element;
  int64_t bytes = (type.bits * type.lanes + 7) / 8;
  tvms_node *offset = t->buffer->elem_offset;
  tvms_node *got =
      tvms_packed_field_of(b, uint64, t->handle, 0, TVMS_FIELD_TENSOR_BYTE_OFFSET);
  tvms_packed_path path = tvms_packed_path_of(b, t->param, ".byte_offset");
  if (tvms_node_is_int_imm(offset)) {
    int64_t expected = tvms_as_int_imm(offset)->value * bytes;
    tvms_packed_bind_scalar(
        b, tvms_int_imm_new(b->unit, uint64, expected, TVMS_NO_SPAN), got, &path);
    return;
  }
  tvms_node *size = tvms_int_imm_new(b->unit, uint64, bytes, TVMS_NO_SPAN);
  tvms_node *elements = tvms_packed_cast(
      b, offset->dtype, tvms_packed_build(b, TVMS_NODE_DIV, got, size));
  if (tvms_packed_bind_scalar(b, offset, elements, &path)) check_factor(b, t, bytes);
}

static void bind_device(tvms_packed_binder *b, const tensor *t) {
  tvms_dtype int32_type = TVMS_DTYPE(INT, 32);
  tvms_node *type =
      tvms_packed_field_of(b, int32_type, t->handle, 0, TVMS_FIELD_TENSOR_DEVICE_TYPE);
  tvms_node *fits =
      tvms_packed_build(b, TVMS_NODE_EQ, tvms_packed_int(b, b->out->device_type), type);
  tvms_packed_check_now(b, tvms_analyzer_simplify(b->analyzer, fits), "ValueError",
                        TVMS_PACKED_PARTS("Mismatched ", t->name,
                                          ".device_type on argument #", t->index.text,
                                          "", "`,\n  expected ", b->out->device));
  tvms_packed_path path = tvms_packed_path_of(b, t->param, ".device_id");
  tvms_packed_bind_scalar(
      b, b->out->device_id,
      tvms_packed_field_of(b, int32_type, t->handle, 0, TVMS_FIELD_TENSOR_DEVICE_ID),
      &path);
  b->out->has_device = true;
}

// Truth values are stored as bytes, and the variable of the data points to such.
static void point_at_stored(const tvms_packed_binder *b, const tvms_buffer *buffer) {
  const tvms_node *type = buffer->data->sinfo;
  if (!type || !tvms_dtype_is_bool(buffer->element) || buffer->element.lanes != 1)
    return;
  buffer->data->sinfo =
      pointer_type(b, TVMS_DTYPE(INT, 8), tvms_as_sinfo_pointer(type)->scope);
}

// The data, as a pointer to elements; a tensor without elements need not have any. Up to
// 0.25 it is the buffer's variable, and NULL if that has a value already.
static tvms_node *TVMS_NULLABLE bind_data(tvms_packed_binder *b, const tensor *t) {
  tvms_node *raw =
      tvms_packed_field_of(b, TVMS_PACKED_HANDLE, t->handle, 0, TVMS_FIELD_TENSOR_DATA);
  tvms_packed_path path = tvms_packed_path_of(b, t->param, ".data");
  if (b->untyped) point_at_stored(b, t->buffer);
  if (b->untyped && !tvms_packed_bind_scalar(b, t->buffer->data, raw, &path))
    return NULL;
  tvms_node *data = t->buffer->data;
  if (!b->untyped) {
    data = tvms_call_new_of(b->unit, TVMS_PACKED_HANDLE, TVMS_TIR_reinterpret, &raw, 1,
                            TVMS_NO_SPAN);
    tvms_packed_typed(data, t->buffer->data->sinfo);
  }
  tvms_dtype type = index_dtype(t->buffer);
  tvms_node *size = tvms_int_imm_new(b->unit, type, 1, TVMS_NO_SPAN);
  for (uint32_t i = 0; i < t->buffer->shape.len; i++) {
    size = tvms_packed_build(b, TVMS_NODE_MUL, size, t->buffer->shape.items[i]);
  }
  tvms_node *zero = tvms_int_imm_new(b->unit, size->dtype, 0, TVMS_NO_SPAN);
  tvms_node *fits =
      tvms_packed_either(b, tvms_packed_build(b, TVMS_NODE_EQ, size, zero),
                         tvms_packed_is_not_null(b, data));
  tvms_packed_check_later(
      b, fits,
      TVMS_PACKED_PARTS(t->name, " data pointer is NULL on argument #", t->index.text,
                        "", "`,\n  expected non-NULL data pointer"));
  tvms_attr_stmt *aligned = tvms_node_make(b->unit, ATTR_STMT, TVMS_NO_SPAN);
  aligned->node = b->untyped ? data : (tvms_node *)(uintptr_t)&t->buffer->head;
  aligned->key = tvms_bytes_copy(b->unit, "storage_alignment", 17);
  aligned->value = tvms_packed_int(b, t->buffer->align);
  tvms_vec_push(b->memory, &b->out->loads, &aligned->head);
  return data;
}

void tvms_packed_bind_tensor(tvms_packed_binder *b, uint32_t param) {
  tvms_node *node = b->out->function->buffers.items[param];
  tensor t = {.param = param,
              .buffer = tvms_as_buffer(node),
              .handle = b->handles[param],
              .name = tvms_packed_name_of(b, param),
              .index = tvms_packed_number(param)};
  check_rank_and_type(b, &t);
  bind_shape(b, &t);
  bind_strides(b, &t);
  bind_offset(b, &t);
  bind_device(b, &t);
  tvms_decl_buffer *declare = tvms_node_make(b->unit, DECL_BUFFER, TVMS_NO_SPAN);
  tvms_node *data = bind_data(b, &t);
  declare->source = b->untyped ? NULL : data;
  declare->buffer = node;
  tvms_vec_push(b->memory, &b->out->declarations, &declare->head);
}
