// T.call_packed: arguments in an array of tvms_any on the stack, tensors beside them.
//
// A library finds and calls a function through the variables that TVM's run time fills in when
// it loads one (runtime/abi.h), else through the weak symbols of tvm-ffi; without either it
// raises. Nothing is kept between calls. Functions of runtime/boxes.def are in libtvms_rt.a and called there.
#include "backend/llvm/packed.h"

#include "backend/core/boxes.h"
#include "backend/core/place.h"
#include "backend/llvm/boxes.h"
#include "backend/llvm/buffer.h"
#include "backend/llvm/expr.h"
#include "backend/llvm/failure.h"
#include "backend/llvm/frame.h"
#include "backend/llvm/held.h"
#include "backend/llvm/helper.h"
#include "backend/llvm/index.h"
#include "backend/llvm/modules.h"
#include "backend/llvm/stmt.h"
#include "backend/llvm/symbols.h"
#include "backend/llvm/types.h"
#include "interp/foreign.h"
#include "interp/meaning.h"
#include "interp/result.h"
#include "runtime/packed.h"
#include "support/diag_ids.h"

static void put(emitter *e, LLVMValueRef base, size_t offset, LLVMValueRef value) {
  LLVMValueRef at = tvms_emit_int(e, (int64_t)offset);
  LLVMBuildStore(e->builder, value, LLVMBuildGEP2(e->builder, e->i8, base, &at, 1, ""));
}

static void put_field(emitter *e, LLVMValueRef base, tvms_layout_field field,
                      LLVMValueRef value) {
  LLVMBuildStore(e->builder, value, tvms_helper_field(e, base, field));
}

static LLVMValueRef int32(emitter *e, int64_t value) {
  return LLVMConstInt(e->i32, (unsigned long long)value, true);
}

// ---- Tensors ----

static bool is_shape(const tvms_node *node) {
  return node->kind == TVMS_NODE_CALL
         && tvms_call_opcode(node) == TVMS_TIR_tvm_stack_make_shape;
}

// The numbers of a T.tvm_stack_make_shape, one per dimension if `ndim` says how many there are; null if it
// is none.
static LLVMValueRef sizes_of(emitter *e, const tvms_node *node,
                             const tvms_node *TVMS_NULLABLE ndim) {
  if (!is_shape(node)) return LLVMConstNull(e->pointer);
  tvms_list items = tvms_as_call(node)->args;
  if (ndim && !tvms_node_is_int(ndim, items.len))
    tvms_emit_refuse(e, node->span, "a tensor of another rank than its shape has");
  LLVMValueRef place = tvms_emit_words(e, items.len);
  for (uint32_t i = 0; i < items.len; i++)
    put(e, place, 8 * (size_t)i, tvms_emit_index(e, items.items[i]));
  return place;
}

static LLVMValueRef dtype_word(emitter *e, tvms_dtype dtype) {
  tvms_dl_type type = tvms_interp_dl_type_of(dtype);
  return int32(
      e, (int64_t)(type.code | (uint32_t)type.bits << 8 | (uint32_t)type.lanes << 16));
}

// tvm_stack_make_array(data, shape, strides, ndim, an element, offset in elements)
static LLVMValueRef tensor_of(emitter *e, const tvms_node *node) {
  tvms_list args = tvms_as_call(node)->args;
  if (args.len != 6 || !is_shape(args.items[1]))
    tvms_emit_refuse(e, node->span, "T.tvm_stack_make_array");
  tvms_dtype dtype = args.items[4]->dtype;
  int64_t size = (int64_t)tvms_dl_element_size(tvms_interp_dl_type_of(dtype));
  LLVMValueRef place = tvms_emit_words(e, sizeof(tvms_dl_tensor) / 8);
  // A shape may be lent as a tensor of its numbers.
  LLVMValueRef data = is_shape(args.items[0]) ? sizes_of(e, args.items[0], NULL)
                                              : tvms_emit_expr(e, args.items[0]);
  put_field(e, place, TVMS_LAYOUT_TENSOR_DATA, data);
  put_field(e, place, TVMS_LAYOUT_TENSOR_DEVICE_TYPE, int32(e, TVMS_DL_CPU));
  put_field(e, place, TVMS_LAYOUT_TENSOR_DEVICE_ID, int32(e, 0));
  LLVMValueRef ndim = tvms_emit_index(e, args.items[3]);
  put_field(e, place, TVMS_LAYOUT_TENSOR_NDIM,
            LLVMBuildTrunc(e->builder, ndim, e->i32, ""));
  put_field(e, place, TVMS_LAYOUT_TENSOR_DTYPE, dtype_word(e, dtype));
  put_field(e, place, TVMS_LAYOUT_TENSOR_SHAPE,
            sizes_of(e, args.items[1], args.items[3]));
  put_field(e, place, TVMS_LAYOUT_TENSOR_STRIDES,
            sizes_of(e, args.items[2], args.items[3]));
  LLVMValueRef offset = tvms_emit_index(e, args.items[5]);
  put_field(e, place, TVMS_LAYOUT_TENSOR_BYTE_OFFSET,
            LLVMBuildMul(e->builder, offset, tvms_emit_int(e, size), ""));
  return place;
}

// ---- Functions of whoever loaded the library ----

// A variable that is filled in when the library is loaded, or the weak symbol of tvm-ffi.
static LLVMValueRef host_value(emitter *e, const char *slot, const char *symbol,
                               LLVMTypeRef type) {
  LLVMValueRef variable = tvms_emit_slot(e, slot);
  LLVMValueRef given = LLVMBuildLoad2(e->builder, e->pointer, variable, "");
  if (!symbol) return given;
  LLVMValueRef null = LLVMConstNull(e->pointer);
  LLVMValueRef filled = LLVMBuildICmp(e->builder, LLVMIntNE, given, null, "");
  return LLVMBuildSelect(e->builder, filled, given, tvms_emit_weak(e, symbol, type),
                         "");
}

// Goes on if a function of the host says that it has done its work.
static void check_status(emitter *e, LLVMValueRef status, tvms_span span) {
  failure passed_up = {.span = span, .by_host = true};
  tvms_emit_check(
      e, LLVMBuildICmp(e->builder, LLVMIntEQ, status, LLVMConstNull(e->i32), ""),
      &passed_up);
}

// Goes on if whoever loaded the library has filled in, or has, a function.
static void check_host(emitter *e, LLVMValueRef function, tvms_span span) {
  failure alone = {.kind = "RuntimeError",
                   .text =
                       "packed functions are called by TVM's run time, which did not "
                       "load this library",
                   .span = span};
  LLVMValueRef null = LLVMConstNull(e->pointer);
  tvms_emit_check(e, LLVMBuildICmp(e->builder, LLVMIntNE, function, null, ""), &alone);
}

// A function by its name, which stays that of the library or of the run time.
static LLVMValueRef find_by_host(emitter *e, LLVMValueRef name, tvms_span span) {
  LLVMTypeRef three[] = {e->pointer, e->pointer, e->pointer};
  LLVMTypeRef type = LLVMFunctionType(e->i32, three, 3, false);
  LLVMValueRef find =
      host_value(e, TVMS_FIND_SLOT, "TVMFFIEnvModLookupFromImports", type);
  LLVMValueRef library = host_value(e, TVMS_LIBRARY_SLOT, NULL, NULL);
  check_host(e, find, span);
  LLVMValueRef handle = tvms_emit_words(e, 1);
  LLVMBuildStore(e->builder, LLVMConstNull(e->pointer), handle);
  LLVMValueRef finding[] = {library, name, handle};
  check_status(e, LLVMBuildCall2(e->builder, type, find, finding, 3, ""), span);
  return LLVMBuildLoad2(e->builder, e->pointer, handle, "");
}

// ---- Arguments ----

typedef struct {
  int32_t type;
  LLVMValueRef value;  // of 64 bits
} argument;

static argument number_of(emitter *e, const tvms_node *node) {
  tvms_dtype dtype = node->dtype;
  LLVMValueRef value = tvms_emit_expr(e, node);
  if (tvms_dtype_is_handle(dtype))
    return (argument){TVMS_ANY_POINTER, tvms_helper_word(e, value)};
  if (tvms_dtype_is_real(dtype)) {
    tvms_dtype wide = TVMS_DTYPE(FLOAT, 64);
    return (argument){TVMS_ANY_FLOAT,
                      tvms_emit_convert(e, dtype, wide, value, node->span)};
  }
  if (tvms_dtype_is_bool(dtype)) {
    return (argument){TVMS_ANY_BOOL, LLVMBuildZExt(e->builder, value, e->i64, "")};
  }
  bool is_signed = dtype.code == TVMS_INT;
  return (argument){TVMS_ANY_INT,
                    LLVMBuildIntCast2(e->builder, value, e->i64, is_signed, "")};
}

static argument argument_of(emitter *e, const tvms_node *node) {
  if (node->kind == TVMS_NODE_STRING_IMM) {
    tvms_bytes text = tvms_as_string_imm(node)->value;
    return (argument){TVMS_ANY_TEXT, tvms_helper_word(e, tvms_emit_text(e, text.text))};
  }
  if (node->kind == TVMS_NODE_CALL
      && tvms_call_opcode(node) == TVMS_TIR_tvm_stack_make_array) {
    return (argument){TVMS_ANY_DL_TENSOR, tvms_helper_word(e, tensor_of(e, node))};
  }
  if (node->dtype.lanes != 1) tvms_emit_refuse(e, node->span, "a vector as argument");
  return number_of(e, node);
}

static bool is_item(const tvms_node *node) {
  return node->kind == TVMS_NODE_CALL
         && tvms_call_opcode(node) == TVMS_TIR_anylist_getitem
         && tvms_as_call(node)->args.len == 2;
}

// An object that stays in its list.
static void put_item(emitter *e, const tvms_node *node, LLVMValueRef place, size_t at) {
  tvms_list args = tvms_as_call(node)->args;
  LLVMValueRef item = tvms_emit_box_at(e, args.items[0], args.items[1]);
  LLVMValueRef one = tvms_emit_int(e, 1);
  LLVMValueRef word = LLVMBuildLoad2(e->builder, e->i64, item, "");
  bool borrowed = tvms_emit_is_borrowed(e, args.items[0], args.items[1]);
  put(e, place, at, borrowed ? tvms_emit_lent_word(e, word) : word);
  item = LLVMBuildGEP2(e->builder, e->i64, item, &one, 1, "");
  put(e, place, at + 8, LLVMBuildLoad2(e->builder, e->i64, item, ""));
}

// The entry of another function of the module, which may come later.
static LLVMValueRef entry_of(emitter *e, const tvms_member *member) {
  LLVMTypeRef types[] = {e->pointer, e->pointer, e->i32, e->pointer};
  LLVMTypeRef type = LLVMFunctionType(e->i32, types, 4, false);
  const char *name = tvms_emit_entry_name(e, member);
  LLVMValueRef found = tvms_emit_function_named(e, name);
  if (found) return found;
  // Entries are made when bodies are optimized, and need this one then.
  LLVMValueRef body = tvms_emit_function_named(e, tvms_emit_body_name(e, member));
  LLVMSetLinkage(body, LLVMExternalLinkage);
  LLVMSetVisibility(body, LLVMHiddenVisibility);
  return LLVMAddFunction(e->module, name, type);
}

// The entry of a function of the module, or a function of others; false: argument `at` of the call is neither.
static bool take_function(emitter *e, tvms_list args, uint32_t first, uint32_t at,
                          argument *taken) {
  const tvms_member *member = tvms_boxes_entry_of(e->program, args, first, at);
  const char *external = tvms_boxes_external_of(e->program, args, first, at);
  if (member)
    *taken = (argument){TVMS_ANY_POINTER, tvms_helper_word(e, entry_of(e, member))};
  else if (external)
    *taken = (argument){TVMS_ANY_FUNCTION,
                        tvms_helper_word(e, find_by_host(e, tvms_emit_text(e, external),
                                                         args.items[at]->span))};
  return member || external;
}

// The arguments behind number `first`, which is the name.
static LLVMValueRef arguments_of(emitter *e, tvms_list args, uint32_t first) {
  LLVMValueRef place = tvms_emit_words(e, 2 * args.len);
  for (uint32_t i = first + 1; i < args.len; i++) {
    size_t at = (i - first - 1) * sizeof(tvms_any);
    if (is_item(args.items[i])) {
      put_item(e, args.items[i], place, at);
      continue;
    }
    argument arg;
    if (!take_function(e, args, first, i, &arg)) arg = argument_of(e, args.items[i]);
    put(e, place, at + offsetof(tvms_any, type_index), int32(e, arg.type));
    put(e, place, at + offsetof(tvms_any, padding), int32(e, 0));
    put(e, place, at + offsetof(tvms_any, v), arg.value);
  }
  return place;
}

// ---- Calls ----

// The same of a function of the run time.
static void check_box(emitter *e, LLVMValueRef status, tvms_span span) {
  failure passed_up = {.span = span, .by_host = true};
  if (tvms_emit_holds(e))
    passed_up = (failure){.in = tvms_place_text(e->context, e->member, span, "", false),
                          .by = ""};
  tvms_emit_check(
      e, LLVMBuildICmp(e->builder, LLVMIntEQ, status, LLVMConstNull(e->i32), ""),
      &passed_up);
}

// Returns the address of what the function gives, which is the caller's.
static LLVMValueRef call_by_host(emitter *e, LLVMValueRef name, LLVMValueRef args,
                                 uint32_t count, tvms_span span) {
  LLVMBuilderRef b = e->builder;
  LLVMTypeRef four[] = {e->pointer, e->pointer, e->i32, e->pointer};
  LLVMTypeRef call_type = LLVMFunctionType(e->i32, four, 4, false);
  LLVMValueRef call = host_value(e, TVMS_CALL_SLOT, "TVMFFIFunctionCall", call_type);
  check_host(e, call, span);
  LLVMValueRef function = find_by_host(e, name, span), result = tvms_emit_words(e, 2);
  put(e, result, 0, tvms_emit_int(e, 0));
  put(e, result, 8, tvms_emit_int(e, 0));
  LLVMValueRef calling[] = {function, args, int32(e, count), result};
  check_status(e, LLVMBuildCall2(b, call_type, call, calling, 4, ""), span);
  return result;
}

static void call_traced(emitter *e, LLVMValueRef name, LLVMValueRef args,
                        uint32_t count, tvms_span span) {
  LLVMTypeRef params[] = {e->pointer, e->pointer, e->pointer, e->i32, e->i32, e->i32};
  LLVMTypeRef type = LLVMFunctionType(e->i32, params, 6, false);
  LLVMValueRef at = tvms_emit_int(e, offsetof(tvms_raised, call_packed));
  LLVMValueRef slot = LLVMBuildGEP2(e->builder, e->i8, e->raised, &at, 1, "");
  LLVMValueRef call = LLVMBuildLoad2(e->builder, e->pointer, slot, "");
  LLVMValueRef all[] = {
      e->raised, name, args, int32(e, count), int32(e, span.begin), int32(e, span.end)};
  check_status(e, LLVMBuildCall2(e->builder, type, call, all, 6, ""), span);
}

// What a function of a plug-in has given, as a value of the call.
static LLVMValueRef given_number(emitter *e, const tvms_call *call) {
  tvms_dtype dtype = call->head.dtype;
  if (tvms_dtype_is_void(dtype)) return LLVMConstNull(e->i32);
  bool real = tvms_dtype_is_real(dtype);
  tvms_dtype wide = real ? TVMS_DTYPE(FLOAT, 64) : TVMS_DTYPE(INT, 64);
  size_t offset = real ? offsetof(tvms_raised, real) : offsetof(tvms_raised, whole);
  LLVMValueRef at = tvms_emit_int(e, (int64_t)offset);
  LLVMValueRef place = LLVMBuildGEP2(e->builder, e->i8, e->raised, &at, 1, "");
  LLVMTypeRef type = tvms_emit_type(e, wide, call->head.span);
  LLVMValueRef value = LLVMBuildLoad2(e->builder, type, place, "");
  if (tvms_dtype_is_handle(dtype))
    return LLVMBuildIntToPtr(e->builder, value, e->pointer, "");
  return tvms_emit_convert(e, wide, dtype, value, call->head.span);
}

// The number in a result as a value of the call; 0 if it holds something else.
static LLVMValueRef number_in(emitter *e, const tvms_call *call, LLVMValueRef result) {
  LLVMBuilderRef b = e->builder;
  tvms_span span = call->head.span;
  tvms_dtype dtype = call->head.dtype, real_dtype = TVMS_DTYPE(FLOAT, 64),
             whole_dtype = TVMS_DTYPE(INT, 64);
  if (tvms_dtype_is_void(dtype)) return LLVMConstNull(e->i32);
  LLVMTypeRef real_type = tvms_emit_type(e, real_dtype, span);
  LLVMValueRef at = tvms_emit_int(e, (int64_t)offsetof(tvms_any, v));
  LLVMValueRef place = LLVMBuildGEP2(b, e->i8, result, &at, 1, "");
  LLVMValueRef kind = LLVMBuildLoad2(b, e->i32, result, "");
  LLVMValueRef is_real =
      LLVMBuildICmp(b, LLVMIntEQ, kind, int32(e, TVMS_ANY_FLOAT), "");
  LLVMValueRef is_number =
      LLVMBuildICmp(b, LLVMIntULT, LLVMBuildSub(b, kind, int32(e, TVMS_ANY_INT), ""),
                    int32(e, TVMS_ANY_POINTER), "");
  LLVMValueRef whole = LLVMBuildSelect(
      b, is_number, LLVMBuildLoad2(b, e->i64, place, ""), LLVMConstNull(e->i64), "");
  LLVMValueRef real = LLVMBuildLoad2(b, real_type, place, "");
  if (tvms_dtype_is_real(dtype)) {
    LLVMValueRef same = LLVMBuildSIToFP(b, whole, real_type, "");
    real = LLVMBuildSelect(b, is_real, real, same, "");
    return tvms_emit_convert(e, real_dtype, dtype, real, span);
  }
  LLVMValueRef cut = tvms_emit_convert(e, real_dtype, whole_dtype, real, span);
  whole = LLVMBuildSelect(b, is_real, cut, whole, "");
  if (tvms_dtype_is_handle(dtype)) return LLVMBuildIntToPtr(b, whole, e->pointer, "");
  return tvms_emit_convert(e, whole_dtype, dtype, whole, span);
}

static LLVMValueRef call_own(emitter *e, const tvms_call *call,
                             const tvms_member *member, LLVMValueRef args) {
  LLVMTypeRef types[] = {e->pointer, e->pointer, e->i32, e->pointer};
  LLVMTypeRef type = LLVMFunctionType(e->i32, types, 4, false);
  LLVMValueRef result = tvms_emit_words(e, 2);
  put(e, result, 0, tvms_emit_int(e, 0));
  put(e, result, 8, tvms_emit_int(e, 0));
  LLVMValueRef all[] = {e->raised, args, int32(e, call->args.len - 1), result};
  LLVMValueRef callee = entry_of(e, member);
  check_status(e, LLVMBuildCall2(e->builder, type, callee, all, 4, ""),
               call->head.span);
  tvms_dtype dtype = call->head.dtype,
             made = tvms_interp_result_dtype(&e->context->memory, member->function);
  if (tvms_dtype_is_void(dtype)) return LLVMConstNull(e->i32);
  if (tvms_dtype_is_void(made))
    return LLVMConstNull(tvms_emit_type(e, dtype, call->head.span));
  tvms_dtype wide =
      tvms_dtype_is_real(made) ? TVMS_DTYPE(FLOAT, 64) : TVMS_DTYPE(INT, 64);
  LLVMValueRef at = tvms_emit_int(e, 8);
  LLVMValueRef place = LLVMBuildGEP2(e->builder, e->i8, result, &at, 1, "");
  LLVMValueRef value =
      LLVMBuildLoad2(e->builder, tvms_emit_type(e, wide, call->head.span), place, "");
  return tvms_emit_convert(e, wide, dtype, value, call->head.span);
}

// A function of the run time, whose result is the caller's.
static LLVMValueRef call_box(emitter *e, const char *symbol, LLVMValueRef args,
                             uint32_t count, tvms_span span) {
  LLVMValueRef result = tvms_emit_words(e, 2);
  put(e, result, 0, tvms_emit_int(e, 0));
  put(e, result, 8, tvms_emit_int(e, 0));
  check_box(e, tvms_emit_call_box(e, symbol, args, count, result), span);
  return result;
}

static bool is_known(const emitter *e, tvms_bytes name) {
  return tvms_packed_find(name.text, name.len)
         || tvms_interp_foreign_has(e->options->foreign, name.text);
}

LLVMValueRef tvms_emit_call_packed(emitter *e, const tvms_call *call) {
  tvms_span span = call->head.span;
  const tvms_node *first = call->args.len ? call->args.items[0] : NULL;
  if (!first || first->kind != TVMS_NODE_STRING_IMM)
    tvms_emit_refuse(e, span, "a packed function without a name");
  tvms_bytes text = tvms_as_string_imm(first)->value;
  const tvms_member *member = tvms_meaning_of_named(e->program, first);
  if (e->options->traced && !member && !is_known(e, text)) {
    tvms_diag_report(&e->context->diags, TVMS_D_unknown_function, span, text.text);
    tvms_emit_give_up(e);
  }
  LLVMValueRef args = arguments_of(e, call->args, 0);
  if (member) return call_own(e, call, member, args);
  LLVMValueRef name = tvms_emit_text(e, text.text);
  if (e->options->traced) {
    call_traced(e, name, args, call->args.len - 1, span);
    return given_number(e, call);
  }
  uint32_t count = call->args.len - 1;
  const char *symbol = tvms_boxes_symbol(text.text);
  LLVMValueRef result = symbol ? call_box(e, symbol, args, count, span)
                               : call_by_host(e, name, args, count, span);
  tvms_emit_drop_result(e, result);
  return number_in(e, call, result);
}

static void set_item(emitter *e, const tvms_call *call, LLVMValueRef box) {
  tvms_span span = call->head.span;
  tvms_list all = call->args;
  const char *name = tvms_as_string_imm(all.items[2])->value.text;
  LLVMValueRef args = arguments_of(e, all, 2);
  const char *symbol = tvms_boxes_symbol(name);
  if (symbol)
    check_box(e, tvms_emit_call_box(e, symbol, args, all.len - 3, box), span);
  else
    tvms_emit_put_box(
        e, box, call_by_host(e, tvms_emit_text(e, name), args, all.len - 3, span));
}

// The field of a tuple, without a reference of its own where that can be.
static void borrow_item(emitter *e, const tvms_call *call, LLVMValueRef box) {
  tvms_list all = call->args, of = tvms_as_call(all.items[3])->args;
  LLVMValueRef tuple = tvms_emit_box_at(e, of.items[0], of.items[1]);
  int64_t at = tvms_as_int_imm(all.items[4])->value;
  check_box(e, tvms_emit_borrow_field(e, tuple, at, box), call->head.span);
}

LLVMValueRef tvms_emit_set_item(emitter *e, const tvms_call *call) {
  tvms_list all = call->args;
  if (all.len < 3 || all.items[2]->kind != TVMS_NODE_STRING_IMM || e->options->traced)
    tvms_emit_refuse(e, call->head.span, "T.anylist_setitem_call_packed");
  LLVMValueRef box = tvms_emit_box_at(e, all.items[0], all.items[1]);
  if (tvms_emit_is_borrowed(e, all.items[0], all.items[1]))
    borrow_item(e, call, box);
  else
    set_item(e, call, box);
  return LLVMConstNull(e->i32);
}
