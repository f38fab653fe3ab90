// Calls of TIR: operators of ir/tir_ops.def, functions of C, functions of the module.
//
// What an operator gives is defined by what TVM's CPU back end compiles it to; where that is
// open, docs/native.md ("What a program means") closes it, and native code does the same.
// Functions of libm are computed in double and rounded to their type; native code calls
// those of the type, which may differ in the last bit. Operators of devices are faults: of
// a program for a GPU only its loops over threads can be run.
#include "interp/calls.h"

#include "interp/boxes.h"
#include "interp/buffer.h"
#include "interp/c_call.h"
#include "interp/foreign.h"
#include "interp/frame.h"
#include "interp/meaning.h"
#include "interp/packed_tir.h"
#include "interp/prim.h"
#include "interp/structs.h"
#include "ir/build.h"
#include "support/diag_ids.h"

#include <math.h>
#include <string.h>

typedef double (*function1)(double);
typedef double (*function2)(double, double);
typedef double (*function3)(double, double, double);

typedef struct {
  const char *name;  // of the function of C
  uint32_t arity;
  function1 one;
  function2 two;
  function3 three;
} math_row;

#define MATH_1(function) .one = (function)
#define MATH_2(function) .two = (function)
#define MATH_3(function) .three = (function)

static const math_row math_rows[TVMS_TIR_COUNT] = {
#define MATH(ident, arity, function, how)                                              \
  [TVMS_TIR_##ident] = {#function, arity, MATH_##arity(function)},
#include "interp/math.def"
};

uint32_t tvms_interp_math_arity(tvms_tir_opcode op) {
  switch ((int)op) {
  case TVMS_TIR_exp10:
  case TVMS_TIR_rsqrt:
  case TVMS_TIR_sigmoid: return 1;
  default: return op < TVMS_TIR_COUNT && math_rows[op].name ? math_rows[op].arity : 0;
  }
}

double tvms_interp_math(tvms_tir_opcode op, tvms_dl_type type, const double *x) {
  const math_row *row = &math_rows[op];
  tvms_scalar result;
  switch ((int)op) {
  case TVMS_TIR_exp10: result.f = pow(10, x[0]); break;
  case TVMS_TIR_fma:
    // Of the two roundings of a float64 result the second can be wrong.
    result.f = type.bits > 32 ? fma(x[0], x[1], x[2])
                              : fmaf((float)x[0], (float)x[1], (float)x[2]);
    break;
  case TVMS_TIR_nextafter:
    // The next one of its type, not of the wider one.
    result.f =
        type.bits > 32 ? nextafter(x[0], x[1]) : nextafterf((float)x[0], (float)x[1]);
    break;
  case TVMS_TIR_rsqrt:
    result.f = 1 / tvms_scalar_fit((tvms_scalar){.f = sqrt(x[0])}, type).f;
    break;
  case TVMS_TIR_sigmoid: result.f = 1 / (1 + exp(-x[0])); break;
  default:
    result.f = row->arity == 1   ? row->one(x[0])
               : row->arity == 2 ? row->two(x[0], x[1])
                                 : row->three(x[0], x[1], x[2]);
  }
  return tvms_scalar_fit(result, type).f;
}

static tvms_scalar of_int(int64_t value) {
  return (tvms_scalar){.i = value};
}

TVMS_NORETURN static void unsupported_call(tvms_interp_frame *f, const tvms_call *call,
                                           const char *name) {
  fault(f, TVMS_D_call_not_interpreted, call->head.span, name);
}

static tvms_scalar argument(tvms_interp_frame *f, const tvms_call *call, uint32_t at,
                            uint32_t lane) {
  if (at >= call->args.len) {
    fault(f, TVMS_D_too_few_arguments, call->head.span,
          tvms_symbol_text(f->context, tvms_as_operator(call->callee)->name));
  }
  return tvms_interp_eval(f, call->args.items[at], lane);
}

static tvms_dl_type type_of_argument(const tvms_call *call, uint32_t at) {
  return at < call->args.len ? tvms_interp_dl_type_of(call->args.items[at]->dtype)
                             : (tvms_dl_type){0};
}

// An argument as a double, integers converted.
static double real_argument(tvms_interp_frame *f, const tvms_call *call, uint32_t at,
                            uint32_t lane) {
  tvms_dl_type from = type_of_argument(call, at);
  tvms_dl_type wide = {TVMS_DL_FLOAT, 64, 1};
  return tvms_scalar_convert(argument(f, call, at, lane), from, wide).f;
}

static tvms_scalar call_math(tvms_interp_frame *f, const tvms_call *call,
                             tvms_tir_opcode op, uint32_t first, uint32_t lane) {
  tvms_dl_type wide = {TVMS_DL_FLOAT, 64, 1};
  tvms_dl_type type = tvms_interp_dl_type_of(call->head.dtype);
  double x[3];
  for (uint32_t i = 0; i < tvms_interp_math_arity(op); i++)
    x[i] = real_argument(f, call, first + i, lane);
  if (tvms_scalar_kind_is_real(type.code))
    return (tvms_scalar){.f = tvms_interp_math(op, type, x)};
  return tvms_scalar_convert((tvms_scalar){.f = tvms_interp_math(op, wide, x)}, wide,
                             type);
}

static tvms_scalar call_member(tvms_interp_frame *f, const tvms_member *member,
                               tvms_list given, tvms_span span);

// call_extern("float32", "expf", x): functions of the module, which take numbers and pointers, of libm by
// their names in C, and of plug-ins: those that are defined there, and those of C.
static tvms_scalar call_extern(tvms_interp_frame *f, const tvms_call *call,
                               uint32_t lane) {
  const char *name;
  tvms_tir_opcode opcode = tvms_meaning_of_extern(call, &name);
  const tvms_member *member =
      call->args.len ? tvms_meaning_of_named(f->interp->module, call->args.items[0])
                     : NULL;
  if (member) {
    tvms_list given = {call->args.items + 1, call->args.len - 1};
    return call_member(f, member, given, call->head.span);
  }
  if (opcode) return call_math(f, call, opcode, 1, lane);
  if (tvms_interp_foreign_has(f->interp->foreign, name))
    return tvms_interp_call_foreign(f, call);
  void *address = tvms_interp_foreign_symbol(f->interp->foreign, name);
  if (address) return tvms_interp_call_c(f, call, address);
  fault(f, TVMS_D_unknown_function, call->head.span, name);
}

static tvms_scalar shift(tvms_interp_frame *f, const tvms_call *call, uint32_t lane,
                         bool left) {
  int64_t a = argument(f, call, 0, lane).i;
  int64_t amount = argument(f, call, 1, lane).i;
  tvms_dl_type type = tvms_interp_dl_type_of(call->head.dtype);
  if (amount < 0 || amount >= type.bits) {
    fault(f, TVMS_D_shift_too_far, call->head.span, (long long)amount, type.bits);
  }
  if (left) return tvms_scalar_fit(of_int((int64_t)((uint64_t)a << amount)), type);
  // Values are sign- or zero-extended, so this is right for both.
  if (type.code == TVMS_DL_UINT) return of_int((int64_t)((uint64_t)a >> amount));
  return of_int(a >= 0 ? a >> amount : ~(~a >> amount));
}

static tvms_scalar bitwise(tvms_interp_frame *f, const tvms_call *call,
                           tvms_tir_opcode op, uint32_t lane) {
  int64_t a = argument(f, call, 0, lane).i;
  if (op == TVMS_TIR_bitwise_not) {
    // A bool has one bit, although it is kept in a byte.
    if (call->head.dtype.code == TVMS_BOOL) return of_int(!a);
    return tvms_scalar_fit(of_int(~a), tvms_interp_dl_type_of(call->head.dtype));
  }
  int64_t b = argument(f, call, 1, lane).i;
  if (op == TVMS_TIR_bitwise_and) return of_int(a & b);
  return of_int(op == TVMS_TIR_bitwise_or ? a | b : a ^ b);
}

static tvms_scalar count_bits(tvms_interp_frame *f, const tvms_call *call,
                              tvms_tir_opcode op, uint32_t lane) {
  uint64_t bits = (uint64_t)argument(f, call, 0, lane).i;
  uint8_t width = type_of_argument(call, 0).bits;
  if (width < 64) bits &= ((uint64_t)1 << width) - 1;
  if (op != TVMS_TIR_clz) return of_int(__builtin_popcountll(bits));
  return of_int(bits ? __builtin_clzll(bits) - (64 - width) : width);
}

// Whether a real is NaN, infinite or finite; integers are finite.
static tvms_scalar classify(tvms_interp_frame *f, const tvms_call *call,
                            tvms_tir_opcode op, uint32_t lane) {
  double x = real_argument(f, call, 0, lane);
  if (op == TVMS_TIR_isnan) return of_int(isnan(x) != 0);
  return of_int(op == TVMS_TIR_isinf ? isinf(x) != 0 : isfinite(x) != 0);
}

// The bits of one kind read as another, in the order of memory: of narrower lanes several make one, or
// one makes several.
static tvms_scalar reinterpret(tvms_interp_frame *f, const tvms_call *call,
                               uint32_t lane) {
  tvms_dl_type from = type_of_argument(call, 0);
  tvms_dl_type to = tvms_interp_dl_type_of(call->head.dtype);
  uint32_t given = (uint32_t)tvms_dl_element_size(from);
  uint32_t wanted = (uint32_t)tvms_dl_element_size(to);
  if (!given || !wanted || given * from.lanes != wanted * to.lanes)
    unsupported_call(f, call, "reinterpret");
  uint8_t bytes[sizeof(uint64_t)];
  for (uint32_t done = 0; done < wanted; done += given) {
    uint32_t at = lane * wanted + done;
    uint64_t bits = 0;
    tvms_dl_element_set(&bits, from, argument(f, call, 0, at / given));
    memcpy(bytes + done, (const char *)&bits + at % given,
           given < wanted ? given : wanted);
  }
  uint64_t result = 0;
  memcpy(&result, bytes, wanted);
  return tvms_dl_element_get(&result, to);
}

// (x * y) >> (q - s) with rounding to nearest, ties up; a negative shift is one to the
// left before the product (TVM 0.26, intrin_rule.cc).
static tvms_scalar multiply_shift(tvms_interp_frame *f, const tvms_call *call,
                                  uint32_t lane) {
  int64_t x = argument(f, call, 0, lane).i, y = argument(f, call, 1, lane).i;
  int64_t q = argument(f, call, 2, lane).i, s = argument(f, call, 3, lane).i;
  int64_t left = s > 0 ? s : 0, right = q + (s > 0 ? 0 : -s);
  if (left > 31 || right > 62 || right < 0) {
    fault(f, TVMS_D_shift_too_far, call->head.span, (long long)(left ? left : right),
          63);
  }
  uint64_t product = ((uint64_t)x << left) * (uint64_t)y;
  uint64_t half = right > 0 ? (uint64_t)1 << (right - 1) : 0;
  return tvms_scalar_fit(of_int((int64_t)(product + half) >> right),
                         tvms_interp_dl_type_of(call->head.dtype));
}

// x * 2^n, which may be a number where 2^n is none.
static tvms_scalar scale_by_power(tvms_interp_frame *f, const tvms_call *call,
                                  uint32_t lane) {
  static const tvms_dl_type whole = {TVMS_DL_INT, 32, 1};
  tvms_dl_type from = type_of_argument(call, 1);
  tvms_scalar n = argument(f, call, 1, lane);
  // Of a whole number that is wider the nearest one counts.
  if (!tvms_scalar_kind_is_real(from.code))
    n.i = n.i > INT32_MAX ? INT32_MAX : n.i < INT32_MIN ? INT32_MIN : n.i;
  else
    n = tvms_scalar_convert(n, from, whole);
  double x = real_argument(f, call, 0, lane);
  return tvms_scalar_fit((tvms_scalar){.f = ldexp(x, (int)n.i)},
                         tvms_interp_dl_type_of(call->head.dtype));
}

static tvms_scalar address_of(tvms_interp_frame *f, const tvms_call *call) {
  const tvms_node *target = call->args.len ? call->args.items[0] : NULL;
  if (!target || target->kind != TVMS_NODE_BUFFER_LOAD) {
    unsupported_call(f, call, "address_of");
  }
  const tvms_buffer_load *load = tvms_as_buffer_load(target);
  tvms_interp_view *v = tvms_interp_use_buffer(f, load->buffer, call->head.span);
  return (tvms_scalar){.p = tvms_interp_address_at(f, v, load->indices)};
}

static tvms_scalar undefined(const tvms_interp_frame *f, const tvms_call *call) {
  static const tvms_dl_type small = {TVMS_DL_INT, 8, 1};
  tvms_dl_type type = tvms_interp_dl_type_of(call->head.dtype);
  return tvms_scalar_convert((tvms_scalar){.i = f->interp->undefined}, small, type);
}

// tvm_access_ptr(type, data, offset, extent, mode)
static tvms_scalar access_pointer(tvms_interp_frame *f, const tvms_call *call) {
  char *data = argument(f, call, 1, 0).p;
  int64_t offset = argument(f, call, 2, 0).i;
  tvms_dl_type type = type_of_argument(call, 0);
  size_t size = tvms_dl_element_size(type) * type.lanes;
  return (tvms_scalar){.p = data + offset * (int64_t)size};
}

// vectorlow, vectorhigh and vectorcombine as choices of a lane.
static tvms_scalar choose_lane(tvms_interp_frame *f, const tvms_call *call,
                               tvms_tir_opcode op, uint32_t lane) {
  uint32_t half = (uint32_t)call->head.dtype.lanes;
  if (op == TVMS_TIR_vectorlow) return argument(f, call, 0, lane);
  if (op == TVMS_TIR_vectorhigh) return argument(f, call, 0, lane + half);
  uint32_t first = type_of_argument(call, 0).lanes;
  if (lane < first) return argument(f, call, 0, lane);
  return argument(f, call, 1, lane - first);
}

static tvms_scalar call_operator(tvms_interp_frame *f, const tvms_call *call,
                                 uint32_t lane) {
  const tvms_operator *callee = tvms_as_operator(call->callee);
  tvms_tir_opcode op = tvms_call_opcode(&call->head);
  if (tvms_interp_math_arity(op)) return call_math(f, call, op, 0, lane);
  switch ((int)op) {
  case TVMS_TIR_if_then_else:
    return argument(f, call, argument(f, call, 0, lane).i ? 1 : 2, lane);
  case TVMS_TIR_likely:
  case TVMS_TIR_tvm_thread_invariant: return argument(f, call, 0, lane);
  case TVMS_TIR_ldexp: return scale_by_power(f, call, lane);
  case TVMS_TIR_isnan:
  case TVMS_TIR_isinf:
  case TVMS_TIR_isfinite: return classify(f, call, op, lane);
  case TVMS_TIR_shift_left: return shift(f, call, lane, true);
  case TVMS_TIR_shift_right: return shift(f, call, lane, false);
  case TVMS_TIR_bitwise_and:
  case TVMS_TIR_bitwise_or:
  case TVMS_TIR_bitwise_xor:
  case TVMS_TIR_bitwise_not: return bitwise(f, call, op, lane);
  case TVMS_TIR_popcount:
  case TVMS_TIR_clz: return count_bits(f, call, op, lane);
  case TVMS_TIR_reinterpret: return reinterpret(f, call, lane);
  case TVMS_TIR_large_uint_imm: {
    uint64_t low = (uint64_t)argument(f, call, 0, 0).i & UINT32_MAX;
    return of_int((int64_t)(low | (uint64_t)argument(f, call, 1, 0).i << 32));
  }
  case TVMS_TIR_q_multiply_shift: return multiply_shift(f, call, lane);
  case TVMS_TIR_address_of: return address_of(f, call);
  case TVMS_TIR_tvm_access_ptr: return access_pointer(f, call);
  case TVMS_TIR_handle_add_byte_offset:
  case TVMS_TIR_ptr_byte_offset: {
    char *base = argument(f, call, 0, 0).p;
    return (tvms_scalar){.p = base + argument(f, call, 1, 0).i};
  }
  case TVMS_TIR_isnullptr: return of_int(argument(f, call, 0, 0).p == NULL);
  case TVMS_TIR_vectorlow:
  case TVMS_TIR_vectorhigh:
  case TVMS_TIR_vectorcombine: return choose_lane(f, call, op, lane);
  case TVMS_TIR_call_llvm_intrin: {
    int64_t kinds[3];
    if (tvms_call_prefetched(&call->head, kinds)) return of_int(0);
    unsupported_call(f, call, "call_llvm_intrin");
  }
  case TVMS_TIR_type_annotation:
  case TVMS_TIR_prefetch: return of_int(0);
  case TVMS_TIR_undef: return undefined(f, call);
  case TVMS_TIR_assume:
    if (!argument(f, call, 0, 0).i) fault(f, TVMS_D_assumption_wrong, call->head.span);
    return of_int(0);
  case TVMS_TIR_call_extern:
  case TVMS_TIR_call_pure_extern: return call_extern(f, call, lane);
  case TVMS_TIR_tvm_call_cpacked:
  case TVMS_TIR_tvm_call_packed: return tvms_interp_call_packed_of_tir(f, call);
  case TVMS_TIR_tvm_struct_get: return tvms_interp_struct_get(f, call);
  case TVMS_TIR_tvm_struct_set: tvms_interp_struct_set(f, call); return of_int(0);
  case TVMS_TIR_tvm_stack_alloca: return tvms_interp_stack_alloca(f, call);
  case TVMS_TIR_anylist_setitem_call_packed:
    tvms_interp_set_item(f, call);
    return of_int(0);
  case TVMS_TIR_anylist_resetitem:
    tvms_interp_boxes_put(tvms_interp_boxes_place(f, call), (tvms_any){0});
    return of_int(0);
  default: unsupported_call(f, call, tvms_symbol_text(f->context, callee->name));
  }
}

// A scalar or a pointer as an argument of another function of the module.
static tvms_value pass(tvms_interp_frame *f, const tvms_node *argument_node) {
  tvms_scalar value = tvms_interp_eval(f, argument_node, 0);
  tvms_dtype dtype = argument_node->dtype;
  if (tvms_dtype_is_handle(dtype)) {
    return (tvms_value){.kind = TVMS_VALUE_FUNCTION, .function = value.p};
  }
  if (tvms_dtype_is_real(dtype)) {
    return (tvms_value){.kind = TVMS_VALUE_FLOAT, .f = value.f};
  }
  tvms_value_kind kind = tvms_dtype_is_bool(dtype) ? TVMS_VALUE_BOOL : TVMS_VALUE_INT;
  return (tvms_value){.kind = (uint8_t)kind, .i = value.i};
}

static tvms_scalar call_member(tvms_interp_frame *f, const tvms_member *member,
                               tvms_list given, tvms_span span) {
  // A call in a loop must not take memory again and again.
  enum { FEW = 16 };
  tvms_value few[FEW];
  tvms_value *args =
      given.len <= FEW ? few
                       : tvms_arena_array(&f->context->scratch, tvms_value, given.len);
  for (uint32_t i = 0; i < given.len; i++) {
    args[i] = pass(f, given.items[i]);
  }
  tvms_value result =
      tvms_interp_call_member(f->interp, member, args, given.len, span, f);
  return result.kind == TVMS_VALUE_FLOAT ? (tvms_scalar){.f = result.f}
                                         : of_int(result.i);
}

static tvms_scalar call_global(tvms_interp_frame *f, const tvms_call *call) {
  tvms_sym name = tvms_as_global_var(call->callee)->name;
  const tvms_member *member = tvms_module_find(f->interp->module, name);
  bool callable =
      member && member->function && member->function->kind == TVMS_NODE_PRIM_FUNC;
  if (!callable) {
    fault(f, TVMS_D_unknown_function, call->head.span,
          tvms_symbol_text(f->context, name));
  }
  return call_member(f, member, call->args, call->head.span);
}

tvms_scalar tvms_interp_eval_call(tvms_interp_frame *f, const tvms_call *call,
                                  uint32_t lane) {
  if (call->callee->kind == TVMS_NODE_OPERATOR) return call_operator(f, call, lane);
  if (call->callee->kind == TVMS_NODE_GLOBAL_VAR) return call_global(f, call);
  tvms_bytes symbol = {"?", 1};
  if (call->callee->kind == TVMS_NODE_EXTERN_FUNC) {
    symbol = tvms_as_extern_func(call->callee)->symbol;
  }
  fault(f, TVMS_D_unknown_function, call->head.span, symbol.text);
}
