// Memory that a library keeps: a list of places, each with one block or none. A block begins with
// its size. Who wants memory takes the first block that it finds out of its place, by an atomic
// exchange, so nobody else has it meanwhile; one that is too small is replaced by a larger one.
// So after the first calls nothing is allocated any more; the blocks go with the library.
//
// There is one place for workspaces: of two calls at the same time one makes its own. Other
// memory has more: threads of a parallel loop, and functions that call themselves. Results have two places
// for each power of two, so that a block is never twice as large as what it serves, and a caller can hold one result
// while it gets the next.
#include "backend/llvm/kept.h"

#include "backend/llvm/expr.h"
#include "backend/llvm/helper.h"
#include "backend/llvm/modules.h"
#include "backend/llvm/optimise.h"
#include "backend/x86/kept.h"

#include <stdlib.h>

#define TAKE "tvms.take"
#define GIVE "tvms.give"

// Powers of two from TVMS_KEPT_LEAST to TVMS_KEPT_MOST.
enum { RESULT_SIZES = 10, RESULTS_OF_SIZE = 2 };

_Static_assert(TVMS_KEPT_MOST >> (RESULT_SIZES - 1) >= TVMS_KEPT_LEAST
                   && TVMS_KEPT_MOST >> RESULT_SIZES < TVMS_KEPT_LEAST,
               "there is a size for each result");

static const tvms_x86_list lists[TVMS_KEPT_LISTS] = {
    [TVMS_KEPT_WORKSPACE] = {"tvms.workspace", 1},
    [TVMS_KEPT_SCRATCH] = {"tvms.scratch", 64},
    [TVMS_KEPT_RESULTS] = {"tvms.results", RESULTS_OF_SIZE *RESULT_SIZES},
};

static LLVMValueRef list_of(emitter *e, tvms_kept kind) {
  LLVMValueRef list = tvms_emit_variable_named(e, lists[kind].name);
  if (list) return list;
  LLVMTypeRef type = LLVMArrayType2(e->pointer, lists[kind].places);
  list = LLVMAddGlobal(e->module, type, lists[kind].name);
  LLVMSetInitializer(list, LLVMConstNull(type));
  LLVMSetLinkage(list, LLVMPrivateLinkage);
  return list;
}

// A function that goes through the places of a list: its parameters are the list, their number,
// and something else.
typedef struct {
  tvms_helper h;
  LLVMBasicBlockRef look, next, none;
  LLVMValueRef place;
} search;

static void begin_search(emitter *e, search *s) {
  LLVMBuilderRef b = e->builder;
  LLVMBasicBlockRef entry = LLVMGetInsertBlock(b);
  LLVMBasicBlockRef loop = tvms_helper_block(e, &s->h, "loop");
  s->look = tvms_helper_block(e, &s->h, "look");
  s->next = tvms_helper_block(e, &s->h, "next");
  s->none = tvms_helper_block(e, &s->h, "none");
  LLVMValueRef zero = tvms_emit_int(e, 0), one = tvms_emit_int(e, 1);
  LLVMBuildBr(b, loop);
  tvms_helper_enter(e, loop);
  LLVMValueRef i = LLVMBuildPhi(b, e->i64, "i");
  LLVMValueRef more =
      LLVMBuildICmp(b, LLVMIntULT, i, LLVMGetParam(s->h.function, 1), "");
  LLVMBuildCondBr(b, more, s->look, s->none);
  tvms_helper_enter(e, s->next);
  LLVMValueRef values[] = {zero, LLVMBuildAdd(b, i, one, "")};
  LLVMBasicBlockRef from[] = {entry, s->next};
  LLVMAddIncoming(i, values, from, 2);
  LLVMBuildBr(b, loop);
  tvms_helper_enter(e, s->look);
  s->place = LLVMBuildGEP2(b, e->pointer, LLVMGetParam(s->h.function, 0), &i, 1, "");
}

// A function that is not inlined, so that what it gives is known to be memory of its own. What it does
// takes no time beside what is done in that memory, and compiling it should not, either.
static bool begin_function(emitter *e, search *s, const char *name, LLVMTypeRef type) {
  if (!tvms_helper_begin(e, &s->h, name, type)) return false;
  tvms_llvm_make_fast(s->h.function);
  begin_search(e, s);
  return true;
}

// Where a function looks.
typedef struct {
  LLVMValueRef list;
  uint32_t places;
} range;

static range all_of(emitter *e, tvms_kept kind) {
  return (range){list_of(e, kind), lists[kind].places};
}

// The places of results of this size.
static range results_of(emitter *e, LLVMValueRef bytes) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef first = tvms_emit_int(e, 0);
  for (uint32_t i = 1; i < RESULT_SIZES; i++) {
    LLVMValueRef power = tvms_emit_int(e, (int64_t)TVMS_KEPT_LEAST << i);
    LLVMValueRef reaches = LLVMBuildICmp(b, LLVMIntUGE, bytes, power, "");
    first = LLVMBuildAdd(b, first, LLVMBuildZExt(b, reaches, e->i64, ""), "");
  }
  first = LLVMBuildMul(b, first, tvms_emit_int(e, RESULTS_OF_SIZE), "");
  LLVMValueRef list = list_of(e, TVMS_KEPT_RESULTS);
  return (range){LLVMBuildGEP2(b, e->pointer, list, &first, 1, ""), RESULTS_OF_SIZE};
}

static LLVMValueRef call(emitter *e, LLVMTypeRef type, LLVMValueRef function,
                         range where, LLVMValueRef last) {
  LLVMValueRef args[] = {where.list, tvms_emit_int(e, where.places), last};
  return LLVMBuildCall2(e->builder, type, function, args, 3, "");
}

// Makes a block, in the block of code at hand, and goes to `use` with it.
static LLVMValueRef make_block(emitter *e, const search *s, LLVMBasicBlockRef use) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef null = LLVMConstNull(e->pointer);
  LLVMBasicBlockRef made = tvms_helper_block(e, &s->h, "made");
  LLVMBasicBlockRef failed = tvms_helper_block(e, &s->h, "failed");
  LLVMValueRef bytes = LLVMGetParam(s->h.function, 2);
  LLVMValueRef fresh = tvms_helper_alloc(
      e, LLVMBuildAdd(b, bytes, tvms_emit_int(e, TVMS_MEMORY_ALIGN), ""));
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, fresh, null, ""), made, failed);
  tvms_helper_enter(e, failed);
  LLVMBuildRet(b, null);
  tvms_helper_enter(e, made);
  LLVMBuildStore(b, bytes, fresh);
  LLVMBuildBr(b, use);
  return fresh;
}

// Takes what is in the place of the search; goes on where there was a block.
static LLVMValueRef take_out(emitter *e, const search *s) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef null = LLVMConstNull(e->pointer);
  LLVMBasicBlockRef found = tvms_helper_block(e, &s->h, "found");
  LLVMValueRef kept = LLVMBuildAtomicRMW(b, LLVMAtomicRMWBinOpXchg, s->place, null,
                                         LLVMAtomicOrderingAcquireRelease, false);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, kept, null, ""), found, s->next);
  tvms_helper_enter(e, found);
  return kept;
}

// ptr tvms.take(ptr list, i64 places, i64 bytes)
static LLVMValueRef take_function(emitter *e, LLVMTypeRef type) {
  search s;
  if (e->direct) return tvms_helper_direct(e, TAKE, type);
  if (!begin_function(e, &s, TAKE, type)) return s.h.function;
  LLVMBuilderRef b = e->builder;
  LLVMBasicBlockRef small = tvms_helper_block(e, &s.h, "small");
  LLVMBasicBlockRef use = tvms_helper_block(e, &s.h, "use");
  LLVMValueRef kept = take_out(e, &s);
  LLVMBasicBlockRef found = LLVMGetInsertBlock(b);
  LLVMValueRef size = LLVMBuildLoad2(b, e->i64, kept, "");
  LLVMValueRef bytes = LLVMGetParam(s.h.function, 2);
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntUGE, size, bytes, ""), use, small);
  tvms_helper_enter(e, small);
  tvms_helper_free(e, kept);
  LLVMBuildBr(b, s.none);
  tvms_helper_enter(e, s.none);
  LLVMValueRef fresh = make_block(e, &s, use);
  LLVMBasicBlockRef from[] = {found, LLVMGetInsertBlock(b)};
  tvms_helper_enter(e, use);
  LLVMValueRef block = LLVMBuildPhi(b, e->pointer, "");
  LLVMValueRef values[] = {kept, fresh};
  LLVMAddIncoming(block, values, from, 2);
  LLVMBuildRet(b, tvms_helper_at(e, block, TVMS_MEMORY_ALIGN));
  tvms_helper_end(e, &s.h);
  return s.h.function;
}

static LLVMValueRef take(emitter *e, range where, LLVMValueRef bytes) {
  LLVMTypeRef params[] = {e->pointer, e->i64, e->i64};
  LLVMTypeRef type = LLVMFunctionType(e->pointer, params, 3, false);
  return call(e, type, take_function(e, type), where, bytes);
}

LLVMValueRef tvms_emit_take(emitter *e, tvms_kept kind, LLVMValueRef bytes) {
  return take(e, all_of(e, kind), bytes);
}

LLVMValueRef tvms_emit_take_result(emitter *e, LLVMValueRef bytes) {
  return take(e, results_of(e, bytes), bytes);
}

// void tvms.give(ptr list, i64 places, ptr memory)
static LLVMValueRef give_function(emitter *e, LLVMTypeRef type) {
  search s;
  if (e->direct) return tvms_helper_direct(e, GIVE, type);
  if (!begin_function(e, &s, GIVE, type)) return s.h.function;
  LLVMBuilderRef b = e->builder;
  LLVMValueRef null = LLVMConstNull(e->pointer);
  LLVMBasicBlockRef out = tvms_helper_block(e, &s.h, "out");
  LLVMValueRef block =
      tvms_helper_at(e, LLVMGetParam(s.h.function, 2), -TVMS_MEMORY_ALIGN);
  LLVMValueRef change =
      LLVMBuildAtomicCmpXchg(b, s.place, null, block, LLVMAtomicOrderingAcquireRelease,
                             LLVMAtomicOrderingMonotonic, false);
  LLVMBuildCondBr(b, LLVMBuildExtractValue(b, change, 1, ""), out, s.next);
  tvms_helper_enter(e, s.none);
  tvms_helper_free(
      e, tvms_helper_at(e, LLVMGetParam(s.h.function, 2), -TVMS_MEMORY_ALIGN));
  LLVMBuildBr(b, out);
  tvms_helper_enter(e, out);
  LLVMBuildRetVoid(b);
  tvms_helper_end(e, &s.h);
  return s.h.function;
}

static void give(emitter *e, range where, LLVMValueRef memory) {
  LLVMTypeRef params[] = {e->pointer, e->i64, e->pointer};
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->llvm), params, 3, false);
  call(e, type, give_function(e, type), where, memory);
}

void tvms_emit_give(emitter *e, tvms_kept kind, LLVMValueRef memory) {
  give(e, all_of(e, kind), memory);
}

void tvms_emit_give_result(emitter *e, LLVMValueRef memory) {
  LLVMValueRef block = tvms_helper_at(e, memory, -TVMS_MEMORY_ALIGN);
  give(e, results_of(e, LLVMBuildLoad2(e->builder, e->i64, block, "")), memory);
}

// ---- The end ----

// void tvms.drop_kept(ptr list, i64 places, i64): frees the blocks of a list.
static LLVMValueRef drop_function(emitter *e, LLVMTypeRef type) {
  search s;
  if (!begin_function(e, &s, "tvms.drop_kept", type)) return s.h.function;
  LLVMBuilderRef b = e->builder;
  tvms_helper_free(e, take_out(e, &s));
  LLVMBuildBr(b, s.next);
  tvms_helper_enter(e, s.none);
  LLVMBuildRetVoid(b);
  tvms_helper_end(e, &s.h);
  return s.h.function;
}

// Has the loader call a function when the library goes.
static void call_at_end(emitter *e, LLVMValueRef function) {
  enum { USUAL_PRIORITY = 65535 };
  LLVMTypeRef i32 = LLVMInt32TypeInContext(e->llvm);
  LLVMValueRef fields[] = {LLVMConstInt(i32, USUAL_PRIORITY, false), function,
                           LLVMConstNull(e->pointer)};
  LLVMValueRef row = LLVMConstStructInContext(e->llvm, fields, 3, false);
  LLVMValueRef rows = LLVMConstArray2(LLVMTypeOf(row), &row, 1);
  LLVMValueRef list = LLVMAddGlobal(e->module, LLVMTypeOf(rows), "llvm.global_dtors");
  LLVMSetInitializer(list, rows);
  LLVMSetLinkage(list, LLVMAppendingLinkage);
}

// Lists of code in memory are found by name.
static void show_lists(emitter *e) {
  for (int kind = TVMS_KEPT_WORKSPACE; kind < TVMS_KEPT_LISTS; kind++) {
    LLVMValueRef list = tvms_emit_variable_named(e, lists[kind].name);
    if (list) LLVMSetLinkage(list, LLVMExternalLinkage);
  }
}

void tvms_kept_free(tvms_kept_find *find, void *self) {
  for (int kind = TVMS_KEPT_WORKSPACE; kind < TVMS_KEPT_LISTS; kind++) {
    void **blocks = find(self, lists[kind].name);
    for (uint32_t i = 0; blocks && i < lists[kind].places; i++) {
      free(blocks[i]);
      blocks[i] = NULL;
    }
  }
}

// The end as machine code.
static void add_end_directly(emitter *e) {
  tvms_x86_list used[TVMS_KEPT_LISTS];
  uint32_t count = 0;
  for (int kind = TVMS_KEPT_WORKSPACE; kind < TVMS_KEPT_LISTS; kind++) {
    LLVMValueRef list = tvms_emit_variable_named(e, lists[kind].name);
    if (!list) continue;
    LLVMSetLinkage(list, LLVMExternalLinkage);
    if (!e->in_memory) LLVMSetVisibility(list, LLVMHiddenVisibility);
    used[count++] = lists[kind];
  }
  if (tvms_helper_is_used(e, TAKE)) tvms_x86_add_take(e->direct, TAKE);
  if (tvms_helper_is_used(e, GIVE)) tvms_x86_add_give(e->direct, GIVE);
  if (count && !e->in_memory) tvms_x86_add_leave(e->direct, used, count);
}

void tvms_emit_kept_end(emitter *e) {
  if (e->direct) {
    add_end_directly(e);
    return;
  }
  if (e->in_memory) {
    show_lists(e);
    return;
  }
  LLVMTypeRef nothing = LLVMVoidTypeInContext(e->llvm),
              params[] = {e->pointer, e->i64, e->i64};
  LLVMTypeRef type = LLVMFunctionType(nothing, params, 3, false);
  LLVMValueRef leave = NULL;
  LLVMSetCurrentDebugLocation2(e->builder, NULL);
  for (int kind = TVMS_KEPT_WORKSPACE; kind < TVMS_KEPT_LISTS; kind++) {
    if (!tvms_emit_variable_named(e, lists[kind].name)) continue;
    if (!leave) {
      leave = LLVMAddFunction(e->module, "tvms.leave",
                              LLVMFunctionType(nothing, NULL, 0, false));
      LLVMSetLinkage(leave, LLVMPrivateLinkage);
      tvms_helper_enter(e, LLVMAppendBasicBlockInContext(e->llvm, leave, "entry"));
    }
    call(e, type, drop_function(e, type), all_of(e, (tvms_kept)kind),
         tvms_emit_int(e, 0));
  }
  if (!leave) return;
  LLVMBuildRetVoid(e->builder);
  call_at_end(e, leave);
}
