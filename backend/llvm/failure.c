// Errors of the compiled program: one block per check that raises, frees and returns.
//
// A library raises through TVM's context variable if the host has filled it, else through
// the weak symbol that tvm-ffi defines, else it only returns -1. Where `self` is not null, code
// runs on some thread for a parallel loop, and kind and text are left there. Traced code fills
// the tvms_raised that its caller passed as `self`.
#include "backend/llvm/failure.h"

#include "backend/core/place.h"
#include "backend/llvm/buffer.h"
#include "backend/llvm/emit.h"
#include "backend/llvm/expr.h"
#include "backend/llvm/held.h"
#include "backend/llvm/helper.h"
#include "backend/llvm/modules.h"
#include "backend/llvm/optimise.h"
#include "backend/llvm/stmt.h"

LLVMValueRef tvms_emit_text(emitter *e, const char *text) {
  LLVMValueRef bytes =
      LLVMConstStringInContext(e->llvm, text, (unsigned)strlen(text), false);
  return tvms_emit_data(e, bytes, "text");
}

LLVMValueRef tvms_emit_data(emitter *e, LLVMValueRef content, const char *name) {
  LLVMValueRef place = LLVMAddGlobal(e->module, LLVMTypeOf(content), name);
  LLVMSetInitializer(place, content);
  LLVMSetLinkage(place, LLVMPrivateLinkage);
  LLVMSetGlobalConstant(place, true);
  LLVMSetUnnamedAddress(place, LLVMGlobalUnnamedAddr);
  return place;
}

LLVMValueRef tvms_emit_weak(emitter *e, const char *name, LLVMTypeRef type) {
  LLVMValueRef function = LLVMGetNamedFunction(e->module, name);
  if (function) return function;
  function = LLVMAddFunction(e->module, name, type);
  bool of_tvm = !strncmp(name, "TVM", 3) || !strncmp(name, "tvms_", 5);
  bool strong = e->options->plain_prefix && !of_tvm;
  LLVMSetLinkage(function, strong ? LLVMExternalLinkage : LLVMExternalWeakLinkage);
  return function;
}

static LLVMValueRef field_at(emitter *e, size_t offset) {
  LLVMValueRef at = tvms_emit_int(e, (int64_t)offset);
  return LLVMBuildGEP2(e->builder, e->i8, e->raised, &at, 1, "");
}

static void store_field(emitter *e, size_t offset, LLVMValueRef value) {
  LLVMBuildStore(e->builder, value, field_at(e, offset));
}

static void raise_traced(emitter *e, const found_failure *what) {
  store_field(e, offsetof(tvms_raised, kind), what->kind);
  store_field(e, offsetof(tvms_raised, text), what->text);
  store_field(e, offsetof(tvms_raised, signature),
              what->signature ? what->signature : LLVMConstNull(e->pointer));
  store_field(e, offsetof(tvms_raised, span.begin), what->begin);
  store_field(e, offsetof(tvms_raised, span.end), what->end);
  if (!what->got) return;
  store_field(e, offsetof(tvms_raised, got), what->got);
  store_field(e, offsetof(tvms_raised, expected), what->expected);
  store_field(e, offsetof(tvms_raised, compared), LLVMConstInt(e->i32, 1, false));
}

// Of functions that raise: of the host's without the first parameter, which is `self`.
static LLVMTypeRef raise_type(emitter *e, bool own) {
  LLVMTypeRef params[] = {e->pointer, e->pointer, e->pointer};
  return LLVMFunctionType(LLVMVoidTypeInContext(e->llvm), params, own ? 3 : 2, false);
}

// The context variable: the loader of TVM's run time finds it by name and fills it.
static LLVMValueRef raise_slot(emitter *e) {
  return tvms_emit_slot(e, TVMS_RAISE_SLOT);
}

static void fill_raise(emitter *e, LLVMValueRef function) {
  LLVMBuilderRef b = e->builder;
  LLVMTypeRef type = raise_type(e, false);
  LLVMValueRef null = LLVMConstNull(e->pointer), self = LLVMGetParam(function, 0);
  LLVMValueRef args[] = {LLVMGetParam(function, 1), LLVMGetParam(function, 2)};
  LLVMBasicBlockRef keep = LLVMAppendBasicBlockInContext(e->llvm, function, "keep");
  LLVMBasicBlockRef find = LLVMAppendBasicBlockInContext(e->llvm, function, "find");
  LLVMBasicBlockRef call = LLVMAppendBasicBlockInContext(e->llvm, function, "call");
  LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(e->llvm, function, "end");
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, self, null, ""), keep, find);
  LLVMPositionBuilderAtEnd(b, keep);
  LLVMValueRef one = tvms_emit_int(e, 1);
  LLVMBuildStore(b, args[0], self);
  LLVMBuildStore(b, args[1], LLVMBuildGEP2(b, e->pointer, self, &one, 1, ""));
  LLVMBuildBr(b, end);
  LLVMPositionBuilderAtEnd(b, find);
  LLVMValueRef given = LLVMBuildLoad2(b, e->pointer, raise_slot(e), "");
  LLVMValueRef weak = tvms_emit_weak(e, "TVMFFIErrorSetRaisedFromCStr", type);
  LLVMValueRef filled = LLVMBuildICmp(b, LLVMIntNE, given, null, "");
  LLVMValueRef target = LLVMBuildSelect(b, filled, given, weak, "");
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, target, null, ""), call, end);
  LLVMPositionBuilderAtEnd(b, call);
  LLVMBuildCall2(b, type, target, args, 2, "");
  LLVMBuildBr(b, end);
  LLVMPositionBuilderAtEnd(b, end);
  LLVMBuildRetVoid(b);
}

// One private function per module chooses who raises.
static LLVMValueRef raise_function(emitter *e) {
  if (e->direct)
    return tvms_helper_direct(e, TVMS_EMIT_RAISE_NAME, raise_type(e, true));
  tvms_helper h;
  if (tvms_helper_begin(e, &h, TVMS_EMIT_RAISE_NAME, raise_type(e, true))) {
    tvms_llvm_make_fast(h.function);
    fill_raise(e, h.function);
    tvms_helper_end(e, &h);
  }
  return h.function;
}

void tvms_emit_need_raise(emitter *e) {
  raise_function(e);
}

void tvms_emit_call_raise(emitter *e, LLVMValueRef self, LLVMValueRef kind,
                          LLVMValueRef text) {
  LLVMValueRef args[] = {self, kind, text};
  LLVMBuildCall2(e->builder, raise_type(e, true), raise_function(e), args, 3, "");
}

static LLVMValueRef is_byte(emitter *e, LLVMValueRef byte, char wanted) {
  return LLVMBuildICmp(e->builder, LLVMIntEQ, byte,
                       LLVMConstInt(e->i8, (unsigned char)wanted, false), "");
}

// Copies the text to `room`, with the signature in the place of its mark: byte after byte from where it reads. At
// the mark it reads the signature, and at the end of that goes back to what stands behind the mark. There may be no
// C library.
static void copy_text(emitter *e, const found_failure *what, LLVMValueRef room) {
  LLVMBuilderRef b = e->builder;
  LLVMBasicBlockRef before = LLVMGetInsertBlock(b), loop = tvms_emit_block(e, "copy"),
                    done = tvms_emit_block(e, "copied");
  LLVMValueRef null = LLVMConstNull(e->pointer), one = tvms_emit_int(e, 1);
  LLVMBuildBr(b, loop);
  tvms_emit_enter(e, loop);
  LLVMValueRef from = LLVMBuildPhi(b, e->pointer, ""),
               to = LLVMBuildPhi(b, e->pointer, ""),
               back = LLVMBuildPhi(b, e->pointer, "");
  LLVMValueRef byte = LLVMBuildLoad2(b, e->i8, from, "");
  LLVMBuildStore(b, byte, to);
  LLVMValueRef mark = is_byte(e, byte, TVMS_SIGNATURE_MARK), end = is_byte(e, byte, 0);
  LLVMValueRef behind = LLVMBuildGEP2(b, e->i8, from, &one, 1, "");
  LLVMValueRef stays = LLVMBuildOr(b, mark, end, "");
  LLVMValueRef next_from = LLVMBuildSelect(
      b, mark, what->signature, LLVMBuildSelect(b, end, back, behind, ""), "");
  LLVMValueRef next_to =
      LLVMBuildSelect(b, stays, to, LLVMBuildGEP2(b, e->i8, to, &one, 1, ""), "");
  LLVMValueRef next_back =
      LLVMBuildSelect(b, mark, behind, LLVMBuildSelect(b, end, null, back, ""), "");
  LLVMValueRef over = LLVMBuildICmp(b, LLVMIntEQ, next_from, null, "");
  LLVMBuildCondBr(b, over, done, loop);
  LLVMBasicBlockRef blocks[] = {before, loop};
  LLVMAddIncoming(from, (LLVMValueRef[]){what->text, next_from}, blocks, 2);
  LLVMAddIncoming(to, (LLVMValueRef[]){room, next_to}, blocks, 2);
  LLVMAddIncoming(back, (LLVMValueRef[]){null, next_back}, blocks, 2);
  tvms_emit_enter(e, done);
}

// The text as a whole; who raises copies it.
static LLVMValueRef whole_text(emitter *e, const found_failure *what) {
  if (!what->signature) return what->text;
  LLVMValueRef room = LLVMBuildArrayAlloca(e->builder, e->i8, what->bytes, "");
  copy_text(e, what, room);
  return room;
}

void tvms_emit_raise_found(emitter *e, const found_failure *what) {
  if (e->options->traced) {
    raise_traced(e, what);
  } else {
    tvms_emit_call_raise(e, e->raised, what->kind, whole_text(e, what));
  }
  tvms_emit_leave(e);
}

uint32_t tvms_emit_raised_words(const emitter *e) {
  return e->options->traced ? offsetof(tvms_raised, call_packed) / 8 : 2;
}

void tvms_emit_copy_raised(emitter *e, LLVMValueRef to, LLVMValueRef from) {
  LLVMBuilderRef b = e->builder;
  for (uint32_t i = 0; i < tvms_emit_raised_words(e); i++) {
    LLVMValueRef at = tvms_emit_int(e, i);
    LLVMValueRef word =
        LLVMBuildLoad2(b, e->i64, LLVMBuildGEP2(b, e->i64, from, &at, 1, ""), "");
    LLVMBuildStore(b, word, LLVMBuildGEP2(b, e->i64, to, &at, 1, ""));
  }
}

void tvms_emit_raise_again(emitter *e, LLVMValueRef from) {
  LLVMBuilderRef b = e->builder;
  if (e->options->traced) {
    tvms_emit_copy_raised(e, e->raised, from);
  } else {
    LLVMValueRef one = tvms_emit_int(e, 1);
    LLVMValueRef text = LLVMBuildGEP2(b, e->pointer, from, &one, 1, "");
    tvms_emit_call_raise(e, e->raised, LLVMBuildLoad2(b, e->pointer, from, ""),
                         LLVMBuildLoad2(b, e->pointer, text, ""));
  }
  failure passed_up = {0};
  tvms_emit_raise(e, &passed_up);
}

// ---- Errors where they are found ----

static void raise_of_relax(emitter *e, const failure *what) {
  const char *text =
      tvms_place_text(e->context, e->member, what->span, what->text, what->got != NULL);
  if (what->got) {
    tvms_emit_hold_formatted(e, what, text);
    tvms_emit_leave(e);
    return;
  }
  found_failure found = {.kind = tvms_emit_text(e, what->kind),
                         .text = tvms_emit_text(e, text)};
  tvms_emit_raise_found(e, &found);
}

// What was called has raised, or has left its error where callers add their names.
static void pass_up(emitter *e, const failure *what) {
  if (what->by && !e->options->traced && !e->in_parallel)
    tvms_emit_add_place(e, what->in, what->by);
  if (what->held) tvms_emit_raise_left(e, what->held);
  if (what->by_host && !e->options->traced) tvms_emit_hold_nothing(e);
  tvms_emit_leave(e);
}

void tvms_emit_raise(emitter *e, const failure *what) {
  if (!what->kind) {
    pass_up(e, what);
    return;
  }
  if (tvms_emit_holds(e)) {
    raise_of_relax(e, what);
    return;
  }
  found_failure found = {
      .kind = tvms_emit_text(e, what->kind),
      .text = tvms_emit_text(e, what->text),
      .begin = LLVMConstInt(e->i32, what->span.begin, false),
      .end = LLVMConstInt(e->i32, what->span.end, false),
      .got = what->got,
      .expected = what->expected,
  };
  tvms_emit_raise_found(e, &found);
}

void tvms_emit_check(emitter *e, LLVMValueRef condition, const failure *what) {
  // A condition that is known to hold needs no code.
  bool constant = LLVMIsAConstantInt(condition) != NULL;
  if (constant && LLVMConstIntGetZExtValue(condition)) return;
  LLVMBasicBlockRef failed = tvms_emit_block(e, "failed");
  LLVMBasicBlockRef holds = tvms_emit_block(e, "holds");
  LLVMBuildCondBr(e->builder, condition, holds, failed);
  tvms_emit_enter(e, failed);
  tvms_emit_raise(e, what);
  tvms_emit_enter(e, holds);
}
