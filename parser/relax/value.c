// Values of Relax as they are written: R.const, R.shape, R.match_cast …, operators of
// Python on them, subscripts, and calls of functions.
#include "parser/relax/value.h"

#include "ir/object.h"
#include "parser/eval/convert.h"
#include "parser/eval/expr.h"
#include "parser/eval/names.h"
#include "parser/relax/attrs.h"
#include "parser/relax/call.h"
#include "parser/relax/convert.h"
#include "parser/relax/internal.h"
#include "parser/relax/member.h"
#include "parser/relax/object.h"
#include "parser/relax/prototype.h"
#include "parser/relax/types.h"
#include "parser/tir/convert.h"
#include "structinfo/make.h"

#include <stdio.h>
#include <string.h>

static tvms_eval_value relax_value(uint16_t what, int64_t i) {
  return (tvms_eval_value){.kind = TVMS_EVAL_RELAX, .spare = what, .as.i = i};
}

static tvms_eval_value node_or_failed(tvms_reader *reader,
                                      tvms_node *TVMS_NULLABLE node) {
  return node ? tvms_eval_value_node(node) : tvms_reader_failed(reader);
}

// True outside of a function of Relax, where nothing can be built; reports.
static bool is_outside(tvms_reader *reader, const tvms_call_args *call) {
  if (reader->relax) return false;
  tvms_reader_report(reader, outside_relax, call->ref,
                     tvms_row_text(reader, call->row));
  reader->failed = true;
  return true;
}

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
  return relax_value(TVMS_RELAX_OP, op);
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

// Evaluates all arguments to values of Relax; false if one is unknown.
static bool take_arguments(tvms_reader *reader, tvms_ref call, arguments *args) {
  tvms_memory *memory = &reader->context->memory;
  bool known = true;
  tvms_surface_each(reader->surface, ref, tvms_reader_at(reader, call)->b) {
    if (tvms_reader_at(reader, ref)->kind == TVMS_SURF_KEYWORD) {
      tvms_reader_report(
          reader, unknown_parameter, ref, "function",
          tvms_symbol_text(reader->context, tvms_reader_at(reader, ref)->a));
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
  if (take_arguments(reader, ref, &args)) {
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
  if (!reader->relax) {
    char name[80] = "this";
    if (callee.kind == TVMS_EVAL_RELAX && callee.spare == TVMS_RELAX_OP) {
      snprintf(name, sizeof name, "R.%s", tvms_op_of((tvms_opcode)callee.as.i)->name);
    }
    tvms_reader_report(reader, outside_relax, call, name);
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
  if (!reader->relax) return tvms_reader_failed(reader);
  tvms_global_var *callee = tvms_node_make(reader->unit, GLOBAL_VAR, global_var->span);
  callee->name = tvms_as_global_var(global_var)->name;
  const tvms_member *member = tvms_module_find(reader->module, callee->name);
  callee->head.sinfo = member ? tvms_relax_member_type(reader, member) : NULL;
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

tvms_eval_value tvms_relax_operator_on(tvms_reader *reader, tvms_surf_op op,
                                       tvms_eval_value a, tvms_eval_value b,
                                       tvms_ref ref) {
  bool unary = op == TVMS_OP_NEGATE || op == TVMS_OP_NOT || op == TVMS_OP_INVERT
               || op == TVMS_OP_PLUS;
  tvms_opcode opcode = opcode_of(op, unary);
  if (opcode == TVMS_R_NONE) {
    tvms_reader_report(reader, relax_operator, ref, tvms_surface_operator_text(op));
    return tvms_reader_failed(reader);
  }
  if (!tvms_eval_value_is_known(a) || (!unary && !tvms_eval_value_is_known(b))) {
    return tvms_reader_failed(reader);
  }
  if (is_number(a) || (!unary && is_number(b))) {
    tvms_reader_report(reader, relax_number, ref, tvms_surface_operator_text(op));
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
                       type ? tvms_sinfo_describe(reader->context, type)
                            : "a function");
    return tvms_reader_failed(reader);
  }
  tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
  int64_t place =
      index < 0 && tuple->kind == TVMS_NODE_TUPLE ? index + fields.len : index;
  if (place < 0 || place >= fields.len) {
    tvms_reader_report(reader, tuple_index, ref, (long long)index, fields.len);
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

// ---- Handlers of calls.def ----

tvms_eval_value tvms_call_relax_const(tvms_reader *reader, const tvms_call_args *call) {
  tvms_dtype dtype = {0};
  tvms_eval_value type = call->args[1];
  if (type.kind != TVMS_EVAL_NONE
      && !tvms_eval_to_dtype(reader, type, call->refs[1], &dtype)) {
    return tvms_reader_failed(reader);
  }
  tvms_eval_value value = call->args[0];
  if (!tvms_eval_value_is_known(value)) return tvms_reader_failed(reader);
  if (value.kind == TVMS_EVAL_STR && tvms_dtype_is_real(dtype)) {
    value = tvms_eval_special_float(value);
  }
  return node_or_failed(reader, tvms_relax_const(reader, value, dtype, call->ref));
}

tvms_eval_value tvms_call_relax_dist_const(tvms_reader *reader,
                                           const tvms_call_args *call) {
  tvms_node *type = tvms_relax_to_type(reader, call->args[1], call->refs[1]);
  if (!type) return tvms_reader_failed(reader);
  if (type->kind != TVMS_NODE_SINFO_DTENSOR) {
    tvms_eval_report_wrong_type(reader, call->refs[1], "the type of the constant",
                                "R.DTensor(...)", call->args[1]);
    return tvms_reader_failed(reader);
  }
  tvms_dtype dtype = tvms_as_sinfo_dtensor(type)->tensor->dtype;
  tvms_node *node = tvms_relax_const(reader, call->args[0], dtype, call->ref);
  if (node) node->sinfo = type;
  return node_or_failed(reader, node);
}

tvms_eval_value tvms_call_relax_shape(tvms_reader *reader, const tvms_call_args *call) {
  return node_or_failed(reader,
                        tvms_relax_to_shape(reader, call->args[0], call->refs[0]));
}

tvms_eval_value tvms_call_relax_prim_value(tvms_reader *reader,
                                           const tvms_call_args *call) {
  tvms_eval_value value = call->args[0];
  bool text = value.kind == TVMS_EVAL_STR
              && tvms_release_has(reader->dialect, TVMS_FACT_scalars_are_tir);
  bool tensor = value.kind == TVMS_EVAL_NODE && tvms_relax_is_expr(value.as.node)
                && value.as.node->sinfo && tvms_sinfo_is_tensor(value.as.node->sinfo);
  if (text || tensor) {
    tvms_eval_report_wrong_type(reader, call->refs[0], NULL, "a scalar", value);
    return tvms_reader_failed(reader);
  }
  return node_or_failed(reader, tvms_relax_to_prim(reader, value, call->refs[0]));
}

tvms_eval_value tvms_call_relax_str(tvms_reader *reader, const tvms_call_args *call) {
  tvms_bytes text;
  if (!tvms_eval_to_text(reader, call->args[0], call->refs[0], &text))
    return tvms_reader_failed(reader);
  tvms_eval_value value = tvms_eval_value_text(text.text, text.len);
  return node_or_failed(reader, tvms_relax_to_value(reader, value, call->refs[0]));
}

tvms_eval_value tvms_call_relax_dtype(tvms_reader *reader, const tvms_call_args *call) {
  tvms_dtype dtype;
  if (!tvms_eval_to_dtype(reader, call->args[0], call->refs[0], &dtype))
    return tvms_reader_failed(reader);
  tvms_dtype_imm *imm =
      tvms_node_make(reader->unit, DTYPE_IMM, tvms_reader_span_of(reader, call->ref));
  imm->value = dtype;
  imm->head.sinfo = tvms_sinfo_object_new(reader->unit);
  return tvms_eval_value_node(&imm->head);
}

tvms_eval_value tvms_call_relax_tuple(tvms_reader *reader, const tvms_call_args *call) {
  tvms_eval_value fields = call->args[0];
  if (is_outside(reader, call)) return TVMS_UNKNOWN;
  bool before = tvms_relax_take_bools(reader);
  tvms_node *tuple = tvms_relax_to_value(reader, fields, call->ref);
  reader->relax->bools = before;
  return node_or_failed(reader, tuple);
}

// The function whose symbol is the first argument, without a type; NULL after a report.
static tvms_extern_func *TVMS_NULLABLE named_function(tvms_reader *reader,
                                                      const tvms_call_args *call) {
  tvms_bytes symbol;
  if (!tvms_eval_to_text(reader, call->args[0], call->refs[0], &symbol)) return NULL;
  tvms_extern_func *func =
      tvms_node_make(reader->unit, EXTERN_FUNC, tvms_reader_span_of(reader, call->ref));
  func->symbol = tvms_bytes_copy(reader->unit, symbol.text, symbol.len);
  return func;
}

tvms_eval_value tvms_call_relax_extern_func(tvms_reader *reader,
                                            const tvms_call_args *call) {
  tvms_unit *unit = reader->unit;
  tvms_extern_func *func = named_function(reader, call);
  if (!func) return tvms_reader_failed(reader);
  if (call->args[1].kind == TVMS_EVAL_NONE) {
    func->head.sinfo =
        tvms_sinfo_func_new_opaque(unit, tvms_sinfo_object_new(unit), false);
  } else {
    func->head.sinfo = tvms_relax_to_type(reader, call->args[1], call->refs[1]);
    if (!func->head.sinfo) return tvms_reader_failed(reader);
  }
  return tvms_eval_value_node(&func->head);
}

tvms_eval_value tvms_call_relax_match_cast(tvms_reader *reader,
                                           const tvms_call_args *call) {
  if (is_outside(reader, call)) return TVMS_UNKNOWN;
  tvms_node *value = tvms_relax_to_value(reader, call->args[0], call->refs[0]);
  tvms_eval_value to = call->args[1];
  if (tvms_release_has(reader->dialect, TVMS_FACT_is_prototype) && value
      && tvms_eval_value_is_sequence(to)) {
    to = tvms_prototype_shape(reader, value, to, call->refs[1]);
  }
  tvms_node *type = tvms_relax_to_type(reader, to, call->refs[1]);
  if (!value || !type) return tvms_reader_failed(reader);
  tvms_eval_value parts[] = {tvms_eval_value_node(value), tvms_eval_value_node(type)};
  tvms_eval_value pair = relax_value(TVMS_RELAX_CAST, 0);
  pair.as.items = tvms_eval_keep_items(reader, parts, 2);
  pair.len = 2;
  return pair;
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

tvms_eval_value tvms_call_relax_dataflow(tvms_reader *reader,
                                         const tvms_call_args *call) {
  if (is_outside(reader, call)) return TVMS_UNKNOWN;
  return relax_value(TVMS_RELAX_DATAFLOW, 0);
}

static bool is_emitted_here(tvms_reader *reader, const tvms_node *var) {
  const tvms_open_block *block = tvms_builder_block(&reader->relax->builder);
  for (uint32_t i = block->bindings.len; i > 0; i--) {
    const tvms_node *binding = block->bindings.items[i - 1];
    const tvms_node *bound = binding->kind == TVMS_NODE_MATCH_CAST
                                 ? tvms_as_match_cast(binding)->var
                                 : tvms_as_var_binding(binding)->var;
    if (bound == var) return true;
  }
  return false;
}

static void keep_unknown_outputs(tvms_reader *reader, tvms_ref call) {
  tvms_surface_each(reader->surface, ref, tvms_reader_at(reader, call)->b) {
    const tvms_surf *node = tvms_reader_at(reader, ref);
    if (node->kind != TVMS_SURF_NAME) continue;
    tvms_binding *binding = tvms_scope_lookup(reader, node->a);
    if (!binding || tvms_eval_value_is_known(binding->value)) continue;
    tvms_vec_push(&reader->context->memory, &reader->relax->unknown_outputs, node->a);
  }
}

tvms_eval_value tvms_call_relax_output(tvms_reader *reader,
                                       const tvms_call_args *call) {
  if (is_outside(reader, call)) return TVMS_UNKNOWN;
  if (!tvms_relax_in_dataflow(reader)) {
    tvms_reader_report(reader, output_outside, call->ref);
    return tvms_reader_failed(reader);
  }
  tvms_open_block *block = tvms_builder_block(&reader->relax->builder);
  if (block->ended) {
    tvms_reader_report(reader, output_twice, call->ref);
    return tvms_reader_failed(reader);
  }
  block->ended = true;
  keep_unknown_outputs(reader, call->ref);
  tvms_eval_value vars = call->args[0];
  for (uint32_t i = 0; i < vars.len; i++) {
    tvms_eval_value value = vars.as.items[i];
    if (!tvms_eval_value_is_known(value)) continue;
    tvms_node *var = tvms_eval_value_node_of(value, TVMS_NODE_VAR);
    if (!var || !is_emitted_here(reader, var)) {
      tvms_reader_report(reader, output_not_emitted, call->ref,
                         tvms_eval_describe(reader, value));
      reader->failed = true;
      continue;
    }
    tvms_vec_push(&reader->context->memory, &reader->relax->outputs, var);
  }
  return TVMS_NOTHING;
}

tvms_eval_value tvms_call_relax_func_attr(tvms_reader *reader,
                                          const tvms_call_args *call) {
  if (is_outside(reader, call)) return TVMS_UNKNOWN;
  tvms_node *map;
  if (!tvms_eval_to_map(reader, call->args[0], call->refs[0], &map))
    return tvms_reader_failed(reader);
  if (!map) return TVMS_NOTHING;
  const tvms_object_map *added = tvms_as_object_map(map);
  for (uint32_t i = 0; i < added->keys.len; i++) {
    const char *key = tvms_object_as_text(added->keys.items[i]);
    if (!key) continue;
    if (reader->relax->is_private && strcmp(key, "global_symbol") == 0) {
      tvms_reader_report(reader, private_symbol, call->ref);
      return tvms_reader_failed(reader);
    }
    if (tvms_object_map_get(reader->relax->attrs, key)) {
      tvms_reader_report(reader, repeated_func_attr, call->ref, key);
      reader->failed = true;
    }
  }
  reader->relax->attrs = tvms_object_map_join(reader->unit, reader->relax->attrs, map);
  return TVMS_NOTHING;
}

// ---- Packed calls ----

// `attrs_type_key=` says what kind of object TVM keeps the attributes in.
static tvms_eval_value without_type_key(tvms_reader *reader, tvms_eval_value dict) {
  static const char key[] = "attrs_type_key";
  tvms_eval_value *items =
      tvms_arena_array(&reader->values, tvms_eval_value, dict.len + 1);
  uint32_t len = 0;
  for (uint32_t i = 0; i < dict.len; i += 2) {
    tvms_eval_value name = dict.as.items[i];
    if (name.len == sizeof key - 1 && memcmp(name.as.text, key, name.len) == 0)
      continue;
    items[len++] = name;
    items[len++] = dict.as.items[i + 1];
  }
  return tvms_eval_value_items(TVMS_EVAL_DICT, items, len);
}

tvms_eval_value tvms_call_relax_packed(tvms_reader *reader,
                                       const tvms_call_args *call) {
  if (is_outside(reader, call)) return TVMS_UNKNOWN;
  tvms_unit *unit = reader->unit;
  tvms_extern_func *func = named_function(reader, call);
  if (!func) return tvms_reader_failed(reader);
  // A function with a type of its own is printed without it. In a pure function TVM prints
  // such calls only if that type is pure.
  bool pure = reader->relax->printed && reader->relax->pure
              && call->args[2].kind == TVMS_EVAL_NONE;
  func->head.sinfo =
      tvms_sinfo_func_new_opaque(unit, tvms_sinfo_object_new(unit), pure);
  tvms_call *node = tvms_node_make(unit, CALL, tvms_reader_span_of(reader, call->ref));
  node->callee = &func->head;
  tvms_node *args = tvms_relax_to_value(reader, call->args[1], call->refs[1]);
  bool known =
      call->args[2].kind == TVMS_EVAL_NONE
      || tvms_relax_to_types(reader, call->args[2], call->refs[2], &node->type_args);
  if (!known || !args) return tvms_reader_failed(reader);
  node->args = tvms_as_tuple(args)->fields;
  tvms_node *attrs = NULL;
  tvms_eval_value named = without_type_key(reader, call->args[3]);
  if (named.len > 0 && !tvms_eval_to_map(reader, named, call->ref, &attrs)) {
    return tvms_reader_failed(reader);
  }
  if (attrs) node->attrs = tvms_list_copy(unit, &attrs, 1);
  return tvms_relax_finish_call(reader, node, NULL);
}

// ---- Devices: a pair of type and index ----

static tvms_eval_value device_pair(tvms_reader *reader, int64_t type,
                                   tvms_eval_value index) {
  tvms_eval_value parts[] = {tvms_eval_value_int(type), index};
  if (index.kind != TVMS_EVAL_INT) parts[1] = tvms_eval_value_int(0);
  return tvms_eval_value_items(TVMS_EVAL_TUPLE, tvms_eval_keep_items(reader, parts, 2),
                               2);
}

static const struct {
  const char *name;
  int64_t type;
} device_types[] = {
    {"cpu", 1},      {"llvm", 1},    {"cuda", 2},     {"opencl", 4},
    {"vulkan", 7},   {"metal", 8},   {"vpi", 9},      {"rocm", 10},
    {"ext_dev", 12}, {"webgpu", 15}, {"hexagon", 16},
};

tvms_eval_value tvms_call_relax_device(tvms_reader *reader,
                                       const tvms_call_args *call) {
  tvms_eval_value type = call->args[0];
  if (type.kind == TVMS_EVAL_INT) return device_pair(reader, type.as.i, call->args[1]);
  for (size_t i = 0; i < sizeof device_types / sizeof device_types[0]; i++) {
    const char *name = device_types[i].name;
    bool same = type.kind == TVMS_EVAL_STR && strlen(name) == type.len
                && memcmp(name, type.as.text, type.len) == 0;
    if (same) return device_pair(reader, device_types[i].type, call->args[1]);
  }
  tvms_eval_report_wrong_type(reader, call->refs[0], "the device", "a type of device",
                              type);
  return tvms_reader_failed(reader);
}

tvms_eval_value tvms_call_relax_device_named(tvms_reader *reader,
                                             const tvms_call_args *call) {
  const char *wanted = tvms_symbol_text(reader->context, call->row->name);
  for (size_t i = 0; i < sizeof device_types / sizeof device_types[0]; i++) {
    if (strcmp(device_types[i].name, wanted) == 0) {
      return device_pair(reader, device_types[i].type, call->args[0]);
    }
  }
  return tvms_reader_failed(reader);
}

// ---- Operators that are written as others ----

tvms_eval_value tvms_call_relax_relu6(tvms_reader *reader, const tvms_call_args *call) {
  if (is_outside(reader, call)) return TVMS_UNKNOWN;
  tvms_node *args[3];
  args[0] = tvms_relax_to_value(reader, call->args[0], call->refs[0]);
  args[1] = tvms_relax_to_value(reader, tvms_eval_value_int(0), call->ref);
  args[2] = tvms_relax_to_value(reader, tvms_eval_value_int(6), call->ref);
  if (!args[0] || !args[1] || !args[2]) return tvms_reader_failed(reader);
  return tvms_relax_make_simple(reader, TVMS_R_clip, args, 3, call->ref);
}

// data @ transposed weight, plus the bias if there is one.
tvms_eval_value tvms_call_relax_linear(tvms_reader *reader,
                                       const tvms_call_args *call) {
  if (is_outside(reader, call)) return TVMS_UNKNOWN;
  tvms_node *data = tvms_relax_to_value(reader, call->args[0], call->refs[0]);
  tvms_node *weight = tvms_relax_to_value(reader, call->args[1], call->refs[1]);
  tvms_node *attr;
  const tvms_attr_row *row = &tvms_op_schema(TVMS_R_matmul)->rows[0];
  if (!data || !weight
      || !tvms_relax_to_attr(reader, row, call->args[3], call->refs[3], &attr)) {
    return tvms_reader_failed(reader);
  }
  tvms_eval_value turned =
      tvms_relax_make_simple(reader, TVMS_R_permute_dims, &weight, 1, call->ref);
  if (turned.kind != TVMS_EVAL_NODE) return turned;
  tvms_node *args[] = {data, turned.as.node};
  tvms_list attrs = tvms_list_copy(reader->unit, &attr, 1), none = {NULL, 0};
  tvms_eval_value product = tvms_relax_make_call(reader, TVMS_R_matmul, args, 2, attrs,
                                                 none, NULL, call->ref);
  if (product.kind != TVMS_EVAL_NODE || call->args[2].kind == TVMS_EVAL_NONE) {
    return product;
  }
  args[0] = product.as.node;
  args[1] = tvms_relax_to_value(reader, call->args[2], call->refs[2]);
  if (!args[1]) return tvms_reader_failed(reader);
  return tvms_relax_make_simple(reader, TVMS_R_add, args, 2, call->ref);
}

tvms_eval_value tvms_call_relax_stop_lift_params(tvms_reader *reader,
                                                 const tvms_call_args *call) {
  if (is_outside(reader, call)) return TVMS_UNKNOWN;
  tvms_node *x = tvms_relax_to_value(reader, call->args[0], call->refs[0]);
  if (!x) return tvms_reader_failed(reader);
  return tvms_relax_make_simple(reader, TVMS_R_builtin_stop_lift_params, &x, 1,
                                call->ref);
}

tvms_eval_value tvms_call_relax_dist_call_tir(tvms_reader *reader,
                                              const tvms_call_args *call) {
  if (is_outside(reader, call)) return TVMS_UNKNOWN;
  return tvms_relax_call_op(reader, TVMS_R_call_tir, call->ref);
}

// A mesh of devices: its shape, and the devices as a range or a list.
tvms_eval_value tvms_call_relax_device_mesh(tvms_reader *reader,
                                            const tvms_call_args *call) {
  tvms_list shape;
  if (!tvms_eval_to_exprs(reader, call->args[0], call->refs[0], &shape))
    return tvms_reader_failed(reader);
  for (uint32_t i = 0; i < shape.len; i++) {
    if (shape.items[i]->kind == TVMS_NODE_INT_IMM) continue;
    tvms_eval_report_wrong_type(reader, call->refs[0], "the shape of a device mesh",
                                "a tuple of ints",
                                tvms_eval_value_node(shape.items[i]));
    return tvms_reader_failed(reader);
  }
  tvms_object_mesh *mesh =
      tvms_node_make(reader->unit, OBJECT_MESH, tvms_reader_span_of(reader, call->ref));
  mesh->shape = shape;
  mesh->devices = tvms_eval_to_object(reader, call->args[1], call->refs[1]);
  return mesh->devices ? tvms_eval_value_node(&mesh->head) : tvms_reader_failed(reader);
}
