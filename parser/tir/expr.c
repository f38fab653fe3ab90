// Nodes by their own names, built as they are: T.Add, T.Select, T.Ramp, T.BufferLoad …
#include "ir/fold.h"
#include "ir/fold_ops.h"
#include "parser/eval/convert.h"
#include "parser/tir/access.h"
#include "parser/tir/call.h"
#include "parser/tir/convert.h"
#include "parser/tir/handlers.h"

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

// Where numbers are printed without their dtype, it is the other operand's.
static tvms_node *as_other(tvms_reader *reader, const tvms_call_args *call, uint32_t i,
                           tvms_node *number, const tvms_node *other) {
  tvms_eval_value value = call->args[i];
  bool bare = reader->language && reader->language->bare_numbers
              && value.kind == TVMS_EVAL_INT && number->dtype.lanes == 1
              && tvms_dtype_is_int(other->dtype) && other->dtype.lanes == 1;
  if (!bare) return number;
  tvms_node *same =
      tvms_build_int(reader->unit, other->dtype, value.as.i, number->span);
  return same ? same : number;
}

tvms_eval_value tvms_call_raw_binary(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *a, *b;
  if (!tvms_call_two_exprs(reader, call, &a, &b)) return TVMS_UNKNOWN;
  a = as_other(reader, call, 0, a, b);
  b = as_other(reader, call, 1, b, a);
  size_t i = 0;
  while (binary_names[i].name != call->row->name) {
    i++;
  }
  return tvms_call_done(reader, tvms_build_node(reader->unit, binary_names[i].kind, a,
                                                b, tvms_call_span(reader, call)));
}

tvms_eval_value tvms_call_raw_not(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *a = tvms_call_expr_at(reader, call, 0);
  if (!a) return TVMS_UNKNOWN;
  if (!tvms_dtype_is_bool(a->dtype)) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "the operand of T.Not",
                                "a boolean", call->args[0]);
    return TVMS_UNKNOWN;
  }
  return tvms_call_done(reader,
                        tvms_not_new(reader->unit, a, tvms_call_span(reader, call)));
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
  if (!tvms_call_two_exprs(reader, call, &a, &b)) return TVMS_UNKNOWN;
  size_t i = 0;
  while (names[i].name != call->row->name) {
    i++;
  }
  return tvms_call_done(reader, tvms_bitwise_new(reader->unit, names[i].op, a, b,
                                                 tvms_call_span(reader, call)));
}

tvms_eval_value tvms_call_raw_bits_not(tvms_reader *reader,
                                       const tvms_call_args *call) {
  tvms_node *a = tvms_call_expr_at(reader, call, 0);
  if (!a) return TVMS_UNKNOWN;
  return tvms_call_done(
      reader, tvms_build_bitwise_not(reader->unit, a, tvms_call_span(reader, call)));
}

tvms_eval_value tvms_call_Select(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *condition = tvms_call_expr_at(reader, call, 0);
  tvms_node *yes = condition ? tvms_call_number_at(reader, call, 1) : NULL;
  tvms_node *no = yes ? tvms_call_number_at(reader, call, 2) : NULL;
  if (!no) return TVMS_UNKNOWN;
  return tvms_call_done(reader, tvms_build_select(reader->unit, condition, yes, no,
                                                  tvms_call_span(reader, call)));
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
  tvms_node *value = tvms_call_expr_at(reader, call, 1);
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
  return tvms_call_done(
      reader, tvms_cast_new(reader->unit, dtype, value, tvms_call_span(reader, call)));
}

tvms_eval_value tvms_call_cast(tvms_reader *reader, const tvms_call_args *call) {
  tvms_dtype dtype;
  tvms_node *value = tvms_call_expr_at(reader, call, 0);
  if (!value || !tvms_eval_to_dtype(reader, call->args[1], call->refs[1], &dtype)) {
    return tvms_reader_failed(reader);
  }
  if (!check_cast(reader, call, dtype, value)) return tvms_reader_failed(reader);
  return tvms_call_done(reader, tvms_build_cast(reader->unit, dtype, value,
                                                tvms_call_span(reader, call)));
}

tvms_eval_value tvms_call_Ramp(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *base = tvms_call_expr_at(reader, call, 0);
  tvms_node *stride = base ? tvms_call_expr_at(reader, call, 1) : NULL;
  tvms_node *lanes = stride ? tvms_call_expr_at(reader, call, 2) : NULL;
  if (!lanes) return TVMS_UNKNOWN;
  // A constant stride takes the dtype of the base.
  if (stride->kind == TVMS_NODE_INT_IMM
      && !tvms_dtype_same(stride->dtype, base->dtype)) {
    stride = tvms_build_cast(reader->unit, base->dtype, stride, stride->span);
    if (!stride) return tvms_reader_failed(reader);
  }
  return tvms_call_done(reader, tvms_build_ramp(reader->unit, base, stride, lanes,
                                                tvms_call_span(reader, call)));
}

tvms_eval_value tvms_call_Broadcast(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *value = tvms_call_number_at(reader, call, 0);
  tvms_node *lanes = value ? tvms_call_expr_at(reader, call, 1) : NULL;
  if (!lanes) return TVMS_UNKNOWN;
  return tvms_call_done(reader, tvms_build_broadcast(reader->unit, value, lanes,
                                                     tvms_call_span(reader, call)));
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
  return tvms_call_done(reader,
                        tvms_build_shuffle(reader->unit, vectors.items, vectors.len,
                                           indices.items, indices.len,
                                           tvms_call_span(reader, call)));
}

tvms_eval_value tvms_call_BufferLoad(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *buffer = tvms_eval_value_node_of(call->args[0], TVMS_NODE_BUFFER);
  tvms_eval_value predicate = tvms_args_get(reader, call, TVMS_SYM_predicate);
  tvms_list indices;
  tvms_node *guard = NULL;
  if (!buffer) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "the source of a load",
                                "a buffer", call->args[0]);
    return TVMS_UNKNOWN;
  }
  if (!tvms_eval_to_exprs(reader, call->args[1], call->refs[1], &indices))
    return TVMS_UNKNOWN;
  if (predicate.kind != TVMS_EVAL_NONE) {
    guard = tvms_eval_to_expr(reader, predicate, call->ref);
    if (!guard) return tvms_reader_failed(reader);
  }
  return tvms_call_done(reader, tvms_tir_load(reader, buffer, indices.items,
                                              indices.len, guard, call->ref));
}
