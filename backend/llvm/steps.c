// Steps of an entry as LLVM values, and the function that walks a list of them.
//
// A call that is right runs straight-line code that joins the truths of all checks, with a
// jump only where a load needs what was checked. It does not know what is wrong. A table
// does: the same steps as constants, which one function per module walks in their order,
// once a call was refused. So every kernel has few blocks and no text in its code.
#include "backend/llvm/steps.h"

#include "backend/llvm/expr.h"
#include "backend/llvm/failure.h"
#include "backend/llvm/fixed.h"
#include "backend/llvm/optimise.h"
#include "backend/llvm/stmt.h"

// ---- One step ----

// What a step is computed from.
typedef struct {
  LLVMValueRef a, b, c;
  LLVMValueRef number;
  LLVMValueRef args, count;  // of the entry
} operands;

static bool has_kind(LLVMValueRef value, LLVMTypeKind kind) {
  return LLVMGetTypeKind(LLVMTypeOf(value)) == kind;
}

// Numbers of 32 bits stay as they are loaded until more is wanted of them. The code generator
// would find out, but not for nothing, and it has no other work with most kernels.
static LLVMValueRef as_int(emitter *e, LLVMValueRef value) {
  if (has_kind(value, LLVMPointerTypeKind))
    return LLVMBuildPtrToInt(e->builder, value, e->i64, "");
  if (LLVMTypeOf(value) == e->i32) return LLVMBuildSExt(e->builder, value, e->i64, "");
  return LLVMBuildZExt(e->builder, value, e->i64, "");
}

static LLVMValueRef as_pointer(emitter *e, LLVMValueRef value) {
  if (has_kind(value, LLVMPointerTypeKind)) return value;
  return LLVMBuildIntToPtr(e->builder, value, e->pointer, "");
}

static LLVMValueRef as_truth(emitter *e, LLVMValueRef value) {
  return LLVMBuildIntCast2(e->builder, value, e->i1, false, "");
}

static LLVMValueRef load(emitter *e, LLVMTypeRef type, const operands *of) {
  LLVMValueRef number = of->number, place = as_pointer(e, of->a);
  if (!LLVMIsNull(number))
    place = LLVMBuildGEP2(e->builder, e->i8, place, &number, 1, "");
  return LLVMBuildLoad2(e->builder, type, place, "");
}

// Signed division; by -1 it is a negation, which wraps.
static LLVMValueRef divide(emitter *e, tvms_entry_step_kind kind, LLVMValueRef a,
                           LLVMValueRef b) {
  LLVMBuilderRef builder = e->builder;
  LLVMValueRef zero = tvms_emit_int(e, 0), minus_one = tvms_emit_int(e, -1);
  LLVMValueRef negates = LLVMBuildICmp(builder, LLVMIntEQ, b, minus_one, "");
  LLVMValueRef by = LLVMBuildSelect(builder, negates, tvms_emit_int(e, 1), b, "");
  LLVMValueRef negated = LLVMBuildSub(builder, zero, a, "");
  LLVMValueRef plain = LLVMBuildSDiv(builder, a, by, "");
  LLVMValueRef quotient = LLVMBuildSelect(builder, negates, negated, plain, "");
  LLVMValueRef rest = LLVMBuildSRem(builder, a, by, "");
  if (kind == TVMS_ENTRY_DIV) return quotient;
  if (kind == TVMS_ENTRY_MOD) return rest;
  LLVMValueRef inexact = LLVMBuildICmp(builder, LLVMIntNE, rest, zero, "");
  LLVMValueRef mixed = LLVMBuildXor(builder, rest, b, "");
  LLVMValueRef differ = LLVMBuildICmp(builder, LLVMIntSLT, mixed, zero, "");
  LLVMValueRef lower = LLVMBuildAnd(builder, inexact, differ, "");
  LLVMValueRef less = LLVMBuildSub(builder, quotient, tvms_emit_int(e, 1), "");
  if (kind == TVMS_ENTRY_FLOOR_DIV)
    return LLVMBuildSelect(builder, lower, less, quotient, "");
  LLVMValueRef more = LLVMBuildAdd(builder, rest, b, "");
  return LLVMBuildSelect(builder, lower, more, rest, "");
}

static LLVMValueRef extreme(emitter *e, LLVMIntPredicate keeps_a, LLVMValueRef a,
                            LLVMValueRef b) {
  LLVMValueRef first = LLVMBuildICmp(e->builder, keeps_a, a, b, "");
  return LLVMBuildSelect(e->builder, first, a, b, "");
}

// At most 2^62, at least -2^62.
static LLVMValueRef bounded(emitter *e, LLVMOpcode opcode, LLVMValueRef a,
                            LLVMValueRef b) {
  LLVMTypeRef wide = LLVMIntTypeInContext(e->llvm, 128);
  a = LLVMBuildSExt(e->builder, a, wide, "");
  b = LLVMBuildSExt(e->builder, b, wide, "");
  LLVMValueRef most = LLVMConstInt(wide, (uint64_t)1 << 62, false);
  LLVMValueRef value = LLVMBuildBinOp(e->builder, opcode, a, b, "");
  value = extreme(e, LLVMIntSLE, value, most);
  value = extreme(e, LLVMIntSGE, value, LLVMConstNeg(most));
  return LLVMBuildTrunc(e->builder, value, e->i64, "");
}

// The lowest `number` bits, moved to the top and back.
static LLVMValueRef narrow(emitter *e, bool is_signed, LLVMValueRef a,
                           LLVMValueRef number) {
  LLVMValueRef by = LLVMBuildSub(e->builder, tvms_emit_int(e, 64), number, "");
  LLVMValueRef high = LLVMBuildShl(e->builder, a, by, "");
  return is_signed ? LLVMBuildAShr(e->builder, high, by, "")
                   : LLVMBuildLShr(e->builder, high, by, "");
}

static LLVMValueRef choose_value(emitter *e, const operands *of) {
  LLVMValueRef b = of->b, c = of->c;
  if (LLVMTypeOf(b) != LLVMTypeOf(c)) {
    b = as_int(e, b);
    c = as_int(e, c);
  }
  return LLVMBuildSelect(e->builder, as_truth(e, of->a), b, c, "");
}

static LLVMValueRef arithmetic(emitter *e, tvms_entry_step_kind kind, LLVMValueRef a,
                               LLVMValueRef b) {
  LLVMBuilderRef builder = e->builder;
  switch ((uint32_t)kind) {
  case TVMS_ENTRY_ADD: return LLVMBuildAdd(builder, a, b, "");
  case TVMS_ENTRY_SUB: return LLVMBuildSub(builder, a, b, "");
  case TVMS_ENTRY_MUL: return LLVMBuildMul(builder, a, b, "");
  case TVMS_ENTRY_GROW_ADD: return bounded(e, LLVMAdd, a, b);
  case TVMS_ENTRY_GROW_SUB: return bounded(e, LLVMSub, a, b);
  case TVMS_ENTRY_GROW_MUL: return bounded(e, LLVMMul, a, b);
  case TVMS_ENTRY_MIN: return extreme(e, LLVMIntSLE, a, b);
  case TVMS_ENTRY_MAX: return extreme(e, LLVMIntSGE, a, b);
  case TVMS_ENTRY_BITS_AND: return LLVMBuildAnd(builder, a, b, "");
  case TVMS_ENTRY_AT_LEAST: return LLVMBuildICmp(builder, LLVMIntSGE, a, b, "");
  default: return divide(e, kind, a, b);
  }
}

static LLVMValueRef is_number(emitter *e, LLVMValueRef a, LLVMValueRef number) {
  bool constant = LLVMIsAConstantInt(number) != NULL;
  long long wanted = constant ? LLVMConstIntGetSExtValue(number) : -1;
  if (constant && wanted == 0 && has_kind(a, LLVMPointerTypeKind))
    return LLVMBuildICmp(e->builder, LLVMIntEQ, a, LLVMConstNull(e->pointer), "");
  if (constant && wanted == (int32_t)wanted && LLVMTypeOf(a) == e->i32)
    return LLVMBuildICmp(e->builder, LLVMIntEQ, a,
                         LLVMConstInt(e->i32, (unsigned long long)wanted, true), "");
  return LLVMBuildICmp(e->builder, LLVMIntEQ, as_int(e, a), number, "");
}

static LLVMValueRef are_equal(emitter *e, const operands *of) {
  LLVMValueRef a = of->a, b = of->b;
  bool narrow = LLVMTypeOf(a) == e->i32 && LLVMTypeOf(b) == e->i32;
  if (narrow) return LLVMBuildICmp(e->builder, LLVMIntEQ, a, b, "");
  if (LLVMIsAConstantInt(b) || LLVMIsAConstantInt(a))
    return LLVMIsAConstantInt(b) ? is_number(e, a, b) : is_number(e, b, a);
  return LLVMBuildICmp(e->builder, LLVMIntEQ, as_int(e, a), as_int(e, b), "");
}

// Both truths if `both`, else one of them.
static LLVMValueRef join(emitter *e, LLVMValueRef a, LLVMValueRef b, bool both) {
  a = as_truth(e, a);
  b = as_truth(e, b);
  if (LLVMIsAConstantInt(a)) return LLVMIsNull(a) == both ? a : b;
  if (LLVMIsAConstantInt(b)) return LLVMIsNull(b) == both ? b : a;
  return both ? LLVMBuildAnd(e->builder, a, b, "") : LLVMBuildOr(e->builder, a, b, "");
}

static LLVMValueRef negate(emitter *e, LLVMValueRef truth) {
  bool compares = LLVMIsAICmpInst(truth) && LLVMGetICmpPredicate(truth) == LLVMIntEQ;
  if (!compares) return LLVMBuildNot(e->builder, as_truth(e, truth), "");
  return LLVMBuildICmp(e->builder, LLVMIntNE, LLVMGetOperand(truth, 0),
                       LLVMGetOperand(truth, 1), "");
}

// The value of a step; of a check its condition.
static LLVMValueRef value_of(emitter *e, tvms_entry_step_kind kind,
                             const operands *of) {
  LLVMBuilderRef builder = e->builder;
  LLVMValueRef number = of->number;
  switch ((uint32_t)kind) {
  case TVMS_ENTRY_ARGUMENTS: return of->args;
  case TVMS_ENTRY_COUNT: return of->count;
  case TVMS_ENTRY_NUMBER: return number;
  case TVMS_ENTRY_LOAD_INT32: return load(e, e->i32, of);
  case TVMS_ENTRY_LOAD_INT64: return load(e, e->i64, of);
  case TVMS_ENTRY_LOAD_POINTER: return load(e, e->pointer, of);
  case TVMS_ENTRY_OFFSET:
    return LLVMBuildGEP2(builder, e->i8, as_pointer(e, of->a), &number, 1, "");
  case TVMS_ENTRY_SIGNED: return narrow(e, true, as_int(e, of->a), number);
  case TVMS_ENTRY_UNSIGNED: return narrow(e, false, as_int(e, of->a), number);
  case TVMS_ENTRY_REAL:
    return LLVMBuildBitCast(
        builder, LLVMBuildSIToFP(builder, as_int(e, of->a), e->f64, ""), e->i64, "");
  case TVMS_ENTRY_EQUAL:
  case TVMS_ENTRY_CHECK_EQUAL: return are_equal(e, of);
  case TVMS_ENTRY_IS: return is_number(e, of->a, number);
  case TVMS_ENTRY_EITHER: return join(e, of->a, of->b, false);
  case TVMS_ENTRY_BOTH: return join(e, of->a, of->b, true);
  case TVMS_ENTRY_NOT: return negate(e, of->a);
  case TVMS_ENTRY_CHOOSE: return choose_value(e, of);
  case TVMS_ENTRY_CHECK: return as_truth(e, of->a);
  default: return arithmetic(e, kind, as_int(e, of->a), as_int(e, of->b));
  }
}

static int64_t number_of(const emitter *e, const tvms_entry_step *step) {
  return step->field ? tvms_layout_offset(step->field, e->pointer_bytes) : step->number;
}

// ---- Straight-line code ----

static void leave_unless(emitter *e, LLVMValueRef *all, LLVMBasicBlockRef failed) {
  if (!*all) return;
  LLVMBasicBlockRef next = tvms_emit_block(e, "holds");
  LLVMBuildCondBr(e->builder, *all, next, failed);
  tvms_emit_enter(e, next);
  *all = NULL;
}

void tvms_emit_steps(emitter *e, const tvms_entry *entry, LLVMValueRef *values,
                     LLVMBasicBlockRef failed) {
  LLVMValueRef all = NULL;
  bool loops = tvms_emit_has_many_fixed(entry);
  for (uint32_t i = 0; i < entry->count; i++) {
    const tvms_entry_step *step = &entry->steps[i];
    bool checks = step->kind >= TVMS_ENTRY_CHECK;
    if (step->guarded) leave_unless(e, &all, failed);
    if (loops && step->fixed) continue;
    operands of = {values[step->a],
                   values[step->b],
                   values[step->c],
                   tvms_emit_int(e, number_of(e, step)),
                   LLVMGetParam(e->function, 1),
                   LLVMGetParam(e->function, 2)};
    LLVMValueRef value = value_of(e, step->kind, &of);
    if (checks) all = all ? LLVMBuildAnd(e->builder, all, value, "") : value;
    if (!checks) values[i] = value;
  }
  leave_unless(e, &all, failed);
  if (loops) tvms_emit_fixed(e, entry, values, failed);
}

// ---- The table ----
//
// One row per step: i32 kind, a, b, c, span.begin, span.end and i64 number; of a check the
// number is where its text begins, and above 32 bits that of its kind of error. Texts of a
// function stand in one constant, which begins with the signature that they are filled with.

enum { ROW_BYTES = 32 };

_Static_assert(TVMS_ENTRY_STEP_COUNT <= 32, "emitter.steps_used has a bit for each");

enum { MOST_KINDS = 8 };

typedef struct {
  emitter *e;
  tvms_strbuf texts;
  uint64_t kinds[MOST_KINDS];  // where those of errors begin
  uint32_t kind_count;
} table;

static uint64_t add_text(table *t, const char *text) {
  uint64_t place = t->texts.len;
  tvms_strbuf_puts(&t->texts, text);
  tvms_strbuf_putc(&t->texts, 0);
  return place;
}

// Where the text of a kind of error begins: they are few, and are not repeated.
static uint64_t place_of_kind(table *t, const char *kind) {
  for (uint32_t i = 0; i < t->kind_count; i++) {
    if (!strcmp(t->texts.text + t->kinds[i], kind)) return t->kinds[i];
  }
  uint64_t place = add_text(t, kind);
  if (t->kind_count < MOST_KINDS) t->kinds[t->kind_count++] = place;
  return place;
}

static LLVMValueRef row_of(table *t, const tvms_entry_step *step) {
  emitter *e = t->e;
  uint64_t number = (uint64_t)number_of(e, step);
  if (step->error) {
    uint64_t error = place_of_kind(t, step->error);
    number = add_text(t, step->text) | error << 32;
  }
  LLVMValueRef fields[] = {
      LLVMConstInt(e->i32, step->kind, false),
      LLVMConstInt(e->i32, step->a, false),
      LLVMConstInt(e->i32, step->b, false),
      LLVMConstInt(e->i32, step->c, false),
      LLVMConstInt(e->i32, step->span.begin, false),
      LLVMConstInt(e->i32, step->span.end, false),
      LLVMConstInt(e->i64, number, false),
  };
  return LLVMConstStructInContext(e->llvm, fields, 7, false);
}

// ---- The walker ----

// i32 tvms.refuse(self, args, count, rows, rows' number, texts, bytes of the longest text)
typedef struct {
  LLVMValueRef function;
  LLVMValueRef values;  // one i64 per step
  LLVMValueRef i;       // of the step, i64
  LLVMValueRef row;
  operands of;
  LLVMBasicBlockRef next;
} walker;

static LLVMValueRef row_field(emitter *e, const walker *w, LLVMTypeRef type,
                              int64_t offset) {
  LLVMValueRef at = tvms_emit_int(e, offset);
  LLVMValueRef place = LLVMBuildGEP2(e->builder, e->i8, w->row, &at, 1, "");
  return LLVMBuildLoad2(e->builder, type, place, "");
}

static LLVMValueRef used_value(emitter *e, const walker *w, int64_t offset) {
  LLVMValueRef index = row_field(e, w, e->i32, offset);
  index = LLVMBuildZExt(e->builder, index, e->i64, "");
  LLVMValueRef place = LLVMBuildGEP2(e->builder, e->i64, w->values, &index, 1, "");
  return LLVMBuildLoad2(e->builder, e->i64, place, "");
}

static void raise_found(emitter *e, const walker *w, bool compared) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef texts = LLVMGetParam(w->function, 5), number = w->of.number;
  LLVMValueRef low =
      LLVMBuildAnd(b, number, LLVMConstInt(e->i64, 0xFFFFFFFF, false), "");
  LLVMValueRef high = LLVMBuildLShr(b, number, tvms_emit_int(e, 32), "");
  found_failure found = {
      .kind = LLVMBuildGEP2(b, e->i8, texts, &high, 1, ""),
      .text = LLVMBuildGEP2(b, e->i8, texts, &low, 1, ""),
      .signature = texts,
      .bytes = LLVMGetParam(w->function, 6),
      .begin = row_field(e, w, e->i32, 16),
      .end = row_field(e, w, e->i32, 20),
      .got = compared ? w->of.a : NULL,
      .expected = compared ? w->of.b : NULL,
  };
  tvms_emit_raise_found(e, &found);
}

static void emit_case(emitter *e, const walker *w, tvms_entry_step_kind kind) {
  LLVMValueRef value = value_of(e, kind, &w->of), i = w->i;
  if (kind < TVMS_ENTRY_CHECK) {
    LLVMValueRef place = LLVMBuildGEP2(e->builder, e->i64, w->values, &i, 1, "");
    LLVMBuildStore(e->builder, as_int(e, value), place);
    LLVMBuildBr(e->builder, w->next);
    return;
  }
  LLVMBasicBlockRef wrong = tvms_emit_block(e, "wrong");
  LLVMBuildCondBr(e->builder, value, w->next, wrong);
  tvms_emit_enter(e, wrong);
  raise_found(e, w, kind == TVMS_ENTRY_CHECK_EQUAL);
}

static void emit_cases(emitter *e, walker *w) {
  w->of = (operands){used_value(e, w, 4),          used_value(e, w, 8),
                     used_value(e, w, 12),         row_field(e, w, e->i64, 24),
                     LLVMGetParam(w->function, 1), LLVMGetParam(w->function, 2)};
  LLVMValueRef jump = LLVMBuildSwitch(e->builder, row_field(e, w, e->i32, 0), w->next,
                                      TVMS_ENTRY_STEP_COUNT);
  for (uint32_t kind = 0; kind < TVMS_ENTRY_STEP_COUNT; kind++) {
    if (!(e->steps_used >> kind & 1)) continue;
    LLVMBasicBlockRef block = tvms_emit_block(e, "step");
    LLVMAddCase(jump, LLVMConstInt(e->i32, kind, false), block);
    tvms_emit_enter(e, block);
    emit_case(e, w, (tvms_entry_step_kind)kind);
  }
}

static void emit_walk(emitter *e, walker *w) {
  LLVMBasicBlockRef first = LLVMAppendBasicBlockInContext(e->llvm, w->function, "");
  LLVMBasicBlockRef loop = LLVMAppendBasicBlockInContext(e->llvm, w->function, "loop");
  LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(e->llvm, w->function, "body");
  LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(e->llvm, w->function, "end");
  w->next = LLVMAppendBasicBlockInContext(e->llvm, w->function, "next");
  LLVMBuilderRef b = e->builder;
  tvms_emit_enter(e, first);
  LLVMValueRef count = LLVMGetParam(w->function, 4);
  w->values = LLVMBuildArrayAlloca(b, e->i64, count, "values");
  LLVMBuildBr(b, loop);
  tvms_emit_enter(e, loop);
  w->i = LLVMBuildPhi(b, e->i64, "i");
  LLVMValueRef more = LLVMBuildICmp(b, LLVMIntULT, w->i, count, "");
  LLVMBuildCondBr(b, more, body, end);
  tvms_emit_enter(e, end);
  LLVMBuildRet(b, LLVMConstInt(e->i32, (unsigned long long)-1, true));
  tvms_emit_enter(e, w->next);
  LLVMValueRef after = LLVMBuildAdd(b, w->i, tvms_emit_int(e, 1), "");
  LLVMBuildBr(b, loop);
  LLVMValueRef counts[] = {tvms_emit_int(e, 0), after};
  LLVMBasicBlockRef from[] = {first, w->next};
  LLVMAddIncoming(w->i, counts, from, 2);
  tvms_emit_enter(e, body);
  LLVMValueRef at = LLVMBuildMul(b, w->i, tvms_emit_int(e, ROW_BYTES), "");
  LLVMValueRef rows = LLVMGetParam(w->function, 3);
  w->row = LLVMBuildGEP2(b, e->i8, rows, &at, 1, "");
  emit_cases(e, w);
}

static LLVMTypeRef walker_type(emitter *e) {
  LLVMTypeRef params[] = {e->pointer, e->pointer, e->i32, e->pointer,
                          e->i64,     e->pointer, e->i64};
  return LLVMFunctionType(e->i32, params, 7, false);
}

static LLVMValueRef walker_of(emitter *e) {
  static const char name[] = "tvms.refuse";
  LLVMValueRef function = LLVMGetNamedFunction(e->module, name);
  return function ? function : LLVMAddFunction(e->module, name, walker_type(e));
}

void tvms_emit_walker(emitter *e) {
  if (!e->steps_used) return;
  walker w = {.function = walker_of(e)};
  LLVMSetLinkage(w.function, LLVMPrivateLinkage);
  tvms_llvm_make_fast(w.function);
  e->function = w.function;
  e->raised = LLVMGetParam(w.function, 0);
  emit_walk(e, &w);
}

void tvms_emit_refusal(emitter *e, const tvms_entry *entry) {
  LLVMValueRef *rows =
      tvms_arena_array(&e->context->scratch, LLVMValueRef, entry->count);
  table t = {.e = e};
  tvms_strbuf_init(&t.texts, &e->context->memory);
  add_text(&t, entry->signature);
  for (uint32_t i = 0; i < entry->count; i++) {
    rows[i] = row_of(&t, &entry->steps[i]);
    e->steps_used |= (uint32_t)1 << entry->steps[i].kind;
  }
  LLVMValueRef all = LLVMConstArray2(LLVMTypeOf(rows[0]), rows, entry->count);
  LLVMValueRef texts =
      LLVMConstStringInContext(e->llvm, t.texts.text, (unsigned)t.texts.len, true);
  tvms_strbuf_fini(&t.texts);
  LLVMValueRef args[] = {
      e->raised,
      LLVMGetParam(e->function, 1),
      LLVMGetParam(e->function, 2),
      tvms_emit_data(e, all, "steps"),
      tvms_emit_int(e, entry->count),
      tvms_emit_data(e, texts, "texts"),
      tvms_emit_int(e, entry->text_bytes),
  };
  LLVMValueRef status =
      LLVMBuildCall2(e->builder, walker_type(e), walker_of(e), args, 7, "");
  LLVMBuildRet(e->builder, status);
}
