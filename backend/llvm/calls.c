// Calls: operators of TIR as instructions, functions of C, functions of the module.
//
// Functions of C are weak symbols, so a library has no undefined strong ones; it is linked
// with libm and libc, which define them.
#include "backend/llvm/calls.h"

#include "backend/core/place.h"
#include "backend/llvm/body.h"
#include "backend/llvm/boxes.h"
#include "backend/llvm/buffer.h"
#include "backend/llvm/counted.h"
#include "backend/llvm/emit.h"
#include "backend/llvm/expr.h"
#include "backend/llvm/failure.h"
#include "backend/llvm/frame.h"
#include "backend/llvm/index.h"
#include "backend/llvm/modules.h"
#include "backend/llvm/packed.h"
#include "backend/llvm/symbols.h"
#include "backend/llvm/types.h"
#include "interp/foreign.h"
#include "interp/meaning.h"
#include "interp/result.h"
#include "support/diag_ids.h"

#include <stdio.h>

typedef struct {
  const char *function;  // of C, or of "llvm."
  uint32_t arity;
  bool intrinsic;
} math_row;

#define HOW_LIBM false
#define HOW_LLVM true

static const math_row math_rows[TVMS_TIR_COUNT] = {
#define MATH(ident, arity, function, how)                                              \
  [TVMS_TIR_##ident] = {#function, arity, HOW_##how},
#include "interp/math.def"
};

TVMS_NORETURN static void refuse_call(emitter *e, const tvms_call *call,
                                      const char *name) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, &e->context->memory);
  tvms_strbuf_printf(&text, "a call of '%s'", name);
  tvms_emit_refuse(e, call->head.span, tvms_strbuf_text(&text));
}

TVMS_NORETURN static void refuse_of_c(emitter *e, const tvms_node *odd,
                                      const char *name) {
  char type[TVMS_DTYPE_TEXT];
  tvms_diag_report(&e->context->diags, TVMS_D_not_of_c, odd->span, name,
                   tvms_dtype_text(odd->dtype, type));
  tvms_emit_give_up(e);
}

static LLVMValueRef argument(emitter *e, const tvms_call *call, uint32_t at) {
  if (at >= call->args.len) {
    tvms_diag_report(
        &e->context->diags, TVMS_D_too_few_arguments, call->head.span,
        tvms_symbol_text(e->context, tvms_as_operator(call->callee)->name));
    tvms_emit_give_up(e);
  }
  return tvms_emit_expr(e, call->args.items[at]);
}

static tvms_dtype dtype_of(const tvms_call *call, uint32_t at) {
  return at < call->args.len ? call->args.items[at]->dtype : (tvms_dtype){0};
}

static LLVMValueRef call_intrinsic(emitter *e, const char *name, LLVMTypeRef overload,
                                   LLVMValueRef *args, uint32_t count) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(e->module, id, &overload, 1);
  LLVMTypeRef type = LLVMIntrinsicGetType(e->llvm, id, &overload, 1);
  return LLVMBuildCall2(e->builder, type, function, args, count, "");
}

// Marks a function that reads and writes no memory, so that calls can be moved.
static void mark_pure(emitter *e, LLVMValueRef call) {
  static const char *const names[] = {"nounwind", "willreturn"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    unsigned kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(e->llvm, kind, 0));
  }
  unsigned memory = LLVMGetEnumAttributeKindForName("memory", 6);
  LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                           LLVMCreateEnumAttribute(e->llvm, memory, 0));
}

static LLVMValueRef call_libm(emitter *e, const char *name, LLVMTypeRef type,
                              LLVMValueRef *args, uint32_t count) {
  char text[32];
  LLVMTypeRef params[3];
  for (uint32_t i = 0; i < count; i++)
    params[i] = LLVMTypeOf(args[i]);
  snprintf(text, sizeof text, "%s%s", name, type == e->f32 ? "f" : "");
  LLVMTypeRef signature = LLVMFunctionType(type, params, count, false);
  LLVMValueRef function = tvms_emit_weak(e, text, signature);
  LLVMValueRef call = LLVMBuildCall2(e->builder, signature, function, args, count, "");
  mark_pure(e, call);
  return call;
}

static LLVMValueRef math_value(emitter *e, const math_row *row, LLVMTypeRef type,
                               LLVMValueRef *args) {
  char name[32];
  snprintf(name, sizeof name, "llvm.%s", row->function);
  if (row->intrinsic) return call_intrinsic(e, name, type, args, row->arity);
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) {
    return call_libm(e, row->function, type, args, row->arity);
  }
  LLVMValueRef result = LLVMGetUndef(type);
  for (uint32_t i = 0; i < LLVMGetVectorSize(type); i++) {
    LLVMValueRef items[3];
    for (uint32_t j = 0; j < row->arity; j++) {
      items[j] = tvms_emit_lane(e, args[j], i);
    }
    LLVMTypeRef element = LLVMGetElementType(type);
    LLVMValueRef item = call_libm(e, row->function, element, items, row->arity);
    LLVMValueRef at = LLVMConstInt(e->i32, i, false);
    result = LLVMBuildInsertElement(e->builder, result, item, at, "");
  }
  return result;
}

// Computes in the call's own float kind; integers are computed as float64.
static LLVMValueRef call_math(emitter *e, const tvms_call *call, const math_row *row,
                              uint32_t first) {
  tvms_dtype dtype = call->head.dtype;
  tvms_dtype wide = {TVMS_FLOAT, 64, dtype.lanes};
  tvms_dtype in = tvms_dtype_is_real(dtype) ? dtype : wide;
  LLVMValueRef args[3];
  for (uint32_t i = 0; i < row->arity; i++) {
    LLVMValueRef value = argument(e, call, first + i);
    args[i] =
        tvms_emit_convert(e, dtype_of(call, first + i), in, value, call->head.span);
  }
  LLVMTypeRef type = tvms_emit_type(e, in, call->head.span);
  LLVMValueRef value = math_value(e, row, type, args);
  return tvms_emit_convert(e, in, dtype, value, call->head.span);
}

static LLVMValueRef real_constant(emitter *e, const tvms_call *call, double value) {
  tvms_dtype scalar = tvms_dtype_with_lanes(call->head.dtype, 1);
  LLVMTypeRef type = tvms_emit_type(e, scalar, call->head.span);
  LLVMValueRef constant = LLVMConstReal(type, value);
  int lanes = call->head.dtype.lanes;
  return lanes > 1 ? tvms_emit_splat(e, constant, (uint32_t)lanes) : constant;
}

// Functions that are a formula over others.
static LLVMValueRef call_formula(emitter *e, const tvms_call *call,
                                 tvms_tir_opcode op) {
  LLVMValueRef x = argument(e, call, 0);
  LLVMTypeRef type = LLVMTypeOf(x);
  LLVMValueRef one = real_constant(e, call, 1), value;
  LLVMBuilderRef b = e->builder;
  if (op == TVMS_TIR_rsqrt) {
    LLVMValueRef root = math_value(e, &math_rows[TVMS_TIR_sqrt], type, &x);
    value = LLVMBuildFDiv(b, one, tvms_emit_round(e, call->head.dtype, root), "");
  } else if (op == TVMS_TIR_exp10) {
    LLVMValueRef args[] = {real_constant(e, call, 10), x};
    value = math_value(e, &math_rows[TVMS_TIR_pow], type, args);
  } else {
    LLVMValueRef minus = LLVMBuildFNeg(b, x, "");
    LLVMValueRef power = math_value(e, &math_rows[TVMS_TIR_exp], type, &minus);
    value = LLVMBuildFDiv(b, one, LLVMBuildFAdd(b, one, power, ""), "");
  }
  return tvms_emit_round(e, call->head.dtype, value);
}

static LLVMValueRef classify(emitter *e, const tvms_call *call, tvms_tir_opcode op) {
  LLVMValueRef x = argument(e, call, 0);
  LLVMTypeRef result = tvms_emit_type(e, call->head.dtype, call->head.span);
  LLVMBuilderRef b = e->builder;
  if (!tvms_dtype_is_real(dtype_of(call, 0))) {
    bool finite = op == TVMS_TIR_isfinite;
    return finite ? LLVMConstAllOnes(result) : LLVMConstNull(result);
  }
  if (op == TVMS_TIR_isnan) return LLVMBuildFCmp(b, LLVMRealUNO, x, x, "");
  LLVMValueRef size = call_intrinsic(e, "llvm.fabs", LLVMTypeOf(x), &x, 1);
  LLVMTypeRef type = LLVMTypeOf(x);
  bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
  LLVMTypeRef element = vector ? LLVMGetElementType(type) : type;
  LLVMValueRef top = LLVMConstReal(element, (double)__builtin_inff());
  if (vector) top = tvms_emit_splat(e, top, LLVMGetVectorSize(type));
  LLVMRealPredicate test = op == TVMS_TIR_isinf ? LLVMRealOEQ : LLVMRealONE;
  return LLVMBuildFCmp(b, test, size, top, "");
}

// Amounts outside the width are errors of the program; the lowest bits of them count.
static LLVMValueRef shift(emitter *e, const tvms_call *call, bool left) {
  LLVMValueRef a = argument(e, call, 0), b = argument(e, call, 1);
  LLVMTypeRef type = LLVMTypeOf(a);
  LLVMValueRef amount = LLVMBuildIntCast2(e->builder, b, type, false, "");
  bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
  LLVMTypeRef element = vector ? LLVMGetElementType(type) : type;
  LLVMValueRef mask = LLVMConstInt(element, call->head.dtype.bits - 1u, false);
  if (vector) mask = tvms_emit_splat(e, mask, LLVMGetVectorSize(type));
  amount = LLVMBuildAnd(e->builder, amount, mask, "");
  if (left) return LLVMBuildShl(e->builder, a, amount, "");
  bool is_signed = call->head.dtype.code == TVMS_INT;
  return is_signed ? LLVMBuildAShr(e->builder, a, amount, "")
                   : LLVMBuildLShr(e->builder, a, amount, "");
}

static LLVMValueRef bitwise(emitter *e, const tvms_call *call, tvms_tir_opcode op) {
  LLVMValueRef a = argument(e, call, 0);
  if (op == TVMS_TIR_bitwise_not) return LLVMBuildNot(e->builder, a, "");
  LLVMValueRef b = argument(e, call, 1);
  if (op == TVMS_TIR_bitwise_and) return LLVMBuildAnd(e->builder, a, b, "");
  if (op == TVMS_TIR_bitwise_or) return LLVMBuildOr(e->builder, a, b, "");
  return LLVMBuildXor(e->builder, a, b, "");
}

static LLVMValueRef count_bits(emitter *e, const tvms_call *call, tvms_tir_opcode op) {
  LLVMValueRef args[] = {argument(e, call, 0), LLVMConstNull(e->i1)};
  bool leading = op == TVMS_TIR_clz;
  LLVMValueRef count = call_intrinsic(e, leading ? "llvm.ctlz" : "llvm.ctpop",
                                      LLVMTypeOf(args[0]), args, leading ? 2 : 1);
  LLVMTypeRef type = tvms_emit_type(e, call->head.dtype, call->head.span);
  return LLVMBuildIntCast2(e->builder, count, type, false, "");
}

// Through memory: the bits of one kind read as another.
static LLVMValueRef reinterpret(emitter *e, const tvms_call *call) {
  tvms_dtype from = dtype_of(call, 0), to = call->head.dtype;
  tvms_span span = call->head.span;
  LLVMValueRef value = argument(e, call, 0);
  if (from.code == TVMS_HANDLE || to.code == TVMS_HANDLE) {
    return tvms_emit_convert(e, from, to, value, span);
  }
  int from_bits = from.bits * from.lanes, to_bits = to.bits * to.lanes;
  if (from_bits != to_bits) refuse_call(e, call, "reinterpret");
  LLVMValueRef place = tvms_emit_alloca(e, tvms_emit_memory_type(e, from, span), 8);
  tvms_emit_store(e, from, value, place, span);
  return tvms_emit_load(e, to, place, span);
}

// A hint that memory will be used. Without numbers that LLVM takes T.prefetch is nothing.
static LLVMValueRef prefetch(emitter *e, const tvms_call *call) {
  int64_t kinds[3];
  const tvms_node *address = tvms_call_prefetched(&call->head, kinds);
  if (!address) return LLVMConstNull(e->i32);
  LLVMValueRef args[4] = {tvms_emit_expr(e, address)};
  for (uint32_t i = 0; i < 3; i++)
    args[1 + i] = LLVMConstInt(e->i32, (unsigned long long)kinds[i], false);
  call_intrinsic(e, "llvm.prefetch", e->pointer, args, 4);
  return LLVMConstNull(e->i32);
}

// Of LLVM's functions by name only that one is known.
static LLVMValueRef llvm_function(emitter *e, const tvms_call *call) {
  int64_t kinds[3];
  if (!tvms_call_prefetched(&call->head, kinds))
    refuse_call(e, call, "call_llvm_intrin");
  return prefetch(e, call);
}

static LLVMValueRef multiply_shift(emitter *e, const tvms_call *call) {
  LLVMBuilderRef b = e->builder;
  LLVMValueRef part[4];
  for (uint32_t i = 0; i < 4; i++) {
    if (dtype_of(call, i).lanes > 1) refuse_call(e, call, "q_multiply_shift");
    part[i] = LLVMBuildIntCast2(b, argument(e, call, i), e->i64, true, "");
  }
  LLVMValueRef zero = tvms_emit_int(e, 0), one = tvms_emit_int(e, 1);
  LLVMValueRef positive = LLVMBuildICmp(b, LLVMIntSGT, part[3], zero, "");
  LLVMValueRef left = LLVMBuildSelect(b, positive, part[3], zero, "");
  LLVMValueRef minus = LLVMBuildSub(b, part[2], part[3], "");
  LLVMValueRef right = LLVMBuildSelect(b, positive, part[2], minus, "");
  LLVMValueRef product =
      LLVMBuildMul(b, LLVMBuildShl(b, part[0], left, ""), part[1], "");
  LLVMValueRef half = LLVMBuildShl(b, one, LLVMBuildSub(b, right, one, ""), "");
  LLVMValueRef rounds = LLVMBuildICmp(b, LLVMIntSGT, right, zero, "");
  LLVMValueRef sum =
      LLVMBuildAdd(b, product, LLVMBuildSelect(b, rounds, half, zero, ""), "");
  LLVMTypeRef type = tvms_emit_type(e, call->head.dtype, call->head.span);
  return LLVMBuildTrunc(b, LLVMBuildAShr(b, sum, right, ""), type, "");
}

static LLVMValueRef byte_offset(emitter *e, LLVMValueRef base, LLVMValueRef bytes) {
  return LLVMBuildGEP2(e->builder, e->i8, base, &bytes, 1, "");
}

static LLVMValueRef address_of(emitter *e, const tvms_call *call) {
  const tvms_node *target = call->args.len ? call->args.items[0] : NULL;
  if (!target || target->kind != TVMS_NODE_BUFFER_LOAD) {
    refuse_call(e, call, "address_of");
  }
  const tvms_buffer_load *load = tvms_as_buffer_load(target);
  view *v = tvms_emit_use_buffer(e, load->buffer, call->head.span);
  tvms_dtype element = tvms_as_buffer(load->buffer)->element;
  LLVMValueRef counted =
      tvms_emit_counted(e, v, load->indices, element, call->head.span);
  if (counted) return counted;
  return tvms_emit_address(e, load->buffer, load->indices, call->head.span);
}

// tvm_access_ptr(type, data, offset, extent, mode)
static LLVMValueRef access_pointer(emitter *e, const tvms_call *call) {
  LLVMValueRef data = argument(e, call, 1);
  (void)argument(e, call, 2);
  tvms_dl_type type = tvms_interp_dl_type_of(dtype_of(call, 0));
  int64_t size = (int64_t)(tvms_dl_element_size(type) * type.lanes);
  LLVMValueRef offset = tvms_emit_index(e, call->args.items[2]);
  return byte_offset(e, data,
                     LLVMBuildMul(e->builder, offset, tvms_emit_int(e, size), ""));
}

static LLVMValueRef choose_lanes(emitter *e, const tvms_call *call,
                                 tvms_tir_opcode op) {
  LLVMValueRef a = argument(e, call, 0);
  LLVMValueRef b = op == TVMS_TIR_vectorcombine ? argument(e, call, 1) : a;
  LLVMTypeRef type = tvms_emit_type(e, call->head.dtype, call->head.span);
  uint32_t lanes = (uint32_t)call->head.dtype.lanes;
  uint32_t first = (uint32_t)dtype_of(call, 0).lanes;
  uint32_t skip = op == TVMS_TIR_vectorhigh ? lanes : 0;
  LLVMValueRef result = LLVMGetUndef(type);
  for (uint32_t i = 0; i < lanes; i++) {
    bool second = op == TVMS_TIR_vectorcombine && i >= first;
    LLVMValueRef item =
        tvms_emit_lane(e, second ? b : a, second ? i - first : i + skip);
    LLVMValueRef at = LLVMConstInt(e->i32, i, false);
    result = LLVMBuildInsertElement(e->builder, result, item, at, "");
  }
  return result;
}

static bool is_half(tvms_dtype dtype) {
  return dtype.code == TVMS_FLOAT && dtype.bits == 16;
}

// The type that a function of C takes or gives for one of TIR, and in *attribute how what is narrower than a register is
// widened, or 0.
static LLVMTypeRef type_of_c(emitter *e, tvms_dtype dtype, unsigned *attribute) {
  *attribute = 0;
  if (tvms_dtype_is_void(dtype)) return LLVMVoidTypeInContext(e->llvm);
  if (tvms_dtype_is_handle(dtype)) return e->pointer;
  if (is_half(dtype)) return LLVMHalfTypeInContext(e->llvm);
  if (tvms_dtype_is_real(dtype)) return dtype.bits == 64 ? e->f64 : e->f32;
  // As C compilers do it; of 32 bits only processors ask whose words are always signed.
  const bool is_signed = dtype.bits == 32 || tvms_dtype_is_int(dtype);
  const char *how = is_signed ? "signext" : "zeroext";
  if (dtype.bits < 64) *attribute = LLVMGetEnumAttributeKindForName(how, 7);
  return tvms_dtype_is_bool(dtype) ? e->i8 : LLVMIntTypeInContext(e->llvm, dtype.bits);
}

// The function of C that has a name: where it is in this process, or what the linker will find.
static LLVMValueRef function_of_c(emitter *e, const char *name, LLVMTypeRef type) {
  if (e->options->traced) {
    void *address = tvms_interp_foreign_symbol(e->options->foreign, name);
    if (!address) return NULL;
    LLVMValueRef word = LLVMConstInt(e->i64, (uintptr_t)address, false);
    return LLVMConstIntToPtr(word, e->pointer);
  }
  if (!tvms_meaning_is_name_of_c(name)) return NULL;
  LLVMValueRef known = LLVMGetNamedFunction(e->module, name);
  return known ? known : LLVMAddFunction(e->module, name, type);
}

static LLVMValueRef argument_of_c(emitter *e, const tvms_node *node) {
  if (node->kind == TVMS_NODE_STRING_IMM)
    return tvms_emit_text(e, tvms_as_string_imm(node)->value.text);
  LLVMValueRef value = tvms_emit_expr(e, node);
  bool truth = tvms_dtype_is_bool(node->dtype);
  if (is_half(node->dtype)) return tvms_emit_half_of_c(e, value);
  return truth ? LLVMBuildZExt(e->builder, value, e->i8, "") : value;
}

// A function of C that nothing here defines. NULL: there is none.
static LLVMValueRef TVMS_NULLABLE call_c(emitter *e, const tvms_call *call,
                                         const char *name) {
  const tvms_node *odd = tvms_meaning_not_of_c(call);
  if (odd) refuse_of_c(e, odd, name);
  const uint32_t count = call->args.len ? call->args.len - 1 : 0;
  LLVMTypeRef *types =
      tvms_arena_array(&e->context->scratch, LLVMTypeRef, (size_t)count + 1);
  LLVMValueRef *args =
      tvms_arena_array(&e->context->scratch, LLVMValueRef, (size_t)count + 1);
  unsigned *widened =
      tvms_arena_array(&e->context->scratch, unsigned, (size_t)count + 1);
  const tvms_dtype pointer = TVMS_DTYPE(HANDLE, 64);
  for (uint32_t i = 0; i < count; i++) {
    const tvms_node *arg = call->args.items[i + 1];
    bool text = arg->kind == TVMS_NODE_STRING_IMM;
    types[i] = type_of_c(e, text ? pointer : arg->dtype, &widened[i + 1]);
    args[i] = argument_of_c(e, arg);
  }
  const tvms_dtype dtype = call->head.dtype;
  LLVMTypeRef result = type_of_c(e, dtype, &widened[0]);
  LLVMTypeRef type = LLVMFunctionType(result, types, count, false);
  LLVMValueRef function = function_of_c(e, name, type);
  if (!function) return NULL;
  LLVMValueRef made = LLVMBuildCall2(e->builder, type, function, args, count, "");
  for (uint32_t i = 0; i <= count; i++) {
    if (widened[i])
      LLVMAddCallSiteAttribute(made, i,
                               LLVMCreateEnumAttribute(e->llvm, widened[i], 0));
  }
  if (tvms_dtype_is_void(dtype)) return LLVMConstNull(e->i32);
  if (is_half(dtype)) return tvms_emit_from_half_of_c(e, made);
  if (!tvms_dtype_is_bool(dtype)) return tvms_emit_round(e, dtype, made);
  return LLVMBuildICmp(e->builder, LLVMIntNE, made, LLVMConstNull(e->i8), "");
}

static LLVMValueRef call_member(emitter *e, const tvms_call *call,
                                const tvms_member *TVMS_NULLABLE member,
                                uint32_t first);

// call_extern("float32", "expf", x): functions of the module, which take numbers and pointers, of libm by
// their names in C, when the program is run those that plug-ins define, and any other of C.
static LLVMValueRef call_extern(emitter *e, const tvms_call *call) {
  const char *name;
  tvms_tir_opcode opcode = tvms_meaning_of_extern(call, &name);
  const tvms_member *member =
      call->args.len ? tvms_meaning_of_named(e->program, call->args.items[0]) : NULL;
  if (member) return call_member(e, call, member, 1);
  if (opcode) return call_math(e, call, &math_rows[opcode], 1);
  if (e->options->traced && tvms_interp_foreign_has(e->options->foreign, name))
    return tvms_emit_call_packed(e, call);
  LLVMValueRef value = call_c(e, call, name);
  if (value) return value;
  tvms_diag_report(&e->context->diags, TVMS_D_unknown_function, call->head.span, name);
  tvms_emit_give_up(e);
}

static LLVMValueRef large_uint(emitter *e, const tvms_call *call) {
  LLVMValueRef low = tvms_emit_index(e, call->args.items[0]);
  LLVMValueRef high = tvms_emit_index(e, call->args.items[1]);
  LLVMValueRef mask = tvms_emit_int(e, UINT32_MAX);
  high = LLVMBuildShl(e->builder, high, tvms_emit_int(e, 32), "");
  return LLVMBuildOr(e->builder, LLVMBuildAnd(e->builder, low, mask, ""), high, "");
}

// x * 2^n, which may be a number where 2^n is none: ldexp of C, whose n is an int. Of a wider one the nearest counts.
static LLVMValueRef scale_by_power(emitter *e, const tvms_call *call) {
  static const math_row row = {"ldexp", 2, false};
  tvms_dtype dtype = call->head.dtype, from = dtype_of(call, 1);
  uint32_t lanes = (uint32_t)dtype.lanes;
  tvms_dtype wide = TVMS_DTYPE(INT, 64), whole = TVMS_DTYPE(INT, 32);
  wide.lanes = whole.lanes = dtype.lanes;
  LLVMValueRef args[] = {argument(e, call, 0), argument(e, call, 1)};
  args[0] = tvms_emit_convert(e, dtype_of(call, 0), dtype, args[0], call->head.span);
  if (!tvms_dtype_is_real(from)) {
    static const char *const ends[] = {"llvm.smin", "llvm.smax"};
    static const int64_t most[] = {INT32_MAX, INT32_MIN};
    args[1] = tvms_emit_convert(e, from, wide, args[1], call->head.span);
    from = wide;
    for (uint32_t i = 0; i < 2; i++) {
      LLVMValueRef end = tvms_emit_int(e, most[i]), both[2] = {args[1], end};
      if (lanes > 1) both[1] = tvms_emit_splat(e, end, lanes);
      args[1] = call_intrinsic(e, ends[i], LLVMTypeOf(args[1]), both, 2);
    }
  }
  args[1] = tvms_emit_convert(e, from, whole, args[1], call->head.span);
  return tvms_emit_round(e, dtype, math_value(e, &row, LLVMTypeOf(args[0]), args));
}

static LLVMValueRef call_operator(emitter *e, const tvms_call *call) {
  tvms_tir_opcode op = tvms_call_opcode(&call->head);
  if (math_rows[op].function) return call_math(e, call, &math_rows[op], 0);
  switch ((int)op) {
  case TVMS_TIR_likely:
  case TVMS_TIR_tvm_thread_invariant: return argument(e, call, 0);
  case TVMS_TIR_exp10:
  case TVMS_TIR_rsqrt:
  case TVMS_TIR_sigmoid: return call_formula(e, call, op);
  case TVMS_TIR_ldexp: return scale_by_power(e, call);
  case TVMS_TIR_isnan:
  case TVMS_TIR_isinf:
  case TVMS_TIR_isfinite: return classify(e, call, op);
  case TVMS_TIR_shift_left: return shift(e, call, true);
  case TVMS_TIR_shift_right: return shift(e, call, false);
  case TVMS_TIR_bitwise_and:
  case TVMS_TIR_bitwise_or:
  case TVMS_TIR_bitwise_xor:
  case TVMS_TIR_bitwise_not: return bitwise(e, call, op);
  case TVMS_TIR_popcount:
  case TVMS_TIR_clz: return count_bits(e, call, op);
  case TVMS_TIR_reinterpret: return reinterpret(e, call);
  case TVMS_TIR_q_multiply_shift: return multiply_shift(e, call);
  case TVMS_TIR_large_uint_imm: return large_uint(e, call);
  case TVMS_TIR_address_of: return address_of(e, call);
  case TVMS_TIR_tvm_access_ptr: return access_pointer(e, call);
  case TVMS_TIR_handle_add_byte_offset:
  case TVMS_TIR_ptr_byte_offset:
    return byte_offset(e, argument(e, call, 0),
                       tvms_emit_index(e, call->args.items[1]));
  case TVMS_TIR_isnullptr: {
    LLVMValueRef null = LLVMConstNull(e->pointer);
    return LLVMBuildICmp(e->builder, LLVMIntEQ, argument(e, call, 0), null, "");
  }
  case TVMS_TIR_vectorlow:
  case TVMS_TIR_vectorhigh:
  case TVMS_TIR_vectorcombine: return choose_lanes(e, call, op);
  case TVMS_TIR_undef:
    return LLVMConstNull(tvms_emit_type(e, call->head.dtype, call->head.span));
  case TVMS_TIR_assume: return LLVMConstNull(e->i32);
  case TVMS_TIR_prefetch: return prefetch(e, call);
  case TVMS_TIR_call_llvm_intrin: return llvm_function(e, call);
  case TVMS_TIR_call_extern:
  case TVMS_TIR_call_pure_extern: return call_extern(e, call);
  case TVMS_TIR_tvm_stack_alloca: return tvms_emit_stack_alloca(e, call);
  case TVMS_TIR_tvm_struct_get: return tvms_emit_struct_get(e, call);
  case TVMS_TIR_anylist_resetitem: return tvms_emit_reset_item(e, call);
  case TVMS_TIR_anylist_setitem_call_packed: return tvms_emit_set_item(e, call);
  case TVMS_TIR_tvm_call_cpacked:
  case TVMS_TIR_tvm_call_packed: return tvms_emit_call_packed(e, call);
  default:
    refuse_call(e, call,
                tvms_symbol_text(e->context, tvms_as_operator(call->callee)->name));
  }
}

static LLVMValueRef new_slot(emitter *e) {
  LLVMValueRef slot = tvms_emit_alloca(e, e->i64, 0);
  LLVMBuildStore(e->builder, LLVMConstNull(e->i64), slot);
  return slot;
}

// Another PrimFunc that takes numbers and pointers only: the arguments from `first` on.
static LLVMValueRef call_member(emitter *e, const tvms_call *call,
                                const tvms_member *TVMS_NULLABLE member,
                                uint32_t first) {
  uint32_t count = call->args.len - first;
  const tvms_prim_func *function =
      tvms_params_callee(&e->context->memory, member, count);
  if (!function)
    refuse_call(e, call, member ? tvms_symbol_text(e->context, member->name) : "?");
  size_vars sizes = {0};
  LLVMValueRef *args =
      tvms_arena_array(&e->context->scratch, LLVMValueRef, (size_t)count + 2);
  // A Relax function writes more than the steps of a parallel loop have room for.
  if (e->in_parallel && tvms_place_is_relax(member->function))
    refuse_call(e, call, tvms_symbol_text(e->context, member->name));
  args[0] = e->raised;
  args[1] = new_slot(e);
  for (uint32_t i = 0; i < count; i++) {
    LLVMValueRef value = argument(e, call, i + first);
    args[i + 2] =
        tvms_emit_convert(e, dtype_of(call, i + first), tvms_params_dtype(function, i),
                          value, call->head.span);
  }
  LLVMTypeRef type = tvms_emit_body_type(e, function, &sizes);
  LLVMValueRef callee = tvms_emit_function_named(e, tvms_emit_body_name(e, member));
  LLVMValueRef status = LLVMBuildCall2(e->builder, type, callee, args, count + 2, "");
  failure passed_up = {
      .span = call->head.span,
      .in = tvms_place_of_callee(e->context, member),
      .by = tvms_place_of_caller(e->context, e->member, call->head.span)};
  LLVMValueRef zero = LLVMConstNull(e->i32);
  tvms_emit_check(e, LLVMBuildICmp(e->builder, LLVMIntEQ, status, zero, ""),
                  &passed_up);
  tvms_dtype result = tvms_interp_result_dtype(&e->context->memory, member->function);
  if (tvms_dtype_is_void(result) || tvms_dtype_is_void(call->head.dtype)) return zero;
  LLVMValueRef value = tvms_emit_load(e, result, args[1], call->head.span);
  return tvms_emit_convert(e, result, call->head.dtype, value, call->head.span);
}

static LLVMValueRef call_global(emitter *e, const tvms_call *call) {
  tvms_sym name = tvms_as_global_var(call->callee)->name;
  const tvms_member *member = tvms_module_find(e->program, name);
  if (!member) refuse_call(e, call, tvms_symbol_text(e->context, name));
  return call_member(e, call, member, 0);
}

LLVMValueRef tvms_emit_call(emitter *e, const tvms_call *call) {
  if (call->callee->kind == TVMS_NODE_OPERATOR) return call_operator(e, call);
  if (call->callee->kind == TVMS_NODE_GLOBAL_VAR) return call_global(e, call);
  bool external = call->callee->kind == TVMS_NODE_EXTERN_FUNC;
  refuse_call(e, call, external ? tvms_as_extern_func(call->callee)->symbol.text : "?");
}
