// Calls of C text: operators of TIR, functions of C, functions of the module.
//
// Functions of C are weak symbols, so that an object needs no library.
#include "backend/c/calls.h"

#include "backend/c/expr.h"
#include "backend/c/memory.h"
#include "backend/c/packed.h"
#include "backend/c/vector.h"
#include "backend/core/place.h"
#include "interp/meaning.h"
#include "interp/result.h"
#include "ir/op.h"
#include "support/diag_ids.h"

typedef struct {
  const char *function;
  uint32_t arity;
} math_row;

static const math_row math_rows[TVMS_TIR_COUNT] = {
#define MATH(ident, arity, function, how) [TVMS_TIR_##ident] = {#function, arity},
#include "interp/math.def"
};

TVMS_NORETURN static void refuse_call(c_emitter *e, const tvms_call *call,
                                      const char *name) {
  tvms_c_refuse(e, call->head.span, tvms_c_text(e, "a call of '%s'", name));
}

static const tvms_node *source_of(c_emitter *e, const tvms_call *call, uint32_t at) {
  if (at < call->args.len) return call->args.items[at];
  tvms_diag_report(&e->context->diags, TVMS_D_too_few_arguments, call->head.span,
                   tvms_symbol_text(e->context, tvms_as_operator(call->callee)->name));
  tvms_c_give_up(e);
}

// An argument, and its lane `k`.
static const char *argument(c_emitter *e, const tvms_call *call, uint32_t at) {
  const tvms_node *source = source_of(e, call, at);
  return tvms_c_lane(e, tvms_c_expr(e, source), source->dtype);
}

static const char *value(c_emitter *e, const tvms_call *call, const char *expr) {
  return tvms_c_value(e, call->head.dtype, call->head.span, expr);
}

enum { MOST_ARGUMENTS = 3 };

// Are the result and all arguments vectors of one kind of float?
static bool is_whole_math(const tvms_call *call, const math_row *row, uint32_t first) {
  tvms_dtype dtype = call->head.dtype;
  bool same = tvms_c_is_whole(dtype) && tvms_dtype_is_real(dtype)
              && row->arity <= MOST_ARGUMENTS && call->args.len >= first + row->arity;
  for (uint32_t i = 0; same && i < row->arity; i++)
    same = tvms_dtype_same(call->args.items[first + i]->dtype, dtype);
  return same;
}

static const char *call_math_whole(c_emitter *e, const tvms_call *call,
                                   const math_row *row, uint32_t first) {
  tvms_dtype dtype = call->head.dtype;
  const char *args[MOST_ARGUMENTS];
  for (uint32_t i = 0; i < row->arity; i++)
    args[i] = tvms_c_expr(e, call->args.items[first + i]);
  const char *name = tvms_c_function(e, row->function, dtype.bits == 64, row->arity);
  if (!tvms_c_is_narrow(dtype))
    return tvms_c_each_lane(e, dtype, call->head.span, name, args, row->arity);
  tvms_dtype wide = {TVMS_FLOAT, 32, dtype.lanes};
  const char *made = tvms_c_each_lane(e, wide, call->head.span, name, args, row->arity);
  return tvms_c_rounded(e, dtype, call->head.span, made);
}

// Computes in the call's own float kind; integers are computed as float64.
static const char *call_math(c_emitter *e, const tvms_call *call, const math_row *row,
                             uint32_t first) {
  tvms_dtype dtype = call->head.dtype;
  tvms_dtype in = tvms_dtype_is_real(dtype) ? dtype : TVMS_DTYPE(FLOAT, 64);
  if (is_whole_math(call, row, first)) return call_math_whole(e, call, row, first);
  const char *args = "";
  for (uint32_t i = 0; i < row->arity; i++) {
    const char *arg = argument(e, call, first + i);
    arg = tvms_c_convert(e, call->args.items[first + i]->dtype, in, arg);
    args = tvms_c_text(e, "%s%s%s", args, i ? ", " : "", arg);
  }
  const char *name = tvms_c_function(e, row->function, in.bits == 64, row->arity);
  const char *result = tvms_c_text(e, "%s(%s)", name, args);
  return value(e, call, tvms_c_convert(e, in, dtype, result));
}

// Functions that are a formula over others.
static const char *call_formula(c_emitter *e, const tvms_call *call,
                                tvms_tir_opcode op) {
  tvms_dtype dtype = call->head.dtype;
  bool wide = dtype.bits == 64;
  const char *x = argument(e, call, 0), *one = wide ? "1.0" : "1.0f", *result;
  if (op == TVMS_TIR_rsqrt) {
    const char *root = tvms_c_text(e, "%s(%s)", tvms_c_function(e, "sqrt", wide, 1), x);
    result = tvms_c_text(e, "%s / %s", one, tvms_c_round(e, dtype, root));
  } else if (op == TVMS_TIR_exp10) {
    const char *pow = tvms_c_function(e, "pow", wide, 2);
    result = tvms_c_text(e, "%s(10, %s)", pow, x);
  } else {
    const char *exp = tvms_c_function(e, "exp", wide, 1);
    result = tvms_c_text(e, "%s / (%s + %s(-%s))", one, one, exp, x);
  }
  return value(e, call, tvms_c_round(e, dtype, result));
}

// x * 2^n, which may be a number where 2^n is none. Of an n that is wider than an int the nearest counts.
static const char *scale_by_power(c_emitter *e, const tvms_call *call) {
  tvms_dtype dtype = call->head.dtype, from = source_of(e, call, 1)->dtype;
  const char *x = argument(e, call, 0), *n = argument(e, call, 1);
  x = tvms_c_convert(e, source_of(e, call, 0)->dtype, dtype, x);
  if (tvms_dtype_is_real(from))
    n = tvms_c_convert(e, from, TVMS_DTYPE(INT, 32), n);
  else if (from.bits >= 32)
    n = tvms_c_text(e, "((i64)%s > 99999 ? 99999 : (i64)%s < -99999 ? -99999 : %s)", n,
                    n, n);
  const char *suffix = dtype.bits == 64 ? "" : "f";
  const char *made = tvms_c_text(e, "__builtin_ldexp%s(%s, (int)%s)", suffix, x, n);
  return value(e, call, tvms_c_round(e, dtype, made));
}

// NaN is not itself; without their signs the bits of finite numbers are below those of infinity.
static const char *classify_whole(c_emitter *e, const tvms_node *number, tvms_span span,
                                  tvms_tir_opcode op) {
  tvms_dtype dtype = number->dtype;
  const char *x = tvms_c_expr(e, number);
  if (op == TVMS_TIR_isnan) return tvms_c_compare(e, dtype, span, x, "!=", x);
  bool wide = dtype.bits == 64;
  tvms_dtype word = {TVMS_INT, wide ? 64 : 32, dtype.lanes};
  const char *numbers[2];
  for (int i = 0; i < 2; i++) {
    const char *bits = i      ? wide ? "0x7ff0000000000000ll" : "0x7f800000"
                       : wide ? "0x7fffffffffffffffll"
                              : "0x7fffffff";
    numbers[i] = tvms_c_spread(e, word, span, bits);
  }
  const char *bits = tvms_c_wrapping(
      e, word, span, tvms_c_reinterpret_whole(e, word, span, x), "&", numbers[0]);
  return tvms_c_compare(e, word, span, bits, op == TVMS_TIR_isinf ? "==" : "<",
                        numbers[1]);
}

const char *tvms_c_classify(c_emitter *e, const tvms_node *node, const tvms_node *x,
                            tvms_tir_opcode op) {
  bool real = tvms_dtype_is_real(x->dtype);
  if (real && tvms_c_is_whole(x->dtype)) return classify_whole(e, x, node->span, op);
  const char *lane = tvms_c_lane(e, tvms_c_expr(e, x), x->dtype);
  const char *name = op == TVMS_TIR_isnan   ? "__builtin_isnan"
                     : op == TVMS_TIR_isinf ? "__builtin_isinf"
                                            : "__builtin_isfinite";
  return tvms_c_value(e, node->dtype, node->span,
                      real ? tvms_c_text(e, "(%s(%s) != 0)", name, lane)
                      : op == TVMS_TIR_isfinite ? "1"
                                                : "0");
}

// Amounts outside the width are errors of the program; the lowest bits of them count.
static const char *shift_whole(c_emitter *e, const tvms_call *call, bool left) {
  tvms_dtype dtype = call->head.dtype;
  tvms_span span = call->head.span;
  const char *a = tvms_c_expr(e, source_of(e, call, 0));
  const char *b = tvms_c_expr(e, source_of(e, call, 1));
  const char *amount = tvms_c_text(e, "(%s & %d)", b, dtype.bits - 1);
  if (left) return tvms_c_wrapping(e, dtype, span, a, "<<", amount);
  return tvms_c_whole(e, dtype, span, tvms_c_text(e, "%s >> %s", a, amount));
}

static const char *shift(c_emitter *e, const tvms_call *call, bool left) {
  if (tvms_c_is_whole(call->head.dtype)) return shift_whole(e, call, left);
  const char *a = argument(e, call, 0), *b = argument(e, call, 1);
  tvms_dtype scalar = tvms_dtype_with_lanes(call->head.dtype, 1);
  const char *type = tvms_c_type(e, scalar, call->head.span);
  int mask = scalar.bits - 1;
  if (!left)
    return value(e, call, tvms_c_text(e, "(%s)(%s >> (%s & %d))", type, a, b, mask));
  return value(e, call, tvms_c_text(e, "(%s)((u64)%s << (%s & %d))", type, a, b, mask));
}

static const char *sign_of(tvms_tir_opcode op) {
  return op == TVMS_TIR_bitwise_and ? "&" : op == TVMS_TIR_bitwise_or ? "|" : "^";
}

static const char *bitwise_whole(c_emitter *e, const tvms_call *call,
                                 tvms_tir_opcode op) {
  const char *a = tvms_c_expr(e, source_of(e, call, 0));
  if (op == TVMS_TIR_bitwise_not)
    return tvms_c_whole(e, call->head.dtype, call->head.span, tvms_c_text(e, "~%s", a));
  return tvms_c_wrapping(e, call->head.dtype, call->head.span, a, sign_of(op),
                         tvms_c_expr(e, source_of(e, call, 1)));
}

static const char *bitwise(c_emitter *e, const tvms_call *call, tvms_tir_opcode op) {
  if (tvms_c_is_whole(call->head.dtype) && !tvms_dtype_is_bool(call->head.dtype))
    return bitwise_whole(e, call, op);
  tvms_dtype scalar = tvms_dtype_with_lanes(call->head.dtype, 1);
  const char *type = tvms_c_type(e, scalar, call->head.span);
  const char *a = argument(e, call, 0);
  if (op == TVMS_TIR_bitwise_not) {
    bool truth = tvms_dtype_is_bool(scalar);
    return value(e, call,
                 truth ? tvms_c_text(e, "!%s", a) : tvms_c_text(e, "(%s)~%s", type, a));
  }
  const char *b = argument(e, call, 1);
  return value(e, call, tvms_c_text(e, "(%s)(%s %s %s)", type, a, sign_of(op), b));
}

static const char *count_bits(c_emitter *e, const tvms_call *call, tvms_tir_opcode op) {
  const char *x = argument(e, call, 0);
  int bits = call->args.items[0]->dtype.bits;
  const char *plain = tvms_c_text(e, "(u64)(u%d)%s", bits, x);
  if (op == TVMS_TIR_popcount)
    return value(e, call, tvms_c_text(e, "__builtin_popcountll(%s)", plain));
  return value(
      e, call,
      tvms_c_text(e, "%s ? __builtin_clzll(%s) - %d : %d", x, plain, 64 - bits, bits));
}

// (x * y) >> (q - s) with rounding to nearest, ties up; what is shifted to the left is so in front of the product. Amounts
// outside the width are errors of the program; the lowest bits of them count.
static const char *multiply_shift(c_emitter *e, const tvms_call *call) {
  const char *part[4];
  for (uint32_t i = 0; i < 4; i++)
    part[i] = tvms_c_text(e, "(i64)%s", argument(e, call, i));
  const char *q = part[2], *s = part[3];
  const char *left = tvms_c_text(e, "(%s > 0 ? %s & 63 : 0)", s, s);
  const char *right = tvms_c_text(e, "(%s > 0 ? %s & 63 : (%s - %s) & 63)", s, q, q, s);
  const char *product =
      tvms_c_text(e, "((u64)%s << %s) * (u64)%s", part[0], left, part[1]);
  const char *half = tvms_c_text(e, "((u64)1 << %s >> 1)", right);
  tvms_dtype scalar = tvms_dtype_with_lanes(call->head.dtype, 1);
  return value(e, call,
               tvms_c_text(e, "(%s)((i64)(%s + %s) >> %s)",
                           tvms_c_type(e, scalar, call->head.span), product, half,
                           right));
}

// Are values of the type in C what they are in memory?
static bool is_as_in_memory(tvms_dtype dtype) {
  bool plain = dtype.code == TVMS_INT || dtype.code == TVMS_UINT
               || (dtype.code == TVMS_FLOAT && dtype.bits >= 32);
  return plain && dtype.bits >= 8 && (dtype.bits & (dtype.bits - 1)) == 0;
}

// Through memory: the bits of one kind read as another.
static const char *reinterpret(c_emitter *e, const tvms_call *call) {
  const tvms_node *source = source_of(e, call, 0);
  tvms_dtype from = source->dtype, to = call->head.dtype;
  tvms_span span = call->head.span;
  if (from.code == TVMS_HANDLE || to.code == TVMS_HANDLE)
    return value(e, call, tvms_c_convert(e, from, to, argument(e, call, 0)));
  if (from.lanes * from.bits != to.lanes * to.bits) refuse_call(e, call, "reinterpret");
  const char *x = tvms_c_expr(e, source);
  if (from.lanes == to.lanes && tvms_c_is_whole(to) && is_as_in_memory(from)
      && is_as_in_memory(to))
    return tvms_c_reinterpret_whole(e, to, span, x);
  const char *name = tvms_c_text(e, "v%u", e->next++);
  tvms_c_line(e, "%s %s;", tvms_c_type(e, to, span), name);
  if (from.lanes != to.lanes) {
    if (!is_as_in_memory(from) || !is_as_in_memory(to))
      refuse_call(e, call, "reinterpret");
    tvms_c_open(e, "%s", "");
    tvms_c_line(e, "%s a = %s;", tvms_c_type(e, from, span), x);
    tvms_c_line(e, "__builtin_memcpy(&%s, &a, %d);", name, to.lanes * to.bits / 8);
    tvms_c_close(e);
    return name;
  }
  tvms_c_open(e, "for (int k = 0; k < %d; k++)", to.lanes);
  const char *lane = tvms_c_to_memory(e, from, tvms_c_lane(e, x, from));
  tvms_c_line(e, "%s a = %s;", tvms_c_memory_type(e, from, span), lane);
  tvms_c_line(e, "%s b;", tvms_c_memory_type(e, to, span));
  tvms_c_line(e, "__builtin_memcpy(&b, &a, sizeof b);");
  tvms_c_line(e, "%s = %s;", tvms_c_lane(e, name, to), tvms_c_from_memory(e, to, "b"));
  tvms_c_close(e);
  return name;
}

// A hint that memory will be used. Without numbers that LLVM takes T.prefetch is nothing.
static const char *prefetch(c_emitter *e, const tvms_call *call) {
  int64_t kinds[3];
  const tvms_node *address = tvms_call_prefetched(&call->head, kinds);
  if (address)
    tvms_c_line(e, "__builtin_prefetch((const void *)(%s), %d, %d);",
                tvms_c_expr(e, address), (int)kinds[0], (int)kinds[1]);
  return "0";
}

// tvm_access_ptr(type, data, offset, extent, mode)
static const char *access_pointer(c_emitter *e, const tvms_call *call) {
  tvms_dl_type type = tvms_interp_dl_type_of(source_of(e, call, 0)->dtype);
  int64_t size = (int64_t)(tvms_dl_element_size(type) * type.lanes);
  const char *data = argument(e, call, 1);
  const char *offset = tvms_c_index(e, source_of(e, call, 2));
  return value(e, call,
               tvms_c_text(e, "%s + (i64)%s * %lld", data, offset, (long long)size));
}

static const char *large_uint(c_emitter *e, const tvms_call *call) {
  const char *low = tvms_c_index(e, source_of(e, call, 0));
  const char *high = tvms_c_index(e, source_of(e, call, 1));
  return value(e, call, tvms_c_text(e, "(u64)(u32)%s | (u64)%s << 32", low, high));
}

// Another PrimFunc that takes numbers and pointers only: the arguments from `first` on.
static const char *call_member(c_emitter *e, const tvms_call *call,
                               const tvms_member *TVMS_NULLABLE member,
                               uint32_t first) {
  uint32_t count = call->args.len - first;
  const tvms_prim_func *function =
      tvms_params_callee(&e->context->memory, member, count);
  const char *name = member ? tvms_symbol_text(e->context, member->name) : "?";
  if (!function) refuse_call(e, call, name);
  tvms_dtype result = tvms_interp_result_dtype(&e->context->memory, member->function);
  bool returns = !tvms_dtype_is_void(result);
  const char *slot = returns ? tvms_c_text(e, "r%u", e->next++) : "0";
  tvms_strbuf args;
  tvms_strbuf_init(&args, &e->context->memory);
  for (uint32_t i = 0; i < count; i++) {
    const char *arg = argument(e, call, i + first);
    arg = tvms_c_convert(e, call->args.items[i + first]->dtype,
                         tvms_params_dtype(function, i), arg);
    tvms_strbuf_printf(&args, ", %s", arg);
  }
  if (returns) tvms_c_line(e, "i64 %s[1] = {0};", slot);
  tvms_c_open(e, "if (body_%s(held, %s%s))", name, slot, tvms_strbuf_text(&args));
  tvms_strbuf_fini(&args);
  tvms_c_free_from(e, 0);
  tvms_c_line(
      e, "return add_place(held, %s, %s);",
      tvms_c_literal(e, tvms_place_of_callee(e->context, member)),
      tvms_c_literal(e, tvms_place_of_caller(e->context, e->member, call->head.span)));
  tvms_c_close(e);
  if (!returns || tvms_dtype_is_void(call->head.dtype)) return "0";
  const char *type = tvms_c_memory_type(e, result, call->head.span);
  const char *got = tvms_c_text(e, "*(%s *)%s", type, slot);
  got = tvms_c_from_memory(e, result, got);
  return value(e, call, tvms_c_convert(e, result, call->head.dtype, got));
}

static bool is_half(tvms_dtype dtype) {
  return dtype.code == TVMS_FLOAT && dtype.bits == 16;
}

static const char *type_of_c(c_emitter *e, const tvms_node *node) {
  if (tvms_dtype_is_void(node->dtype)) return "void";
  if (node->kind == TVMS_NODE_STRING_IMM) return "ptr";
  if (is_half(node->dtype)) return "_Float16";
  return tvms_c_type(e, node->dtype, node->span);
}

static const char *argument_of_c(c_emitter *e, const tvms_node *arg) {
  if (arg->kind == TVMS_NODE_STRING_IMM)
    return tvms_c_text(e, "(ptr)%s",
                       tvms_c_literal(e, tvms_as_string_imm(arg)->value.text));
  const char *text = tvms_c_expr(e, arg);
  if (!is_half(arg->dtype)) return text;
  return tvms_c_text(e, "(union { u16 bits; _Float16 half; }){.bits = to_f16(%s)}.half",
                     text);
}

// What a function of C gave, as a value of the type.
static const char *given_by_c(c_emitter *e, tvms_dtype dtype, const char *made) {
  if (is_half(dtype))
    return tvms_c_text(
        e, "from_f16((union { _Float16 half; u16 bits; }){.half = %s}.bits)", made);
  if (tvms_dtype_is_bool(dtype)) return tvms_c_from_memory(e, dtype, made);
  return tvms_c_round(e, dtype, made);
}

// Declares a function of C with the types of a call, under a name of its own: other calls may have other types, and
// compilers know what some names stand for.
static const char *declare_of_c(c_emitter *e, const tvms_call *call, const char *name) {
  tvms_strbuf params;
  tvms_strbuf_init(&params, &e->context->memory);
  for (uint32_t i = 1; i < call->args.len; i++)
    tvms_strbuf_printf(&params, "%s%s", i > 1 ? ", " : "",
                       type_of_c(e, call->args.items[i]));
  const char *own = tvms_c_text(e, "of_c%u", e->foreign++);
  tvms_strbuf_printf(&e->head, "%s %s(%s) __asm__(PREFIX \"%s\");\n",
                     type_of_c(e, &call->head), own,
                     params.len ? tvms_strbuf_text(&params) : "void", name);
  tvms_strbuf_fini(&params);
  return own;
}

// A function of C that nothing here defines.
static const char *call_c(c_emitter *e, const tvms_call *call, const char *name) {
  const tvms_node *odd = tvms_meaning_not_of_c(call);
  if (odd) {
    char type[TVMS_DTYPE_TEXT];
    tvms_diag_report(&e->context->diags, TVMS_D_not_of_c, odd->span, name,
                     tvms_dtype_text(odd->dtype, type));
    tvms_c_give_up(e);
  }
  tvms_strbuf args;
  tvms_strbuf_init(&args, &e->context->memory);
  for (uint32_t i = 1; i < call->args.len; i++) {
    tvms_strbuf_printf(&args, "%s%s", i > 1 ? ", " : "",
                       argument_of_c(e, call->args.items[i]));
  }
  const char *made =
      tvms_c_text(e, "%s(%s)", declare_of_c(e, call, name), tvms_strbuf_text(&args));
  tvms_strbuf_fini(&args);
  if (!tvms_dtype_is_void(call->head.dtype))
    return value(e, call, given_by_c(e, call->head.dtype, made));
  tvms_c_line(e, "%s;", made);
  return "0";
}

// call_extern("float32", "expf", x): functions of the module, which take numbers and pointers, of libm by
// their names in C, and any other of C.
static const char *call_extern(c_emitter *e, const tvms_call *call) {
  const char *name;
  tvms_tir_opcode opcode = tvms_meaning_of_extern(call, &name);
  const tvms_member *member =
      call->args.len ? tvms_meaning_of_named(e->program, call->args.items[0]) : NULL;
  if (member) return call_member(e, call, member, 1);
  if (opcode) return call_math(e, call, &math_rows[opcode], 1);
  if (tvms_meaning_is_name_of_c(name)) return call_c(e, call, name);
  tvms_diag_report(&e->context->diags, TVMS_D_unknown_function, call->head.span, name);
  tvms_c_give_up(e);
}

static const char *call_operator(c_emitter *e, const tvms_call *call) {
  tvms_tir_opcode op = tvms_call_opcode(&call->head);
  if (math_rows[op].function) return call_math(e, call, &math_rows[op], 0);
  switch ((int)op) {
  case TVMS_TIR_likely:
  case TVMS_TIR_tvm_thread_invariant: return tvms_c_expr(e, source_of(e, call, 0));
  case TVMS_TIR_exp10:
  case TVMS_TIR_rsqrt:
  case TVMS_TIR_sigmoid: return call_formula(e, call, op);
  case TVMS_TIR_ldexp: return scale_by_power(e, call);
  case TVMS_TIR_isnan:
  case TVMS_TIR_isinf:
  case TVMS_TIR_isfinite:
    return tvms_c_classify(e, &call->head, source_of(e, call, 0), op);
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
  case TVMS_TIR_address_of:
    if (source_of(e, call, 0)->kind != TVMS_NODE_BUFFER_LOAD)
      refuse_call(e, call, "address_of");
    return value(e, call, tvms_c_address(e, call->args.items[0]));
  case TVMS_TIR_tvm_access_ptr: return access_pointer(e, call);
  case TVMS_TIR_isnullptr:
    return value(e, call, tvms_c_text(e, "(%s == 0)", argument(e, call, 0)));
  case TVMS_TIR_undef: return value(e, call, "0");
  case TVMS_TIR_assume: return "0";
  case TVMS_TIR_prefetch: return prefetch(e, call);
  case TVMS_TIR_call_llvm_intrin: {
    int64_t kinds[3];
    if (!tvms_call_prefetched(&call->head, kinds))
      refuse_call(e, call, "call_llvm_intrin");
    return prefetch(e, call);
  }
  case TVMS_TIR_handle_add_byte_offset:
  case TVMS_TIR_ptr_byte_offset: {
    const char *base = argument(e, call, 0);
    return value(
        e, call,
        tvms_c_text(e, "%s + (i64)(%s)", base, tvms_c_index(e, source_of(e, call, 1))));
  }
  case TVMS_TIR_tvm_stack_alloca: return value(e, call, tvms_c_stack_alloca(e, call));
  case TVMS_TIR_tvm_struct_get: return tvms_c_struct_get(e, call);
  case TVMS_TIR_anylist_resetitem: return tvms_c_reset_item(e, call);
  case TVMS_TIR_anylist_setitem_call_packed: return tvms_c_set_item(e, call);
  case TVMS_TIR_tvm_call_cpacked:
  case TVMS_TIR_tvm_call_packed: return tvms_c_call_packed(e, call);
  case TVMS_TIR_call_extern:
  case TVMS_TIR_call_pure_extern: return call_extern(e, call);
  default:
    refuse_call(e, call,
                tvms_symbol_text(e->context, tvms_as_operator(call->callee)->name));
  }
}

const char *tvms_c_call(c_emitter *e, const tvms_call *call) {
  if (call->callee->kind == TVMS_NODE_OPERATOR) return call_operator(e, call);
  if (call->callee->kind == TVMS_NODE_GLOBAL_VAR)
    return call_member(
        e, call, tvms_module_find(e->program, tvms_as_global_var(call->callee)->name),
        0);
  bool external = call->callee->kind == TVMS_NODE_EXTERN_FUNC;
  refuse_call(e, call, external ? tvms_as_extern_func(call->callee)->symbol.text : "?");
}
