// Tensors of fixed sizes among the arguments of an entry, checked by a loop.
//
// Steps of a tensor are some hundred bytes of code, which a first call has to read from memory, and a model has hundreds
// of weights. They differ in a few numbers only: the rows that one function of the library goes through,
//
//   bool tvms.check_fixed(list, rows, end of the rows, sizes, device, data)
//
//   row      i32 slot, rank, type, mask of the alignment
//   sizes    i64, those of all rows
//   device   the number that all tensors must have
//   data     gets the pointers to the elements
//
// It is not told which check fails: the walker finds that (backend/llvm/steps.c).
#include "backend/llvm/fixed.h"

#include "backend/llvm/expr.h"
#include "backend/llvm/failure.h"
#include "backend/llvm/frame.h"
#include "backend/llvm/helper.h"
#include "backend/llvm/modules.h"
#include "backend/llvm/stmt.h"
#include "interp/interp.h"

enum { MANY = 16, ROW_BYTES = 16, PARAMS = 6 };

bool tvms_emit_has_many_fixed(const tvms_entry *entry) {
  return entry->fixed_count >= MANY;
}

// ---- The function ----

enum { LIST, ROWS, END, SIZES, DEVICE, DATA };

// The function in the making: what changes from row to row, and where it goes.
typedef struct {
  emitter *e;
  tvms_helper h;
  LLVMBasicBlockRef entry, row, sizes, size, next, good, bad;
  LLVMValueRef at, size_at, data_at;  // of the row, its first size, where its data goes
  LLVMValueRef tensor, rank, shape, no_strides, strides;
} checker;

static LLVMValueRef load(checker *c, LLVMTypeRef type, LLVMValueRef base,
                         int64_t offset) {
  return LLVMBuildLoad2(c->e->builder, type, tvms_helper_at(c->e, base, offset), "");
}

static LLVMValueRef field(checker *c, LLVMTypeRef type, tvms_layout_field of) {
  return LLVMBuildLoad2(c->e->builder, type, tvms_helper_field(c->e, c->tensor, of),
                        "");
}

static LLVMValueRef is(checker *c, LLVMValueRef value, LLVMValueRef wanted) {
  return LLVMBuildICmp(c->e->builder, LLVMIntEQ, value, wanted, "");
}

static LLVMValueRef both(checker *c, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildAnd(c->e->builder, a, b, "");
}

static LLVMValueRef either(checker *c, LLVMValueRef a, LLVMValueRef b) {
  return LLVMBuildOr(c->e->builder, a, b, "");
}

static LLVMValueRef kind(checker *c, int number) {
  return LLVMConstInt(c->e->i32, (unsigned long long)number, false);
}

// The tensor of a row, if its argument is one.
static void find_tensor(checker *c) {
  emitter *e = c->e;
  LLVMValueRef slot = LLVMBuildSExt(e->builder, load(c, e->i32, c->at, 0), e->i64, "");
  LLVMValueRef any = tvms_helper_place(e, LLVMGetParam(c->h.function, LIST), slot);
  LLVMValueRef got = load(c, e->i32, any, (int64_t)offsetof(tvms_any, type_index));
  LLVMValueRef value = load(c, e->pointer, any, (int64_t)offsetof(tvms_any, v));
  LLVMValueRef object = is(c, got, kind(c, TVMS_ANY_TENSOR));
  LLVMValueRef plain = either(c, is(c, got, kind(c, TVMS_ANY_POINTER)),
                              is(c, got, kind(c, TVMS_ANY_DL_TENSOR)));
  LLVMValueRef some =
      LLVMBuildICmp(e->builder, LLVMIntNE, value, LLVMConstNull(e->pointer), "");
  LLVMValueRef holds = both(c, either(c, object, plain), some);
  c->tensor = LLVMBuildSelect(e->builder, object,
                              tvms_helper_at(e, value, TVMS_OBJECT_HEAD), value, "");
  LLVMBasicBlockRef found = tvms_helper_block(e, &c->h, "found");
  LLVMBuildCondBr(e->builder, holds, found, c->bad);
  tvms_helper_enter(e, found);
}

// All but its sizes.
static void check_tensor(checker *c) {
  emitter *e = c->e;
  LLVMValueRef zero = tvms_emit_int(e, 0), null = LLVMConstNull(e->pointer);
  c->rank = field(c, e->i32, TVMS_LAYOUT_TENSOR_NDIM);
  LLVMValueRef holds = is(c, c->rank, load(c, e->i32, c->at, 4));
  holds = both(
      c, holds,
      is(c, field(c, e->i32, TVMS_LAYOUT_TENSOR_DTYPE), load(c, e->i32, c->at, 8)));
  holds = both(
      c, holds,
      is(c, field(c, e->i32, TVMS_LAYOUT_TENSOR_DEVICE_TYPE), kind(c, TVMS_DL_CPU)));
  holds = both(c, holds,
               is(c, field(c, e->i32, TVMS_LAYOUT_TENSOR_DEVICE_ID),
                  LLVMGetParam(c->h.function, DEVICE)));
  holds = both(c, holds, is(c, field(c, e->i64, TVMS_LAYOUT_TENSOR_BYTE_OFFSET), zero));
  LLVMValueRef data = field(c, e->pointer, TVMS_LAYOUT_TENSOR_DATA);
  holds = both(c, holds, LLVMBuildICmp(e->builder, LLVMIntNE, data, null, ""));
  LLVMValueRef mask = LLVMBuildZExt(e->builder, load(c, e->i32, c->at, 12), e->i64, "");
  LLVMValueRef word = LLVMBuildPtrToInt(e->builder, data, e->i64, "");
  holds = both(c, holds, is(c, both(c, word, mask), zero));
  LLVMBuildStore(e->builder, data, c->data_at);
  LLVMBuildCondBr(e->builder, holds, c->sizes, c->bad);
}

// Sizes and strides, the last ones first. Without strides the sizes are read in their place.
static LLVMValueRef check_sizes(checker *c) {
  emitter *e = c->e;
  LLVMBuilderRef b = e->builder;
  LLVMValueRef one = tvms_emit_int(e, 1), null = LLVMConstNull(e->pointer);
  tvms_helper_enter(e, c->sizes);
  LLVMValueRef rank = LLVMBuildZExt(b, c->rank, e->i64, "");
  LLVMValueRef shape = field(c, e->pointer, TVMS_LAYOUT_TENSOR_SHAPE);
  LLVMValueRef given = field(c, e->pointer, TVMS_LAYOUT_TENSOR_STRIDES);
  LLVMValueRef none = is(c, given, null);
  LLVMValueRef strides = LLVMBuildSelect(b, none, shape, given, "");
  LLVMValueRef some = LLVMBuildICmp(b, LLVMIntNE, c->rank, LLVMConstNull(e->i32), "");
  LLVMBuildCondBr(b, some, c->size, c->next);
  tvms_helper_enter(e, c->size);
  LLVMValueRef left = LLVMBuildPhi(b, e->i64, ""),
               compact = LLVMBuildPhi(b, e->i64, "");
  LLVMValueRef i = LLVMBuildSub(b, left, one, "");
  LLVMValueRef wanted =
      LLVMBuildLoad2(b, e->i64, LLVMBuildGEP2(b, e->i64, c->size_at, &i, 1, ""), "");
  LLVMValueRef size =
      LLVMBuildLoad2(b, e->i64, LLVMBuildGEP2(b, e->i64, shape, &i, 1, ""), "");
  LLVMValueRef stride =
      LLVMBuildLoad2(b, e->i64, LLVMBuildGEP2(b, e->i64, strides, &i, 1, ""), "");
  LLVMValueRef fits =
      either(c, none, either(c, is(c, stride, compact), is(c, wanted, one)));
  LLVMValueRef more = LLVMBuildMul(b, compact, wanted, "");
  LLVMBasicBlockRef fine = tvms_helper_block(e, &c->h, "fine");
  LLVMBuildCondBr(b, both(c, is(c, size, wanted), fits), fine, c->bad);
  tvms_helper_enter(e, fine);
  LLVMBuildCondBr(b, is(c, i, tvms_emit_int(e, 0)), c->next, c->size);
  LLVMBasicBlockRef from[] = {c->sizes, fine};
  LLVMAddIncoming(left, (LLVMValueRef[]){rank, i}, from, 2);
  LLVMAddIncoming(compact, (LLVMValueRef[]){one, more}, from, 2);
  return rank;
}

static void fill(checker *c) {
  emitter *e = c->e;
  LLVMBuilderRef b = e->builder;
  LLVMValueRef function = c->h.function, one = tvms_emit_int(e, 1);
  LLVMBasicBlockRef *const blocks[] = {&c->row,  &c->sizes, &c->size,
                                       &c->next, &c->good,  &c->bad};
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
    *blocks[i] = tvms_helper_block(e, &c->h, "");
  c->entry = LLVMGetInsertBlock(b);
  LLVMBuildBr(b, c->row);
  tvms_helper_enter(e, c->row);
  c->at = LLVMBuildPhi(b, e->pointer, "");
  c->size_at = LLVMBuildPhi(b, e->pointer, "");
  c->data_at = LLVMBuildPhi(b, e->pointer, "");
  find_tensor(c);
  check_tensor(c);
  LLVMValueRef rank = check_sizes(c);
  tvms_helper_enter(e, c->next);
  LLVMValueRef at = tvms_helper_at(e, c->at, ROW_BYTES);
  LLVMValueRef size_at = LLVMBuildGEP2(b, e->i64, c->size_at, &rank, 1, "");
  LLVMValueRef data_at = LLVMBuildGEP2(b, e->pointer, c->data_at, &one, 1, "");
  LLVMBuildCondBr(b, is(c, at, LLVMGetParam(function, END)), c->good, c->row);
  LLVMBasicBlockRef from[] = {c->entry, c->next};
  LLVMAddIncoming(c->at, (LLVMValueRef[]){LLVMGetParam(function, ROWS), at}, from, 2);
  LLVMAddIncoming(c->size_at, (LLVMValueRef[]){LLVMGetParam(function, SIZES), size_at},
                  from, 2);
  LLVMAddIncoming(c->data_at, (LLVMValueRef[]){LLVMGetParam(function, DATA), data_at},
                  from, 2);
  tvms_helper_enter(e, c->good);
  LLVMBuildRet(b, LLVMConstInt(e->i1, 1, false));
  tvms_helper_enter(e, c->bad);
  LLVMBuildRet(b, LLVMConstNull(e->i1));
}

static LLVMTypeRef checker_type(emitter *e) {
  LLVMTypeRef params[PARAMS] = {
      [LIST] = e->pointer,  [ROWS] = e->pointer, [END] = e->pointer,
      [SIZES] = e->pointer, [DEVICE] = e->i32,   [DATA] = e->pointer};
  return LLVMFunctionType(e->i1, params, PARAMS, false);
}

static LLVMValueRef checker_of(emitter *e) {
  checker c = {.e = e};
  if (!tvms_helper_begin(e, &c.h, "tvms.check_fixed", checker_type(e)))
    return c.h.function;
  fill(&c);
  tvms_helper_end(e, &c.h);
  return c.h.function;
}

// ---- Its rows ----

static LLVMValueRef row_of(emitter *e, const tvms_entry_fixed *f) {
  tvms_dl_type type = tvms_interp_dl_type_of(f->buffer->element);
  uint32_t dtype = type.code | (uint32_t)type.bits << 8 | (uint32_t)type.lanes << 16;
  uint32_t bytes =
      f->buffer->element.code == TVMS_BOOL ? 1 : f->buffer->element.bits / 8u;
  LLVMValueRef fields[] = {LLVMConstInt(e->i32, (uint64_t)f->slot, false),
                           LLVMConstInt(e->i32, f->buffer->shape.len, false),
                           LLVMConstInt(e->i32, dtype, false),
                           LLVMConstInt(e->i32, bytes < 2 ? 0 : bytes - 1, false)};
  return LLVMConstArray2(e->i32, fields, 4);
}

static LLVMValueRef rows_of(emitter *e, const tvms_entry_fixed *fixed, uint32_t count) {
  LLVMValueRef *rows = tvms_arena_array(&e->context->scratch, LLVMValueRef, count);
  for (uint32_t i = 0; i < count; i++)
    rows[i] = row_of(e, &fixed[i]);
  return tvms_emit_data(e, LLVMConstArray2(LLVMTypeOf(rows[0]), rows, count), "fixed");
}

static LLVMValueRef sizes_of(emitter *e, const tvms_entry_fixed *fixed,
                             uint32_t count) {
  TVMS_VEC(LLVMValueRef) sizes = {0};
  for (uint32_t i = 0; i < count; i++) {
    tvms_list shape = fixed[i].buffer->shape;
    for (uint32_t k = 0; k < shape.len; k++) {
      int64_t size = tvms_as_int_imm(shape.items[k])->value;
      tvms_vec_push(&e->context->memory, &sizes, tvms_emit_int(e, size));
    }
  }
  LLVMValueRef all = LLVMConstArray2(e->i64, sizes.items, sizes.len);
  tvms_vec_fini(&e->context->memory, &sizes);
  return tvms_emit_data(e, all, "sizes");
}

// Checks tensors of one list.
static void check_list(emitter *e, const tvms_entry *entry, uint32_t from,
                       uint32_t count, LLVMValueRef *values, LLVMBasicBlockRef failed) {
  LLVMBuilderRef b = e->builder;
  const tvms_entry_fixed *fixed = &entry->fixed[from];
  LLVMValueRef rows = rows_of(e, fixed, count);
  LLVMValueRef data = tvms_emit_alloca(e, LLVMArrayType2(e->pointer, count), 0);
  LLVMValueRef args[PARAMS] = {[LIST] = values[fixed->list],
                               [ROWS] = rows,
                               [END] =
                                   tvms_helper_at(e, rows, (int64_t)count * ROW_BYTES),
                               [SIZES] = sizes_of(e, fixed, count),
                               [DEVICE] = values[entry->device_id],
                               [DATA] = data};
  LLVMValueRef good =
      LLVMBuildCall2(b, checker_type(e), checker_of(e), args, PARAMS, "");
  LLVMBasicBlockRef next = tvms_emit_block(e, "holds");
  LLVMBuildCondBr(b, good, next, failed);
  tvms_emit_enter(e, next);
  for (uint32_t i = 0; i < count; i++) {
    LLVMValueRef place = tvms_helper_at(e, data, (int64_t)i * e->pointer_bytes);
    values[entry->params[fixed[i].param]] = LLVMBuildLoad2(b, e->pointer, place, "");
  }
}

void tvms_emit_fixed(emitter *e, const tvms_entry *entry, LLVMValueRef *values,
                     LLVMBasicBlockRef failed) {
  for (uint32_t from = 0, to; from < entry->fixed_count; from = to) {
    for (to = from + 1;
         to < entry->fixed_count && entry->fixed[to].list == entry->fixed[from].list;)
      to++;
    check_list(e, entry, from, to - from, values, failed);
  }
}
