// Values of Relax as they are used: calls of functions, operators of Python, elements of
// tuples.
#include "parser/relax/value.h"

#include "ir/object.h"
#include "parser/eval/convert.h"
#include "parser/eval/expr.h"
#include "parser/eval/operator.h"
#include "parser/eval/reader.h"
#include "parser/relax/call.h"
#include "parser/relax/convert.h"
#include "parser/relax/handlers.h"
#include "parser/relax/member.h"
#include "parser/relax/object.h"
#include "parser/relax/state.h"
#include "parser/tir/member.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

// ---- Operators by name ----

tvms_eval_value tvms_relax_operator_named(tvms_reader *reader, const char *path,
                                          tvms_sym name) {
  char text[64];
  const tvms_name *last = tvms_interner_name(&reader->context->names, name);
  const char *below = path[1] == '.' ? path + 2 : "";
  size_t len = strlen(below);
  if (len + last->len + 2 > sizeof text) return TVMS_UNKNOWN;
  memcpy(text, below, len);
  if (len > 0) text[len++] = '.';
  memcpy(text + len, last->text, last->len);
  tvms_opcode op = tvms_op_spelled(reader->context, text, len + last->len);
  bool old = op != TVMS_R_NONE && !tvms_op_in(op, reader->dialect);
  if (op == TVMS_R_NONE || old) return TVMS_UNKNOWN;
  return tvms_relax_value_of(TVMS_RELAX_OP, op);
}

// ---- Calls ----

static tvms_eval_value call_astype(tvms_reader *reader, tvms_eval_value method,
                                   tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  tvms_dtype dtype;
  if (!tvms_signature_bind_method(reader, "dtype", "astype", call, args)
      || !tvms_eval_to_dtype(reader, args[0], call, &dtype)) {
    return tvms_reader_failed(reader);
  }
  tvms_node *x = method.as.items[0].as.node;
  tvms_node *attr =
      tvms_object_dtype_new(reader->unit, dtype, tvms_reader_span_of(reader, call));
  tvms_list attrs = tvms_list_copy(reader->unit, &attr, 1), none = {NULL, 0};
  return tvms_relax_make_call(reader, TVMS_R_astype, &x, 1, attrs, none, NULL, call);
}

typedef struct {
  TVMS_VEC(tvms_node *) nodes;
  TVMS_VEC(tvms_span) spans;
} arguments;

// Functions have no keywords; who writes one of R.call_tir wants that.
static void report_keyword(tvms_reader *reader, const tvms_node *callee, tvms_ref ref) {
  const char *name = tvms_symbol_text(reader->context, tvms_reader_at(reader, ref)->a);
  tvms_diags *diags = &reader->context->diags;
  bool global = callee->kind == TVMS_NODE_GLOBAL_VAR;
  const char *function = "function";
  if (global)
    function = tvms_symbol_text(reader->context, tvms_as_global_var(callee)->name);
  else if (callee->kind == TVMS_NODE_VAR)
    function = tvms_symbol_text(reader->context, tvms_as_var(callee)->name);
  tvms_diag *diag =
      tvms_diag_report(diags, TVMS_D_unknown_parameter,
                       tvms_eval_keyword_span(reader, ref, name), function, name);
  if (global && (strcmp(name, "out_ty") == 0 || strcmp(name, "out_sinfo") == 0))
    tvms_diag_remark(diags, diag,
                     "a PrimFunc is called by R.call_tir(%s, (...), %s=...)", function,
                     name);
}

// Evaluates all arguments to values of Relax; false if one is unknown.
static bool take_arguments(tvms_reader *reader, const tvms_node *callee, tvms_ref call,
                           arguments *args) {
  tvms_memory *memory = &reader->context->memory;
  bool known = true;
  tvms_surface_each(reader->surface, ref, tvms_reader_at(reader, call)->b) {
    if (tvms_reader_at(reader, ref)->kind == TVMS_SURF_KEYWORD) {
      report_keyword(reader, callee, ref);
      known = false;
      continue;
    }
    tvms_eval_value_vec items = {0};
    known = tvms_eval_push_starred(reader, ref, &items) && known;
    for (uint32_t i = 0; i < items.len; i++) {
      tvms_node *node = tvms_relax_to_value(reader, items.items[i], ref);
      known = known && node;
      if (!node) continue;
      tvms_vec_push(memory, &args->nodes, node);
      tvms_vec_push(memory, &args->spans, tvms_reader_span_of(reader, ref));
    }
    tvms_vec_fini(memory, &items);
  }
  return known;
}

static tvms_eval_value call_value(tvms_reader *reader, tvms_node *callee,
                                  tvms_ref ref) {
  tvms_memory *memory = &reader->context->memory;
  arguments args = {0};
  tvms_eval_value result = TVMS_UNKNOWN;
  if (take_arguments(reader, callee, ref, &args)) {
    tvms_call *call =
        tvms_node_make(reader->unit, CALL, tvms_reader_span_of(reader, ref));
    call->callee = callee;
    call->args = tvms_list_copy(reader->unit, args.nodes.items, args.nodes.len);
    result = tvms_relax_finish_call(reader, call, args.spans.items);
  } else {
    reader->failed = true;
  }
  tvms_vec_fini(memory, &args.nodes);
  tvms_vec_fini(memory, &args.spans);
  return result;
}

tvms_eval_value tvms_relax_call(tvms_reader *reader, tvms_eval_value callee,
                                tvms_ref call) {
  if (!tvms_relax_of(reader)) {
    char name[80] = "this";
    if (callee.kind == TVMS_EVAL_RELAX && callee.spare == TVMS_RELAX_OP) {
      snprintf(name, sizeof name, "R.%s", tvms_op_of((tvms_opcode)callee.as.i)->name);
    }
    tvms_diag *diag = tvms_reader_report(reader, outside_relax,
                                         tvms_reader_callee(reader, call), name);
    const char *own = reader->tables->near_name && strncmp(name, "R.", 2) == 0
                          ? reader->tables->near_name(reader, name + 2)
                          : NULL;
    if (own) tvms_diag_remark(&reader->context->diags, diag, "did you mean '%s'?", own);
    return tvms_reader_failed(reader);
  }
  if (callee.kind == TVMS_EVAL_NODE) return call_value(reader, callee.as.node, call);
  if (callee.spare == TVMS_RELAX_OP) {
    return tvms_relax_call_op(reader, (tvms_opcode)callee.as.i, call);
  }
  if (callee.spare == TVMS_RELAX_ASTYPE) return call_astype(reader, callee, call);
  tvms_reader_report(reader, not_callable, call, tvms_eval_describe(reader, callee));
  return tvms_reader_failed(reader);
}

tvms_eval_value tvms_relax_call_global(tvms_reader *reader, tvms_node *global_var,
                                       tvms_ref call) {
  if (!tvms_relax_of(reader)) return tvms_reader_failed(reader);
  tvms_global_var *callee = tvms_node_make(reader->unit, GLOBAL_VAR, global_var->span);
  callee->name = tvms_as_global_var(global_var)->name;
  const tvms_member *member = tvms_module_find(reader->module, callee->name);
  callee->head.sinfo = member ? tvms_relax_member_type(reader, member) : NULL;
  // A function whose signature is wrong may return anything.
  const tvms_def *def = member ? tvms_definition_find(reader, member) : NULL;
  if (!callee->head.sinfo && def && def->decoration.language
      && def->decoration.language->declare)
    return tvms_reader_failed(reader);
  if (!callee->head.sinfo) {
    tvms_node *object = tvms_sinfo_object_new(reader->unit);
    callee->head.sinfo = tvms_sinfo_func_new_opaque(reader->unit, object, true);
  }
  return call_value(reader, &callee->head, call);
}

// ---- Operators of Python ----

static tvms_opcode opcode_of(tvms_surf_op op, bool unary) {
  if (unary) return op == TVMS_OP_NEGATE ? TVMS_R_negative : TVMS_R_NONE;
  switch ((int)op) {
  case TVMS_OP_ADD: return TVMS_R_add;
  case TVMS_OP_SUB: return TVMS_R_subtract;
  case TVMS_OP_MUL: return TVMS_R_multiply;
  case TVMS_OP_DIV: return TVMS_R_divide;
  case TVMS_OP_FLOOR_DIV: return TVMS_R_floor_divide;
  case TVMS_OP_MOD: return TVMS_R_mod;
  case TVMS_OP_POWER: return TVMS_R_power;
  case TVMS_OP_LT: return TVMS_R_less;
  case TVMS_OP_LE: return TVMS_R_less_equal;
  case TVMS_OP_GT: return TVMS_R_greater;
  case TVMS_OP_GE: return TVMS_R_greater_equal;
  default: return TVMS_R_NONE;
  }
}

static bool is_number(tvms_eval_value value) {
  return value.kind == TVMS_EVAL_INT || value.kind == TVMS_EVAL_FLOAT
         || value.kind == TVMS_EVAL_BOOL;
}

// What an operator that values of Relax do not have is written as.
static const char *TVMS_NULLABLE written_for(tvms_surf_op op) {
  switch ((int)op) {
  case TVMS_OP_MATMUL: return "R.matmul(a, b)";
  case TVMS_OP_EQ: return "R.equal(a, b)";
  case TVMS_OP_NE: return "R.not_equal(a, b)";
  case TVMS_OP_MOD: return "R.mod(a, b)";
  case TVMS_OP_BIT_AND:
    return "R.bitwise_and(a, b), or R.logical_and(a, b) of booleans";
  case TVMS_OP_BIT_OR: return "R.bitwise_or(a, b), or R.logical_or(a, b) of booleans";
  case TVMS_OP_BIT_XOR: return "R.bitwise_xor(a, b)";
  case TVMS_OP_NOT: return "R.logical_not(a)";
  default: return NULL;
  }
}

// A number has no data type, where a constant of the other operand's would have one.
static void report_number(tvms_reader *reader, tvms_surf_op op, tvms_eval_value other,
                          bool left, tvms_ref ref) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  tvms_ref place = ref;
  if (node->kind == TVMS_SURF_BINARY) place = left ? node->a : node->b;
  tvms_diags *diags = &reader->context->diags;
  tvms_diag *diag =
      tvms_reader_report(reader, relax_number, place, tvms_surface_operator_text(op));
  const tvms_node *value = other.kind == TVMS_EVAL_NODE ? other.as.node : NULL;
  const tvms_node *type = value ? value->sinfo : NULL;
  if (place == ref || !type || type->kind != TVMS_NODE_SINFO_TENSOR
      || tvms_dtype_is_void(type->dtype))
    return;
  char dtype[TVMS_DTYPE_TEXT];
  tvms_span span = tvms_reader_span_of(reader, place);
  const char *text = reader->surface->source->text + span.begin;
  tvms_diag_fix(diags, diag, span, false, "R.const(%.*s, \"%s\")",
                (int)(span.end - span.begin), text,
                tvms_dtype_text(type->dtype, dtype));
}

tvms_eval_value tvms_relax_operator_on(tvms_reader *reader, tvms_surf_op op,
                                       tvms_eval_value a, tvms_eval_value b,
                                       tvms_ref ref) {
  bool unary = op == TVMS_OP_NEGATE || op == TVMS_OP_NOT || op == TVMS_OP_INVERT
               || op == TVMS_OP_PLUS;
  tvms_opcode opcode = opcode_of(op, unary);
  if (opcode == TVMS_R_NONE) {
    tvms_diag *diag = tvms_diag_report(&reader->context->diags, TVMS_D_relax_operator,
                                       tvms_eval_operator_span(reader, ref, op),
                                       tvms_surface_operator_text(op));
    const char *written = written_for(op);
    if (written) tvms_diag_remark(&reader->context->diags, diag, "write %s", written);
    return tvms_reader_failed(reader);
  }
  if (!tvms_eval_value_is_known(a) || (!unary && !tvms_eval_value_is_known(b))) {
    return tvms_reader_failed(reader);
  }
  if (is_number(a) || (!unary && is_number(b))) {
    report_number(reader, op, is_number(a) ? b : a, is_number(a), ref);
    return tvms_reader_failed(reader);
  }
  tvms_node *args[2];
  args[0] = tvms_relax_to_value(reader, a, ref);
  args[1] = unary ? NULL : tvms_relax_to_value(reader, b, ref);
  if (!args[0] || (!unary && !args[1])) return tvms_reader_failed(reader);
  return tvms_relax_make_simple(reader, opcode, args, unary ? 1 : 2, ref);
}

// ---- Elements of tuples ----

// `folds`: an element of a tuple that is written out is that element, as for Python's
// `tuple[i]`; R.TupleGetItem stays.
static tvms_eval_value tuple_item(tvms_reader *reader, tvms_node *tuple, int64_t index,
                                  bool folds, tvms_ref ref) {
  const tvms_node *type = tuple->sinfo;
  if (!type || type->kind != TVMS_NODE_SINFO_TUPLE) {
    tvms_reader_report(reader, not_a_tuple, ref,
                       type ? tvms_sinfo_describe(reader->unit, type) : "a function");
    return tvms_reader_failed(reader);
  }
  tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
  int64_t place =
      index < 0 && tuple->kind == TVMS_NODE_TUPLE ? index + fields.len : index;
  if (place < 0 || place >= fields.len) {
    const tvms_surf *node = tvms_reader_at(reader, ref);
    bool item = node->kind == TVMS_SURF_SUBSCRIPT;
    tvms_reader_report(reader, tuple_index, item ? node->b : ref, (long long)index,
                       fields.len);
    return tvms_reader_failed(reader);
  }
  if (tuple->kind == TVMS_NODE_TUPLE && folds) {
    return tvms_eval_value_node(tvms_as_tuple(tuple)->fields.items[place]);
  }
  tvms_tuple_get_item *item =
      tvms_node_make(reader->unit, TUPLE_GET_ITEM, tvms_reader_span_of(reader, ref));
  item->tuple = tuple;
  item->index = place;
  item->head.sinfo = fields.items[place];
  return tvms_eval_value_node(&item->head);
}

// Tensors have no items: what NumPy and PyTorch write so are operators.
static bool refuse_tensor_item(tvms_reader *reader, const tvms_node *value,
                               tvms_ref ref) {
  const tvms_node *type = value->sinfo;
  if (!type || type->kind != TVMS_NODE_SINFO_TENSOR) return false;
  tvms_ref place = tvms_reader_at(reader, ref)->b;
  tvms_diag *diag = tvms_reader_report(reader, not_a_tuple, place,
                                       tvms_sinfo_describe(reader->unit, type));
  tvms_span index = tvms_reader_span_of(reader, place);
  const char *text = reader->surface->source->text + index.begin;
  size_t len = index.end - index.begin;
  const char *meant = memchr(text, ':', len)
                          ? "R.strided_slice(x, axes, begin, end); a new axis is "
                            "R.expand_dims(x, axis)"
                          : "R.take(x, indices, axis)";
  tvms_diag_remark(&reader->context->diags, diag,
                   "elements of a tensor are taken by %s", meant);
  return true;
}

tvms_eval_value tvms_relax_subscript(tvms_reader *reader, tvms_eval_value value,
                                     tvms_ref ref) {
  tvms_ref index_ref = tvms_reader_at(reader, ref)->b;
  tvms_eval_value index = tvms_eval(reader, index_ref), item;
  if (tvms_relax_inspect_item(reader, value, index, index_ref, &item)) return item;
  if (value.kind != TVMS_EVAL_NODE || !tvms_eval_value_is_known(index)) {
    return tvms_reader_failed(reader);
  }
  if (value.as.node->kind == TVMS_NODE_SHAPE_EXPR && index.kind == TVMS_EVAL_INT) {
    tvms_list dims = tvms_as_shape_expr(value.as.node)->values;
    int64_t at = index.as.i < 0 ? index.as.i + dims.len : index.as.i;
    if (at >= 0 && at < dims.len) return tvms_eval_value_node(dims.items[at]);
  }
  if (index.kind != TVMS_EVAL_STR && refuse_tensor_item(reader, value.as.node, ref))
    return tvms_reader_failed(reader);
  int64_t place;
  const tvms_node *number = tvms_eval_value_node_of(index, TVMS_NODE_INT_IMM);
  if (number && tvms_release_has(reader->dialect, TVMS_FACT_tuples_take_tir_indices))
    index = tvms_eval_value_int(tvms_as_int_imm(number)->value);
  if (!tvms_eval_to_int(reader, index, index_ref, &place))
    return tvms_reader_failed(reader);
  return tuple_item(reader, value.as.node, place, true, ref);
}

// `(x, y)[0]` as it is printed: the element of a tuple that is written out.
tvms_eval_value tvms_relax_printed_item(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf node = *tvms_reader_at(reader, ref);
  tvms_node *tuple = tvms_relax_to_value(reader, tvms_eval(reader, node.a), node.a);
  int64_t index;
  if (!tuple || !tvms_eval_to_int(reader, tvms_eval(reader, node.b), node.b, &index)) {
    return tvms_reader_failed(reader);
  }
  return tuple_item(reader, tuple, index, false, ref);
}

tvms_eval_value tvms_relax_item(tvms_reader *reader, tvms_node *tuple, uint32_t index,
                                tvms_ref ref) {
  return tuple_item(reader, tuple, index, true, ref);
}

tvms_eval_value tvms_call_relax_tuple_item(tvms_reader *reader,
                                           const tvms_call_args *call) {
  tvms_node *tuple = tvms_relax_to_value(reader, call->args[0], call->refs[0]);
  int64_t index;
  if (!tuple || !tvms_eval_to_int(reader, call->args[1], call->refs[1], &index)) {
    return tvms_reader_failed(reader);
  }
  return tuple_item(reader, tuple, index, false, call->ref);
}
