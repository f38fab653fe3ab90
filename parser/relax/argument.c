// Arguments of an operator of Relax as nodes, each by the kind of its parameter.
#include "parser/relax/argument.h"

#include "parser/eval/convert.h"
#include "parser/relax/attrs.h"
#include "parser/relax/convert.h"
#include "parser/relax/state.h"
#include "parser/relax/types.h"
#include "structinfo/make.h"

#include <string.h>

static tvms_memory *memory_of(tvms_relax_op_call *call) {
  return &call->reader->context->memory;
}

void tvms_relax_give(tvms_relax_op_call *call, tvms_node *TVMS_NULLABLE node,
                     tvms_ref ref) {
  if (!node) {
    call->sound = false;
    return;
  }
  tvms_vec_push(memory_of(call), &call->args, node);
  tvms_vec_push(memory_of(call), &call->spans, tvms_reader_span_of(call->reader, ref));
}

// The condition of R.assert_op may be a tensor of one element.
static bool is_no_scalar(const tvms_relax_op_call *call, tvms_eval_value value) {
  if (value.kind == TVMS_EVAL_TUPLE || value.kind == TVMS_EVAL_LIST) return true;
  const tvms_node *node = value.kind == TVMS_EVAL_NODE ? value.as.node : NULL;
  return node && node->sinfo && tvms_sinfo_is_tensor(node->sinfo)
         && call->op != TVMS_R_assert_op;
}

static tvms_node *TVMS_NULLABLE prim_of(tvms_relax_op_call *call, tvms_eval_value value,
                                        tvms_ref ref) {
  if (is_no_scalar(call, value)) {
    tvms_eval_report_wrong_type(call->reader, ref, "this argument", "a scalar", value);
    call->reader->failed = true;
    return NULL;
  }
  return tvms_relax_to_prim(call->reader, value, ref);
}

static tvms_node *TVMS_NULLABLE shape_of(tvms_relax_op_call *call,
                                         tvms_eval_value value, tvms_ref ref,
                                         uint32_t repeat) {
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
tvms_node *TVMS_NULLABLE tvms_relax_storage_size(tvms_relax_op_call *call,
                                                 tvms_eval_value value, tvms_ref ref) {
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
static tvms_node *TVMS_NULLABLE args_of(tvms_relax_op_call *call, tvms_eval_value value,
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

static tvms_node *TVMS_NULLABLE callee_of(tvms_relax_op_call *call,
                                          tvms_eval_value value, tvms_ref ref) {
  if (value.kind == TVMS_EVAL_STR) return extern_func(call->reader, value, ref);
  tvms_node *node = tvms_relax_to_value(call->reader, value, ref);
  const tvms_node *type = node ? node->sinfo : NULL;
  bool data =
      type
      && (type->kind == TVMS_NODE_SINFO_TUPLE || type->kind == TVMS_NODE_SINFO_TENSOR
          || type->kind == TVMS_NODE_SINFO_SHAPE);
  if (!data) return node;
  tvms_eval_report_wrong_type(call->reader, ref, "what is called",
                              "a function or its name", tvms_eval_value_node(node));
  return NULL;
}

static tvms_node *TVMS_NULLABLE dtype_of(tvms_relax_op_call *call,
                                         tvms_eval_value value, tvms_ref ref) {
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

tvms_node *TVMS_NULLABLE tvms_relax_argument(tvms_relax_op_call *call, uint32_t i) {
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
  case TVMS_ARG_SIZE: return tvms_relax_storage_size(call, value, ref);
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

// The items of the rest parameter `i`, each as an argument.
static void give_rest(tvms_relax_op_call *call, uint32_t i) {
  tvms_eval_value rest = call->values[i];
  for (uint32_t k = 0; k < rest.len; k++) {
    tvms_relax_give(call,
                    tvms_relax_to_value(call->reader, rest.as.items[k], call->refs[i]),
                    call->refs[i]);
  }
}

// Types of the result: one, or a list of them.
bool tvms_relax_take_types(tvms_relax_op_call *call, uint32_t i, bool several) {
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

void tvms_relax_take_attr(tvms_relax_op_call *call, uint32_t i) {
  int place = call->signature->places[i];
  const tvms_attr_row *row = &tvms_op_schema(call->op)->rows[place];
  call->sound = tvms_relax_to_attr(call->reader, row, call->values[i], call->refs[i],
                                   &call->attrs[place])
                && call->sound;
}

// Everything that has no meaning of its own: arguments in order, attributes, types.
void tvms_relax_bind_params(tvms_relax_op_call *call, uint32_t first) {
  const tvms_signature *signature = call->signature->signature;
  for (uint32_t i = first; i < signature->count; i++) {
    if (call->signature->places[i] >= 0) {
      tvms_relax_take_attr(call, i);
    } else if (signature->params[i].kind == TVMS_PARAM_REST) {
      give_rest(call, i);
    } else if (call->signature->kinds[i] == TVMS_ARG_TYPE) {
      const char *name =
          tvms_symbol_text(call->reader->context, signature->params[i].name);
      bool several = strncmp(name, "out_", 4) != 0;
      call->sound = tvms_relax_take_types(call, i, several) && call->sound;
    } else if (call->values[i].kind != TVMS_EVAL_NONE
               || signature->params[i].required) {
      tvms_relax_give(call, tvms_relax_argument(call, i), call->refs[i]);
    }
  }
}
