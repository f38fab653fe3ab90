// Objects of tvm-ffi that an entry returns, and the workspace that a library keeps.
//
// An object is one block: the head (references, kind, who frees it), its content, and for a
// tensor its sizes, strides and elements. The functions that all entries of a module share are
// made once (objects.c). A number needs no object: the body writes it to the stack.
#include "backend/llvm/results.h"

#include "backend/llvm/boxes.h"
#include "backend/llvm/expr.h"
#include "backend/llvm/failure.h"
#include "backend/llvm/frame.h"
#include "backend/llvm/held.h"
#include "backend/llvm/helper.h"
#include "backend/llvm/kept.h"
#include "backend/llvm/objects.h"
#include "backend/llvm/stmt.h"
#include "backend/llvm/types.h"
#include "interp/interp.h"
#include "runtime/abi.h"

enum { DATA_ALIGN = 64 };

static LLVMValueRef at(emitter *e, LLVMValueRef object, int64_t offset) {
  LLVMValueRef index = tvms_emit_int(e, offset);
  return LLVMBuildGEP2(e->builder, e->i8, object, &index, 1, "");
}

static void put(emitter *e, LLVMValueRef object, int64_t offset, LLVMValueRef value) {
  LLVMBuildStore(e->builder, value, at(e, object, offset));
}

// A field of the content of an object, from the begin of the object.
static int64_t within(const emitter *e, tvms_layout_field field) {
  return TVMS_OBJECT_HEAD + tvms_layout_offset(field, e->pointer_bytes);
}

void tvms_emit_store_any(emitter *e, tvms_dtype dtype, LLVMValueRef place,
                         LLVMValueRef result) {
  LLVMValueRef value = tvms_emit_load(e, dtype, place, TVMS_NO_SPAN);
  int32_t kind = TVMS_ANY_INT;
  if (tvms_dtype_is_real(dtype)) {
    kind = TVMS_ANY_FLOAT;
    if (dtype.bits != 64) value = LLVMBuildFPExt(e->builder, value, e->f64, "");
  } else if (tvms_dtype_is_handle(dtype)) {
    kind = TVMS_ANY_POINTER;
    value = tvms_helper_word(e, value);
  } else {
    kind = tvms_dtype_is_bool(dtype) ? TVMS_ANY_BOOL : TVMS_ANY_INT;
    value = LLVMBuildIntCast2(e->builder, value, e->i64, dtype.code == TVMS_INT, "");
  }
  LLVMValueRef at = tvms_emit_int(e, offsetof(tvms_any, v));
  LLVMValueRef content = LLVMBuildGEP2(e->builder, e->i8, result, &at, 1, "");
  // The kind and the zero after it in one word.
  LLVMBuildStore(e->builder, LLVMConstInt(e->i64, (unsigned long long)kind, false),
                 result);
  LLVMBuildStore(e->builder, value, content);
}

// ---- Making ----

static void free_all(emitter *e, const made_results *made) {
  for (uint32_t i = 0; i < made->object_count; i++)
    tvms_emit_free_object(e, made->objects[i]);
  for (uint32_t i = 0; i < made->box_count; i++)
    tvms_emit_drop_boxes(e, made->boxes[i], 1);
  if (made->workspace) tvms_emit_give(e, TVMS_KEPT_WORKSPACE, made->workspace);
}

// Goes on where memory was found; otherwise where what was made before is freed.
static void need(emitter *e, made_results *made, LLVMValueRef memory) {
  LLVMBasicBlockRef some = tvms_emit_block(e, "some");
  LLVMValueRef null = LLVMConstNull(e->pointer);
  LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntNE, memory, null, ""),
                  some, made->none);
  tvms_emit_enter(e, some);
}

// Where to go from here on if there is no memory: what was made last is freed, then what was made before it. So each is freed
// at one place, however many there are.
static void free_if_none(emitter *e, made_results *made,
                         LLVMValueRef TVMS_NULLABLE object) {
  emit_position here = tvms_emit_position(e);
  LLVMBasicBlockRef before = made->none;
  made->none = tvms_emit_block(e, "none");
  tvms_emit_enter(e, made->none);
  if (object)
    tvms_emit_free_object(e, object);
  else
    tvms_emit_give(e, TVMS_KEPT_WORKSPACE, made->workspace);
  LLVMBuildBr(e->builder, before);
  tvms_emit_go_on(e, here);
}

// Where it ends if there is no memory.
static void raise_if_none(emitter *e, made_results *made) {
  emit_position here = tvms_emit_position(e);
  made->none = tvms_emit_block(e, "none");
  tvms_emit_enter(e, made->none);
  failure failed = {.kind = "MemoryError", .text = "out of memory"};
  tvms_emit_raise(e, &failed);
  tvms_emit_go_on(e, here);
}

static LLVMValueRef new_object(emitter *e, made_results *made, LLVMValueRef bytes,
                               int kind) {
  LLVMValueRef object = kind == TVMS_ANY_TENSOR ? tvms_emit_new_tensor(e, bytes)
                                                : tvms_emit_new_object(e, bytes, kind);
  need(e, made, object);
  made->objects[made->object_count++] = object;
  free_if_none(e, made, object);
  return object;
}

// Behind the tensor itself are its sizes, then its strides, then its elements.
static int64_t data_offset(const emitter *e, uint32_t ndim) {
  int64_t end = within(e, TVMS_LAYOUT_TENSOR_END) + 16 * (int64_t)ndim;
  return (end + DATA_ALIGN - 1) / DATA_ALIGN * DATA_ALIGN;
}

static LLVMValueRef new_tensor(emitter *e, made_results *made,
                               const tvms_entry_result *r, LLVMValueRef const *values) {
  int64_t sizes = within(e, TVMS_LAYOUT_TENSOR_END), data = data_offset(e, r->ndim);
  LLVMValueRef bytes =
      LLVMBuildAdd(e->builder, values[r->bytes], tvms_emit_int(e, data), "");
  LLVMValueRef object = new_object(e, made, bytes, TVMS_ANY_TENSOR);
  tvms_dl_type type = tvms_interp_dl_type_of(r->element);
  uint32_t dtype = type.code | (uint32_t)type.bits << 8 | (uint32_t)type.lanes << 16;
  put(e, object, within(e, TVMS_LAYOUT_TENSOR_DATA), at(e, object, data));
  put(e, object, within(e, TVMS_LAYOUT_TENSOR_DEVICE_TYPE),
      LLVMConstInt(e->i32, TVMS_DL_CPU, false));
  put(e, object, within(e, TVMS_LAYOUT_TENSOR_DEVICE_ID), LLVMConstNull(e->i32));
  put(e, object, within(e, TVMS_LAYOUT_TENSOR_NDIM),
      LLVMConstInt(e->i32, r->ndim, false));
  put(e, object, within(e, TVMS_LAYOUT_TENSOR_DTYPE),
      LLVMConstInt(e->i32, dtype, false));
  put(e, object, within(e, TVMS_LAYOUT_TENSOR_SHAPE), at(e, object, sizes));
  put(e, object, within(e, TVMS_LAYOUT_TENSOR_STRIDES),
      at(e, object, sizes + 8 * (int64_t)r->ndim));
  put(e, object, within(e, TVMS_LAYOUT_TENSOR_BYTE_OFFSET), tvms_emit_int(e, 0));
  for (uint32_t i = 0; i < r->ndim; i++) {
    put(e, object, sizes + 8 * (int64_t)i, values[r->dims[i]]);
    put(e, object, sizes + 8 * (int64_t)(r->ndim + i), values[r->strides[i]]);
  }
  return object;
}

static LLVMValueRef new_shape(emitter *e, made_results *made, uint32_t count) {
  int64_t sizes = within(e, TVMS_LAYOUT_SHAPE_END), bytes = sizes + 8 * (int64_t)count;
  LLVMValueRef object = new_object(e, made, tvms_emit_int(e, bytes), TVMS_ANY_SHAPE);
  LLVMTypeRef word = e->pointer_bytes == 8 ? e->i64 : e->i32;
  put(e, object, within(e, TVMS_LAYOUT_SHAPE_DATA), at(e, object, sizes));
  put(e, object, within(e, TVMS_LAYOUT_SHAPE_SIZE), LLVMConstInt(word, count, false));
  return object;
}

// A tuple without items, which are put in when the body has run.
static LLVMValueRef new_tuple(emitter *e, made_results *made, uint32_t count) {
  int64_t items = within(e, TVMS_LAYOUT_ARRAY_END);
  int64_t bytes = items + (int64_t)sizeof(tvms_any) * (int64_t)count;
  LLVMValueRef object = new_object(e, made, tvms_emit_int(e, bytes), TVMS_ANY_ARRAY);
  put(e, object, within(e, TVMS_LAYOUT_ARRAY_DATA), at(e, object, items));
  put(e, object, within(e, TVMS_LAYOUT_ARRAY_SIZE), tvms_emit_int(e, count));
  put(e, object, within(e, TVMS_LAYOUT_ARRAY_CAPACITY), tvms_emit_int(e, count));
  put(e, object, within(e, TVMS_LAYOUT_ARRAY_DELETER), LLVMConstNull(e->pointer));
  return object;
}

static void make_result(emitter *e, const tvms_entry *entry, uint32_t i,
                        LLVMValueRef const *values, LLVMValueRef *params,
                        made_results *made) {
  const tvms_entry_result *r = &entry->results[i];
  if (r->kind == 't') {
    made->places[i] = new_tensor(e, made, r, values);
    params[r->param] = at(e, made->places[i], data_offset(e, r->ndim));
  } else if (r->kind == 's') {
    made->places[i] = new_shape(e, made, r->ndim);
    params[r->param] = at(e, made->places[i], within(e, TVMS_LAYOUT_SHAPE_END));
  } else if (r->kind == 'o') {
    LLVMValueRef box =
        LLVMBuildAlloca(e->builder, LLVMArrayType2(e->i64, sizeof(tvms_any) / 8), "");
    put(e, box, 0, tvms_emit_int(e, 0));
    put(e, box, 8, tvms_emit_int(e, 0));
    made->boxes[made->box_count++] = box;
    made->places[i] = params[r->param] = box;
  } else {
    made->places[i] = LLVMBuildAlloca(e->builder, e->i64, "");
    params[r->param] = made->places[i];
  }
}

void tvms_emit_make_results(emitter *e, const tvms_entry *entry,
                            LLVMValueRef const *values, LLVMValueRef *params,
                            made_results *made) {
  const char *text = entry->contract.result_text;
  tvms_arena *scratch = &e->context->scratch;
  uint32_t most = (uint32_t)strlen(text);
  made->places = tvms_arena_array(scratch, LLVMValueRef, most);
  made->tuples = tvms_arena_array(scratch, LLVMValueRef, most);
  made->objects = tvms_arena_array(scratch, LLVMValueRef, most);
  made->boxes = tvms_arena_array(scratch, LLVMValueRef, most);
  raise_if_none(e, made);
  if (entry->contract.has_workspace) {
    LLVMValueRef memory =
        tvms_emit_take(e, TVMS_KEPT_WORKSPACE, values[entry->workspace]);
    need(e, made, memory);
    made->workspace = memory;
    free_if_none(e, made, NULL);
    params[entry->function->params.len - 1] = memory;
  }
  uint32_t next = 0;
  for (; *text; text++) {
    if (*text == '(')
      made->tuples[made->tuple_count++] =
          new_tuple(e, made, tvms_contract_items(text + 1));
    else if (tvms_contract_is_value(*text))
      make_result(e, entry, next++, values, params, made);
  }
}

// ---- Handing over ----

static void put_object(emitter *e, LLVMValueRef any, int kind, LLVMValueRef object) {
  put(e, any, 0, tvms_emit_int(e, kind));
  put(e, any, (int64_t)offsetof(tvms_any, v), tvms_helper_word(e, object));
}

typedef struct {
  const char *text;
  uint32_t result, tuple;
} giving;

// Puts the next value of the text into an any.
static void give(emitter *e, const tvms_entry *entry, const made_results *made,
                 giving *g, LLVMValueRef any) {
  char kind = *g->text++;
  while (*g->text >= '0' && *g->text <= '9')
    g->text++;
  if (kind == '(') {
    LLVMValueRef tuple = made->tuples[g->tuple++];
    put_object(e, any, TVMS_ANY_ARRAY, tuple);
    for (int64_t i = 0; *g->text && *g->text != ')'; i++)
      give(e, entry, made, g,
           at(e, tuple,
              within(e, TVMS_LAYOUT_ARRAY_END) + i * (int64_t)sizeof(tvms_any)));
    g->text++;
    return;
  }
  uint32_t i = g->result++;
  if (kind == 'o')
    for (int64_t k = 0; k < (int64_t)sizeof(tvms_any); k += 8)
      put(e, any, k, LLVMBuildLoad2(e->builder, e->i64, at(e, made->places[i], k), ""));
  else if (kind == 'n')
    tvms_emit_store_any(e, entry->results[i].element, made->places[i], any);
  else
    put_object(e, any, kind == 't' ? TVMS_ANY_TENSOR : TVMS_ANY_SHAPE, made->places[i]);
}

void tvms_emit_give_results(emitter *e, const tvms_entry *entry,
                            const made_results *made, LLVMValueRef TVMS_NULLABLE held,
                            LLVMValueRef status) {
  LLVMBasicBlockRef failed = tvms_emit_block(e, "failed"),
                    done = tvms_emit_block(e, "done");
  LLVMValueRef good =
      LLVMBuildICmp(e->builder, LLVMIntEQ, status, LLVMConstNull(e->i32), "");
  LLVMBuildCondBr(e->builder, good, done, failed);
  tvms_emit_enter(e, failed);
  if (held) tvms_emit_raise_left(e, held);
  free_all(e, made);
  LLVMBuildRet(e->builder, status);
  tvms_emit_enter(e, done);
  if (made->workspace) tvms_emit_give(e, TVMS_KEPT_WORKSPACE, made->workspace);
  giving g = {.text = entry->contract.result_text};
  give(e, entry, made, &g, LLVMGetParam(e->function, 3));
  LLVMBuildRet(e->builder, LLVMConstNull(e->i32));
}
