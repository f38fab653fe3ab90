// How a call of the text becomes a node, for each operator: the column `bind` of ir/ops.def.
//
// Most operators are calls of their arguments in the order of the signature, `plain`.
// The others have a function here each, because TVM's builder does something between
// text and node: it packs arguments into a tuple, takes another operator, or turns a
// Python value into an attribute.
#include "parser/relax/bind.h"

#include "arith/analyzer.h"
#include "ir/fold.h"
#include "ir/object.h"
#include "parser/eval/convert.h"
#include "parser/relax/call.h"
#include "parser/relax/convert.h"
#include "parser/relax/evidence.h"
#include "parser/relax/state.h"
#include "parser/tir/handlers.h"
#include "structinfo/make.h"

static void bind_plain(tvms_relax_op_call *call) {
  tvms_relax_bind_params(call, 0);
}

static void bind_packed(tvms_relax_op_call *call) {
  tvms_relax_bind_params(call, 0);
}

// A number of Python among the two operands of an operator. TVM has one of 32 bits there; it
// prints one of 64 bits in the same way, so the other operand decides between both.
static void type_number(tvms_relax_op_call *call, uint32_t place) {
  tvms_unit *unit = call->reader->unit;
  tvms_eval_value value = call->values[place], other = call->values[1 - place];
  const tvms_node *type = other.kind == TVMS_EVAL_NODE ? other.as.node->sinfo : NULL;
  if (!type || !tvms_sinfo_is_tensor(type)) return;
  tvms_dtype int32 = TVMS_DTYPE(INT, 32), float32 = TVMS_DTYPE(FLOAT, 32);
  tvms_span span = tvms_reader_span_of(call->reader, call->refs[place]);
  tvms_node *number = NULL;
  if (value.kind == TVMS_EVAL_INT && tvms_dtype_same(type->dtype, int32))
    number = tvms_int_imm_new(unit, int32, value.as.i, span);
  if (value.kind == TVMS_EVAL_FLOAT && tvms_dtype_same(type->dtype, float32))
    number = tvms_float_imm_new(unit, float32, value.as.f, span);
  if (value.kind == TVMS_EVAL_BOOL)
    number = tvms_bool_imm_new(unit, value.as.i != 0, span);
  if (number) call->values[place] = tvms_eval_value_node(number);
}

// Up to 0.25 R.prim_value(2) has 64 bits, and is also what TVM prints for a number of 32.
static void type_printed_number(tvms_relax_op_call *call, uint32_t place) {
  tvms_eval_value value = call->values[place];
  if (value.kind != TVMS_EVAL_NODE || value.as.node->kind != TVMS_NODE_PRIM_VALUE)
    return;
  const tvms_node *number = tvms_as_prim_value(value.as.node)->value;
  if (!tvms_node_is_int_imm(number) || number->dtype.bits != 64) return;
  call->values[place] = tvms_eval_value_int(tvms_as_int_imm(number)->value);
  type_number(call, place);
  if (call->values[place].kind == TVMS_EVAL_INT) call->values[place] = value;
}

static void bind_binary(tvms_relax_op_call *call) {
  bool bare = tvms_release_has(call->reader->dialect, TVMS_FACT_scalars_are_tir);
  const tvms_relax_state *relax = tvms_relax_of(call->reader);
  for (uint32_t i = 0; i < 2; i++) {
    if (bare)
      type_number(call, i);
    else if (relax && relax->reading.printed)
      type_printed_number(call, i);
  }
  tvms_relax_bind_params(call, 0);
}

// The arguments of a call whose result type is stated are not needed to go on: what is
// unknown among them becomes a placeholder, so that the result has its type.
static void patch_arguments(tvms_relax_op_call *call) {
  tvms_reader *reader = call->reader;
  if (call->sound || call->type_args.len != 1) return;
  reader->failed = true;
  call->args.len = 0;
  tvms_node *var =
      tvms_var_new(reader->unit, TVMS_SYM_x, (tvms_dtype){0}, TVMS_NO_SPAN);
  var->sinfo = tvms_sinfo_object_new(reader->unit);
  for (uint32_t i = 0; i < 2; i++) {
    tvms_relax_give(call, var, call->ref);
  }
  call->sound = true;
}

static void bind_call_tir(tvms_relax_op_call *call) {
  tvms_relax_bind_params(call, 0);
  const tvms_signature *signature = call->signature->signature;
  if (!call->sound && call->values[0].kind == TVMS_EVAL_NODE) {
    tvms_ref type_ref = call->ref;
    for (uint32_t i = 0; i < signature->count; i++) {
      bool given = call->values[i].kind != TVMS_EVAL_NONE;
      if (call->signature->kinds[i] == TVMS_ARG_TYPE && given) type_ref = call->refs[i];
    }
    tvms_relax_explain_call_tir(call->reader, call->values[0].as.node, call->refs[1],
                                type_ref);
  }
  patch_arguments(call);
}

static void bind_print(tvms_relax_op_call *call) {
  tvms_eval_value format = call->values[1];
  tvms_relax_give(call, tvms_relax_to_value(call->reader, format, call->refs[1]),
                  call->refs[1]);
  bool bools = tvms_relax_hands_bools(call->reader);
  tvms_eval_value rest = call->values[0];
  for (uint32_t i = 0; i < rest.len; i++) {
    tvms_relax_give(
        call,
        tvms_relax_to_value_as(call->reader, rest.as.items[i], bools, call->refs[0]),
        call->refs[0]);
  }
}

// The values of R.assert_op(condition, format_args, format), as TVM reads them, or of
// R.assert_op(condition, x, y, format=…), as it prints them.
static void bind_assert_op(tvms_relax_op_call *call) {
  tvms_reader *reader = call->reader;
  tvms_eval_value rest = call->values[1], more = call->values[2],
                  format = call->values[3];
  tvms_ref ref = call->refs[1];
  tvms_eval_items items = {rest.as.items, rest.len};
  if (format.kind == TVMS_EVAL_NONE && items.len == 2)
    format = items.items[--items.len];
  if (more.kind != TVMS_EVAL_NONE) {
    items = (tvms_eval_items){&more, 1};
    ref = call->refs[2];
  }
  if (format.kind == TVMS_EVAL_NONE) format = tvms_eval_value_text("", 0);
  tvms_relax_give(call, tvms_relax_argument(call, 0), call->refs[0]);
  tvms_relax_give(call, tvms_relax_to_value(reader, format, call->refs[3]),
                  call->refs[3]);
  if (items.len == 1 && items.items[0].kind == TVMS_EVAL_NONE) return;
  if (items.len == 1 && tvms_eval_value_is_sequence(items.items[0])) {
    items = (tvms_eval_items){items.items[0].as.items, items.items[0].len};
  }
  for (uint32_t i = 0; i < items.len; i++) {
    tvms_relax_give(call, tvms_relax_to_value(reader, items.items[i], ref), ref);
  }
}

// The arguments become one tuple. As printed, with ty_args=, they are one already.
static void bind_call_py_func(tvms_relax_op_call *call) {
  tvms_reader *reader = call->reader;
  tvms_eval_value rest = call->values[1];
  uint32_t types = 2;
  bool printed = call->values[2].kind == TVMS_EVAL_NONE;
  if (printed) types = call->signature->signature->count - 1;
  if (call->values[types].kind == TVMS_EVAL_NONE) {
    tvms_eval_report_missing_argument(
        reader, call->ref, "R.call_py_func",
        !tvms_release_has(reader->dialect, TVMS_FACT_types_are_called_ty) ? "out_sinfo"
                                                                          : "out_ty");
    call->sound = false;
    return;
  }
  tvms_relax_give(call, tvms_relax_argument(call, 0), call->refs[0]);
  if (printed && rest.len == 1) rest = rest.as.items[0];
  tvms_relax_give(call, tvms_relax_to_value(reader, rest, call->refs[1]),
                  call->refs[1]);
  call->sound = tvms_relax_take_types(call, types, false) && call->sound;
  patch_arguments(call);
}

// The device index is an argument since 0.25.
static void bind_alloc_tensor(tvms_relax_op_call *call) {
  tvms_relax_bind_params(call, 0);
  if (!tvms_release_has(call->reader->dialect, TVMS_FACT_alloc_tensor_has_device)
      && call->args.len > 4)
    call->args.len = 4;
}

static void bind_eye(tvms_relax_op_call *call) {
  if (call->values[1].kind == TVMS_EVAL_NONE) call->values[1] = call->values[0];
  tvms_relax_bind_params(call, 0);
}

static bool is_integer_value(tvms_eval_value value) {
  if (value.kind == TVMS_EVAL_INT || value.kind == TVMS_EVAL_BOOL) return true;
  if (value.kind != TVMS_EVAL_NODE) return false;
  const tvms_node *node = value.as.node;
  if (node->kind == TVMS_NODE_PRIM_VALUE) node = tvms_as_prim_value(node)->value;
  return node->dtype.code == TVMS_INT && node->dtype.lanes == 1;
}

static void bind_arange(tvms_relax_op_call *call) {
  if (call->values[1].kind == TVMS_EVAL_NONE) {
    call->values[1] = call->values[0];
    call->refs[1] = call->refs[0];
    call->values[0] = tvms_eval_value_int(0);
  }
  if (call->values[3].kind == TVMS_EVAL_NONE) {
    bool integers = is_integer_value(call->values[0])
                    && is_integer_value(call->values[1])
                    && is_integer_value(call->values[2]);
    call->values[3] = integers ? tvms_eval_value_text("int64", 5)
                               : tvms_eval_value_text("float32", 7);
  }
  tvms_relax_bind_params(call, 0);
}

// With a bias it is the operator nn.attention_bias, without one nn.attention.
static void bind_attention(tvms_relax_op_call *call) {
  bool biased = call->values[3].kind != TVMS_EVAL_NONE;
  call->op = biased ? TVMS_R_nn_attention_bias : TVMS_R_nn_attention;
  tvms_relax_bind_params(call, 0);
}

static int64_t ndim_of(tvms_eval_value value) {
  const tvms_node *type = value.kind == TVMS_EVAL_NODE ? value.as.node->sinfo : NULL;
  return type && tvms_sinfo_is_tensor(type) ? tvms_as_sinfo_tensor(type)->ndim
                                            : TVMS_UNKNOWN_NDIM;
}

// Written: queries, keys, values, seqstart_q, max_seqlen_q, seqstart_k, max_seqlen_k.
static void bind_attention_var_len(tvms_relax_op_call *call) {
  if (call->values[5].kind == TVMS_EVAL_NONE) call->values[5] = call->values[3];
  if (call->values[6].kind == TVMS_EVAL_NONE) call->values[6] = call->values[4];
  // As printed, the two starts stand before the two lengths.
  bool printed = ndim_of(call->values[4]) == 1 && ndim_of(call->values[5]) == 0;
  if (!printed) {
    tvms_eval_value longest = call->values[4];
    call->values[4] = call->values[5];
    call->values[5] = longest;
  }
  tvms_relax_bind_params(call, 0);
}

static void bind_hint_on_device(tvms_relax_op_call *call) {
  tvms_reader *reader = call->reader;
  tvms_relax_give(call, tvms_relax_argument(call, 0), call->refs[0]);
  tvms_eval_value device = call->values[1];
  if (device.kind != TVMS_EVAL_TUPLE || device.len != 2) {
    tvms_eval_report_wrong_type(reader, call->refs[1], "the device", "R.device(…)",
                                device);
    call->sound = false;
    reader->failed = true;
    return;
  }
  for (uint32_t i = 0; i < 2; i++) {
    call->attrs[i] = tvms_object_int_new(reader->unit, device.as.items[i].as.i,
                                         tvms_reader_span_of(reader, call->refs[1]));
  }
  bool scoped =
      call->signature->signature->count > 2 && call->signature->places[2] >= 0;
  if (scoped) tvms_relax_take_attr(call, 2);
}

static tvms_dtype element_of(const tvms_node *node) {
  return node->sinfo && tvms_sinfo_is_tensor(node->sinfo) ? node->sinfo->dtype
                                                          : (tvms_dtype){0};
}

// The padding takes the type of the elements.
static void bind_layout_transform(tvms_relax_op_call *call) {
  tvms_reader *reader = call->reader;
  tvms_node *x = tvms_relax_argument(call, 0);
  tvms_relax_give(call, x, call->refs[0]);
  const tvms_signature *signature = call->signature->signature;
  tvms_eval_value pad = call->values[2];
  tvms_dtype dtype = x ? element_of(x) : (tvms_dtype){0};
  double number = pad.kind == TVMS_EVAL_FLOAT ? pad.as.f : (double)pad.as.i;
  tvms_span span = tvms_reader_span_of(reader, call->refs[2]);
  tvms_node *padding = NULL;
  if (pad.kind == TVMS_EVAL_INT || pad.kind == TVMS_EVAL_FLOAT) {
    if (tvms_dtype_is_int(dtype) || tvms_dtype_is_uint(dtype)) {
      padding = tvms_build_int(reader->unit, dtype, (int64_t)number, span);
    } else if (tvms_dtype_is_real(dtype)) {
      padding = tvms_build_float(reader->unit, dtype, number, span);
    }
    if (padding)
      call->values[2] = tvms_eval_value_node(tvms_relax_prim(reader, padding));
  }
  if (call->values[1].kind == TVMS_EVAL_LAMBDA) {
    tvms_eval_value values[] = {call->values[1], TVMS_NOTHING,
                                tvms_eval_value_text("int64", 5)};
    tvms_ref refs[] = {call->refs[1], call->refs[1], call->refs[1]};
    tvms_call_args map = {.ref = call->refs[1], .args = values, .refs = refs};
    call->values[1] = tvms_call_index_map(reader, &map);
  }
  for (uint32_t i = 1; i < signature->count; i++) {
    if (i > 2 && call->values[i].kind == TVMS_EVAL_NONE) {
      call->values[i] = tvms_eval_value_items(TVMS_EVAL_LIST, NULL, 0);
    }
    if (call->signature->places[i] >= 0) tvms_relax_take_attr(call, i);
  }
}

// -1 stands for the length that is left over, 0 for the one of the input.
static tvms_node *TVMS_NULLABLE left_over(tvms_prover *prover, tvms_list old,
                                          tvms_list new) {
  tvms_node *whole = tvms_dim_product(prover, old);
  tvms_node *rest = tvms_sinfo_dim_new(prover->unit, 1);
  for (uint32_t i = 0; i < new.len &&rest; i++) {
    int64_t length;
    if (tvms_sinfo_dim_int(new.items[i], &length) && length <= 0) continue;
    rest = tvms_dim_binary(prover, TVMS_NODE_MUL, rest, new.items[i]);
  }
  if (!whole || !rest) return NULL;
  tvms_node *left = tvms_dim_binary(prover, TVMS_NODE_FLOOR_DIV, whole, rest);
  return left ? tvms_arith_simplify(prover->unit, left) : NULL;
}

static bool resolve_reshape(tvms_relax_op_call *call, const tvms_node *x,
                            tvms_node **shape) {
  tvms_reader *reader = call->reader;
  tvms_prover *prover = tvms_relax_of(reader)->prover;
  tvms_list given = tvms_as_shape_expr(*shape)->values, old = {NULL, 0};
  tvms_list dims = tvms_list_copy(reader->unit, given.items, given.len);
  int32_t wanted = -1;
  bool open = false;
  for (uint32_t i = 0; i < dims.len; i++) {
    int64_t length;
    if (!tvms_sinfo_dim_int(dims.items[i], &length) || length > 0) continue;
    if (length < -1 || (length == -1 && wanted >= 0)) {
      tvms_reader_report(reader, reshape_lengths, call->refs[1]);
      return false;
    }
    open = true;
    if (length == -1) wanted = (int32_t)i;
  }
  if (!open) return true;
  if (!x->sinfo || !tvms_sinfo_dims(x->sinfo, &old)) {
    tvms_reader_report(reader, reshape_unknown, call->refs[1]);
    return false;
  }
  for (uint32_t i = 0; i < dims.len; i++) {
    int64_t length;
    bool zero = tvms_sinfo_dim_int(dims.items[i], &length) && length == 0;
    if (zero && i < old.len) dims.items[i] = old.items[i];
  }
  if (wanted >= 0) {
    dims.items[wanted] = left_over(prover, old, dims);
    if (!dims.items[wanted]) return false;
  }
  *shape =
      tvms_sinfo_shape_value_new(reader->unit, dims.items, dims.len, (*shape)->span);
  return true;
}

static void bind_reshape(tvms_relax_op_call *call) {
  tvms_node *x = tvms_relax_argument(call, 0), *shape = tvms_relax_argument(call, 1);
  if (x && shape && shape->kind == TVMS_NODE_SHAPE_EXPR
      && !resolve_reshape(call, x, &shape)) {
    shape = NULL;
    call->reader->failed = true;
  }
  tvms_relax_give(call, x, call->refs[0]);
  tvms_relax_give(call, shape, call->refs[1]);
}

static void bind_sharding(tvms_relax_op_call *call) {
  tvms_relax_bind_params(call, 0);
}

// What is absent is an empty tuple; an absent data type is the null object.
static void bind_view(tvms_relax_op_call *call) {
  tvms_reader *reader = call->reader;
  tvms_relax_give(call, tvms_relax_argument(call, 0), call->refs[0]);
  for (uint32_t i = 1; i < 4; i++) {
    if (call->values[i].kind != TVMS_EVAL_NONE) {
      tvms_relax_give(call, tvms_relax_argument(call, i), call->refs[i]);
    } else if (i == 2
               && tvms_release_has(reader->dialect, TVMS_FACT_views_take_null_dtypes)) {
      tvms_eval_value null =
          tvms_relax_make_simple(reader, TVMS_R_null_value, NULL, 0, call->refs[i]);
      tvms_relax_give(call, null.kind == TVMS_EVAL_NODE ? null.as.node : NULL,
                      call->refs[i]);
    } else {
      tvms_relax_give(call, tvms_relax_tuple(reader, NULL, 0, TVMS_NO_SPAN),
                      call->refs[i]);
    }
  }
}

typedef void bind_fn(tvms_relax_op_call *call);

static bind_fn *const binders[] = {
#define OP(ident, name, schema, bind, ...) [TVMS_R_##ident] = bind_##bind,
#include "ir/ops.def"
};

void tvms_relax_bind_operator(tvms_relax_op_call *call) {
  binders[call->op](call);
}
