// Calls of operators: arguments bound to the signature in ops.def, and what some
// operators make of them.
#include "parser/relax/bind.h"

#include "arith/analyzer.h"
#include "ir/fold.h"
#include "ir/object.h"
#include "parser/eval/call.h"
#include "parser/eval/convert.h"
#include "parser/relax/attrs.h"
#include "parser/relax/convert.h"
#include "parser/relax/evidence.h"
#include "parser/relax/internal.h"
#include "parser/relax/prototype.h"
#include "parser/relax/signature.h"
#include "parser/relax/types.h"
#include "structinfo/make.h"

#include <string.h>

// A call being bound: parameters by index, then what the node will hold.
typedef struct {
  tvms_reader *reader;
  tvms_opcode op;
  tvms_ref ref;
  const tvms_op_signature *signature;
  tvms_eval_value values[TVMS_MAX_PARAMS];
  tvms_ref refs[TVMS_MAX_PARAMS];
  TVMS_VEC(tvms_node *) args;
  TVMS_VEC(tvms_span) spans;  // of args
  tvms_node *attrs[16];
  tvms_list type_args;
  bool sound;  // everything is known
} op_call;

typedef void bind_fn(op_call *call);

static tvms_memory *memory_of(op_call *call) {
  return &call->reader->context->memory;
}

static void give(op_call *call, tvms_node *TVMS_NULLABLE node, tvms_ref ref) {
  if (!node) {
    call->sound = false;
    return;
  }
  tvms_vec_push(memory_of(call), &call->args, node);
  tvms_vec_push(memory_of(call), &call->spans, tvms_reader_span_of(call->reader, ref));
}

// ---- Arguments by kind ----

// The condition of R.assert_op may be a tensor of one element.
static bool is_no_scalar(const op_call *call, tvms_eval_value value) {
  if (value.kind == TVMS_EVAL_TUPLE || value.kind == TVMS_EVAL_LIST) return true;
  const tvms_node *node = value.kind == TVMS_EVAL_NODE ? value.as.node : NULL;
  return node && node->sinfo && tvms_sinfo_is_tensor(node->sinfo)
         && call->op != TVMS_R_assert_op;
}

static tvms_node *TVMS_NULLABLE prim_of(op_call *call, tvms_eval_value value,
                                        tvms_ref ref) {
  if (is_no_scalar(call, value)) {
    tvms_eval_report_wrong_type(call->reader, ref, "this argument", "a scalar", value);
    call->reader->failed = true;
    return NULL;
  }
  return tvms_relax_to_prim(call->reader, value, ref);
}

static tvms_node *TVMS_NULLABLE shape_of(op_call *call, tvms_eval_value value,
                                         tvms_ref ref, uint32_t repeat) {
  bool number = value.kind == TVMS_EVAL_INT;
  if (value.kind == TVMS_EVAL_NODE && !value.as.node->sinfo) number = true;
  bool one = value.len == 1 && tvms_eval_value_is_sequence(value);
  if (repeat == 0 || !(number || one))
    return tvms_relax_to_shape(call->reader, value, ref);
  tvms_eval_value items[3];
  for (uint32_t i = 0; i < repeat; i++) {
    items[i] = one ? value.as.items[0] : value;
  }
  return tvms_relax_to_shape(
      call->reader, tvms_eval_value_items(TVMS_EVAL_TUPLE, items, repeat), ref);
}

// The size of a storage is a shape; TVM lets others pass, which fails when it runs.
static tvms_node *TVMS_NULLABLE size_of(op_call *call, tvms_eval_value value,
                                        tvms_ref ref) {
  bool shape = value.kind != TVMS_EVAL_INT && !tvms_eval_value_is_sequence(value);
  if (!shape && !call->reader->lenient) {
    tvms_reader_report(call->reader, storage_size, ref,
                       tvms_eval_describe(call->reader, value));
  }
  return tvms_relax_to_value(call->reader, value, ref);
}

static bool has_tuple_type(const tvms_node *node) {
  return node->sinfo && node->sinfo->kind == TVMS_NODE_SINFO_TUPLE;
}

// Arguments of call_tir and its kind: one value becomes a tuple of one.
static tvms_node *TVMS_NULLABLE args_of(op_call *call, tvms_eval_value value,
                                        tvms_ref ref) {
  tvms_reader *reader = call->reader;
  tvms_node *node = tvms_relax_to_value(reader, value, ref);
  if (!node || node->kind == TVMS_NODE_TUPLE) return node;
  if (has_tuple_type(node)) return node;
  if (!reader->lenient && tvms_reader_at(reader, ref)->parens) {
    tvms_diag *diag = tvms_reader_report(reader, lone_parens, ref);
    tvms_relax_explain_parens(reader, diag, ref);
  }
  return tvms_relax_tuple(reader, &node, 1, tvms_reader_span_of(reader, ref));
}

static tvms_node *extern_func(tvms_reader *reader, tvms_eval_value name, tvms_ref ref) {
  tvms_extern_func *func =
      tvms_node_make(reader->unit, EXTERN_FUNC, tvms_reader_span_of(reader, ref));
  func->symbol = tvms_bytes_copy(reader->unit, name.as.text, name.len);
  tvms_node *object = tvms_sinfo_object_new(reader->unit);
  func->head.sinfo = tvms_sinfo_func_new_opaque(reader->unit, object, false);
  return &func->head;
}

static tvms_node *TVMS_NULLABLE callee_of(op_call *call, tvms_eval_value value,
                                          tvms_ref ref) {
  if (value.kind == TVMS_EVAL_STR) return extern_func(call->reader, value, ref);
  return tvms_relax_to_value(call->reader, value, ref);
}

static tvms_node *TVMS_NULLABLE dtype_of(op_call *call, tvms_eval_value value,
                                         tvms_ref ref) {
  tvms_reader *reader = call->reader;
  if (value.kind == TVMS_EVAL_NODE && tvms_relax_is_expr(value.as.node)) {
    return value.as.node;
  }
  tvms_dtype dtype;
  if (!tvms_eval_to_dtype(reader, value, ref, &dtype)) return NULL;
  tvms_dtype_imm *imm =
      tvms_node_make(reader->unit, DTYPE_IMM, tvms_reader_span_of(reader, ref));
  imm->value = dtype;
  imm->head.sinfo = tvms_sinfo_object_new(reader->unit);
  return &imm->head;
}

static tvms_node *TVMS_NULLABLE argument(op_call *call, uint32_t i) {
  tvms_eval_value value = call->values[i];
  tvms_ref ref = call->refs[i];
  if (value.kind == TVMS_EVAL_UNKNOWN) {
    call->reader->failed = true;
    return NULL;
  }
  switch ((int)call->signature->kinds[i]) {
  case TVMS_ARG_SHAPE: return shape_of(call, value, ref, 0);
  case TVMS_ARG_SHAPE2: return shape_of(call, value, ref, 2);
  case TVMS_ARG_SHAPE3: return shape_of(call, value, ref, 3);
  case TVMS_ARG_SIZE: return size_of(call, value, ref);
  case TVMS_ARG_PRIM: return prim_of(call, value, ref);
  case TVMS_ARG_ARGS: return args_of(call, value, ref);
  case TVMS_ARG_DTYPE: return dtype_of(call, value, ref);
  case TVMS_ARG_FUNC: return tvms_relax_to_value(call->reader, value, ref);
  case TVMS_ARG_EXTERN: return callee_of(call, value, ref);
  case TVMS_ARG_VALUE:
  case TVMS_ARG_TUPLE:
  case TVMS_ARG_STR:
  case TVMS_ARG_EXPR:
  case TVMS_ARG_TYPE:
  case TVMS_ARG_OTHER: break;
  }
  return tvms_relax_to_value(call->reader, value, ref);
}

static void give_rest(op_call *call, uint32_t i) {
  tvms_eval_value rest = call->values[i];
  for (uint32_t k = 0; k < rest.len; k++) {
    give(call, tvms_relax_to_value(call->reader, rest.as.items[k], call->refs[i]),
         call->refs[i]);
  }
}

// Types of the result: one, or a list of them.
static bool take_types(op_call *call, uint32_t i, bool several) {
  tvms_reader *reader = call->reader;
  tvms_eval_value value = call->values[i];
  if (value.kind == TVMS_EVAL_NONE) return true;
  tvms_list types;
  if (!tvms_relax_to_types(reader, value, call->refs[i], &types)) return false;
  if (!several && types.len != 1) {
    tvms_node *tuple = tvms_sinfo_tuple_new(reader->unit, types.items, types.len);
    types = tvms_list_copy(reader->unit, &tuple, 1);
  }
  call->type_args = types;
  return true;
}

static void take_attr(op_call *call, uint32_t i) {
  int place = call->signature->places[i];
  const tvms_attr_row *row = &tvms_op_schema(call->op)->rows[place];
  call->sound = tvms_relax_to_attr(call->reader, row, call->values[i], call->refs[i],
                                   &call->attrs[place])
                && call->sound;
}

// Everything that has no meaning of its own: arguments in order, attributes, types.
static void bind_params(op_call *call, uint32_t first) {
  const tvms_signature *signature = call->signature->signature;
  for (uint32_t i = first; i < signature->count; i++) {
    if (call->signature->places[i] >= 0) {
      take_attr(call, i);
    } else if (signature->params[i].kind == TVMS_PARAM_REST) {
      give_rest(call, i);
    } else if (call->signature->kinds[i] == TVMS_ARG_TYPE) {
      const char *name =
          tvms_symbol_text(call->reader->context, signature->params[i].name);
      bool several = strncmp(name, "out_", 4) != 0;
      call->sound = take_types(call, i, several) && call->sound;
    } else if (call->values[i].kind != TVMS_EVAL_NONE
               || signature->params[i].required) {
      give(call, argument(call, i), call->refs[i]);
    }
  }
}

static void bind_plain(op_call *call) {
  bind_params(call, 0);
}

// ---- Operators with rules of their own ----

static void bind_packed(op_call *call) {
  bind_params(call, 0);
}

// The arguments of a call whose result type is stated are not needed to go on: what is
// unknown among them becomes a placeholder, so that the result has its type.
static void patch_arguments(op_call *call) {
  tvms_reader *reader = call->reader;
  if (call->sound || call->type_args.len != 1) return;
  reader->failed = true;
  call->args.len = 0;
  tvms_node *var =
      tvms_var_new(reader->unit, TVMS_SYM_x, (tvms_dtype){0}, TVMS_NO_SPAN);
  var->sinfo = tvms_sinfo_object_new(reader->unit);
  for (uint32_t i = 0; i < 2; i++) {
    give(call, var, call->ref);
  }
  call->sound = true;
}

static void bind_call_tir(op_call *call) {
  bind_params(call, 0);
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

static void bind_print(op_call *call) {
  tvms_eval_value format = call->values[1];
  give(call, tvms_relax_to_value(call->reader, format, call->refs[1]), call->refs[1]);
  bool before = tvms_relax_take_bools(call->reader);
  give_rest(call, 0);
  call->reader->relax->bools = before;
}

// The values of R.assert_op(condition, format_args, format), as TVM reads them, or of
// R.assert_op(condition, x, y, format=…), as it prints them.
static void bind_assert_op(op_call *call) {
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
  give(call, argument(call, 0), call->refs[0]);
  give(call, tvms_relax_to_value(reader, format, call->refs[3]), call->refs[3]);
  if (items.len == 1 && items.items[0].kind == TVMS_EVAL_NONE) return;
  if (items.len == 1 && tvms_eval_value_is_sequence(items.items[0])) {
    items = (tvms_eval_items){items.items[0].as.items, items.items[0].len};
  }
  for (uint32_t i = 0; i < items.len; i++) {
    give(call, tvms_relax_to_value(reader, items.items[i], ref), ref);
  }
}

// The arguments become one tuple. As printed, with ty_args=, they are one already.
static void bind_call_py_func(op_call *call) {
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
  give(call, argument(call, 0), call->refs[0]);
  if (printed && rest.len == 1) rest = rest.as.items[0];
  give(call, tvms_relax_to_value(reader, rest, call->refs[1]), call->refs[1]);
  call->sound = take_types(call, types, false) && call->sound;
  patch_arguments(call);
}

// The device index is an argument since 0.25.
static void bind_alloc_tensor(op_call *call) {
  bind_params(call, 0);
  if (!tvms_release_has(call->reader->dialect, TVMS_FACT_alloc_tensor_has_device)
      && call->args.len > 4)
    call->args.len = 4;
}

static void bind_eye(op_call *call) {
  if (call->values[1].kind == TVMS_EVAL_NONE) call->values[1] = call->values[0];
  bind_params(call, 0);
}

static bool is_integer_value(tvms_eval_value value) {
  if (value.kind == TVMS_EVAL_INT || value.kind == TVMS_EVAL_BOOL) return true;
  if (value.kind != TVMS_EVAL_NODE) return false;
  const tvms_node *node = value.as.node;
  if (node->kind == TVMS_NODE_PRIM_VALUE) node = tvms_as_prim_value(node)->value;
  return node->dtype.code == TVMS_INT && node->dtype.lanes == 1;
}

static void bind_arange(op_call *call) {
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
  bind_params(call, 0);
}

// With a bias it is the operator nn.attention_bias, without one nn.attention.
static void bind_attention(op_call *call) {
  bool biased = call->values[3].kind != TVMS_EVAL_NONE;
  call->op = biased ? TVMS_R_nn_attention_bias : TVMS_R_nn_attention;
  bind_params(call, 0);
}

static int64_t ndim_of(tvms_eval_value value) {
  const tvms_node *type = value.kind == TVMS_EVAL_NODE ? value.as.node->sinfo : NULL;
  return type && tvms_sinfo_is_tensor(type) ? tvms_as_sinfo_tensor(type)->ndim
                                            : TVMS_UNKNOWN_NDIM;
}

// Written: queries, keys, values, seqstart_q, max_seqlen_q, seqstart_k, max_seqlen_k.
static void bind_attention_var_len(op_call *call) {
  if (call->values[5].kind == TVMS_EVAL_NONE) call->values[5] = call->values[3];
  if (call->values[6].kind == TVMS_EVAL_NONE) call->values[6] = call->values[4];
  // As printed, the two starts stand before the two lengths.
  bool printed = ndim_of(call->values[4]) == 1 && ndim_of(call->values[5]) == 0;
  if (!printed) {
    tvms_eval_value longest = call->values[4];
    call->values[4] = call->values[5];
    call->values[5] = longest;
  }
  bind_params(call, 0);
}

static void bind_hint_on_device(op_call *call) {
  tvms_reader *reader = call->reader;
  give(call, argument(call, 0), call->refs[0]);
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
  if (scoped) take_attr(call, 2);
}

static tvms_dtype element_of(const tvms_node *node) {
  return node->sinfo && tvms_sinfo_is_tensor(node->sinfo) ? node->sinfo->dtype
                                                          : (tvms_dtype){0};
}

// The padding takes the type of the elements.
static void bind_layout_transform(op_call *call) {
  tvms_reader *reader = call->reader;
  tvms_node *x = argument(call, 0);
  give(call, x, call->refs[0]);
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
    if (call->signature->places[i] >= 0) take_attr(call, i);
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

static bool resolve_reshape(op_call *call, const tvms_node *x, tvms_node **shape) {
  tvms_reader *reader = call->reader;
  tvms_prover *prover = reader->relax->prover;
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

static void bind_reshape(op_call *call) {
  tvms_node *x = argument(call, 0), *shape = argument(call, 1);
  if (x && shape && shape->kind == TVMS_NODE_SHAPE_EXPR
      && !resolve_reshape(call, x, &shape)) {
    shape = NULL;
    call->reader->failed = true;
  }
  give(call, x, call->refs[0]);
  give(call, shape, call->refs[1]);
}

static void bind_sharding(op_call *call) {
  bind_params(call, 0);
}

// What is absent is an empty tuple; an absent data type is the null object.
static void bind_view(op_call *call) {
  tvms_reader *reader = call->reader;
  give(call, argument(call, 0), call->refs[0]);
  for (uint32_t i = 1; i < 4; i++) {
    if (call->values[i].kind != TVMS_EVAL_NONE) {
      give(call, argument(call, i), call->refs[i]);
    } else if (i == 2
               && tvms_release_has(reader->dialect, TVMS_FACT_views_take_null_dtypes)) {
      tvms_eval_value null =
          tvms_relax_make_simple(reader, TVMS_R_null_value, NULL, 0, call->refs[i]);
      give(call, null.kind == TVMS_EVAL_NODE ? null.as.node : NULL, call->refs[i]);
    } else {
      give(call, tvms_relax_tuple(reader, NULL, 0, TVMS_NO_SPAN), call->refs[i]);
    }
  }
}

static bind_fn *const binders[] = {
#define OP(ident, name, schema, bind, ...) [TVMS_R_##ident] = bind_##bind,
#include "ir/ops.def"
};

// ---- Making the node ----

tvms_eval_value tvms_relax_finish_call(tvms_reader *reader, tvms_call *call,
                                       const tvms_span *TVMS_NULLABLE spans) {
  tvms_inference in = {.prover = reader->relax->prover,
                       .unit = reader->unit,
                       .module = reader->module,
                       .builder = &reader->relax->builder,
                       .call = call,
                       .arg_spans = spans};
  call->head.sinfo = tvms_infer_call(&in);
  if (!call->head.sinfo) {
    return tvms_reader_failed(reader);
  }
  return tvms_eval_value_node(&call->head);
}

tvms_eval_value tvms_relax_make_call(tvms_reader *reader, tvms_opcode op,
                                     tvms_node *const *args, uint32_t count,
                                     tvms_list attrs, tvms_list type_args,
                                     const tvms_span *spans, tvms_ref ref) {
  tvms_call *call =
      tvms_node_make(reader->unit, CALL, tvms_reader_span_of(reader, ref));
  call->callee = tvms_op_operator_new(reader->unit, op);
  call->args = tvms_list_copy(reader->unit, args, count);
  call->attrs = attrs;
  call->type_args = type_args;
  return tvms_relax_finish_call(reader, call, spans);
}

tvms_eval_value tvms_relax_make_simple(tvms_reader *reader, tvms_opcode op,
                                       tvms_node *const *args, uint32_t count,
                                       tvms_ref ref) {
  tvms_list none = {NULL, 0};
  uint32_t attrs = tvms_op_schema(op)->count;
  tvms_list unset = none;
  if (attrs > 0) {
    unset.items = tvms_arena_array(&reader->unit->arena, tvms_node *, attrs);
    unset.len = attrs;
  }
  return tvms_relax_make_call(reader, op, args, count, unset, none, NULL, ref);
}

static void default_layout(op_call *call) {
  const tvms_attr_schema *schema = tvms_op_schema(call->op);
  int out = tvms_attr_find(schema, "out_layout", 10);
  if (out < 0 || call->attrs[out]) return;
  int data = tvms_attr_find(schema, "data_layout", 11);
  if (data < 0) data = tvms_attr_find(schema, "layout", 6);
  if (data >= 0) call->attrs[out] = call->attrs[data];
}

// Text that no parameter gives is empty.
static void default_texts(op_call *call) {
  const tvms_attr_schema *schema = tvms_op_schema(call->op);
  for (uint32_t i = 0; i < schema->count; i++) {
    if (call->attrs[i] || schema->rows[i].type != TVMS_ATTR_STR) continue;
    call->attrs[i] = tvms_object_str_new(call->reader->unit, "", 0, TVMS_NO_SPAN);
  }
}

static tvms_eval_value finish(op_call *call) {
  tvms_reader *reader = call->reader;
  if (!call->sound) {
    return tvms_reader_failed(reader);
  }
  default_layout(call);
  default_texts(call);
  tvms_list attrs =
      tvms_list_copy(reader->unit, call->attrs, tvms_op_schema(call->op)->count);
  return tvms_relax_make_call(reader, call->op, call->args.items, call->args.len, attrs,
                              call->type_args, call->spans.items, call->ref);
}

// The prototype gives the shape where the type of the result stands, and its dtype apart.
static void join_result(op_call *call) {
  uint32_t last = call->signature->signature->count;
  if (!tvms_release_has(call->reader->dialect, TVMS_FACT_is_prototype) || last-- == 0
      || call->signature->kinds[last] != TVMS_ARG_OTHER
      || call->values[last].kind == TVMS_EVAL_NONE) {
    return;
  }
  for (uint32_t i = 0; i < last; i++) {
    bool given = call->values[i].kind != TVMS_EVAL_NONE;
    if (call->signature->kinds[i] != TVMS_ARG_TYPE || !given) continue;
    call->values[i] =
        tvms_prototype_result(call->reader, call->values[i], call->refs[i],
                              call->values[last], call->refs[last]);
  }
  call->values[last] = TVMS_NOTHING;
}

// What a call that lacks arguments gives in a wrong form whatever place it was meant for:
// types, and numbers for shapes.
static void check_given(op_call *call, uint64_t given) {
  for (uint32_t i = 0; i < call->signature->signature->count; i++) {
    tvms_eval_value value = call->values[i];
    tvms_arg_kind kind = (tvms_arg_kind)call->signature->kinds[i];
    if (!(given >> i & 1) || kind == TVMS_ARG_TYPE) continue;
    if (kind == TVMS_ARG_SIZE && value.kind == TVMS_EVAL_INT) {
      size_of(call, value, call->refs[i]);
    }
    bool type = value.kind == TVMS_EVAL_NODE
                && tvms_node_class_of(value.as.node) == TVMS_CLASS_SINFO;
    if (type)
      tvms_eval_report_wrong_type(call->reader, call->refs[i], "this argument",
                                  "a value", value);
  }
}

tvms_eval_value tvms_relax_call_op(tvms_reader *reader, tvms_opcode op, tvms_ref ref) {
  op_call call = {.reader = reader, .op = op, .ref = ref, .sound = true};
  uint64_t given;
  call.signature = tvms_relax_op_signature(reader, op);
  const char *name = tvms_op_of(op)->name;
  tvms_eval_value result = TVMS_UNKNOWN;
  if (tvms_signature_bind(reader, call.signature->signature, name, 0, ref, call.values,
                          call.refs, &given)) {
    join_result(&call);
    binders[op](&call);
    result = finish(&call);
  } else {
    check_given(&call, given);
    reader->failed = true;
  }
  tvms_vec_fini(memory_of(&call), &call.args);
  tvms_vec_fini(memory_of(&call), &call.spans);
  return result;
}
