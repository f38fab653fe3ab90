// A list of objects is an array of tvms_any in the frame. It is emptied by the run time (runtime/box.h), where
// memory of its scope is freed.
#include "backend/llvm/boxes.h"

#include "backend/core/borrow.h"
#include "backend/core/boxes.h"
#include "backend/llvm/buffer.h"
#include "backend/llvm/expr.h"
#include "backend/llvm/failure.h"
#include "backend/llvm/frame.h"
#include "backend/llvm/held.h"
#include "backend/llvm/helper.h"
#include "backend/llvm/index.h"
#include "backend/llvm/objects.h"
#include "backend/llvm/stmt.h"
#include "backend/llvm/types.h"
#include "interp/structs.h"
#include "runtime/box.h"

static const int64_t box_size = (int64_t)sizeof(tvms_any);

// A function of libtvms_rt.a.
static LLVMValueRef outer(emitter *e, const char *name, LLVMTypeRef type) {
  LLVMValueRef function = LLVMGetNamedFunction(e->module, name);
  return function ? function : LLVMAddFunction(e->module, name, type);
}

LLVMValueRef tvms_emit_stack_alloca(emitter *e, const tvms_call *call) {
  int64_t count = tvms_boxes_of(call);
  if (count < 0) tvms_emit_refuse(e, call->head.span, "T.tvm_stack_alloca");
  LLVMValueRef place = tvms_emit_words(e, (uint64_t)(count * box_size / 8));
  LLVMBuildMemSet(e->builder, place, LLVMConstNull(e->i8),
                  tvms_emit_int(e, count * box_size), 8);
  live_memory live = {.place = place, .boxes = (uint32_t)count};
  tvms_vec_push(&e->context->memory, &e->memory, live);
  return place;
}

void tvms_emit_drop_boxes(emitter *e, LLVMValueRef list, int64_t count) {
  LLVMTypeRef params[] = {e->pointer, e->i64};
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->llvm), params, 2, false);
  LLVMValueRef args[] = {list, tvms_emit_int(e, count)};
  LLVMBuildCall2(e->builder, type, outer(e, TVMS_BOX_PREFIX "drop", type), args, 2, "");
}

void tvms_emit_drop_result(emitter *e, LLVMValueRef box) {
  LLVMBuilderRef b = e->builder;
  LLVMBasicBlockRef object = tvms_emit_block(e, "object"),
                    none = tvms_emit_block(e, "none");
  LLVMValueRef kind = LLVMBuildLoad2(b, e->i32, box, "");
  LLVMValueRef first = LLVMConstInt(e->i32, TVMS_ANY_OBJECT, false);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSGE, kind, first, ""), object, none);
  tvms_emit_enter(e, object);
  LLVMValueRef place = tvms_helper_at(e, box, (int64_t)offsetof(tvms_any, v));
  tvms_emit_drop_object(e, LLVMBuildLoad2(b, e->pointer, place, ""));
  LLVMBuildBr(b, none);
  tvms_emit_enter(e, none);
}

LLVMValueRef tvms_emit_box_at(emitter *e, const tvms_node *list,
                              const tvms_node *index) {
  LLVMValueRef base = tvms_emit_expr(e, list), at = tvms_emit_index(e, index);
  return tvms_helper_place(
      e, base, LLVMBuildMul(e->builder, at, tvms_emit_int(e, box_size), ""));
}

void tvms_emit_put_box(emitter *e, LLVMValueRef box, LLVMValueRef value) {
  LLVMTypeRef params[] = {e->pointer, e->pointer};
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->llvm), params, 2, false);
  LLVMValueRef args[] = {box, value};
  LLVMBuildCall2(e->builder, type, outer(e, TVMS_BOX_PREFIX "put", type), args, 2, "");
}

// ---- Borrowed items ----

bool tvms_emit_is_borrowed(emitter *e, const tvms_node *list, const tvms_node *index) {
  if (!e->borrow) e->borrow = tvms_boxes_borrow(e->context, e->member->unit, e->source);
  return tvms_boxes_is_borrowed(e->borrow, list, index);
}

// Is the kind in this word one of objects?
static LLVMValueRef is_object(emitter *e, LLVMValueRef word) {
  LLVMValueRef kind = LLVMBuildTrunc(e->builder, word, e->i32, "");
  return LLVMBuildICmp(e->builder, LLVMIntSGE, kind,
                       LLVMConstInt(e->i32, TVMS_ANY_OBJECT, false), "");
}

LLVMValueRef tvms_emit_lent_word(emitter *e, LLVMValueRef word) {
  LLVMValueRef kind = LLVMBuildAnd(e->builder, word, tvms_emit_int(e, UINT32_MAX), "");
  return LLVMBuildSelect(e->builder, is_object(e, word), kind, word, "");
}

LLVMValueRef tvms_emit_borrow_field(emitter *e, LLVMValueRef tuple, int64_t at,
                                    LLVMValueRef box) {
  LLVMTypeRef params[] = {e->pointer, e->pointer, e->i64, e->pointer};
  LLVMTypeRef type = LLVMFunctionType(e->i32, params, 4, false);
  LLVMValueRef args[] = {tvms_emit_raiser(e), tuple, tvms_emit_int(e, at), box};
  LLVMValueRef function = outer(e, TVMS_BOX_PREFIX "lend_field", type);
  return LLVMBuildCall2(e->builder, type, function, args, 4, "");
}

LLVMValueRef tvms_emit_reset_item(emitter *e, const tvms_call *call) {
  if (call->args.len != 2) tvms_emit_refuse(e, call->head.span, "T.anylist_resetitem");
  tvms_emit_drop_boxes(e, tvms_emit_box_at(e, call->args.items[0], call->args.items[1]),
                       1);
  return LLVMConstNull(e->i32);
}

LLVMValueRef tvms_emit_call_box(emitter *e, const char *symbol, LLVMValueRef args,
                                uint32_t count, LLVMValueRef box) {
  LLVMTypeRef safe[] = {e->pointer, e->pointer, e->i32, e->pointer};
  LLVMTypeRef type = LLVMFunctionType(e->i32, safe, 4, false);
  LLVMTypeRef params[] = {e->pointer, e->pointer, e->pointer, e->i32, e->pointer};
  LLVMTypeRef by_type = LLVMFunctionType(e->i32, params, 5, false);
  LLVMValueRef all[] = {outer(e, symbol, type), tvms_emit_raiser(e), args,
                        LLVMConstInt(e->i32, count, false), box};
  return LLVMBuildCall2(e->builder, by_type, outer(e, TVMS_BOX_PREFIX "call", by_type),
                        all, 5, "");
}

// What is `wide` bytes from the begin of a tensor where pointers have 64 bits.
static int64_t in_tensor(const emitter *e, int64_t wide) {
  int64_t rest;
  tvms_layout_field field = tvms_layout_in_tensor(wide, &rest);
  return tvms_layout_offset(field, e->pointer_bytes) + rest;
}

LLVMValueRef tvms_emit_struct_get(emitter *e, const tvms_call *call) {
  tvms_list args = call->args;
  tvms_interp_field field = {0};
  if (args.len == 3 && tvms_node_is_int_imm(args.items[2]))
    field = tvms_interp_field_of(e->member->unit->dialect,
                                 tvms_as_int_imm(args.items[2])->value);
  if (!field.type.lanes) tvms_emit_refuse(e, call->head.span, "T.tvm_struct_get");
  LLVMValueRef base = tvms_emit_expr(e, args.items[0]);
  bool tensor = field.stride == sizeof(tvms_dl_tensor);
  int64_t stride = (int64_t)field.stride, offset = (int64_t)field.offset;
  LLVMValueRef at =
      LLVMBuildMul(e->builder, tvms_emit_index(e, args.items[1]),
                   tvms_emit_int(e, tensor ? in_tensor(e, stride) : stride), "");
  at = LLVMBuildAdd(e->builder, at,
                    tvms_emit_int(e, tensor ? in_tensor(e, offset) : offset), "");
  tvms_dtype dtype = tvms_interp_field_dtype(&field, call->head.dtype);
  LLVMValueRef value =
      tvms_emit_load(e, dtype, tvms_helper_place(e, base, at), call->head.span);
  return tvms_emit_convert(e, dtype, call->head.dtype, value, call->head.span);
}
