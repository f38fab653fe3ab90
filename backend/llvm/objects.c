// Objects of tvm-ffi: references are counted in the first word, strong ones in its low half
// and weak ones (all strong ones count as one) in its high half. Who drops the last of a kind
// calls the function in the head, with 1 for strong ones and 2 for weak ones.
//
// A library keeps one workspace, in a block that begins with its size. A call takes it out of
// its place, so that a second call at the same time finds none and makes its own.
#include "backend/llvm/objects.h"

#include "backend/llvm/expr.h"
#include "backend/llvm/failure.h"
#include "backend/llvm/stmt.h"
#include "runtime/abi.h"

enum { ALIGN = 64, ARRAY_ITEMS = TVMS_OBJECT_HEAD + 32 };

typedef struct {
  LLVMValueRef function;
  LLVMBasicBlockRef here;  // where the caller was
  LLVMMetadataRef line;
} helper;

static LLVMTypeRef void_type(emitter *e) {
  return LLVMVoidTypeInContext(e->llvm);
}

static LLVMBasicBlockRef block(emitter *e, const helper *h, const char *name) {
  return LLVMAppendBasicBlockInContext(e->llvm, h->function, name);
}

static void enter(emitter *e, LLVMBasicBlockRef to) {
  LLVMPositionBuilderAtEnd(e->builder, to);
}

// Begins a private function of the module; false if it is there already.
static bool begin(emitter *e, helper *h, const char *name, LLVMTypeRef type) {
  h->function = LLVMGetNamedFunction(e->module, name);
  if (h->function) return false;
  h->function = LLVMAddFunction(e->module, name, type);
  LLVMSetLinkage(h->function, LLVMPrivateLinkage);
  h->here = LLVMGetInsertBlock(e->builder);
  h->line = LLVMGetCurrentDebugLocation2(e->builder);
  LLVMSetCurrentDebugLocation2(e->builder, NULL);
  enter(e, block(e, h, "entry"));
  return true;
}

static void end(emitter *e, const helper *h) {
  enter(e, h->here);
  LLVMSetCurrentDebugLocation2(e->builder, h->line);
}

static LLVMValueRef place(emitter *e, LLVMValueRef base, LLVMValueRef offset) {
  return LLVMBuildGEP2(e->builder, e->i8, base, &offset, 1, "");
}

static LLVMValueRef at(emitter *e, LLVMValueRef base, int64_t offset) {
  return place(e, base, tvms_emit_int(e, offset));
}

static void call_free(emitter *e, LLVMValueRef block_of) {
  LLVMTypeRef type = LLVMFunctionType(void_type(e), &e->pointer, 1, false);
  LLVMBuildCall2(e->builder, type, tvms_emit_weak(e, "free", type), &block_of, 1, "");
}

// Memory for at least `bytes`, or null.
static LLVMValueRef call_alloc(emitter *e, LLVMValueRef bytes) {
  LLVMTypeRef params[] = {e->i64, e->i64};
  LLVMTypeRef type = LLVMFunctionType(e->pointer, params, 2, false);
  LLVMValueRef more = LLVMBuildAdd(e->builder, bytes, tvms_emit_int(e, ALIGN - 1), "");
  LLVMValueRef size = LLVMBuildAnd(e->builder, more, tvms_emit_int(e, -ALIGN), "");
  LLVMValueRef args[] = {tvms_emit_int(e, ALIGN), size};
  return LLVMBuildCall2(e->builder, type, tvms_emit_weak(e, "aligned_alloc", type),
                        args, 2, "");
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

static void free_and_return(emitter *e, const helper *h, LLVMValueRef flags) {
  LLVMBasicBlockRef last = block(e, h, "last"), out = block(e, h, "out");
  branch_on(e, flags, 2, last, out);
  enter(e, last);
  call_free(e, LLVMGetParam(h->function, 0));
  LLVMBuildBr(e->builder, out);
  enter(e, out);
  LLVMBuildRetVoid(e->builder);
}

// void tvms.delete(object, flags): of what holds no other object.
static LLVMValueRef plain_deleter(emitter *e) {
  helper h;
  if (!begin(e, &h, "tvms.delete", deleter_type(e))) return h.function;
  free_and_return(e, &h, LLVMGetParam(h.function, 1));
  end(e, &h);
  return h.function;
}

static void call_deleter(emitter *e, LLVMValueRef object, uint32_t flags) {
  LLVMValueRef deleter = LLVMBuildLoad2(e->builder, e->pointer, at(e, object, 16), "");
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
  helper h;
  LLVMTypeRef type = LLVMFunctionType(void_type(e), &e->pointer, 1, false);
  if (!begin(e, &h, "tvms.drop", type)) return h.function;
  LLVMBuilderRef b = e->builder;
  LLVMValueRef object = LLVMGetParam(h.function, 0);
  int64_t weak = (int64_t)1 << 32;
  LLVMBasicBlockRef gone = block(e, &h, "gone"), some = block(e, &h, "some");
  LLVMBasicBlockRef both = block(e, &h, "both"), strong = block(e, &h, "strong");
  LLVMBasicBlockRef last = block(e, &h, "last");
  LLVMValueRef old = count_down(e, object, 1);
  LLVMValueRef low = LLVMBuildAnd(b, old, tvms_emit_int(e, weak - 1), "");
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, low, tvms_emit_int(e, 1), ""), gone,
                  some);
  enter(e, gone);
  LLVMValueRef alone = LLVMBuildICmp(b, LLVMIntEQ, old, tvms_emit_int(e, weak + 1), "");
  LLVMBuildCondBr(b, alone, both, strong);
  enter(e, both);
  call_deleter(e, object, 3);
  LLVMBuildBr(b, some);
  enter(e, strong);
  call_deleter(e, object, 1);
  old = count_down(e, object, weak);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, old, tvms_emit_int(e, weak), ""), last,
                  some);
  enter(e, last);
  call_deleter(e, object, 2);
  LLVMBuildBr(b, some);
  enter(e, some);
  LLVMBuildRetVoid(b);
  end(e, &h);
  return h.function;
}

// Drops what item `i` of an array holds, if that is an object, and goes to `next`.
static void drop_item(emitter *e, const helper *h, LLVMValueRef i, LLVMValueRef drop,
                      LLVMBasicBlockRef next) {
  LLVMBuilderRef b = e->builder;
  LLVMBasicBlockRef object = block(e, h, "object");
  LLVMValueRef bytes = tvms_emit_int(e, sizeof(tvms_any));
  LLVMValueRef items = at(e, LLVMGetParam(h->function, 0), ARRAY_ITEMS);
  LLVMValueRef any = place(e, items, LLVMBuildMul(b, i, bytes, ""));
  LLVMValueRef kind = LLVMBuildLoad2(b, e->i32, any, "");
  LLVMValueRef first = LLVMConstInt(e->i32, TVMS_ANY_OBJECT, false);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSGE, kind, first, ""), object, next);
  enter(e, object);
  LLVMValueRef held =
      LLVMBuildLoad2(b, e->pointer, at(e, any, (int64_t)offsetof(tvms_any, v)), "");
  LLVMTypeRef type = LLVMFunctionType(void_type(e), &e->pointer, 1, false);
  LLVMBuildCall2(b, type, drop, &held, 1, "");
  LLVMBuildBr(b, next);
}

// void tvms.delete_array(object, flags)
static LLVMValueRef array_deleter(emitter *e) {
  helper h;
  LLVMValueRef drop = drop_function(e);
  if (!begin(e, &h, "tvms.delete_array", deleter_type(e))) return h.function;
  LLVMBuilderRef b = e->builder;
  LLVMValueRef object = LLVMGetParam(h.function, 0),
               flags = LLVMGetParam(h.function, 1);
  LLVMBasicBlockRef first = block(e, &h, "first"), loop = block(e, &h, "loop");
  LLVMBasicBlockRef body = block(e, &h, "body"), next = block(e, &h, "next");
  LLVMBasicBlockRef done = block(e, &h, "done");
  branch_on(e, flags, 1, first, done);
  enter(e, first);
  LLVMValueRef count =
      LLVMBuildLoad2(b, e->i64, at(e, object, TVMS_OBJECT_HEAD + 8), "");
  LLVMBuildBr(b, loop);
  enter(e, loop);
  LLVMValueRef i = LLVMBuildPhi(b, e->i64, "i");
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntSLT, i, count, ""), body, done);
  enter(e, body);
  drop_item(e, &h, i, drop, next);
  enter(e, next);
  LLVMValueRef counts[] = {tvms_emit_int(e, 0),
                           LLVMBuildAdd(b, i, tvms_emit_int(e, 1), "")};
  LLVMBasicBlockRef from[] = {first, next};
  LLVMAddIncoming(i, counts, from, 2);
  LLVMBuildBr(b, loop);
  enter(e, done);
  free_and_return(e, &h, flags);
  end(e, &h);
  return h.function;
}

// ptr tvms.object(i64 bytes, i64 kind, ptr deleter)
static LLVMValueRef object_function(emitter *e, LLVMTypeRef type) {
  helper h;
  if (!begin(e, &h, "tvms.object", type)) return h.function;
  LLVMBuilderRef b = e->builder;
  LLVMBasicBlockRef some = block(e, &h, "some"), out = block(e, &h, "out");
  LLVMValueRef object = call_alloc(e, LLVMGetParam(h.function, 0));
  LLVMValueRef null = LLVMConstNull(e->pointer);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, object, null, ""), some, out);
  enter(e, some);
  LLVMBuildStore(b, tvms_emit_int(e, ((int64_t)1 << 32) + 1), object);
  LLVMBuildStore(b, LLVMGetParam(h.function, 1), at(e, object, 8));
  LLVMBuildStore(b, LLVMGetParam(h.function, 2), at(e, object, 16));
  LLVMBuildBr(b, out);
  enter(e, out);
  LLVMBuildRet(b, object);
  end(e, &h);
  return h.function;
}

LLVMValueRef tvms_emit_new_object(emitter *e, LLVMValueRef bytes, int kind) {
  LLVMTypeRef params[] = {e->i64, e->i64, e->pointer};
  LLVMTypeRef type = LLVMFunctionType(e->pointer, params, 3, false);
  LLVMValueRef deleter = kind == TVMS_ANY_ARRAY ? array_deleter(e) : plain_deleter(e);
  LLVMValueRef args[] = {bytes, tvms_emit_int(e, kind), deleter};
  return LLVMBuildCall2(e->builder, type, object_function(e, type), args, 3, "");
}

void tvms_emit_free_object(emitter *e, LLVMValueRef object) {
  call_free(e, object);
}

// ---- The workspace ----

static LLVMValueRef kept_place(emitter *e) {
  static const char name[] = "tvms.workspace";
  LLVMValueRef kept = LLVMGetNamedGlobal(e->module, name);
  if (kept) return kept;
  kept = LLVMAddGlobal(e->module, e->pointer, name);
  LLVMSetInitializer(kept, LLVMConstNull(e->pointer));
  LLVMSetLinkage(kept, LLVMPrivateLinkage);
  return kept;
}

static LLVMValueRef exchange(emitter *e, LLVMValueRef value) {
  return LLVMBuildAtomicRMW(e->builder, LLVMAtomicRMWBinOpXchg, kept_place(e), value,
                            LLVMAtomicOrderingAcquireRelease, false);
}

// ptr tvms.take(i64 bytes)
static LLVMValueRef take_function(emitter *e, LLVMTypeRef type) {
  helper h;
  if (!begin(e, &h, "tvms.take", type)) return h.function;
  LLVMBuilderRef b = e->builder;
  LLVMValueRef null = LLVMConstNull(e->pointer), bytes = LLVMGetParam(h.function, 0);
  LLVMBasicBlockRef found = block(e, &h, "found"), small = block(e, &h, "small");
  LLVMBasicBlockRef make = block(e, &h, "make"), made = block(e, &h, "made");
  LLVMBasicBlockRef use = block(e, &h, "use"), none = block(e, &h, "none");
  LLVMValueRef kept = exchange(e, null);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, kept, null, ""), found, make);
  enter(e, found);
  LLVMValueRef size = LLVMBuildLoad2(b, e->i64, kept, "");
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntUGE, size, bytes, ""), use, small);
  enter(e, small);
  call_free(e, kept);
  LLVMBuildBr(b, make);
  enter(e, make);
  LLVMValueRef fresh =
      call_alloc(e, LLVMBuildAdd(b, bytes, tvms_emit_int(e, ALIGN), ""));
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, fresh, null, ""), made, none);
  enter(e, made);
  LLVMBuildStore(b, bytes, fresh);
  LLVMBuildBr(b, use);
  enter(e, use);
  LLVMValueRef block_of = LLVMBuildPhi(b, e->pointer, "");
  LLVMValueRef values[] = {kept, fresh};
  LLVMBasicBlockRef from[] = {found, made};
  LLVMAddIncoming(block_of, values, from, 2);
  LLVMBuildRet(b, at(e, block_of, ALIGN));
  enter(e, none);
  LLVMBuildRet(b, null);
  end(e, &h);
  return h.function;
}

LLVMValueRef tvms_emit_take_workspace(emitter *e, LLVMValueRef bytes) {
  LLVMTypeRef type = LLVMFunctionType(e->pointer, &e->i64, 1, false);
  return LLVMBuildCall2(e->builder, type, take_function(e, type), &bytes, 1, "");
}

// void tvms.give(ptr workspace)
static LLVMValueRef give_function(emitter *e, LLVMTypeRef type) {
  helper h;
  if (!begin(e, &h, "tvms.give", type)) return h.function;
  LLVMBuilderRef b = e->builder;
  LLVMBasicBlockRef second = block(e, &h, "second"), out = block(e, &h, "out");
  LLVMValueRef old = exchange(e, at(e, LLVMGetParam(h.function, 0), -ALIGN));
  LLVMValueRef null = LLVMConstNull(e->pointer);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, old, null, ""), second, out);
  enter(e, second);
  call_free(e, old);
  LLVMBuildBr(b, out);
  enter(e, out);
  LLVMBuildRetVoid(b);
  end(e, &h);
  return h.function;
}

void tvms_emit_give_workspace(emitter *e, LLVMValueRef workspace) {
  LLVMTypeRef type = LLVMFunctionType(void_type(e), &e->pointer, 1, false);
  LLVMBuildCall2(e->builder, type, give_function(e, type), &workspace, 1, "");
}
