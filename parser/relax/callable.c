// What the callables of R that are no operators make: handlers of ir/calls.def.
//
// Constants, shapes, types as arguments, R.match_cast, R.output, R.func_attr, packed calls,
// devices, and operators that are only written as others.
#include "ir/object.h"
#include "parser/eval/builtin.h"
#include "parser/eval/convert.h"
#include "parser/eval/reader.h"
#include "parser/eval/scope.h"
#include "parser/eval/signature.h"
#include "parser/relax/attrs.h"
#include "parser/relax/call.h"
#include "parser/relax/convert.h"
#include "parser/relax/handlers.h"
#include "parser/relax/prototype.h"
#include "parser/relax/state.h"
#include "parser/relax/types.h"
#include "parser/tir/convert.h"
#include "parser/tir/tir.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"

#include <string.h>

static tvms_eval_value node_or_failed(tvms_reader *reader,
                                      tvms_node *TVMS_NULLABLE node) {
  return node ? tvms_eval_value_node(node) : tvms_reader_failed(reader);
}

// True outside of a function of Relax, where nothing can be built; reports.
static bool is_outside(tvms_reader *reader, const tvms_call_args *call) {
  if (tvms_relax_of(reader)) return false;
  tvms_reader_report(reader, outside_relax, tvms_reader_callee(reader, call->ref),
                     tvms_row_text(reader, call->row));
  reader->failed = true;
  return true;
}

// ---- Values ----

// A type of Python's where NumPy wants a data type: `R.const(True, bool)`.
static bool dtype_of_python(tvms_eval_value value, tvms_dtype *dtype) {
  if (value.kind != TVMS_EVAL_BUILTIN) return false;
  switch (tvms_builtin_name(value)) {
  case TVMS_SYM_bool: *dtype = TVMS_DTYPE(BOOL, 1); return true;
  case TVMS_SYM_int: *dtype = TVMS_DTYPE(INT, 64); return true;
  case TVMS_SYM_float: *dtype = TVMS_DTYPE(FLOAT, 64); return true;
  default: return false;
  }
}

tvms_eval_value tvms_call_relax_const(tvms_reader *reader, const tvms_call_args *call) {
  tvms_dtype dtype = {0};
  tvms_eval_value type = call->args[1];
  if (tvms_tir_of(reader) && is_outside(reader, call)) return TVMS_UNKNOWN;
  if (!dtype_of_python(type, &dtype) && type.kind != TVMS_EVAL_NONE
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
  bool bools = tvms_relax_hands_bools(reader);
  return node_or_failed(reader,
                        tvms_relax_to_value_as(reader, fields, bools, call->ref));
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
  tvms_eval_value pair = tvms_relax_value_of(TVMS_RELAX_CAST, 0);
  pair.as.items = tvms_eval_keep_items(reader, parts, 2);
  pair.len = 2;
  return pair;
}

tvms_eval_value tvms_call_relax_dataflow(tvms_reader *reader,
                                         const tvms_call_args *call) {
  if (is_outside(reader, call)) return TVMS_UNKNOWN;
  return tvms_relax_value_of(TVMS_RELAX_DATAFLOW, 0);
}

static bool is_emitted_here(tvms_reader *reader, const tvms_node *var) {
  const tvms_open_block *block = tvms_builder_block(&tvms_relax_of(reader)->builder);
  for (uint32_t i = block->bindings.len; i > 0; i--) {
    const tvms_node *binding = block->bindings.items[i - 1];
    const tvms_node *bound = binding->kind == TVMS_NODE_MATCH_CAST
                                 ? tvms_as_match_cast(binding)->var
                                 : tvms_as_var_binding(binding)->var;
    if (bound == var) return true;
  }
  return false;
}

// A misspelt output may be any of the names that the block binds.
static void keep_all_outputs(tvms_reader *reader) {
  const tvms_open_block *block = tvms_builder_block(&tvms_relax_of(reader)->builder);
  for (uint32_t i = 0; i < block->bindings.len; i++) {
    const tvms_node *binding = block->bindings.items[i];
    const tvms_node *bound = binding->kind == TVMS_NODE_MATCH_CAST
                                 ? tvms_as_match_cast(binding)->var
                                 : tvms_as_var_binding(binding)->var;
    tvms_vec_push(&reader->context->memory, &tvms_relax_of(reader)->unknown_outputs,
                  tvms_as_var(bound)->name);
  }
}

static void keep_unknown_outputs(tvms_reader *reader, tvms_ref call) {
  tvms_surface_each(reader->surface, ref, tvms_reader_at(reader, call)->b) {
    const tvms_surf *node = tvms_reader_at(reader, ref);
    if (node->kind != TVMS_SURF_NAME) continue;
    tvms_binding *binding = tvms_scope_lookup(reader, node->a);
    if (!binding) {
      keep_all_outputs(reader);
      // What is named too early is bound behind it.
      tvms_builder_block(&tvms_relax_of(reader)->builder)->ended = false;
    }
    if (!binding || tvms_eval_value_is_known(binding->value)) continue;
    tvms_vec_push(&reader->context->memory, &tvms_relax_of(reader)->unknown_outputs,
                  node->a);
  }
}

// The argument number i of a call with positional arguments only, or the call.
static tvms_ref given_at(const tvms_reader *reader, tvms_ref call, uint32_t i) {
  tvms_surface_each(reader->surface, ref, tvms_reader_at(reader, call)->b) {
    if (tvms_reader_at(reader, ref)->kind == TVMS_SURF_STAR) return call;
    if (i-- == 0) return ref;
  }
  return call;
}

// The variable of this block that a text names by mistake, or NULL; reports what is no
// variable of it.
static tvms_node *TVMS_NULLABLE refuse_output(tvms_reader *reader,
                                              tvms_eval_value value, tvms_ref ref) {
  tvms_diag *diag = tvms_reader_report(reader, output_not_emitted, ref,
                                       tvms_eval_describe(reader, value));
  reader->failed = true;
  if (value.kind != TVMS_EVAL_STR) return NULL;
  tvms_sym name = tvms_symbol_intern(reader->context, value.as.text, value.len);
  const tvms_binding *binding = tvms_scope_lookup(reader, name);
  tvms_node *var =
      binding ? tvms_eval_value_node_of(binding->value, TVMS_NODE_VAR) : NULL;
  if (!var || !is_emitted_here(reader, var)) return NULL;
  tvms_diag_fix(&reader->context->diags, diag, tvms_reader_span_of(reader, ref), true,
                "%s", tvms_symbol_text(reader->context, name));
  return var;
}

tvms_eval_value tvms_call_relax_output(tvms_reader *reader,
                                       const tvms_call_args *call) {
  if (is_outside(reader, call)) return TVMS_UNKNOWN;
  if (!tvms_relax_in_dataflow(reader)) {
    // The block has ended, and with it its names: that is not said of each.
    tvms_diags_forget(&reader->context->diags, TVMS_D_undefined_name,
                      tvms_reader_span_of(reader, call->ref));
    tvms_reader_report(reader, output_outside, call->ref);
    return tvms_reader_failed(reader);
  }
  tvms_open_block *block = tvms_builder_block(&tvms_relax_of(reader)->builder);
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
      var = refuse_output(reader, value, given_at(reader, call->ref, i));
      if (!var) continue;
    }
    tvms_vec_push(&reader->context->memory, &tvms_relax_of(reader)->outputs, var);
  }
  return TVMS_NOTHING;
}

tvms_eval_value tvms_call_relax_func_attr(tvms_reader *reader,
                                          const tvms_call_args *call) {
  if (is_outside(reader, call)) return TVMS_UNKNOWN;
  tvms_node *map;
  if (!tvms_eval_to_map(reader, call->args[0], call->refs[0], &map)) {
    // Whether the function is to be taken for pure is not known.
    tvms_relax_of(reader)->attrs = tvms_object_map_with(
        reader->unit, tvms_relax_of(reader)->attrs, "relax.force_pure",
        tvms_object_bool_new(reader->unit, true, TVMS_NO_SPAN));
    return tvms_reader_failed(reader);
  }
  if (!map) return TVMS_NOTHING;
  const tvms_object_map *added = tvms_as_object_map(map);
  for (uint32_t i = 0; i < added->keys.len; i++) {
    const char *key = tvms_object_as_text(added->keys.items[i]);
    if (!key) continue;
    if (tvms_relax_of(reader)->is_private && strcmp(key, "global_symbol") == 0) {
      tvms_reader_report(reader, private_symbol, call->ref);
      return tvms_reader_failed(reader);
    }
    if (tvms_object_map_get(tvms_relax_of(reader)->attrs, key)) {
      tvms_reader_report(reader, repeated_func_attr, call->ref, key);
      reader->failed = true;
    }
  }
  tvms_relax_of(reader)->attrs =
      tvms_object_map_join(reader->unit, tvms_relax_of(reader)->attrs, map);
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

// `sinfo_arg=…`: nobody names an attribute nearly as the parameter that is not given.
static bool is_misspelt_types(tvms_reader *reader, const tvms_call_args *call) {
  bool ty = tvms_release_has(reader->dialect, TVMS_FACT_types_are_called_ty);
  const char *types = ty ? "ty_args" : "sinfo_args", *name = NULL;
  const char *likes[] = {types, ty ? "out_ty" : "out_sinfo"};
  tvms_ref keyword = 0;
  if (call->args[2].kind != TVMS_EVAL_NONE) return false;
  tvms_surface_each(reader->surface, ref, tvms_reader_at(reader, call->ref)->b) {
    const tvms_surf *node = tvms_reader_at(reader, ref);
    if (node->kind != TVMS_SURF_KEYWORD || keyword) continue;
    const char *text = tvms_symbol_text(reader->context, node->a);
    if (tvms_diag_nearest_name(text, likes, 2)) keyword = ref, name = text;
  }
  if (!keyword) return false;
  tvms_diags *diags = &reader->context->diags;
  tvms_span span = tvms_eval_keyword_span(reader, keyword, name);
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_unknown_parameter, span,
                                     tvms_row_text(reader, call->row), name);
  tvms_diag_remark(diags, diag, "did you mean '%s'?", types);
  tvms_diag_fix(diags, diag, span, false, "%s", types);
  return true;
}

// TVM's front end for ONNX calls the function of R.tensor_to_shape in dataflow blocks, where
// its reader refuses what may have effects: the operator is what it means.
static void mean_operator(const tvms_reader *reader, tvms_call *call) {
  static const char name[] = "vm.builtin.tensor_to_shape";
  if (!reader->as_written || !tvms_relax_in_dataflow(reader) || call->args.len != 1)
    return;
  tvms_bytes symbol = tvms_as_extern_func(call->callee)->symbol;
  if (symbol.len != sizeof name - 1 || memcmp(symbol.text, name, symbol.len) != 0)
    return;
  call->callee = tvms_op_operator_new(reader->unit, TVMS_R_tensor_to_shape);
  call->type_args = (tvms_list){NULL, 0};
}

tvms_eval_value tvms_call_relax_packed(tvms_reader *reader,
                                       const tvms_call_args *call) {
  if (is_outside(reader, call)) return TVMS_UNKNOWN;
  tvms_unit *unit = reader->unit;
  tvms_extern_func *func = named_function(reader, call);
  if (!func || is_misspelt_types(reader, call)) return tvms_reader_failed(reader);
  // A function with a type of its own is printed without it. In a pure function TVM prints
  // such calls only if that type is pure.
  bool pure = tvms_relax_of(reader)->reading.printed && tvms_relax_of(reader)->pure
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
  mean_operator(reader, node);
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
