// Objects of tvm-ffi: references are counted in the first word, strong ones in its low half
// and weak ones (all strong ones count as one) in its high half. Who drops the last of a kind
// calls the function in the head, with 1 for strong ones and 2 for weak ones.
#include "backend/llvm/objects.h"

#include "backend/llvm/expr.h"
#include "backend/llvm/helper.h"
#include "backend/llvm/kept.h"
#include "runtime/abi.h"

static LLVMTypeRef void_type(emitter *e) {
  return LLVMVoidTypeInContext(e->llvm);
}

static LLVMTypeRef deleter_type(emitter *e) {
  LLVMTypeRef params[] = {e->pointer, e->i32};
  return LLVMFunctionType(void_type(e), params, 2, false);
}

// Goes to `yes` if a bit of the flags of a deleter is set, else to `no`.
static void branch_on(emitter *e, LLVMValueRef flags, uint32_t bit,
                      LLVMBasicBlockRef yes, LLVMBasicBlockRef no) {
  LLVMValueRef set =
      LLVMBuildAnd(e->builder, flags, LLVMConstInt(e->i32, bit, false), "");
  LLVMValueRef zero = LLVMConstNull(e->i32);
  LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntNE, set, zero, ""), yes,
                  no);
}

static void free_and_return(emitter *e, const tvms_helper *h, LLVMValueRef flags) {
  LLVMBasicBlockRef last = tvms_helper_block(e, h, "last"),
                    out = tvms_helper_block(e, h, "out");
  branch_on(e, flags, 2, last, out);
  tvms_helper_enter(e, last);
  tvms_helper_free(e, LLVMGetParam(h->function, 0));
  LLVMBuildBr(e->builder, out);
  tvms_helper_enter(e, out);
  LLVMBuildRetVoid(e->builder);
}

// void tvms.delete(object, flags): of what holds no other object.
static LLVMValueRef plain_deleter(emitter *e) {
  tvms_helper h;
  if (!tvms_helper_begin(e, &h, "tvms.delete", deleter_type(e))) return h.function;
  free_and_return(e, &h, LLVMGetParam(h.function, 1));
  tvms_helper_end(e, &h);
  return h.function;
}

static void call_deleter(emitter *e, LLVMValueRef object, uint32_t flags) {
  LLVMValueRef deleter =
      LLVMBuildLoad2(e->builder, e->pointer, tvms_helper_at(e, object, 16), "");
  LLVMValueRef args[] = {object, LLVMConstInt(e->i32, flags, false)};
  LLVMBuildCall2(e->builder, deleter_type(e), deleter, args, 2, "");
}

static LLVMValueRef count_down(emitter *e, LLVMValueRef object, int64_t by) {
  return LLVMBuildAtomicRMW(e->builder, LLVMAtomicRMWBinOpSub, object,
                            tvms_emit_int(e, by), LLVMAtomicOrderingAcquireRelease,
                            false);
}

// void tvms.drop(object): one strong reference less.
static LLVMValueRef drop_function(emitter *e) {
  tvms_helper h;
  LLVMTypeRef type = LLVMFunctionType(void_type(e), &e->pointer, 1, false);
  if (!tvms_helper_begin(e, &h, "tvms.drop", type)) return h.function;
  LLVMBuilderRef b = e->builder;
  LLVMValueRef object = LLVMGetParam(h.function, 0);
  int64_t weak = (int64_t)1 << 32;
  LLVMBasicBlockRef gone = tvms_helper_block(e, &h, "gone"),
                    some = tvms_helper_block(e, &h, "some");
  LLVMBasicBlockRef both = tvms_helper_block(e, &h, "both"),
                    strong = tvms_helper_block(e, &h, "strong");
  LLVMBasicBlockRef last = tvms_helper_block(e, &h, "last");
  LLVMValueRef old = count_down(e, object, 1);
  LLVMValueRef low = LLVMBuildAnd(b, old, tvms_emit_int(e, weak - 1), "");
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, low, tvms_emit_int(e, 1), ""), gone,
                  some);
  tvms_helper_enter(e, gone);
  LLVMValueRef alone = LLVMBuildICmp(b, LLVMIntEQ, old, tvms_emit_int(e, weak + 1), "");
  LLVMBuildCondBr(b, alone, both, strong);
  tvms_helper_enter(e, both);
  call_deleter(e, object, 3);
  LLVMBuildBr(b, some);
  tvms_helper_enter(e, strong);
  call_deleter(e, object, 1);
  old = count_down(e, object, weak);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, old, tvms_emit_int(e, weak), ""), last,
                  some);
  tvms_helper_enter(e, last);
  call_deleter(e, object, 2);
  LLVMBuildBr(b, some);
  tvms_helper_enter(e, some);
  LLVMBuildRetVoid(b);
  tvms_helper_end(e, &h);
  return h.function;
}

// Drops what item `i` of an array holds, if that is an object, and goes to `next`.
static void drop_item(emitter *e, const tvms_helper *h, LLVMValueRef i,
                      LLVMValueRef drop, LLVMBasicBlockRef next) {
  LLVMBuilderRef b = e->builder;
  LLVMBasicBlockRef object = tvms_helper_block(e, h, "object");
  LLVMValueRef bytes = tvms_emit_int(e, sizeof(tvms_any));
  LLVMValueRef array =
                   tvms_helper_at(e, LLVMGetParam(h->function, 0), TVMS_OBJECT_HEAD),
               items = tvms_helper_field(e, array, TVMS_LAYOUT_ARRAY_END);
  LLVMValueRef any = tvms_helper_place(e, items, LLVMBuildMul(b, i, bytes, ""));
  LLVMValueRef kind = LLVMBuildLoad2(b, e->i32, any, "");
  LLVMValueRef first = LLVMConstInt(e->i32, TVMS_ANY_OBJECT, false);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSGE, kind, first, ""), object, next);
  tvms_helper_enter(e, object);
  LLVMValueRef held = LLVMBuildLoad2(
      b, e->pointer, tvms_helper_at(e, any, (int64_t)offsetof(tvms_any, v)), "");
  LLVMTypeRef type = LLVMFunctionType(void_type(e), &e->pointer, 1, false);
  LLVMBuildCall2(b, type, drop, &held, 1, "");
  LLVMBuildBr(b, next);
}

// void tvms.delete_array(object, flags)
static LLVMValueRef array_deleter(emitter *e) {
  tvms_helper h;
  LLVMValueRef drop = drop_function(e);
  if (!tvms_helper_begin(e, &h, "tvms.delete_array", deleter_type(e)))
    return h.function;
  LLVMBuilderRef b = e->builder;
  LLVMValueRef object = LLVMGetParam(h.function, 0),
               flags = LLVMGetParam(h.function, 1);
  LLVMBasicBlockRef first = tvms_helper_block(e, &h, "first"),
                    loop = tvms_helper_block(e, &h, "loop");
  LLVMBasicBlockRef body = tvms_helper_block(e, &h, "body"),
                    next = tvms_helper_block(e, &h, "next");
  LLVMBasicBlockRef done = tvms_helper_block(e, &h, "done");
  branch_on(e, flags, 1, first, done);
  tvms_helper_enter(e, first);
  LLVMValueRef array = tvms_helper_at(e, object, TVMS_OBJECT_HEAD);
  LLVMValueRef count = LLVMBuildLoad2(
      b, e->i64, tvms_helper_field(e, array, TVMS_LAYOUT_ARRAY_SIZE), "");
  LLVMBuildBr(b, loop);
  tvms_helper_enter(e, loop);
  LLVMValueRef i = LLVMBuildPhi(b, e->i64, "i");
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, i, count, ""), body, done);
  tvms_helper_enter(e, body);
  drop_item(e, &h, i, drop, next);
  tvms_helper_enter(e, next);
  LLVMValueRef counts[] = {tvms_emit_int(e, 0),
                           LLVMBuildAdd(b, i, tvms_emit_int(e, 1), "")};
  LLVMBasicBlockRef from[] = {first, next};
  LLVMAddIncoming(i, counts, from, 2);
  LLVMBuildBr(b, loop);
  tvms_helper_enter(e, done);
  free_and_return(e, &h, flags);
  tvms_helper_end(e, &h);
  return h.function;
}

// One reference, of both kinds.
static void fill_head(emitter *e, LLVMValueRef object, LLVMValueRef kind,
                      LLVMValueRef deleter) {
  LLVMBuildStore(e->builder, tvms_emit_int(e, ((int64_t)1 << 32) + 1), object);
  LLVMBuildStore(e->builder, kind, tvms_helper_at(e, object, 8));
  LLVMBuildStore(e->builder, deleter, tvms_helper_at(e, object, 16));
}

// ptr tvms.object(i64 bytes, i64 kind, ptr deleter)
static LLVMValueRef object_function(emitter *e, LLVMTypeRef type) {
  tvms_helper h;
  if (!tvms_helper_begin(e, &h, "tvms.object", type)) return h.function;
  LLVMBuilderRef b = e->builder;
  LLVMBasicBlockRef some = tvms_helper_block(e, &h, "some"),
                    out = tvms_helper_block(e, &h, "out");
  LLVMValueRef object = tvms_helper_alloc(e, LLVMGetParam(h.function, 0));
  LLVMValueRef null = LLVMConstNull(e->pointer);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, object, null, ""), some, out);
  tvms_helper_enter(e, some);
  fill_head(e, object, LLVMGetParam(h.function, 1), LLVMGetParam(h.function, 2));
  LLVMBuildBr(b, out);
  tvms_helper_enter(e, out);
  LLVMBuildRet(b, object);
  tvms_helper_end(e, &h);
  return h.function;
}

LLVMValueRef tvms_emit_new_object(emitter *e, LLVMValueRef bytes, int kind) {
  LLVMTypeRef params[] = {e->i64, e->i64, e->pointer};
  LLVMTypeRef type = LLVMFunctionType(e->pointer, params, 3, false);
  LLVMValueRef deleter = kind == TVMS_ANY_ARRAY ? array_deleter(e) : plain_deleter(e);
  LLVMValueRef args[] = {bytes, tvms_emit_int(e, kind), deleter};
  return LLVMBuildCall2(e->builder, type, object_function(e, type), args, 3, "");
}

// ---- Large tensors ----

// void tvms.keep(object, flags): of a tensor whose memory is kept.
static LLVMValueRef keeping_deleter(emitter *e) {
  tvms_helper h;
  if (!tvms_helper_begin(e, &h, "tvms.keep", deleter_type(e))) return h.function;
  LLVMBasicBlockRef last = tvms_helper_block(e, &h, "last"),
                    out = tvms_helper_block(e, &h, "out");
  branch_on(e, LLVMGetParam(h.function, 1), 2, last, out);
  tvms_helper_enter(e, last);
  tvms_emit_give_result(e, LLVMGetParam(h.function, 0));
  LLVMBuildBr(e->builder, out);
  tvms_helper_enter(e, out);
  LLVMBuildRetVoid(e->builder);
  tvms_helper_end(e, &h);
  return h.function;
}

// Is the number of bytes one for which memory is kept?
static LLVMValueRef is_kept(emitter *e, LLVMValueRef bytes) {
  LLVMValueRef above =
      LLVMBuildSub(e->builder, bytes, tvms_emit_int(e, TVMS_KEPT_LEAST), "");
  return LLVMBuildICmp(e->builder, LLVMIntULE, above,
                       tvms_emit_int(e, TVMS_KEPT_MOST - TVMS_KEPT_LEAST), "");
}

// ptr tvms.tensor(i64 bytes)
static LLVMValueRef tensor_function(emitter *e, LLVMTypeRef type) {
  tvms_helper h;
  LLVMValueRef deleter = keeping_deleter(e);
  if (!tvms_helper_begin(e, &h, "tvms.tensor", type)) return h.function;
  LLVMBuilderRef b = e->builder;
  LLVMValueRef bytes = LLVMGetParam(h.function, 0), null = LLVMConstNull(e->pointer);
  LLVMBasicBlockRef large = tvms_helper_block(e, &h, "large"),
                    small = tvms_helper_block(e, &h, "small");
  LLVMBasicBlockRef some = tvms_helper_block(e, &h, "some"),
                    out = tvms_helper_block(e, &h, "out");
  LLVMBuildCondBr(b, is_kept(e, bytes), large, small);
  tvms_helper_enter(e, small);
  LLVMBuildRet(b, tvms_emit_new_object(e, bytes, TVMS_ANY_TENSOR));
  tvms_helper_enter(e, large);
  LLVMValueRef object = tvms_emit_take_result(e, bytes);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, object, null, ""), some, out);
  tvms_helper_enter(e, some);
  fill_head(e, object, tvms_emit_int(e, TVMS_ANY_TENSOR), deleter);
  LLVMBuildBr(b, out);
  tvms_helper_enter(e, out);
  LLVMBuildRet(b, object);
  tvms_helper_end(e, &h);
  return h.function;
}

LLVMValueRef tvms_emit_new_tensor(emitter *e, LLVMValueRef bytes) {
  bool small = LLVMIsAConstantInt(bytes) && LLVMIsNull(is_kept(e, bytes));
  if (small) return tvms_emit_new_object(e, bytes, TVMS_ANY_TENSOR);
  LLVMTypeRef type = LLVMFunctionType(e->pointer, &e->i64, 1, false);
  return LLVMBuildCall2(e->builder, type, tensor_function(e, type), &bytes, 1, "");
}

void tvms_emit_drop_object(emitter *e, LLVMValueRef object) {
  LLVMTypeRef type = LLVMFunctionType(void_type(e), &e->pointer, 1, false);
  LLVMBuildCall2(e->builder, type, drop_function(e), &object, 1, "");
}

void tvms_emit_free_object(emitter *e, LLVMValueRef object) {
  call_deleter(e, object, 2);
}
