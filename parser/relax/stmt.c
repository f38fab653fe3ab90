// Statements of a Relax function: bindings, dataflow blocks, If, local functions, return.
#include "parser/relax/stmt.h"

#include "ir/equal.h"
#include "ir/fold.h"
#include "parser/eval/closure.h"
#include "parser/eval/convert.h"
#include "parser/eval/expr.h"
#include "parser/eval/names.h"
#include "parser/eval/origin.h"
#include "parser/relax/convert.h"
#include "parser/relax/function.h"
#include "parser/relax/internal.h"
#include "parser/relax/types.h"
#include "parser/relax/value.h"
#include "parser/tir/names.h"
#include "structinfo/make.h"

#include <string.h>

static tvms_relax_state *relax_of(tvms_reader *reader) {
  return reader->relax;
}

// ---- Emitting ----

// Reports a binding after R.output.
static bool block_is_open(tvms_reader *reader, tvms_ref ref) {
  if (!tvms_builder_block(&relax_of(reader)->builder)->ended) return true;
  tvms_reader_report(reader, binding_after_output, ref);
  reader->failed = true;
  return false;
}

// A tuple that is annotated as a shape was meant to be one.
static void explain_shape(tvms_reader *reader, tvms_diag *diag, const tvms_node *type,
                          tvms_ref ref) {
  const tvms_surf node = *tvms_reader_at(reader, ref);
  if (type->kind != TVMS_NODE_SINFO_SHAPE || node.kind != TVMS_SURF_TUPLE) return;
  tvms_diags *diags = &reader->context->diags;
  tvms_span span = tvms_reader_span_of(reader, ref);
  tvms_diag_remark(diags, diag, "a shape is a value of its own: R.shape(...)");
  tvms_diag_fix(diags, diag, (tvms_span){span.begin, span.begin}, true, "R.shape(");
  tvms_diag_fix(diags, diag, (tvms_span){span.end, span.end}, true, ")");
}

// A call whose arguments are bound first is made anew, and its type inferred: TVM loses
// the annotation then.
static bool is_rebuilt(const tvms_node *value) {
  if (value->kind != TVMS_NODE_CALL) return false;
  tvms_list args = tvms_as_call(value)->args;
  for (uint32_t i = 0; i < args.len; i++) {
    int kind = args.items[i]->kind;
    if (kind == TVMS_NODE_CALL || kind == TVMS_NODE_TUPLE_GET_ITEM
        || kind == TVMS_NODE_IF) {
      return true;
    }
  }
  return false;
}

// The type that a value gets from its annotation: a call that was just made takes it over,
// other values keep theirs. NULL after a report.
static bool annotate(tvms_reader *reader, tvms_node *value, tvms_node *type,
                     tvms_ref ref) {
  if (is_rebuilt(value)) return true;
  tvms_node *known = tvms_sinfo_of(reader->unit, value);
  tvms_sinfo_fit fit = tvms_sinfo_relate(relax_of(reader)->prover, type, known);
  // TVM looks at the annotations of calls only when it verifies the module.
  bool trusted =
      value->kind == TVMS_NODE_CALL
      && (reader->module->unchecked || type->kind == TVMS_NODE_SINFO_DTENSOR);
  if (fit == TVMS_FIT_NEVER && !trusted) {
    tvms_context *context = reader->context;
    tvms_diag *diag = tvms_reader_report(reader, annotation_contradicts, ref,
                                         tvms_sinfo_describe(context, known),
                                         tvms_sinfo_describe(context, type));
    explain_shape(reader, diag, type, ref);
    reader->failed = true;
    return false;
  }
  if (value->kind == TVMS_NODE_CALL) value->sinfo = type;
  return true;
}

static tvms_eval_value emit(tvms_reader *reader, tvms_node *value, tvms_sym name,
                            tvms_node *TVMS_NULLABLE type, tvms_ref target,
                            tvms_ref ref) {
  if (!block_is_open(reader, ref)) return TVMS_UNKNOWN;
  if (type && !annotate(reader, value, type, ref)) return TVMS_UNKNOWN;
  tvms_node *var = tvms_builder_emit(&relax_of(reader)->builder, value, name,
                                     tvms_reader_span_of(reader, target), type != NULL);
  return tvms_eval_value_node(var);
}

static tvms_eval_value emit_cast(tvms_reader *reader, tvms_eval_value pair,
                                 tvms_sym name, tvms_node *TVMS_NULLABLE type,
                                 tvms_ref target, tvms_ref ref) {
  if (!block_is_open(reader, ref)) return TVMS_UNKNOWN;
  tvms_context *context = reader->context;
  tvms_node *value = pair.as.items[0].as.node, *to = pair.as.items[1].as.node;
  if (type && !tvms_node_equal(context, type, to)) {
    tvms_reader_report(reader, match_cast_annotation, ref);
    return tvms_reader_failed(reader);
  }
  tvms_node *known = tvms_sinfo_of(reader->unit, value);
  if (tvms_sinfo_relate(relax_of(reader)->prover, known, to) == TVMS_FIT_NEVER) {
    tvms_reader_report(reader, match_cast_impossible, ref,
                       tvms_sinfo_describe(context, known),
                       tvms_sinfo_describe(context, to));
    return tvms_reader_failed(reader);
  }
  return tvms_eval_value_node(
      tvms_builder_match_cast(&relax_of(reader)->builder, value, to, name,
                              tvms_reader_span_of(reader, target)));
}

// ---- Symbolic variables of the body ----

static bool is_symbol(const tvms_node *node) {
  return node->kind == TVMS_NODE_VAR && !node->sinfo
         && !tvms_dtype_is_void(node->dtype);
}

// `T.int64()`: the declaration of a symbolic variable.
static bool is_declaration(tvms_reader *reader, tvms_ref ref, const tvms_node *var) {
  if (!tvms_release_has(reader->dialect, TVMS_FACT_scalars_are_tir)) return true;
  const tvms_surf *node = tvms_reader_at(reader, ref);
  return node->kind == TVMS_SURF_CALL && !node->b && tvms_as_var(var)->name == 0;
}

static void declare_symbol(tvms_reader *reader, tvms_sym name, tvms_node *var,
                           tvms_ref target) {
  tvms_span span = tvms_reader_span_of(reader, target);
  tvms_sym own = tvms_as_var(var)->name;
  if (own && own != name) {
    tvms_reader_report(reader, symbol_renamed, target,
                       tvms_symbol_text(reader->context, own),
                       tvms_symbol_text(reader->context, name));
    reader->failed = true;
  }
  const tvms_binding *binding = tvms_scope_lookup(reader, name);
  tvms_node *known = NULL;
  if (binding && binding->value.kind == TVMS_EVAL_NODE) known = binding->value.as.node;
  if (known && known->kind == TVMS_NODE_VAR && !tvms_dtype_is_void(known->dtype)) {
    known->flags |= var->flags & TVMS_FLAG_SIZE_VAR;
    if (tvms_dtype_same(known->dtype, var->dtype)) return;
    char a[TVMS_DTYPE_TEXT], b[TVMS_DTYPE_TEXT];
    tvms_reader_report(
        reader, symbol_dtype, target, tvms_symbol_text(reader->context, name),
        tvms_dtype_text(known->dtype, a), tvms_dtype_text(var->dtype, b));
    reader->failed = true;
    return;
  }
  tvms_as_var(var)->name = name;
  var->span = span;
  tvms_scope_bind(reader, name, tvms_eval_value_node(var), span);
}

// ---- Assignment ----

static bool is_number(tvms_eval_value value) {
  return value.kind == TVMS_EVAL_INT || value.kind == TVMS_EVAL_FLOAT
         || value.kind == TVMS_EVAL_BOOL;
}

// A number: a constant tensor, or from 0.26 on a scalar if the annotation says so.
static tvms_node *TVMS_NULLABLE number_value(tvms_reader *reader, tvms_eval_value value,
                                             tvms_node *TVMS_NULLABLE type,
                                             tvms_ref ref) {
  if (!tvms_release_has(reader->dialect, TVMS_FACT_scalars_are_tir) || !type
      || !tvms_sinfo_is_prim(type)) {
    return tvms_relax_const(reader, value, (tvms_dtype){0}, ref);
  }
  tvms_span span = tvms_reader_span_of(reader, ref);
  tvms_node *number =
      value.kind == TVMS_EVAL_FLOAT
          ? tvms_build_float(reader->unit, type->dtype, value.as.f, span)
          : tvms_build_int(reader->unit, type->dtype, value.as.i, span);
  return number ? tvms_relax_prim(reader, number) : NULL;
}

// The value that a name gets. Everything that is not a value of Relax is bound as it is.
static tvms_eval_value bound_value(tvms_reader *reader, tvms_sym name,
                                   tvms_eval_value value, tvms_node *TVMS_NULLABLE type,
                                   tvms_ref target, tvms_ref ref) {
  if (value.kind == TVMS_EVAL_META) return value.as.items[0];
  if (value.kind == TVMS_EVAL_RELAX && value.spare == TVMS_RELAX_CAST) {
    return emit_cast(reader, value, name, type, target, ref);
  }
  tvms_node *node = value.kind == TVMS_EVAL_NODE ? value.as.node : NULL;
  bool other = node
               && (node->kind == TVMS_NODE_GLOBAL_VAR
                   || (node->kind == TVMS_NODE_STRING_IMM && node->sinfo));
  if (value.kind == TVMS_EVAL_TUPLE || other) {
    node = tvms_relax_to_value(reader, value, ref);
    if (node && !node->sinfo) return value;
  } else if (is_number(value)) {
    node = number_value(reader, value, type, ref);
  } else if (node && !tvms_relax_is_expr(node)) {
    bool scalar = tvms_node_class_of(node) == TVMS_CLASS_EXPR
                  && !tvms_dtype_is_void(node->dtype)
                  && tvms_release_has(reader->dialect, TVMS_FACT_scalars_are_tir);
    if (!scalar) return value;
    if (!node->sinfo) node = tvms_relax_prim(reader, node);
  }
  if (node) return emit(reader, node, name, type, target, ref);
  if (value.kind != TVMS_EVAL_UNKNOWN && value.kind != TVMS_EVAL_TUPLE) return value;
  return tvms_reader_failed(reader);
}

static void assign_name(tvms_reader *reader, tvms_ref target, tvms_eval_value value,
                        tvms_node *TVMS_NULLABLE type, tvms_ref ref) {
  tvms_sym name = tvms_reader_at(reader, target)->a;
  tvms_node *node = value.kind == TVMS_EVAL_NODE ? value.as.node : NULL;
  if (node && is_symbol(node) && is_declaration(reader, ref, node)) {
    declare_symbol(reader, name, node, target);
    return;
  }
  tvms_eval_value bound = bound_value(reader, name, value, type, target, ref);
  // What is unknown but annotated goes on with its type.
  if (!tvms_eval_value_is_known(bound) && type) {
    tvms_node *var = tvms_var_new(reader->unit, name, (tvms_dtype){0},
                                  tvms_reader_span_of(reader, target));
    var->sinfo = type;
    bound = tvms_eval_value_node(var);
  }
  tvms_scope_bind(reader, name, bound, tvms_reader_span_of(reader, target));
}

static void assign(tvms_reader *reader, tvms_ref target, tvms_eval_value value,
                   tvms_node *TVMS_NULLABLE type, tvms_ref ref);

static void assign_unknown(tvms_reader *reader, tvms_ref target) {
  const tvms_surf *node = tvms_reader_at(reader, target);
  if (node->kind == TVMS_SURF_NAME) {
    assign_name(reader, target, TVMS_UNKNOWN, NULL, target);
  } else if (node->kind == TVMS_SURF_TUPLE || node->kind == TVMS_SURF_LIST) {
    tvms_surface_each(reader->surface, item, node->a) {
      assign_unknown(reader, item);
    }
  }
}

// Places of the parts of the right side, if it is a tuple of its own.
static tvms_ref part_ref(tvms_reader *reader, tvms_ref ref, uint32_t i) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  if (node->kind != TVMS_SURF_TUPLE && node->kind != TVMS_SURF_LIST) return ref;
  tvms_ref item = node->a;
  for (; item && i > 0; i--) {
    item = tvms_reader_at(reader, item)->next;
  }
  return item ? item : ref;
}

static void assign_tuple(tvms_reader *reader, tvms_ref target, tvms_eval_value value,
                         tvms_ref ref) {
  uint32_t count =
      tvms_surface_count(reader->surface, tvms_reader_at(reader, target)->a);
  const tvms_node *node = value.kind == TVMS_EVAL_NODE ? value.as.node : NULL;
  uint32_t have = value.len;
  if (node && node->kind == TVMS_NODE_CALL) {
    tvms_reader_report(reader, relax_unpack_call, ref);
    reader->failed = true;
    assign_unknown(reader, target);
    return;
  }
  if (node) {
    bool tuple = node->sinfo && node->sinfo->kind == TVMS_NODE_SINFO_TUPLE;
    have = tuple ? tvms_as_sinfo_tuple(node->sinfo)->fields.len : 0;
  }
  if (!tvms_eval_value_is_known(value) || (!node && !tvms_eval_value_is_sequence(value))
      || have != count) {
    if (tvms_eval_value_is_known(value)) {
      tvms_reader_report(reader, relax_unpack, target, count, have);
    }
    reader->failed = true;
    assign_unknown(reader, target);
    return;
  }
  uint32_t i = 0;
  tvms_surface_each(reader->surface, item, tvms_reader_at(reader, target)->a) {
    tvms_eval_value part =
        node ? tvms_relax_item(reader, value.as.node, i, ref) : value.as.items[i];
    assign(reader, item, part, NULL, part_ref(reader, ref, i));
    i++;
  }
}

static void assign(tvms_reader *reader, tvms_ref target, tvms_eval_value value,
                   tvms_node *TVMS_NULLABLE type, tvms_ref ref) {
  switch ((int)tvms_reader_at(reader, target)->kind) {
  case TVMS_SURF_NAME: assign_name(reader, target, value, type, ref); break;
  case TVMS_SURF_TUPLE:
  case TVMS_SURF_LIST: assign_tuple(reader, target, value, ref); break;
  case TVMS_SURF_BAD: reader->failed = true; break;
  default: tvms_reader_report(reader, relax_target, target); reader->failed = true;
  }
}

static void read_assign(tvms_reader *reader, tvms_ref stmt) {
  tvms_ref targets = tvms_reader_at(reader, stmt)->a,
           ref = tvms_reader_at(reader, stmt)->b;
  tvms_eval_value value = tvms_eval(reader, ref);
  if (tvms_reader_at(reader, targets)->next) {
    tvms_reader_report(reader, chained_assignment, targets);
    reader->failed = true;
    return;
  }
  assign(reader, targets, value, NULL, ref);
}

// `gv: R.Tuple` without a value: so TVM prints the variable of a statement without value
// that is mentioned elsewhere, behind the statement or before its block.
static bool declares_void(tvms_reader *reader, const tvms_surf *stmt) {
  const tvms_surf *target = tvms_reader_at(reader, stmt->a);
  const tvms_row *tuple = tvms_row_find(reader, TVMS_NS_R, TVMS_SYM_Tuple);
  tvms_eval_value type = tvms_eval(reader, stmt->b);
  if (target->kind != TVMS_SURF_NAME || type.kind != TVMS_EVAL_CALLABLE
      || type.as.row != tuple) {
    return false;
  }
  tvms_relax_state *relax = relax_of(reader);
  const tvms_open_block *block = tvms_builder_block(&relax->builder);
  const tvms_node *last =
      block->bindings.len ? block->bindings.items[block->bindings.len - 1] : NULL;
  tvms_node *var = last && last->kind == TVMS_NODE_VAR_BINDING
                       ? tvms_as_var_binding(last)->var
                       : NULL;
  if (!var || tvms_as_var(var)->name != TVMS_SYM__ || !tvms_sinfo_is_void(var->sinfo)) {
    relax->void_name = target->a;
    return true;
  }
  tvms_as_var(var)->name = target->a;
  relax->builder.void_var = var;
  tvms_scope_bind(reader, target->a, tvms_eval_value_node(var),
                  tvms_reader_span_of(reader, stmt->a));
  return true;
}

static void read_annotated(tvms_reader *reader, tvms_ref stmt) {
  const tvms_surf node = *tvms_reader_at(reader, stmt);
  if (!node.c && declares_void(reader, &node)) return;
  if (!node.c) {
    tvms_reader_report(reader, relax_no_value, stmt);
    reader->failed = true;
    return;
  }
  const tvms_surf *right = tvms_reader_at(reader, node.c);
  bool item = right->kind == TVMS_SURF_SUBSCRIPT
              && tvms_reader_at(reader, right->a)->kind == TVMS_SURF_TUPLE;
  // TVM annotates every binding that it prints.
  relax_of(reader)->printed = relax_of(reader)->bools = tvms_reader_is_printed(reader);
  tvms_eval_value value =
      item ? tvms_relax_printed_item(reader, node.c) : tvms_eval(reader, node.c);
  relax_of(reader)->printed = false;
  tvms_node *type = tvms_relax_annotation(reader, node.b);
  assign(reader, node.a, value, type, node.c);
  relax_of(reader)->bools = false;
}

// ---- Other statements ----

// A packed function that returns nothing has to say so.
static void explain_unused(tvms_reader *reader, tvms_diag *diag, const tvms_node *node,
                           tvms_ref ref) {
  if (node->kind != TVMS_NODE_CALL) return;
  const tvms_call *call = tvms_as_call(node);
  if (call->callee->kind != TVMS_NODE_EXTERN_FUNC || call->type_args.len > 0) return;
  tvms_diags *diags = &reader->context->diags;
  const char *keyword =
      !tvms_release_has(reader->dialect, TVMS_FACT_types_are_called_ty) ? "sinfo_args"
                                                                        : "ty_args";
  uint32_t end = tvms_reader_span_of(reader, ref).end - 1;
  tvms_diag_remark(diags, diag, "if the function returns nothing, say so: %s=R.Tuple()",
                   keyword);
  tvms_diag_fix(diags, diag, (tvms_span){end, end}, false, ", %s=R.Tuple()", keyword);
}

static void read_expression(tvms_reader *reader, tvms_ref stmt) {
  tvms_ref ref = tvms_reader_at(reader, stmt)->a;
  bool is_docstring = tvms_surface_is_string(reader->surface, ref);
  if (is_docstring || tvms_reader_at(reader, ref)->kind == TVMS_SURF_ELLIPSIS) return;
  relax_of(reader)->bools = tvms_reader_has_printed_header(reader);
  tvms_eval_value value = tvms_eval(reader, ref);
  relax_of(reader)->bools = false;
  if (value.kind == TVMS_EVAL_NONE) return;
  if (!tvms_eval_value_is_known(value)) {
    reader->failed = true;
    return;
  }
  tvms_node *node = value.kind == TVMS_EVAL_NODE ? value.as.node : NULL;
  if (!node || !tvms_relax_is_expr(node)) {
    tvms_reader_report(reader, relax_statement, ref, tvms_eval_describe(reader, value));
    reader->failed = true;
    return;
  }
  tvms_relax_state *relax = relax_of(reader);
  tvms_sym name = relax->void_name ? relax->void_name : TVMS_SYM__;
  tvms_eval_value var = emit(reader, node, name, NULL, ref, ref);
  if (relax->void_name) {
    tvms_scope_bind(reader, name, var, tvms_reader_span_of(reader, ref));
    relax->void_name = 0;
  }
  if (var.kind == TVMS_EVAL_NODE && !tvms_sinfo_is_void(var.as.node->sinfo)) {
    tvms_diag *diag =
        tvms_reader_report(reader, unused_value, ref,
                           tvms_sinfo_describe(reader->context, var.as.node->sinfo));
    explain_unused(reader, diag, node, ref);
    reader->failed = true;
  }
}

// Variables of the dataflow block that a returned value uses are outputs of it.
static void return_outputs(tvms_reader *reader, tvms_node *value) {
  if (value->kind == TVMS_NODE_VAR && value->flags & TVMS_FLAG_DATAFLOW) {
    tvms_vec_push(&reader->context->memory, &relax_of(reader)->outputs, value);
  }
  tvms_list parts = {NULL, 0};
  if (value->kind == TVMS_NODE_TUPLE) parts = tvms_as_tuple(value)->fields;
  if (value->kind == TVMS_NODE_CALL) parts = tvms_as_call(value)->args;
  for (uint32_t i = 0; i < parts.len; i++) {
    return_outputs(reader, parts.items[i]);
  }
  if (value->kind == TVMS_NODE_TUPLE_GET_ITEM) {
    return_outputs(reader, tvms_as_tuple_get_item(value)->tuple);
  }
}

static void read_return(tvms_reader *reader, tvms_ref stmt) {
  tvms_relax_state *relax = relax_of(reader);
  tvms_ref ref = tvms_reader_at(reader, stmt)->a;
  if (relax->has_return) {
    tvms_diag *diag = tvms_reader_report(reader, second_return, stmt);
    tvms_diag_note(&reader->context->diags, diag, relax->returned_span,
                   "the function returns here already");
    reader->failed = true;
    return;
  }
  relax->has_return = true;
  relax->returned_span = tvms_reader_span_of(reader, stmt);
  // TVM binds calls before it returns them.
  bool call = ref && tvms_reader_at(reader, ref)->kind == TVMS_SURF_CALL;
  relax->bools = !call && tvms_reader_has_printed_header(reader);
  tvms_eval_value value = ref ? tvms_eval(reader, ref) : TVMS_NOTHING;
  tvms_node *node = tvms_relax_to_value(reader, value, ref ? ref : stmt);
  relax->bools = false;
  if (!node) {
    reader->failed = true;
    return;
  }
  relax->returned = tvms_builder_normalize(&relax->builder, node);
  if (tvms_relax_in_dataflow(reader)) return_outputs(reader, relax->returned);
}

// Names that a body binds become unknown where it cannot be read.
static void bind_unknown(tvms_reader *reader, tvms_ref body) {
  if (!tvms_memory_enter(&reader->context->memory)) return;
  tvms_surface_each(reader->surface, stmt, body) {
    const tvms_surf *node = tvms_reader_at(reader, stmt);
    bool inner = node->kind == TVMS_SURF_WITH || node->kind == TVMS_SURF_IF;
    if (inner) bind_unknown(reader, node->b);
    if (node->kind == TVMS_SURF_IF) bind_unknown(reader, node->c);
    if (node->kind == TVMS_SURF_ASSIGN) assign_unknown(reader, node->a);
    if (node->kind == TVMS_SURF_ANN_ASSIGN) assign_unknown(reader, node->a);
  }
  tvms_memory_leave(&reader->context->memory);
}

// Outputs of a dataflow block are ordinary variables, and are seen after it. What is
// unknown among them is so, silently; every name of a block that is left in a way that
// cannot be read (`R.outputs(gv)`) is.
static void end_dataflow(tvms_reader *reader, tvms_ref body) {
  tvms_relax_state *relax = relax_of(reader);
  tvms_scope_pop(reader);
  if (reader->failed && !relax->outputs.len) bind_unknown(reader, body);
  for (uint32_t i = 0; i < relax->unknown_outputs.len; i++) {
    tvms_scope_bind(reader, relax->unknown_outputs.items[i], TVMS_UNKNOWN,
                    TVMS_NO_SPAN);
  }
  relax->unknown_outputs.len = 0;
  for (uint32_t i = 0; i < relax->outputs.len; i++) {
    tvms_node *var = relax->outputs.items[i];
    var->flags &= (uint8_t)~TVMS_FLAG_DATAFLOW;
    tvms_scope_bind(reader, tvms_as_var(var)->name, tvms_eval_value_node(var),
                    var->span);
  }
  relax->outputs.len = 0;
  tvms_builder_switch(&relax->builder, false);
}

static void read_with(tvms_reader *reader, tvms_ref stmt) {
  const tvms_surf node = *tvms_reader_at(reader, stmt);
  const tvms_surf item = *tvms_reader_at(reader, node.a);
  if (item.next || item.b) {
    tvms_reader_report(reader, relax_with, stmt);
    reader->failed = true;
  }
  tvms_eval_value value = tvms_eval(reader, item.a);
  bool dataflow = value.kind == TVMS_EVAL_RELAX && value.spare == TVMS_RELAX_DATAFLOW;
  if (tvms_eval_value_is_known(value) && !dataflow) {
    tvms_reader_report(reader, relax_with, item.a);
    reader->failed = true;
  }
  tvms_builder *builder = &relax_of(reader)->builder;
  if (!dataflow) {
    tvms_scope_push(reader);
    tvms_relax_body(reader, node.b);
    tvms_scope_pop(reader);
    bind_unknown(reader, node.b);
    return;
  }
  if (tvms_relax_in_dataflow(reader)) {
    tvms_reader_report(reader, nested_dataflow, item.a);
    reader->failed = true;
    bind_unknown(reader, node.b);
    return;
  }
  bool failed = reader->failed;
  reader->failed = false;
  tvms_builder_switch(builder, true);
  tvms_scope_push(reader);
  tvms_relax_body(reader, node.b);
  end_dataflow(reader, node.b);
  reader->failed = reader->failed || failed;
}

static tvms_node *TVMS_NULLABLE read_branch(tvms_reader *reader, tvms_ref body,
                                            const char *suffix, tvms_sym *name,
                                            tvms_ref stmt) {
  tvms_relax_state *relax = relax_of(reader);
  bool failed = reader->failed;
  reader->failed = false;
  tvms_builder_begin_seq(&relax->builder);
  tvms_scope_push(reader);
  tvms_relax_body(reader, body);
  tvms_scope_pop(reader);
  tvms_node *seq = tvms_builder_end_branch(&relax->builder, suffix, name,
                                           tvms_reader_span_of(reader, stmt));
  if (!seq && !reader->failed) {
    tvms_reader_report(reader, branch_without_value, body ? body : stmt);
    reader->failed = true;
  }
  bool known = seq && !reader->failed;
  reader->failed = reader->failed || failed;
  return known ? seq : NULL;
}

static void read_if(tvms_reader *reader, tvms_ref stmt) {
  const tvms_surf node = *tvms_reader_at(reader, stmt);
  tvms_relax_state *relax = relax_of(reader);
  tvms_eval_value test = tvms_eval(reader, node.a);
  tvms_node *condition = tvms_relax_to_value(reader, test, node.a);
  if (tvms_relax_in_dataflow(reader)) {
    tvms_reader_report(reader, if_in_dataflow, stmt);
    reader->failed = true;
    bind_unknown(reader, node.b);
    bind_unknown(reader, node.c);
    return;
  }
  if (!node.c) {
    tvms_reader_report(reader, if_without_else, stmt);
    reader->failed = true;
  }
  tvms_sym name = 0, other = 0;
  tvms_node *yes = read_branch(reader, node.b, "_then", &name, stmt);
  tvms_node *no = node.c ? read_branch(reader, node.c, "_else", &other, stmt) : NULL;
  if (yes && no && name != other) {
    tvms_reader_report(reader, branches_differ, stmt,
                       tvms_symbol_text(reader->context, name),
                       tvms_symbol_text(reader->context, other));
    reader->failed = true;
    yes = NULL;
  }
  if (!condition || !yes || !no) {
    reader->failed = true;
    bind_unknown(reader, node.b);
    return;
  }
  tvms_if *branch = tvms_node_make(reader->unit, IF, tvms_reader_span_of(reader, stmt));
  branch->condition = condition;
  branch->true_branch = yes;
  branch->false_branch = no;
  tvms_node *a = tvms_builder_erase(&relax->builder, yes->sinfo);
  tvms_node *b = tvms_builder_erase(&relax->builder, no->sinfo);
  branch->head.sinfo = tvms_sinfo_join(relax->prover, a, b);
  tvms_eval_value var = emit(reader, &branch->head, name, NULL, stmt, stmt);
  tvms_scope_bind(reader, name, var, tvms_reader_span_of(reader, stmt));
}

static void read_local(tvms_reader *reader, tvms_ref stmt) {
  tvms_surf_definition def = tvms_surface_define(reader->surface, stmt);
  tvms_decoration decoration = reader->decorate(reader, stmt);
  switch ((int)decoration.kind) {
  case TVMS_DECORATED_RELAX: break;
  case TVMS_DECORATED_MACRO: {
    uint8_t flags = decoration.unhygienic ? 0 : TVMS_EVAL_HYGIENIC;
    tvms_scope_bind(reader, def.name, tvms_closure_make_macro(reader, stmt, flags),
                    def.name_span);
    return;
  }
  default:
    if (decoration.kind == TVMS_DECORATED_TIR) {
      tvms_reader_report(reader, inline_prim_func, stmt);
    } else if (decoration.kind == TVMS_DECORATED_NOT) {
      tvms_reader_report(reader, undecorated_function, stmt,
                         tvms_symbol_text(reader->context, def.name));
    }
    reader->failed = true;
    tvms_scope_bind(reader, def.name, TVMS_UNKNOWN, def.name_span);
    return;
  }
  tvms_node *reserved = NULL;
  tvms_node *function = tvms_relax_local_function(reader, stmt, decoration, &reserved);
  tvms_eval_value value = TVMS_UNKNOWN;
  if (function && block_is_open(reader, stmt)) {
    tvms_builder *builder = &relax_of(reader)->builder;
    if (reserved) {
      tvms_builder_bind(builder, reserved, function, tvms_reader_span_of(reader, stmt));
      value = tvms_eval_value_node(reserved);
    } else {
      value = tvms_eval_value_node(
          tvms_builder_emit(builder, function, def.name, def.name_span, false));
    }
  } else {
    reader->failed = true;
  }
  tvms_scope_bind(reader, def.name, value, def.name_span);
}

static void read_stmt(tvms_reader *reader, tvms_ref stmt) {
  switch ((int)tvms_reader_at(reader, stmt)->kind) {
  case TVMS_SURF_EXPRESSION: read_expression(reader, stmt); break;
  case TVMS_SURF_ASSIGN: read_assign(reader, stmt); break;
  case TVMS_SURF_ANN_ASSIGN: read_annotated(reader, stmt); break;
  case TVMS_SURF_RETURN: read_return(reader, stmt); break;
  case TVMS_SURF_WITH: read_with(reader, stmt); break;
  case TVMS_SURF_IF: read_if(reader, stmt); break;
  case TVMS_SURF_DEF: read_local(reader, stmt); break;
  case TVMS_SURF_PASS: break;
  case TVMS_SURF_ERROR:
  case TVMS_SURF_UNSUPPORTED: reader->failed = true; break;
  default: tvms_reader_report(reader, relax_unsupported, stmt); reader->failed = true;
  }
}

void tvms_relax_body(tvms_reader *reader, tvms_ref body) {
  tvms_memory *memory = &reader->context->memory;
  if (!tvms_memory_enter(memory)) {
    tvms_eval_report_too_deep(reader, body);
    tvms_memory_leave(memory);
    return;
  }
  tvms_surface_each(reader->surface, stmt, body) {
    read_stmt(reader, stmt);
  }
  tvms_memory_leave(memory);
}

// ---- Macros ----

tvms_eval_value tvms_relax_expand(tvms_reader *reader, tvms_ref body, uint32_t calls,
                                  tvms_ref call) {
  (void)calls;
  tvms_eval_value result = TVMS_UNKNOWN;
  bool returned = false;
  tvms_surface_each(reader->surface, stmt, body) {
    const tvms_surf *node = tvms_reader_at(reader, stmt);
    if (returned) {
      tvms_reader_report(reader, macro_after_return, stmt);
      reader->failed = true;
      break;
    }
    if (node->kind == TVMS_SURF_RETURN && node->a) {
      tvms_ref value = node->a;
      result = tvms_eval(reader, value);
      returned = true;
    } else {
      read_stmt(reader, stmt);
    }
  }
  if (!returned) {
    tvms_reader_report(reader, macro_without_return, call);
    reader->failed = true;
  }
  return result;
}
