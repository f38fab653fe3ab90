// Nodes by their own names (T.Add, T.Select, T.Ramp …), the operators that fold, and the
// objects of TIR: ranges, iterators, reducers, index maps, targets.
#include "parser/tir/expr.h"

#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/fold_ops.h"
#include "ir/object.h"
#include "parser/eval/closure.h"
#include "parser/eval/convert.h"
#include "parser/eval/origin.h"
#include "parser/tir/access.h"
#include "parser/tir/convert.h"
#include "parser/tir/names.h"
#include "parser/tir/operator.h"

#include <string.h>

static tvms_node *expr_at(tvms_reader *reader, const tvms_call_args *call, uint32_t i) {
  tvms_node *node = tvms_eval_to_expr(reader, call->args[i], call->refs[i]);
  if (!node) reader->failed = true;
  return node;
}

// From 0.26 on pointers are no operands.
static tvms_node *number_at(tvms_reader *reader, const tvms_call_args *call,
                            uint32_t i) {
  tvms_node *node = expr_at(reader, call, i);
  if (!node || tvms_release_has(reader->dialect, TVMS_FACT_pointers_are_numbers)
      || !tvms_dtype_is_handle(node->dtype))
    return node;
  tvms_reader_report(reader, wrong_dtype_for, call->ref,
                     tvms_symbol_text(reader->context, call->row->name), "handle");
  reader->failed = true;
  return NULL;
}

static tvms_span span_at(const tvms_reader *reader, const tvms_call_args *call) {
  return tvms_reader_span_of(reader, call->ref);
}

static bool two_exprs(tvms_reader *reader, const tvms_call_args *call, tvms_node **a,
                      tvms_node **b) {
  *a = expr_at(reader, call, 0);
  *b = *a ? expr_at(reader, call, 1) : NULL;
  return *b != NULL;
}

static tvms_eval_value done(tvms_reader *reader, tvms_node *node) {
  return node ? tvms_eval_value_node(node) : tvms_reader_failed(reader);
}

// ---- Nodes as they are ----------------------------------------------------------------------

static const struct {
  tvms_sym name;
  tvms_node_kind kind;
} binary_names[] = {
    {TVMS_SYM_Add, TVMS_NODE_ADD},
    {TVMS_SYM_Sub, TVMS_NODE_SUB},
    {TVMS_SYM_Mul, TVMS_NODE_MUL},
    {TVMS_SYM_Div, TVMS_NODE_DIV},
    {TVMS_SYM_Mod, TVMS_NODE_MOD},
    {TVMS_SYM_FloorDiv, TVMS_NODE_FLOOR_DIV},
    {TVMS_SYM_FloorMod, TVMS_NODE_FLOOR_MOD},
    {TVMS_SYM_Min, TVMS_NODE_MIN},
    {TVMS_SYM_Max, TVMS_NODE_MAX},
    {TVMS_SYM_EQ, TVMS_NODE_EQ},
    {TVMS_SYM_NE, TVMS_NODE_NE},
    {TVMS_SYM_LT, TVMS_NODE_LT},
    {TVMS_SYM_LE, TVMS_NODE_LE},
    {TVMS_SYM_GT, TVMS_NODE_GT},
    {TVMS_SYM_GE, TVMS_NODE_GE},
    {TVMS_SYM_And, TVMS_NODE_AND},
    {TVMS_SYM_Or, TVMS_NODE_OR},
};

// In a type of Relax a number is printed without its dtype, which is the other operand's.
static tvms_node *as_other(tvms_reader *reader, const tvms_call_args *call, uint32_t i,
                           tvms_node *number, const tvms_node *other) {
  tvms_eval_value value = call->args[i];
  bool bare = reader->relax && value.kind == TVMS_EVAL_INT && number->dtype.lanes == 1
              && tvms_dtype_is_int(other->dtype) && other->dtype.lanes == 1;
  if (!bare) return number;
  tvms_node *same =
      tvms_build_int(reader->unit, other->dtype, value.as.i, number->span);
  return same ? same : number;
}

tvms_eval_value tvms_call_raw_binary(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *a, *b;
  if (!two_exprs(reader, call, &a, &b)) return TVMS_UNKNOWN;
  a = as_other(reader, call, 0, a, b);
  b = as_other(reader, call, 1, b, a);
  size_t i = 0;
  while (binary_names[i].name != call->row->name) {
    i++;
  }
  return done(reader, tvms_build_node(reader->unit, binary_names[i].kind, a, b,
                                      span_at(reader, call)));
}

tvms_eval_value tvms_call_raw_not(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *a = expr_at(reader, call, 0);
  if (!a) return TVMS_UNKNOWN;
  if (!tvms_dtype_is_bool(a->dtype)) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "what T.Not takes", "a boolean",
                                call->args[0]);
    return TVMS_UNKNOWN;
  }
  return done(reader, tvms_not_new(reader->unit, a, span_at(reader, call)));
}

// T.BitwiseAnd and so on of 0.27: the operators, unfolded.
tvms_eval_value tvms_call_raw_bits(tvms_reader *reader, const tvms_call_args *call) {
  static const struct {
    tvms_sym name;
    tvms_tir_opcode op;
  } names[] = {
      {TVMS_SYM_BitwiseAnd, TVMS_TIR_bitwise_and},
      {TVMS_SYM_BitwiseOr, TVMS_TIR_bitwise_or},
      {TVMS_SYM_BitwiseXor, TVMS_TIR_bitwise_xor},
      {TVMS_SYM_LShift, TVMS_TIR_shift_left},
      {TVMS_SYM_RShift, TVMS_TIR_shift_right},
  };
  tvms_node *a, *b;
  if (!two_exprs(reader, call, &a, &b)) return TVMS_UNKNOWN;
  size_t i = 0;
  while (names[i].name != call->row->name) {
    i++;
  }
  return done(reader,
              tvms_bitwise_new(reader->unit, names[i].op, a, b, span_at(reader, call)));
}

tvms_eval_value tvms_call_raw_bits_not(tvms_reader *reader,
                                       const tvms_call_args *call) {
  tvms_node *a = expr_at(reader, call, 0);
  if (!a) return TVMS_UNKNOWN;
  return done(reader, tvms_build_bitwise_not(reader->unit, a, span_at(reader, call)));
}

tvms_eval_value tvms_call_Select(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *condition = expr_at(reader, call, 0);
  tvms_node *yes = condition ? number_at(reader, call, 1) : NULL;
  tvms_node *no = yes ? number_at(reader, call, 2) : NULL;
  if (!no) return TVMS_UNKNOWN;
  return done(reader, tvms_build_select(reader->unit, condition, yes, no,
                                        span_at(reader, call)));
}

// From 0.26 on pointers are not cast.
static bool check_cast(tvms_reader *reader, const tvms_call_args *call,
                       tvms_dtype dtype, const tvms_node *value) {
  char from[TVMS_DTYPE_TEXT], to[TVMS_DTYPE_TEXT];
  bool pointer = tvms_dtype_is_handle(dtype) || tvms_dtype_is_handle(value->dtype);
  if (!pointer || tvms_release_has(reader->dialect, TVMS_FACT_pointers_are_numbers))
    return true;
  tvms_reader_report(reader, cannot_cast, call->ref,
                     tvms_dtype_text(value->dtype, from), tvms_dtype_text(dtype, to));
  return false;
}

tvms_eval_value tvms_call_Cast(tvms_reader *reader, const tvms_call_args *call) {
  tvms_dtype dtype;
  tvms_node *value = expr_at(reader, call, 1);
  if (!value || !tvms_eval_to_dtype(reader, call->args[0], call->refs[0], &dtype)) {
    return tvms_reader_failed(reader);
  }
  char from[TVMS_DTYPE_TEXT], to[TVMS_DTYPE_TEXT];
  if (!check_cast(reader, call, dtype, value)) return tvms_reader_failed(reader);
  if (dtype.lanes != value->dtype.lanes) {
    tvms_reader_report(reader, lanes_differ, call->ref,
                       tvms_dtype_text(value->dtype, from), tvms_dtype_text(dtype, to));
    return tvms_reader_failed(reader);
  }
  return done(reader, tvms_cast_new(reader->unit, dtype, value, span_at(reader, call)));
}

tvms_eval_value tvms_call_cast(tvms_reader *reader, const tvms_call_args *call) {
  tvms_dtype dtype;
  tvms_node *value = expr_at(reader, call, 0);
  if (!value || !tvms_eval_to_dtype(reader, call->args[1], call->refs[1], &dtype)) {
    return tvms_reader_failed(reader);
  }
  if (!check_cast(reader, call, dtype, value)) return tvms_reader_failed(reader);
  return done(reader,
              tvms_build_cast(reader->unit, dtype, value, span_at(reader, call)));
}

tvms_eval_value tvms_call_Ramp(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *base = expr_at(reader, call, 0);
  tvms_node *stride = base ? expr_at(reader, call, 1) : NULL;
  tvms_node *lanes = stride ? expr_at(reader, call, 2) : NULL;
  if (!lanes) return TVMS_UNKNOWN;
  // A constant stride takes the dtype of the base.
  if (stride->kind == TVMS_NODE_INT_IMM
      && !tvms_dtype_same(stride->dtype, base->dtype)) {
    stride = tvms_build_cast(reader->unit, base->dtype, stride, stride->span);
    if (!stride) return tvms_reader_failed(reader);
  }
  return done(reader, tvms_build_ramp(reader->unit, base, stride, lanes,
                                      span_at(reader, call)));
}

tvms_eval_value tvms_call_Broadcast(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *value = number_at(reader, call, 0);
  tvms_node *lanes = value ? expr_at(reader, call, 1) : NULL;
  if (!lanes) return TVMS_UNKNOWN;
  return done(reader,
              tvms_build_broadcast(reader->unit, value, lanes, span_at(reader, call)));
}

tvms_eval_value tvms_call_Shuffle(tvms_reader *reader, const tvms_call_args *call) {
  tvms_list vectors, indices;
  for (uint32_t i = 0; i < 2; i++) {
    if (tvms_eval_value_is_sequence(call->args[i])) continue;
    tvms_eval_report_wrong_type(reader, call->refs[i], NULL, "a list", call->args[i]);
    return tvms_reader_failed(reader);
  }
  if (!tvms_eval_to_exprs(reader, call->args[0], call->refs[0], &vectors)
      || !tvms_eval_to_exprs(reader, call->args[1], call->refs[1], &indices)) {
    return tvms_reader_failed(reader);
  }
  return done(reader,
              tvms_build_shuffle(reader->unit, vectors.items, vectors.len,
                                 indices.items, indices.len, span_at(reader, call)));
}

tvms_eval_value tvms_call_BufferLoad(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *buffer = tvms_eval_value_node_of(call->args[0], TVMS_NODE_BUFFER);
  tvms_eval_value predicate = tvms_args_get(reader, call, TVMS_SYM_predicate);
  tvms_list indices;
  tvms_node *guard = NULL;
  if (!buffer) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "what is loaded from",
                                "a buffer", call->args[0]);
    return TVMS_UNKNOWN;
  }
  if (!tvms_eval_to_exprs(reader, call->args[1], call->refs[1], &indices))
    return TVMS_UNKNOWN;
  if (predicate.kind != TVMS_EVAL_NONE) {
    guard = tvms_eval_to_expr(reader, predicate, call->ref);
    if (!guard) return tvms_reader_failed(reader);
  }
  return done(reader, tvms_tir_load(reader, buffer, indices.items, indices.len, guard,
                                    call->ref));
}

// ---- Operators that fold --------------------------------------------------------------------

static tvms_node *build_named(tvms_reader *reader, tvms_sym name, tvms_node *a,
                              tvms_node *b, tvms_span span) {
  tvms_unit *unit = reader->unit;
  switch (name) {
  case TVMS_SYM_min: return tvms_build_binary(unit, TVMS_NODE_MIN, a, b, span);
  case TVMS_SYM_max: return tvms_build_binary(unit, TVMS_NODE_MAX, a, b, span);
  case TVMS_SYM_floordiv:
    return tvms_build_binary(unit, TVMS_NODE_FLOOR_DIV, a, b, span);
  case TVMS_SYM_floormod:
    return tvms_build_binary(unit, TVMS_NODE_FLOOR_MOD, a, b, span);
  case TVMS_SYM_truncmod: return tvms_build_binary(unit, TVMS_NODE_MOD, a, b, span);
  case TVMS_SYM_truncdiv: return tvms_build_trunc_div(unit, a, b, span);
  default: return tvms_build_ceil_div(unit, a, b, span);
  }
}

static tvms_node *power(tvms_reader *reader, tvms_node *a, tvms_node *b,
                        tvms_span span) {
  if (!tvms_build_match_dtypes(reader->unit, &a, &b, span)) return NULL;
  if (!tvms_dtype_is_real(a->dtype)) {
    char buffer[TVMS_DTYPE_TEXT];
    tvms_diag_report(&reader->context->diags, TVMS_D_wrong_dtype_for, span, "T.pow",
                     tvms_dtype_text(a->dtype, buffer));
    return NULL;
  }
  tvms_node *args[] = {a, b};
  return tvms_call_new_of(reader->unit, a->dtype, TVMS_TIR_pow, args, 2, span);
}

static tvms_tir_opcode bits_of(tvms_sym name) {
  switch (name) {
  case TVMS_SYM_shift_left: return TVMS_TIR_shift_left;
  case TVMS_SYM_shift_right: return TVMS_TIR_shift_right;
  case TVMS_SYM_bitwise_and: return TVMS_TIR_bitwise_and;
  case TVMS_SYM_bitwise_or: return TVMS_TIR_bitwise_or;
  case TVMS_SYM_bitwise_xor: return TVMS_TIR_bitwise_xor;
  default: return TVMS_TIR_NONE;
  }
}

tvms_eval_value tvms_call_fold_binary(tvms_reader *reader, const tvms_call_args *call) {
  tvms_tir_opcode bits = bits_of(call->row->name);
  if (bits) {
    return done(reader,
                tvms_eval_bits(reader, bits, call->args[0], call->args[1], call->ref));
  }
  tvms_node *a, *b;
  if (!two_exprs(reader, call, &a, &b)) return TVMS_UNKNOWN;
  tvms_span span = span_at(reader, call);
  if (call->row->name == TVMS_SYM_pow) return done(reader, power(reader, a, b, span));
  return done(reader, build_named(reader, call->row->name, a, b, span));
}

static tvms_tir_opcode rounding_op(tvms_sym name) {
  switch (name) {
  case TVMS_SYM_floor: return TVMS_TIR_floor;
  case TVMS_SYM_ceil: return TVMS_TIR_ceil;
  case TVMS_SYM_trunc: return TVMS_TIR_trunc;
  case TVMS_SYM_round: return TVMS_TIR_round;
  default: return TVMS_TIR_nearbyint;
  }
}

// floor, ceil, trunc, round, nearbyint: nothing to do for integers.
static tvms_node *rounded(tvms_reader *reader, tvms_sym name, tvms_node *a,
                          tvms_span span) {
  bool whole = a->dtype.code == TVMS_INT || a->dtype.code == TVMS_UINT
               || tvms_dtype_is_bool(a->dtype);
  if (whole) return a;
  if (a->kind == TVMS_NODE_FLOAT_IMM) {
    double value = tvms_as_float_imm(a)->value;
    switch (name) {
    case TVMS_SYM_floor: value = __builtin_floor(value); break;
    case TVMS_SYM_ceil: value = __builtin_ceil(value); break;
    case TVMS_SYM_trunc: value = __builtin_trunc(value); break;
    default: value = __builtin_nearbyint(value); break;
    }
    return tvms_float_imm_new(reader->unit, a->dtype, value, span);
  }
  return tvms_call_new_of(reader->unit, a->dtype, rounding_op(name), &a, 1, span);
}

tvms_eval_value tvms_call_fold_unary(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *a = number_at(reader, call, 0);
  if (!a) return TVMS_UNKNOWN;
  tvms_span span = span_at(reader, call);
  tvms_unit *unit = reader->unit;
  switch (call->row->name) {
  case TVMS_SYM_fabs:
  case TVMS_SYM_abs: return done(reader, tvms_build_abs(unit, a, span));
  case TVMS_SYM_isnan: return done(reader, tvms_build_isnan(unit, a, span));
  case TVMS_SYM_isinf: return done(reader, tvms_build_isinf(unit, a, span));
  case TVMS_SYM_isfinite: return done(reader, tvms_build_isfinite(unit, a, span));
  case TVMS_SYM_likely: return done(reader, tvms_build_likely(unit, a, span));
  case TVMS_SYM_bitwise_not: return done(reader, tvms_build_bitwise_not(unit, a, span));
  default: return done(reader, rounded(reader, call->row->name, a, span));
  }
}

tvms_eval_value tvms_call_if_then_else(tvms_reader *reader,
                                       const tvms_call_args *call) {
  tvms_node *condition = expr_at(reader, call, 0);
  tvms_node *yes = condition ? number_at(reader, call, 1) : NULL;
  tvms_node *no = yes ? number_at(reader, call, 2) : NULL;
  if (!no) return TVMS_UNKNOWN;
  return done(reader, tvms_build_if_then_else(reader->unit, condition, yes, no,
                                              span_at(reader, call)));
}

// ---- Ranges and iterators -------------------------------------------------------------------

tvms_node *tvms_tir_extent_between(tvms_reader *reader, tvms_node *begin,
                                   tvms_node *end, tvms_span span) {
  if (end->kind == TVMS_NODE_ADD && tvms_reader_has_printed_header(reader)) {
    const tvms_binary *sum = tvms_as_binary(end);
    if (tvms_node_equal(reader->context, sum->a, begin)) return sum->b;
    if (tvms_node_equal(reader->context, sum->b, begin)) return sum->a;
  }
  return tvms_build_binary(reader->unit, TVMS_NODE_SUB, end, begin, span);
}

// From `begin` to `end`; NULL after a report.
static tvms_node *range_between(tvms_reader *reader, tvms_node *begin, tvms_node *end,
                                tvms_span span) {
  tvms_node *extent = tvms_tir_extent_between(reader, begin, end, span);
  return extent ? tvms_range_new(reader->unit, begin, extent, span) : NULL;
}

// T.Range(begin, end), I.Range(extent).
tvms_eval_value tvms_call_Range(tvms_reader *reader, const tvms_call_args *call) {
  tvms_span span = span_at(reader, call);
  tvms_node *begin = expr_at(reader, call, 0);
  if (!begin) return TVMS_UNKNOWN;
  if (call->args[1].kind == TVMS_EVAL_NONE) {
    tvms_node *zero = tvms_int_imm_new(reader->unit, begin->dtype, 0, TVMS_NO_SPAN);
    return tvms_eval_value_node(tvms_range_new(reader->unit, zero, begin, span));
  }
  tvms_node *end = expr_at(reader, call, 1);
  return done(reader, end ? range_between(reader, begin, end, span) : NULL);
}

static const struct {
  const char *name;
  tvms_iter_type type;
} iter_types[] = {
    {"DataPar", TVMS_ITER_DATA_PAR},       {"ThreadIndex", TVMS_ITER_THREAD_INDEX},
    {"CommReduce", TVMS_ITER_COMM_REDUCE}, {"Ordered", TVMS_ITER_ORDERED},
    {"Opaque", TVMS_ITER_OPAQUE},          {"Unrolled", TVMS_ITER_UNROLLED},
    {"Vectorized", TVMS_ITER_VECTORIZED},  {"Parallelized", TVMS_ITER_PARALLELIZED},
    {"Tensorized", TVMS_ITER_TENSORIZED},
};

static bool iter_type_named(tvms_reader *reader, tvms_eval_value name, tvms_ref ref,
                            uint32_t *type) {
  for (size_t i = 0; i < sizeof iter_types / sizeof iter_types[0]; i++) {
    if (!tvms_eval_value_is_exactly(name, iter_types[i].name)) continue;
    *type = iter_types[i].type;
    return true;
  }
  tvms_eval_report_wrong_type(reader, ref, "the kind of an iterator",
                              "one of its names", name);
  return false;
}

// A domain: None, a range, or a pair (begin, end).
static bool dom_of(tvms_reader *reader, tvms_eval_value dom, tvms_ref ref,
                   tvms_node **range) {
  *range = tvms_eval_value_node_of(dom, TVMS_NODE_RANGE);
  if (*range || dom.kind == TVMS_EVAL_NONE) return true;
  if (!tvms_eval_value_is_sequence(dom) || dom.len != 2) {
    tvms_eval_report_wrong_type(reader, ref, "a domain", "a range or None", dom);
    return false;
  }
  tvms_node *begin = tvms_eval_to_expr(reader, dom.as.items[0], ref);
  tvms_node *end = begin ? tvms_eval_to_expr(reader, dom.as.items[1], ref) : NULL;
  if (end) *range = range_between(reader, begin, end, tvms_reader_span_of(reader, ref));
  return *range != NULL;
}

// The variable of an iterator: given, or of a name and the dtype of the domain.
static tvms_node *iter_var_of(tvms_reader *reader, tvms_eval_value var,
                              const tvms_node *dom, tvms_ref ref) {
  tvms_dtype dtype = dom ? tvms_as_range(dom)->extent->dtype : TVMS_DTYPE(INT, 32);
  tvms_node *given = tvms_eval_value_node_of(var, TVMS_NODE_VAR);
  if (given && (!dom || tvms_dtype_same(given->dtype, dtype))) return given;
  if (var.kind == TVMS_EVAL_NONE) var = tvms_eval_value_text("iter", 4);
  if (var.kind == TVMS_EVAL_STR) {
    return tvms_var_new(reader->unit,
                        tvms_symbol_intern(reader->context, var.as.text, var.len),
                        dtype, tvms_reader_span_of(reader, ref));
  }
  tvms_eval_report_wrong_type(reader, ref, "what runs over a domain",
                              "a name, or a variable of the dtype of the domain", var);
  return NULL;
}

enum { ITER_DOM, ITER_VAR, ITER_TYPE, ITER_TAG, ITER_PARTS };

static tvms_eval_value make_iter_var(tvms_reader *reader, const tvms_eval_value *parts,
                                     uint32_t type, tvms_ref ref) {
  tvms_bytes tag;
  tvms_iter_var *node =
      tvms_node_make(reader->unit, ITER_VAR, tvms_reader_span_of(reader, ref));
  if (!dom_of(reader, parts[ITER_DOM], ref, &node->dom)
      || !tvms_eval_to_text(reader, parts[ITER_TAG], ref, &tag)) {
    return tvms_reader_failed(reader);
  }
  node->var = iter_var_of(reader, parts[ITER_VAR], node->dom, ref);
  if (!node->var) return tvms_reader_failed(reader);
  node->iter_type = type;
  node->head.dtype = node->var->dtype;
  if (tag.len)
    node->thread_tag = tvms_symbol_intern(reader->context, tag.text, tag.len);
  return tvms_eval_value_node(&node->head);
}

// T.iter_var(var, dom, "CommReduce", tag).
tvms_eval_value tvms_call_iter_var(tvms_reader *reader, const tvms_call_args *call) {
  uint32_t type;
  tvms_eval_value parts[ITER_PARTS];
  parts[ITER_VAR] = call->args[0];
  parts[ITER_DOM] = call->args[1];
  parts[ITER_TAG] = call->args[3];
  if (!iter_type_named(reader, call->args[2], call->refs[2], &type))
    return TVMS_UNKNOWN;
  return make_iter_var(reader, parts, type, call->ref);
}

// T.IterVar(dom, var, 2, tag): the kind is a number.
tvms_eval_value tvms_call_IterVar(tvms_reader *reader, const tvms_call_args *call) {
  int64_t type;
  if (!tvms_eval_to_int(reader, call->args[ITER_TYPE], call->refs[ITER_TYPE], &type)) {
    return TVMS_UNKNOWN;
  }
  if (type < 0 || type > TVMS_ITER_TENSORIZED) {
    tvms_eval_report_wrong_type(reader, call->refs[ITER_TYPE],
                                "the kind of an iterator", "one of T.IterVar's",
                                call->args[ITER_TYPE]);
    return TVMS_UNKNOWN;
  }
  return make_iter_var(reader, call->args, (uint32_t)type, call->ref);
}

// ---- Reducers and index maps ----------------------------------------------------------------

// One expression, or a sequence of them.
static bool to_nodes(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                     tvms_list *list) {
  tvms_eval_items items = tvms_eval_items_of(&value);
  list->items = tvms_arena_array(&reader->unit->arena, tvms_node *, items.len);
  list->len = items.len;
  for (uint32_t i = 0; i < items.len; i++) {
    list->items[i] = tvms_eval_to_expr(reader, items.items[i], ref);
    if (!list->items[i]) return false;
  }
  return true;
}

// A sequence of expressions; parameter `at` of CALL.
static bool list_at(tvms_reader *reader, const tvms_call_args *call, uint32_t at,
                    tvms_list *list) {
  if (tvms_eval_value_is_sequence(call->args[at])) {
    return to_nodes(reader, call->args[at], call->refs[at], list);
  }
  tvms_eval_report_wrong_type(reader, call->refs[at], NULL, "a list", call->args[at]);
  return false;
}

// The iterators of a reduction.
static bool axes_at(tvms_reader *reader, const tvms_call_args *call, uint32_t at,
                    tvms_list *list) {
  tvms_eval_value axes = call->args[at];
  bool sound = tvms_eval_value_is_sequence(axes);
  list->items = tvms_arena_array(&reader->unit->arena, tvms_node *, axes.len);
  list->len = axes.len;
  for (uint32_t i = 0; sound && i < axes.len; i++) {
    list->items[i] = tvms_eval_value_node_of(axes.as.items[i], TVMS_NODE_ITER_VAR);
    sound = list->items[i] != NULL;
  }
  if (!sound) {
    tvms_eval_report_wrong_type(reader, call->refs[at], "what is reduced over",
                                "a list of iterators", axes);
  }
  return sound;
}

// Fresh variables for the parameters of a lambda; `dtypes` gives their types, repeated.
static tvms_eval_value *lambda_vars(tvms_reader *reader, tvms_eval_value lambda,
                                    const tvms_dtype *dtypes, uint32_t dtype_count,
                                    uint32_t *count) {
  const tvms_closure *closure = lambda.as.closure;
  tvms_ref params = tvms_reader_at(reader, closure->ref)->a;
  *count = tvms_surface_count(reader->surface, params);
  tvms_eval_value *vars = tvms_arena_array(&reader->values, tvms_eval_value, *count);
  uint32_t i = 0;
  tvms_surface_each(reader->surface, ref, params) {
    tvms_dtype dtype = dtype_count ? dtypes[i % dtype_count] : TVMS_DTYPE(INT, 32);
    vars[i++] =
        tvms_eval_value_node(tvms_var_new(reader->unit, tvms_reader_at(reader, ref)->a,
                                          dtype, tvms_reader_span_of(reader, ref)));
  }
  return vars;
}

static tvms_list list_of_vars(tvms_reader *reader, const tvms_eval_value *vars,
                              uint32_t count) {
  tvms_list list = {tvms_arena_array(&reader->unit->arena, tvms_node *, count), count};
  for (uint32_t i = 0; i < count; i++) {
    list.items[i] = vars[i].as.node;
  }
  return list;
}

static tvms_eval_value make_reducer(tvms_reader *reader, tvms_list lhs, tvms_list rhs,
                                    tvms_list result, tvms_list identity,
                                    tvms_ref ref) {
  tvms_comm_reducer *node =
      tvms_node_make(reader->unit, COMM_REDUCER, tvms_reader_span_of(reader, ref));
  node->lhs = lhs;
  node->rhs = rhs;
  node->result = result;
  node->identity = identity;
  return tvms_eval_value_node(&node->head);
}

tvms_eval_value tvms_call_comm_reducer(tvms_reader *reader,
                                       const tvms_call_args *call) {
  tvms_list identity, result;
  if (call->args[0].kind != TVMS_EVAL_LAMBDA) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "a combiner", "a lambda",
                                call->args[0]);
    return TVMS_UNKNOWN;
  }
  if (!list_at(reader, call, 1, &identity)) return TVMS_UNKNOWN;
  tvms_dtype *dtypes = tvms_arena_array(&reader->values, tvms_dtype, identity.len);
  for (uint32_t i = 0; i < identity.len; i++) {
    dtypes[i] = identity.items[i]->dtype;
  }
  uint32_t count;
  tvms_eval_value *vars =
      lambda_vars(reader, call->args[0], dtypes, identity.len, &count);
  tvms_eval_value value = tvms_closure_call_lambda(
      reader, call->args[0], TVMS_EVALUATOR_PYTHON, vars, count, call->refs[0]);
  if (!to_nodes(reader, value, call->refs[0], &result))
    return tvms_reader_failed(reader);
  uint32_t size = identity.len;
  if (!size || count != 2 * size || result.len != size) {
    tvms_reader_report(reader, reducer_size, call->ref, size, 2 * size, size, count,
                       result.len);
    return tvms_reader_failed(reader);
  }
  tvms_list lhs = list_of_vars(reader, vars, count / 2);
  tvms_list rhs = list_of_vars(reader, vars + count / 2, count - count / 2);
  return make_reducer(reader, lhs, rhs, result, identity, call->ref);
}

tvms_eval_value tvms_call_CommReducer(tvms_reader *reader, const tvms_call_args *call) {
  tvms_list lists[4];
  for (uint32_t i = 0; i < 4; i++) {
    if (!list_at(reader, call, i, &lists[i])) return tvms_reader_failed(reader);
  }
  return make_reducer(reader, lists[0], lists[1], lists[2], lists[3], call->ref);
}

// T.Reduce(combiner, src, rdom, condition, value_index, init=None), and what the printer
// makes of it: T.reduce(combiner, source=…, init=…, axis=…, condition=…, value_index=…).
static tvms_eval_value make_reduce(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *combiner = tvms_eval_value_node_of(call->args[0], TVMS_NODE_COMM_REDUCER);
  if (!combiner) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "the combiner",
                                "T.comm_reducer(…)", call->args[0]);
    return TVMS_UNKNOWN;
  }
  tvms_reduce *node = tvms_node_make(reader->unit, REDUCE, span_at(reader, call));
  node->combiner = combiner;
  node->condition = expr_at(reader, call, 3);
  bool starts = call->args[5].kind != TVMS_EVAL_NONE;
  if (!node->condition || !list_at(reader, call, 1, &node->source)
      || !axes_at(reader, call, 2, &node->axis)
      || !tvms_eval_to_int(reader, call->args[4], call->refs[4], &node->value_index)
      || (starts && !list_at(reader, call, 5, &node->init))) {
    return tvms_reader_failed(reader);
  }
  if (node->value_index < 0 || node->value_index >= node->source.len) {
    tvms_reader_report(reader, index_out_of_range, call->refs[4], node->source.len);
    return tvms_reader_failed(reader);
  }
  node->head.dtype = node->source.items[node->value_index]->dtype;
  return tvms_eval_value_node(&node->head);
}

tvms_eval_value tvms_call_Reduce(tvms_reader *reader, const tvms_call_args *call) {
  return make_reduce(reader, call);
}

tvms_eval_value tvms_call_reduce(tvms_reader *reader, const tvms_call_args *call) {
  enum { COMBINER, SOURCE, INIT, AXIS, CONDITION, VALUE_INDEX, COUNT };
  static const uint8_t order[COUNT] = {COMBINER,  SOURCE,      AXIS,
                                       CONDITION, VALUE_INDEX, INIT};
  tvms_eval_value args[COUNT];
  tvms_ref refs[COUNT];
  for (uint32_t i = 0; i < COUNT; i++) {
    args[i] = call->args[order[i]];
    refs[i] = call->refs[order[i]];
  }
  tvms_call_args sorted = *call;
  sorted.args = args;
  sorted.refs = refs;
  return make_reduce(reader, &sorted);
}

static tvms_eval_value make_index_map(tvms_reader *reader, tvms_eval_value lambda,
                                      tvms_dtype dtype, tvms_ref ref) {
  uint32_t count;
  tvms_eval_value *vars = lambda_vars(reader, lambda, &dtype, 1, &count);
  // TVM prints conditions in it as it prints them elsewhere, and cannot read that.
  tvms_eval_value value = tvms_closure_call_lambda(
      reader, lambda, TVMS_EVALUATOR_PRINTED, vars, count, ref);
  tvms_index_map *node =
      tvms_node_make(reader->unit, INDEX_MAP, tvms_reader_span_of(reader, ref));
  node->initial_indices = list_of_vars(reader, vars, count);
  if (!to_nodes(reader, value, ref, &node->final_indices))
    return tvms_reader_failed(reader);
  return tvms_eval_value_node(&node->head);
}

tvms_node *tvms_tir_lambda_operand(tvms_reader *reader, tvms_eval_value lambda,
                                   tvms_ref ref) {
  if (lambda.kind != TVMS_EVAL_LAMBDA) {
    tvms_eval_report_wrong_type(reader, ref, NULL, "a lambda", lambda);
    return NULL;
  }
  tvms_eval_value map = make_index_map(reader, lambda, TVMS_DTYPE(INT, 32), ref);
  return tvms_eval_value_is_known(map) ? map.as.node : NULL;
}

tvms_eval_value tvms_call_index_map(tvms_reader *reader, const tvms_call_args *call) {
  tvms_dtype dtype;
  tvms_eval_value inverse = call->args[1];
  if (!tvms_eval_to_dtype(reader, call->args[2], call->refs[2], &dtype))
    return TVMS_UNKNOWN;
  if (call->args[0].kind != TVMS_EVAL_LAMBDA) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "an index map", "a lambda",
                                call->args[0]);
    return TVMS_UNKNOWN;
  }
  tvms_eval_value map = make_index_map(reader, call->args[0], dtype, call->refs[0]);
  if (inverse.kind != TVMS_EVAL_LAMBDA || !tvms_eval_value_is_known(map)) return map;
  tvms_eval_value other = make_index_map(reader, inverse, dtype, call->refs[1]);
  if (tvms_eval_value_is_known(other)) {
    tvms_as_index_map(map.as.node)->inverse = other.as.node;
  }
  return map;
}
