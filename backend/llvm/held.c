// Memory for one error, as in backend/llvm/held.h: kind, text, how many functions the text names, its length if it
// stands in the memory, a tvms_box_raiser, and room for a text.
#include "backend/llvm/held.h"

#include "backend/core/place.h"
#include "backend/llvm/expr.h"
#include "backend/llvm/failure.h"
#include "backend/llvm/frame.h"
#include "backend/llvm/helper.h"
#include "backend/llvm/optimise.h"
#include "backend/llvm/stmt.h"
#include "backend/llvm/types.h"

enum {
  NAMES = 16,
  LENGTH = 24,
  RAISER = 32,
  ROOM = 40,
  MOST_TEXT = 1024,
  MOST_NAMES = 7,  // as the interpreter says: of the function, and of six that called
};

bool tvms_emit_holds(const emitter *e) {
  return !e->options->traced && !e->in_parallel
         && tvms_place_is_relax(&e->source->head);
}

LLVMValueRef tvms_emit_lend(emitter *e) {
  return LLVMBuildAlloca(e->builder, LLVMArrayType2(e->i64, (ROOM + MOST_TEXT) / 8),
                         "held");
}

static LLVMValueRef text_place(emitter *e, LLVMValueRef held) {
  return tvms_helper_at(e, held, e->pointer_bytes);
}

static void put(emitter *e, LLVMValueRef held, int64_t offset, LLVMValueRef value) {
  LLVMBuildStore(e->builder, value, tvms_helper_at(e, held, offset));
}

static LLVMValueRef word(emitter *e, LLVMValueRef held, int64_t offset) {
  return LLVMBuildLoad2(e->builder, e->i64, tvms_helper_at(e, held, offset), "");
}

static LLVMTypeRef returns_nothing(emitter *e, LLVMTypeRef *params, unsigned count) {
  return LLVMFunctionType(LLVMVoidTypeInContext(e->llvm), params, count, false);
}

// Puts a text into the room by snprintf, `at` bytes behind its begin, and says so: `names` functions are named in it.
static void fill(emitter *e, LLVMValueRef held, LLVMValueRef at, LLVMValueRef names,
                 LLVMValueRef format, LLVMValueRef *values, unsigned count) {
  LLVMBuilderRef b = e->builder;
  LLVMTypeRef size = e->pointer_bytes == 8 ? e->i64 : e->i32;
  LLVMTypeRef fixed[] = {e->pointer, size, e->pointer};
  LLVMTypeRef type = LLVMFunctionType(e->i32, fixed, 3, true);
  LLVMValueRef room = tvms_helper_at(e, held, ROOM),
               left = LLVMBuildSub(b, tvms_emit_int(e, MOST_TEXT), at, "");
  LLVMValueRef args[6] = {tvms_helper_place(e, room, at),
                          LLVMBuildIntCast2(b, left, size, false, ""), format};
  for (unsigned i = 0; i < count; i++)
    args[3 + i] = values[i];
  LLVMValueRef more =
      LLVMBuildCall2(b, type, tvms_emit_weak(e, "snprintf", type), args, 3 + count, "");
  LLVMValueRef length = LLVMBuildAdd(b, at, LLVMBuildSExt(b, more, e->i64, ""), ""),
               most = tvms_emit_int(e, MOST_TEXT - 1);
  LLVMValueRef fits = LLVMBuildICmp(b, LLVMIntULT, length, most, "");
  put(e, held, LENGTH, LLVMBuildSelect(b, fits, length, most, ""));
  put(e, held, NAMES, names);
  LLVMBuildStore(b, room, text_place(e, held));
}

// ---- What an entry raises ----

void tvms_emit_raise_left(emitter *e, LLVMValueRef held) {
  LLVMTypeRef type = returns_nothing(e, &e->pointer, 1);
  tvms_helper h;
  tvms_emit_need_raise(e);
  if (tvms_helper_begin(e, &h, "tvms.raise_left", type)) {
    tvms_llvm_make_fast(h.function);
    LLVMBuilderRef b = e->builder;
    LLVMBasicBlockRef left = tvms_helper_block(e, &h, "left"),
                      end = tvms_helper_block(e, &h, "end");
    LLVMValueRef words = LLVMGetParam(h.function, 0), null = LLVMConstNull(e->pointer);
    LLVMValueRef kind = LLVMBuildLoad2(b, e->pointer, words, "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, kind, null, ""), left, end);
    tvms_helper_enter(e, left);
    LLVMValueRef text = LLVMBuildLoad2(b, e->pointer, text_place(e, words), "");
    tvms_emit_call_raise(e, null, kind, text);
    LLVMBuildBr(b, end);
    tvms_helper_enter(e, end);
    LLVMBuildRetVoid(b);
    tvms_helper_end(e, &h);
  }
  LLVMBuildCall2(e->builder, type, h.function, &held, 1, "");
}

// ---- What functions leave ----

void tvms_emit_hold_formatted(emitter *e, const failure *what, const char *format) {
  LLVMTypeRef params[] = {e->pointer, e->pointer, e->pointer, e->i64, e->i64};
  LLVMTypeRef type = returns_nothing(e, params, 5);
  tvms_helper h;
  if (tvms_helper_begin(e, &h, "tvms.hold_formatted", type)) {
    tvms_llvm_make_fast(h.function);
    LLVMValueRef held = LLVMGetParam(h.function, 0),
                 values[] = {LLVMGetParam(h.function, 3), LLVMGetParam(h.function, 4)};
    fill(e, held, tvms_emit_int(e, 0), tvms_emit_int(e, 1), LLVMGetParam(h.function, 2),
         values, 2);
    LLVMBuildStore(e->builder, LLVMGetParam(h.function, 1), held);
    LLVMBuildRetVoid(e->builder);
    tvms_helper_end(e, &h);
  }
  LLVMValueRef args[] = {e->raised, tvms_emit_text(e, what->kind),
                         tvms_emit_text(e, format), what->got, what->expected};
  LLVMBuildCall2(e->builder, type, h.function, args, 5, "");
}

// Behind a text that the room has already, or behind that of a constant.
static void fill_place(emitter *e, LLVMValueRef held, LLVMValueRef in,
                       LLVMValueRef by) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef zero = tvms_emit_int(e, 0), empty = tvms_emit_text(e, ""),
               room = tvms_helper_at(e, held, ROOM);
  LLVMValueRef text = LLVMBuildLoad2(b, e->pointer, text_place(e, held), "");
  LLVMValueRef own = LLVMBuildICmp(b, LLVMIntEQ, text, room, "");
  LLVMValueRef said = LLVMBuildSelect(b, own, word(e, held, NAMES), zero, ""),
               at = LLVMBuildSelect(b, own, word(e, held, LENGTH), zero, "");
  LLVMValueRef none = LLVMBuildICmp(b, LLVMIntEQ, said, zero, ""),
               few =
                   LLVMBuildICmp(b, LLVMIntULT, said, tvms_emit_int(e, MOST_NAMES), ""),
               last =
                   LLVMBuildICmp(b, LLVMIntEQ, said, tvms_emit_int(e, MOST_NAMES), "");
  LLVMValueRef rest =
      LLVMBuildSelect(b, last, tvms_emit_text(e, ", and so on"), empty, "");
  LLVMValueRef values[] = {LLVMBuildSelect(b, own, empty, text, ""),
                           LLVMBuildSelect(b, none, in, empty, ""),
                           LLVMBuildSelect(b, few, by, rest, "")};
  LLVMValueRef byte = LLVMBuildLoad2(b, e->i8, by, "");
  LLVMValueRef calls =
      LLVMBuildICmp(b, LLVMIntNE, byte, LLVMConstInt(e->i8, 0, false), "");
  LLVMValueRef names = LLVMBuildSelect(b, none, tvms_emit_int(e, 1), said, "");
  names = LLVMBuildAdd(b, names, LLVMBuildZExt(b, calls, e->i64, ""), "");
  fill(e, held, at, names, tvms_emit_text(e, "%s%s%s"), values, 3);
}

void tvms_emit_add_place(emitter *e, const char *in, const char *by) {
  LLVMTypeRef params[] = {e->pointer, e->pointer, e->pointer};
  LLVMTypeRef type = returns_nothing(e, params, 3);
  tvms_helper h;
  if (tvms_helper_begin(e, &h, "tvms.add_place", type)) {
    tvms_llvm_make_fast(h.function);
    LLVMBuilderRef b = e->builder;
    LLVMBasicBlockRef there = tvms_helper_block(e, &h, "there"),
                      left = tvms_helper_block(e, &h, "left"),
                      end = tvms_helper_block(e, &h, "end");
    LLVMValueRef held = LLVMGetParam(h.function, 0), null = LLVMConstNull(e->pointer);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, held, null, ""), there, end);
    tvms_helper_enter(e, there);
    LLVMValueRef kind = LLVMBuildLoad2(b, e->pointer, held, "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, kind, null, ""), left, end);
    tvms_helper_enter(e, left);
    fill_place(e, held, LLVMGetParam(h.function, 1), LLVMGetParam(h.function, 2));
    LLVMBuildBr(b, end);
    tvms_helper_enter(e, end);
    LLVMBuildRetVoid(b);
    tvms_helper_end(e, &h);
  }
  LLVMValueRef args[] = {e->raised, tvms_emit_text(e, in), tvms_emit_text(e, by)};
  LLVMBuildCall2(e->builder, type, h.function, args, 3, "");
}

void tvms_emit_hold_nothing(emitter *e) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef null = LLVMConstNull(e->pointer);
  if (LLVMIsConstant(e->raised)) return;
  if (tvms_emit_holds(e)) {
    LLVMBuildStore(b, null, e->raised);
    return;
  }
  LLVMBasicBlockRef there = tvms_emit_block(e, "there"),
                    end = tvms_emit_block(e, "end");
  LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, e->raised, null, ""), there, end);
  tvms_emit_enter(e, there);
  LLVMBuildStore(b, null, e->raised);
  LLVMBuildBr(b, end);
  tvms_emit_enter(e, end);
}

// ---- Errors of the run time ----

// What a tvms_box_raiser calls: (it, or NULL, kind, text). The text is the caller's.
static LLVMValueRef raise_function(emitter *e, bool holds) {
  LLVMTypeRef params[] = {e->pointer, e->pointer, e->pointer};
  tvms_helper h;
  tvms_emit_need_raise(e);
  if (!tvms_helper_begin(e, &h, holds ? "tvms.hold_text" : "tvms.raise_text",
                         returns_nothing(e, params, 3)))
    return h.function;
  tvms_llvm_make_fast(h.function);
  LLVMBuilderRef b = e->builder;
  LLVMBasicBlockRef hold = tvms_helper_block(e, &h, "hold"),
                    raise = tvms_helper_block(e, &h, "raise");
  LLVMValueRef self = LLVMGetParam(h.function, 0), null = LLVMConstNull(e->pointer),
               kind = LLVMGetParam(h.function, 1), text = LLVMGetParam(h.function, 2),
               zero = tvms_emit_int(e, 0);
  LLVMValueRef there = holds ? LLVMBuildICmp(b, LLVMIntNE, self, null, "")
                             : LLVMConstInt(e->i1, 0, false);
  LLVMBuildCondBr(b, there, hold, raise);
  tvms_helper_enter(e, hold);
  LLVMValueRef held = tvms_helper_at(e, self, -RAISER);
  fill(e, held, zero, zero, tvms_emit_text(e, "%s"), &text, 1);
  LLVMBuildStore(b, kind, held);
  LLVMBuildRetVoid(b);
  tvms_helper_enter(e, raise);
  tvms_emit_call_raise(e, null, kind, text);
  LLVMBuildRetVoid(b);
  tvms_helper_end(e, &h);
  return h.function;
}

LLVMValueRef tvms_emit_raiser(emitter *e) {
  if (e->raiser_of == e->function) return e->raiser;
  bool holds = tvms_emit_holds(e);
  LLVMValueRef function = raise_function(e, holds);
  emit_position here = tvms_emit_position(e);
  // In front of all that the function does, behind what has been put there before.
  LLVMPositionBuilder(e->builder, e->entry, LLVMGetBasicBlockTerminator(e->entry));
  if (holds) {
    tvms_emit_hold_nothing(e);
    e->raiser = tvms_helper_at(e, e->raised, RAISER);
  } else {
    e->raiser = LLVMBuildAlloca(e->builder, e->pointer, "raiser");
  }
  LLVMBuildStore(e->builder, function, e->raiser);
  e->raiser_of = e->function;
  tvms_emit_go_on(e, here);
  return e->raiser;
}
