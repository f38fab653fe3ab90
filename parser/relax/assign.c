// Assignments of a Relax function: bindings, tuples taken apart, and the symbolic variables
// that `n = T.int64()` declares.
#include "parser/relax/assign.h"

#include "ir/fold.h"
#include "parser/eval/convert.h"
#include "parser/eval/expr.h"
#include "parser/eval/scope.h"
#include "parser/relax/convert.h"
#include "parser/relax/emit.h"
#include "parser/relax/state.h"
#include "parser/relax/types.h"
#include "parser/relax/value.h"

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
    return tvms_relax_emit_match_cast(reader, value, name, type, target, ref);
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
  if (node) return tvms_relax_emit_binding(reader, node, name, type, target, ref);
  if (value.kind != TVMS_EVAL_UNKNOWN && value.kind != TVMS_EVAL_TUPLE) return value;
  return tvms_reader_failed(reader);
}

// What is unknown but annotated goes on with its type: a binding like any other, of a value
// that is never looked at, because a function with such a binding is not built.
static tvms_node *stand_in(tvms_reader *reader, tvms_sym name, tvms_node *type,
                           tvms_ref target) {
  reader->failed = true;
  tvms_builder *builder = &tvms_relax_of(reader)->builder;
  tvms_span span = tvms_reader_span_of(reader, target);
  if (!tvms_builder_block(builder)->ended) {
    tvms_node *value = tvms_relax_tuple(reader, NULL, 0, span);
    value->sinfo = type;
    return tvms_builder_emit(builder, value, name, span, true);
  }
  tvms_node *var = tvms_var_new(reader->unit, name, (tvms_dtype){0}, span);
  var->sinfo = type;
  return var;
}

static void assign_name(tvms_reader *reader, tvms_ref target, tvms_eval_value value,
                        tvms_node *TVMS_NULLABLE type, tvms_ref ref) {
  tvms_sym name = tvms_reader_at(reader, target)->a;
  tvms_node *node = value.kind == TVMS_EVAL_NODE ? value.as.node : NULL;
  if (node && is_symbol(node) && is_declaration(reader, ref, node)) {
    declare_symbol(reader, name, node, target);
    return;
  }
  if (value.kind == TVMS_EVAL_DTYPE_NAME
      && tvms_reader_at(reader, ref)->kind == TVMS_SURF_ATTRIBUTE) {
    // `n = T.int64`.
    tvms_eval_report_wrong_type(reader, ref, NULL, "a value of Relax", value);
    value = TVMS_UNKNOWN;
  }
  tvms_eval_value bound = bound_value(reader, name, value, type, target, ref);
  // What contradicts its annotation leaves open which of the two is wrong.
  if (!tvms_eval_value_is_known(bound) && type && !node) {
    bound = tvms_eval_value_node(stand_in(reader, name, type, target));
  }
  tvms_scope_bind(reader, name, bound, tvms_reader_span_of(reader, target));
}

static void assign(tvms_reader *reader, tvms_ref target, tvms_eval_value value,
                   tvms_node *TVMS_NULLABLE type, tvms_ref ref);

void tvms_relax_bind_target_unknown(tvms_reader *reader, tvms_ref target) {
  const tvms_surf *node = tvms_reader_at(reader, target);
  if (node->kind == TVMS_SURF_NAME) {
    assign_name(reader, target, TVMS_UNKNOWN, NULL, target);
  } else if (node->kind == TVMS_SURF_TUPLE || node->kind == TVMS_SURF_LIST) {
    tvms_surface_each(reader->surface, item, node->a) {
      tvms_relax_bind_target_unknown(reader, item);
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
    tvms_diag *diag = tvms_reader_report(reader, relax_unpack_call, target);
    tvms_span call = tvms_reader_span_of(reader, ref);
    tvms_diag_remark(&reader->context->diags, diag,
                     "bind it first, lv = %.*s, then take its parts: lv[0], lv[1]",
                     call.end - call.begin > 60 ? 0 : (int)(call.end - call.begin),
                     reader->surface->source->text + call.begin);
    reader->failed = true;
    tvms_relax_bind_target_unknown(reader, target);
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
    tvms_relax_bind_target_unknown(reader, target);
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

void tvms_relax_read_assign(tvms_reader *reader, tvms_ref stmt) {
  tvms_ref targets = tvms_reader_at(reader, stmt)->a,
           ref = tvms_reader_at(reader, stmt)->b;
  if (tvms_reader_at(reader, targets)->kind == TVMS_SURF_BAD) {
    // Reported by the parser: what was to be bound is not known.
    reader->failed = true;
    reader->short_of_names = reader->unit;
    return;
  }
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
  tvms_relax_state *relax = tvms_relax_of(reader);
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

void tvms_relax_read_annotated(tvms_reader *reader, tvms_ref stmt) {
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
  tvms_eval_value value =
      item ? tvms_relax_printed_item(reader, node.c) : tvms_eval(reader, node.c);
  tvms_node *type = tvms_relax_annotation(reader, node.b);
  assign(reader, node.a, value, type, node.c);
}
