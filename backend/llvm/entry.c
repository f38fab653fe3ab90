// The entry of a PrimFunc: TVM's calling convention, with TVM's checks in TVM's words.
//
// The order is TVM 0.27's (tvm_ffi_binder.cc): first what must hold before anything is
// read (count, kinds, rank, data type, device), then sizes that were seen before, strides
// and data pointers, then constants and compound sizes. One difference: an object that is
// no tensor is refused where a tensor is expected; TVM would read it as one.
#include "backend/llvm/entry.h"

#include "backend/llvm/body.h"
#include "backend/llvm/buffer.h"
#include "backend/llvm/emit.h"
#include "backend/llvm/expr.h"
#include "backend/llvm/failure.h"
#include "backend/llvm/symbols.h"
#include "backend/llvm/types.h"
#include "backend/llvm/words.h"

#include <stdio.h>

// Where the fields of a tvms_dl_tensor stand.
#define AT(field) offsetof(tvms_dl_tensor, field)

// ---- Checks ----

static void require(entry *n, LLVMValueRef condition, const char *kind,
                    const char *text) {
  failure what = {.kind = kind, .text = text};
  tvms_emit_check(n->e, condition, &what);
}

// Two 64-bit numbers must be equal.
static void require_same(entry *n, LLVMValueRef got, LLVMValueRef wanted,
                         const char *text) {
  failure what = {"ValueError", text, {0, 0}, got, wanted};
  tvms_emit_check(n->e, LLVMBuildICmp(n->e->builder, LLVMIntEQ, got, wanted, ""),
                  &what);
}

static LLVMValueRef equals(entry *n, LLVMValueRef value, uint64_t constant) {
  LLVMValueRef other = LLVMConstInt(LLVMTypeOf(value), constant, false);
  return LLVMBuildICmp(n->e->builder, LLVMIntEQ, value, other, "");
}

static LLVMValueRef either(entry *n, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildOr(n->e->builder, a, b, "");
}

static LLVMValueRef load_at(entry *n, LLVMTypeRef type, LLVMValueRef base,
                            uint64_t offset) {
  LLVMValueRef at = tvms_emit_int(n->e, (int64_t)offset);
  LLVMValueRef place = LLVMBuildGEP2(n->e->builder, n->e->i8, base, &at, 1, "");
  return LLVMBuildLoad2(n->e->builder, type, place, "");
}

static LLVMValueRef is_null(entry *n, LLVMValueRef pointer) {
  LLVMValueRef null = LLVMConstNull(n->e->pointer);
  return LLVMBuildICmp(n->e->builder, LLVMIntEQ, pointer, null, "");
}

// ---- Kinds of arguments ----

static void require_kind(entry *n, uint32_t index, LLVMValueRef condition,
                         const char *kind) {
  require(n, condition, "TypeError",
          tvms_words_message(n, tvms_words_expected(n, "%s", kind),
                             "Mismatched type on argument #%u", index));
}

static LLVMValueRef decode_pointer(entry *n, uint32_t index, LLVMValueRef kind,
                                   LLVMValueRef slot, bool tensor) {
  emitter *e = n->e;
  LLVMValueRef is_tensor = equals(n, kind, TVMS_ANY_TENSOR);
  LLVMValueRef good =
      either(n, equals(n, kind, TVMS_ANY_NONE), equals(n, kind, TVMS_ANY_POINTER));
  good = either(n, good, equals(n, kind, TVMS_ANY_DL_TENSOR));
  LLVMValueRef first = LLVMConstInt(e->i32, TVMS_ANY_OBJECT, false);
  LLVMValueRef object = LLVMBuildICmp(e->builder, LLVMIntSGE, kind, first, "");
  good = either(n, good, tensor ? is_tensor : object);
  require_kind(n, index, good, tensor ? "Tensor" : "pointer");
  LLVMValueRef value = load_at(n, e->pointer, slot, offsetof(tvms_any, v));
  LLVMValueRef skip = tvms_emit_int(e, TVMS_OBJECT_HEAD);
  LLVMValueRef content = LLVMBuildGEP2(e->builder, e->i8, value, &skip, 1, "");
  return LLVMBuildSelect(e->builder, is_tensor, content, value, "");
}

static LLVMValueRef decode_number(entry *n, uint32_t index, LLVMValueRef kind,
                                  LLVMValueRef slot, const tvms_node *param) {
  emitter *e = n->e;
  tvms_dtype int64 = {TVMS_INT, 64, 1}, real64 = {TVMS_FLOAT, 64, 1};
  tvms_dtype dtype = param->dtype;
  LLVMValueRef whole =
      either(n, equals(n, kind, TVMS_ANY_INT), equals(n, kind, TVMS_ANY_BOOL));
  LLVMValueRef number = load_at(n, e->i64, slot, offsetof(tvms_any, v));
  if (!tvms_dtype_is_real(dtype)) {
    require_kind(n, index, whole, tvms_dtype_is_bool(dtype) ? "boolean" : "int");
    return tvms_emit_convert(e, int64, dtype, number, param->span);
  }
  LLVMValueRef is_real = equals(n, kind, TVMS_ANY_FLOAT);
  require_kind(n, index, either(n, whole, is_real), "float");
  LLVMValueRef real = LLVMBuildBitCast(e->builder, number, e->f64, "");
  LLVMValueRef from_int = LLVMBuildSIToFP(e->builder, number, e->f64, "");
  LLVMValueRef value = LLVMBuildSelect(e->builder, is_real, real, from_int, "");
  return tvms_emit_convert(e, real64, dtype, value, param->span);
}

static void know(entry *n, const tvms_node *var, const char *where,
                 LLVMValueRef value) {
  known_size size = {var, where};
  tvms_vec_push(&n->e->context->memory, &n->known, size);
  n->e->vars[var->id] = value;
}

static void decode_arguments(entry *n, LLVMValueRef args) {
  emitter *e = n->e;
  for (uint32_t i = 0; i < n->function->params.len; i++) {
    const tvms_node *param = n->function->params.items[i];
    const tvms_node *buffer = n->function->buffers.items[i];
    LLVMValueRef offset = tvms_emit_int(e, (int64_t)(i * sizeof(tvms_any)));
    LLVMValueRef slot = LLVMBuildGEP2(e->builder, e->i8, args, &offset, 1, "");
    LLVMValueRef kind = load_at(n, e->i32, slot, offsetof(tvms_any, type_index));
    if (buffer) {
      tensor_param *tensor = &n->tensors[n->tensor_count++];
      tensor->buffer = tvms_as_buffer(buffer);
      tensor->index = i;
      tensor->tensor = decode_pointer(n, i, kind, slot, true);
    } else if (tvms_dtype_is_handle(param->dtype)) {
      n->scalars[i] = decode_pointer(n, i, kind, slot, false);
      know(n, param, tvms_words_of_var(n, param), n->scalars[i]);
    } else {
      n->scalars[i] = decode_number(n, i, kind, slot, param);
      know(n, param, tvms_words_of_var(n, param), n->scalars[i]);
    }
  }
}

// ---- Tensors ----

static void check_rank_and_type(entry *n, tensor_param *t) {
  emitter *e = n->e;
  const char *name = tvms_words_of_buffer(n, t->buffer);
  char number[16], dtype_text[TVMS_DTYPE_TEXT];
  require_kind(n, t->index, LLVMBuildNot(e->builder, is_null(n, t->tensor), ""),
               "Tensor");
  LLVMValueRef ndim = load_at(n, e->i32, t->tensor, AT(ndim));
  snprintf(number, sizeof number, "%u", t->buffer->shape.len);
  require(n, equals(n, ndim, t->buffer->shape.len), "ValueError",
          tvms_words_message(n, tvms_words_expected(n, "%s", number),
                             "Mismatched %s.ndim on argument #%u", name, t->index));
  tvms_dl_type type = tvms_interp_dl_type_of(t->buffer->element);
  uint64_t wanted = type.code | (uint64_t)type.bits << 8 | (uint64_t)type.lanes << 16;
  LLVMValueRef got = load_at(n, e->i32, t->tensor, AT(dtype));
  const char *text = tvms_dtype_text(t->buffer->element, dtype_text);
  require(n, equals(n, got, wanted), "TypeError",
          tvms_words_message(n, tvms_words_expected(n, "%s", text),
                             "Mismatched %s.dtype on argument #%u", name, t->index));
  LLVMValueRef device = load_at(n, e->i32, t->tensor, AT(device.type));
  require(n, equals(n, device, TVMS_DL_CPU), "ValueError",
          tvms_words_message(n, tvms_words_expected(n, "cpu"),
                             "Mismatched %s.device_type on argument #%u", name,
                             t->index));
}

// Loads sizes and strides; without strides those of the shape pointer are read instead,
// which is valid memory, and not used.
static void load_sizes(entry *n, tensor_param *t) {
  emitter *e = n->e;
  tvms_arena *arena = &e->context->scratch;
  uint32_t ndim = t->buffer->shape.len;
  t->shape = tvms_arena_array(arena, LLVMValueRef, ndim);
  t->strides = tvms_arena_array(arena, LLVMValueRef, ndim);
  LLVMValueRef shape = load_at(n, e->pointer, t->tensor, AT(shape));
  LLVMValueRef strides = load_at(n, e->pointer, t->tensor, AT(strides));
  t->no_strides = is_null(n, strides);
  strides = LLVMBuildSelect(e->builder, t->no_strides, shape, strides, "");
  LLVMValueRef compact = tvms_emit_int(e, 1);
  for (uint32_t i = ndim; i > 0; i--) {
    t->shape[i - 1] = load_at(n, e->i64, shape, (i - 1) * sizeof(int64_t));
    LLVMValueRef given = load_at(n, e->i64, strides, (i - 1) * sizeof(int64_t));
    t->strides[i - 1] = LLVMBuildSelect(e->builder, t->no_strides, compact, given, "");
    compact = LLVMBuildMul(e->builder, compact, t->shape[i - 1], "");
  }
  t->byte_offset = load_at(n, e->i64, t->tensor, AT(byte_offset));
  t->data = load_at(n, e->pointer, t->tensor, AT(data));
}

// Gives a variable its first value.
static void bind_size(entry *n, const tvms_node *size, LLVMValueRef value,
                      const char *where) {
  if (size->kind != TVMS_NODE_VAR || tvms_words_known(n, size)) return;
  LLVMTypeRef type = tvms_emit_type(n->e, size->dtype, size->span);
  know(n, size, where, LLVMBuildIntCast2(n->e->builder, value, type, true, ""));
}

static int64_t element_bytes(const tvms_buffer *buffer) {
  tvms_dl_type type = tvms_interp_dl_type_of(buffer->element);
  return (int64_t)(tvms_dl_element_size(type) * type.lanes);
}

static void bind_sizes(entry *n, tensor_param *t) {
  const tvms_buffer *buffer = t->buffer;
  emitter *e = n->e;
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    bind_size(n, buffer->shape.items[i], t->shape[i],
              tvms_words_path(n, buffer, "shape", (int)i));
  }
  for (uint32_t i = buffer->strides.len; i > 0; i--) {
    bind_size(n, buffer->strides.items[i - 1], t->strides[i - 1],
              tvms_words_path(n, buffer, "strides", (int)i - 1));
  }
  const tvms_node *offset = buffer->elem_offset;
  if (!offset || offset->kind != TVMS_NODE_VAR || tvms_words_known(n, offset)) return;
  LLVMValueRef bytes = tvms_emit_int(e, element_bytes(buffer));
  LLVMValueRef elements = LLVMBuildUDiv(e->builder, t->byte_offset, bytes, "");
  bind_size(n, offset, elements, tvms_words_path(n, buffer, "byte_offset", -1));
  if (buffer->offset_factor <= 1) return;
  char text[64];
  snprintf(text, sizeof text, "data alignment=%lld bytes",
           (long long)(buffer->offset_factor * element_bytes(buffer)));
  LLVMValueRef factor = tvms_emit_int(e, buffer->offset_factor);
  LLVMValueRef rest = LLVMBuildURem(e->builder, elements, factor, "");
  require(n, equals(n, rest, 0), "ValueError",
          tvms_words_message(n, tvms_words_expected(n, "%s", text),
                             "Misaligned Tensor data on argument #%u", t->index));
}

// A variable that an earlier place defined: its name in messages; NULL for the place that
// defined it itself.
static const char *earlier(entry *n, const tvms_node *size, const char *where) {
  const known_size *known = tvms_words_known(n, size);
  return known && strcmp(known->path, where) != 0 ? known->path : NULL;
}

static void check_repeated(entry *n, tensor_param *t, const tvms_node *size,
                           LLVMValueRef got, const char *where) {
  const char *first = size->kind == TVMS_NODE_VAR ? earlier(n, size, where) : NULL;
  if (!first) return;
  require_same(n, got, tvms_emit_index(n->e, size),
               tvms_words_message(n, tvms_words_expected(n, "to match %s", first),
                                  "Mismatched %s on argument #%u", where, t->index));
}

static void check_compact(entry *n, tensor_param *t) {
  emitter *e = n->e;
  const tvms_buffer *buffer = t->buffer;
  LLVMValueRef compact = tvms_emit_int(e, 1);
  LLVMValueRef all = LLVMConstInt(e->i1, 1, false);
  for (uint32_t i = buffer->shape.len; i > 0; i--) {
    LLVMValueRef size = tvms_emit_index(e, buffer->shape.items[i - 1]);
    LLVMValueRef same =
        LLVMBuildICmp(e->builder, LLVMIntEQ, t->strides[i - 1], compact, "");
    LLVMValueRef good = either(n, same, equals(n, size, 1));
    all = LLVMBuildAnd(e->builder, all, good, "");
    compact = LLVMBuildMul(e->builder, compact, size, "");
  }
  // What the shape itself implies is right even if the shape is not the wanted one: that
  // is found, with a better message, below.
  require(n, either(n, all, t->no_strides), "ValueError",
          tvms_words_message(n, tvms_words_expected(n, "to be compact array"),
                             "Mismatched %s.strides on argument #%u",
                             tvms_words_of_buffer(n, buffer), t->index));
}

static void check_device(entry *n, tensor_param *t) {
  LLVMValueRef id = load_at(n, n->e->i32, t->tensor, AT(device.id));
  id = LLVMBuildSExt(n->e->builder, id, n->e->i64, "");
  const char *where = tvms_words_path(n, t->buffer, "device_id", -1);
  if (!n->device_id) {
    n->device_id = id;
    n->device_path = where;
    return;
  }
  require_same(n, id, n->device_id,
               tvms_words_message(n,
                                  tvms_words_expected(n, "to match %s", n->device_path),
                                  "Mismatched %s on argument #%u", where, t->index));
}

// No data is right only for no elements; and loads need elements where they belong.
static void check_data(entry *n, tensor_param *t) {
  emitter *e = n->e;
  LLVMValueRef count = tvms_emit_int(e, 1);
  for (uint32_t i = 0; i < t->buffer->shape.len; i++) {
    LLVMValueRef size = tvms_emit_index(e, t->buffer->shape.items[i]);
    count = LLVMBuildMul(e->builder, count, size, "");
  }
  LLVMValueRef empty = equals(n, count, 0);
  LLVMValueRef there = LLVMBuildNot(e->builder, is_null(n, t->data), "");
  require(n, either(n, empty, there), "ValueError",
          tvms_words_message(n, tvms_words_expected(n, "non-NULL data pointer"),
                             "%s data pointer is NULL on argument #%u",
                             tvms_words_of_buffer(n, t->buffer), t->index));
  uint64_t size =
      t->buffer->element.code == TVMS_BOOL ? 1 : t->buffer->element.bits / 8u;
  char text[64];
  snprintf(text, sizeof text, "data alignment=%llu bytes", (unsigned long long)size);
  LLVMValueRef address = LLVMBuildPtrToInt(e->builder, t->data, e->i64, "");
  LLVMValueRef mask = tvms_emit_int(e, (int64_t)size - 1);
  LLVMValueRef rest = LLVMBuildAnd(e->builder, address, mask, "");
  require(n, either(n, empty, equals(n, rest, 0)), "ValueError",
          tvms_words_message(n, tvms_words_expected(n, "%s", text),
                             "Misaligned Tensor data on argument #%u", t->index));
}

static void check_tensor(entry *n, tensor_param *t) {
  const tvms_buffer *buffer = t->buffer;
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    check_repeated(n, t, buffer->shape.items[i], t->shape[i],
                   tvms_words_path(n, buffer, "shape", (int)i));
  }
  if (!buffer->strides.len) check_compact(n, t);
  for (uint32_t i = buffer->strides.len; i > 0; i--) {
    check_repeated(n, t, buffer->strides.items[i - 1], t->strides[i - 1],
                   tvms_words_path(n, buffer, "strides", (int)i - 1));
  }
  check_device(n, t);
  check_data(n, t);
}

static void check_constant(entry *n, tensor_param *t, const tvms_node *size,
                           LLVMValueRef got, const char *field, int at) {
  if (size->kind == TVMS_NODE_VAR) return;
  const char *shown = tvms_words_size(n, size);
  require_same(n, got, tvms_emit_index(n->e, size),
               tvms_words_message(n, tvms_words_expected(n, "%s", shown),
                                  "Invalid %s on argument #%u",
                                  tvms_words_path(n, t->buffer, field, at), t->index));
}

static void check_constants(entry *n, tensor_param *t) {
  const tvms_buffer *buffer = t->buffer;
  emitter *e = n->e;
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    check_constant(n, t, buffer->shape.items[i], t->shape[i], "shape", (int)i);
  }
  for (uint32_t i = buffer->strides.len; i > 0; i--) {
    check_constant(n, t, buffer->strides.items[i - 1], t->strides[i - 1], "strides",
                   (int)i - 1);
  }
  const tvms_node *offset = buffer->elem_offset;
  if (offset && offset->kind == TVMS_NODE_VAR) return;
  int64_t bytes = offset && tvms_node_is_int_imm(offset)
                      ? tvms_as_int_imm(offset)->value * element_bytes(buffer)
                      : 0;
  char number[32];
  snprintf(number, sizeof number, "%lld", (long long)bytes);
  require_same(n, t->byte_offset, tvms_emit_int(e, bytes),
               tvms_words_message(n, tvms_words_expected(n, "%s", number),
                                  "Invalid %s on argument #%u",
                                  tvms_words_path(n, buffer, "byte_offset", -1),
                                  t->index));
}

// ---- The call ----

static void store_result(entry *n, LLVMValueRef slot, LLVMValueRef result) {
  emitter *e = n->e;
  tvms_dtype dtype = e->result_dtype;
  if (tvms_dtype_is_void(dtype)) return;
  LLVMValueRef value = tvms_emit_load(e, dtype, slot, TVMS_NO_SPAN);
  int32_t kind = TVMS_ANY_INT;
  if (tvms_dtype_is_real(dtype)) {
    kind = TVMS_ANY_FLOAT;
    if (dtype.bits != 64) value = LLVMBuildFPExt(e->builder, value, e->f64, "");
  } else if (tvms_dtype_is_handle(dtype)) {
    kind = TVMS_ANY_POINTER;
  } else {
    kind = tvms_dtype_is_bool(dtype) ? TVMS_ANY_BOOL : TVMS_ANY_INT;
    value = LLVMBuildIntCast2(e->builder, value, e->i64, dtype.code == TVMS_INT, "");
  }
  LLVMValueRef at = tvms_emit_int(e, offsetof(tvms_any, v));
  LLVMValueRef place = LLVMBuildGEP2(e->builder, e->i8, result, &at, 1, "");
  // The kind and the zero after it in one word.
  LLVMBuildStore(e->builder, LLVMConstInt(e->i64, (unsigned long long)kind, false),
                 result);
  LLVMBuildStore(e->builder, value, place);
}

static void call_body(entry *n, const tvms_member *member, LLVMValueRef result) {
  emitter *e = n->e;
  size_vars sizes = {0};
  tvms_emit_collect_sizes(e, n->function, &sizes);
  uint32_t params = n->function->params.len, count = 2 + params + sizes.len;
  LLVMValueRef *args = tvms_arena_array(&e->context->scratch, LLVMValueRef, count);
  LLVMValueRef slot = LLVMBuildAlloca(e->builder, e->i64, "");
  LLVMBuildStore(e->builder, LLVMConstNull(e->i64), slot);
  args[0] = e->raised;
  args[1] = slot;
  for (uint32_t i = 0; i < params; i++) {
    args[i + 2] = n->scalars[i];
  }
  for (uint32_t i = 0; i < n->tensor_count; i++) {
    args[n->tensors[i].index + 2] = n->tensors[i].data;
  }
  for (uint32_t i = 0; i < sizes.len; i++) {
    args[i + 2 + params] = e->vars[sizes.items[i]->id];
  }
  LLVMTypeRef type = tvms_emit_body_type(e, n->function, &sizes);
  LLVMValueRef body = LLVMGetNamedFunction(e->module, tvms_emit_body_name(e, member));
  LLVMValueRef status = LLVMBuildCall2(e->builder, type, body, args, count, "");
  failure passed_up = {0};
  tvms_emit_check(e, equals(n, status, 0), &passed_up);
  store_result(n, slot, result);
  LLVMBuildRet(e->builder, LLVMConstNull(e->i32));
  tvms_vec_fini(&e->context->memory, &sizes);
}

void tvms_emit_entry(emitter *e, const tvms_member *member) {
  const tvms_prim_func *function = tvms_as_prim_func(member->function);
  entry n = {.e = e, .function = function};
  tvms_arena *arena = &e->context->scratch;
  uint32_t params = function->params.len;
  n.tensors = tvms_arena_array(arena, tensor_param, params);
  n.scalars = tvms_arena_array(arena, LLVMValueRef, params);
  n.signature = tvms_words_signature(&n, member);
  LLVMTypeRef types[] = {e->pointer, e->pointer, e->i32, e->pointer};
  e->function = LLVMAddFunction(e->module, tvms_emit_entry_name(e, member),
                                LLVMFunctionType(e->i32, types, 4, false));
  e->raised = LLVMGetParam(e->function, 0);
  LLVMValueRef args = LLVMGetParam(e->function, 1);
  e->entry = LLVMAppendBasicBlockInContext(e->llvm, e->function, "entry");
  LLVMPositionBuilderAtEnd(e->builder, e->entry);
  require(&n, equals(&n, LLVMGetParam(e->function, 2), params), "TypeError",
          tvms_words_message(&n, "", "Expected %u arguments", params));
  if (params) {
    require(&n, LLVMBuildNot(e->builder, is_null(&n, args), ""), "TypeError",
            tvms_words_message(&n, "", "args pointer is NULL"));
  }
  decode_arguments(&n, args);
  for (uint32_t i = 0; i < n.tensor_count; i++) {
    check_rank_and_type(&n, &n.tensors[i]);
    load_sizes(&n, &n.tensors[i]);
    bind_sizes(&n, &n.tensors[i]);
  }
  for (uint32_t i = 0; i < n.tensor_count; i++) {
    check_tensor(&n, &n.tensors[i]);
  }
  for (uint32_t i = 0; i < n.tensor_count; i++) {
    check_constants(&n, &n.tensors[i]);
  }
  call_body(&n, member, LLVMGetParam(e->function, 3));
  tvms_vec_fini(&e->context->memory, &n.known);
}
