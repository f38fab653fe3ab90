// Assignments of a PrimFunc: stores, definitions (parser/tir/define.c), annotated names.
//
// What `x = e` means follows from both sides: a store if x is a buffer of one element,
// else a definition; and what is defined follows from the release, a let up to 0.24 and
// a mutable scalar later. An annotation decides where it is given.
#include "parser/tir/assign.h"

#include "ir/build.h"
#include "parser/eval/convert.h"
#include "parser/eval/expr.h"
#include "parser/eval/operator.h"
#include "parser/eval/origin.h"
#include "parser/eval/scope.h"
#include "parser/tir/access.h"
#include "parser/tir/buffer.h"
#include "parser/tir/buffer_form.h"
#include "parser/tir/convert.h"
#include "parser/tir/define.h"
#include "parser/tir/let.h"
#include "parser/tir/signature.h"
#include "parser/tir/stmt.h"

#include <string.h>

// `n = T.int32()` names the variable that a quoted dim of the signature has made.
static tvms_eval_value reuse_dim(tvms_reader *reader, tvms_sym name,
                                 tvms_eval_value value, tvms_ref ref) {
  if (!tvms_release_has(reader->dialect, TVMS_FACT_signatures_define_dims)
      || !tvms_tir_of(reader)->signature_vars.len) {
    return TVMS_UNKNOWN;
  }
  const tvms_surf *source = tvms_reader_at(reader, ref);
  if (source->kind != TVMS_SURF_CALL || source->b) return TVMS_UNKNOWN;
  tvms_node *known = tvms_tir_signature_var(reader, name);
  tvms_binding *binding = known ? tvms_scope_lookup(reader, name) : NULL;
  if (!binding || binding->value.kind != TVMS_EVAL_NODE
      || binding->value.as.node != known) {
    return TVMS_UNKNOWN;
  }
  const tvms_node *declared = tvms_eval_value_node_of(value, TVMS_NODE_VAR);
  if (declared && !tvms_dtype_same(declared->dtype, known->dtype)) {
    char a[TVMS_DTYPE_TEXT], b[TVMS_DTYPE_TEXT];
    tvms_reader_report(
        reader, dtype_changed, ref, tvms_symbol_text(reader->context, name),
        tvms_dtype_text(known->dtype, a), tvms_dtype_text(declared->dtype, b));
    reader->failed = true;
  }
  return binding->value;
}

static tvms_eval_value bind_assigned(tvms_reader *reader, tvms_sym name,
                                     tvms_eval_value value, tvms_ref ref) {
  tvms_eval_value dim = reuse_dim(reader, name, value, ref);
  return tvms_eval_value_is_known(dim) ? dim
                                       : tvms_tir_assigned(reader, name, value, ref);
}

// The one-element buffer that a plain name stands for, or NULL.
static tvms_node *scalar_named(const tvms_reader *reader, tvms_ref target) {
  if (!tvms_release_has(reader->dialect, TVMS_FACT_assignments_make_scalars))
    return NULL;
  const tvms_surf *node = tvms_reader_at(reader, target);
  if (node->kind != TVMS_SURF_NAME) return NULL;
  const tvms_binding *binding = tvms_scope_lookup(reader, node->a);
  if (!binding || binding->value.kind != TVMS_EVAL_NODE) return NULL;
  tvms_node *value = binding->value.as.node;
  if (value->kind == TVMS_NODE_BUFFER_LOAD) value = tvms_as_buffer_load(value)->buffer;
  if (value->kind != TVMS_NODE_BUFFER) return NULL;
  tvms_list shape = tvms_as_buffer(value)->shape;
  return shape.len == 1 && tvms_node_is_int(shape.items[0], 1) ? value : NULL;
}

static bool is_storable(tvms_eval_value value) {
  if (value.kind == TVMS_EVAL_NODE) {
    return tvms_node_class_of(value.as.node) == TVMS_CLASS_EXPR;
  }
  return value.kind == TVMS_EVAL_INT || value.kind == TVMS_EVAL_FLOAT
         || value.kind == TVMS_EVAL_BOOL;
}

// `A = B` of two parameters with one element each stores.
static bool is_other_scalar(const tvms_reader *reader, const tvms_node *scalar,
                            tvms_eval_value value) {
  const tvms_node *node = tvms_eval_value_node_of(value, TVMS_NODE_BUFFER);
  return node && node != scalar && tvms_tir_is_scalar_buffer(reader, node)
         && node->spare & TVMS_SPARE_BOUND;
}

// The indices of `A[i][j] = …` belong into one bracket.
static void report_target(tvms_reader *reader, tvms_ref ref, tvms_eval_value object) {
  tvms_diag *diag =
      tvms_eval_report_type(reader, ref, "the target of a store", "a buffer", object);
  bool region = tvms_eval_value_node_of(object, TVMS_NODE_BUFFER_REGION)
                || tvms_eval_value_node_of(object, TVMS_NODE_BUFFER_LOAD);
  const char *text = reader->surface->source->text;
  uint32_t end = tvms_reader_span_of(reader, ref).end;
  if (!diag || !region || text[end - 1] != ']' || text[end] != '[') return;
  tvms_span inner = tvms_reader_span_of(reader, ref);
  tvms_diags *diags = &reader->context->diags;
  uint32_t shut = end + (uint32_t)strcspn(text + end, "]\r\n");
  tvms_diag_remark(diags, diag, "write %.*s, %.*s]", (int)(end - 1 - inner.begin),
                   text + inner.begin, (int)(shut - end - 1), text + end + 1);
  tvms_diag_fix(diags, diag, (tvms_span){end - 1, end + 1}, false, ", ");
}

static void assign_subscript(tvms_reader *reader, tvms_ref target,
                             tvms_eval_value value, tvms_ref ref) {
  const tvms_surf node = *tvms_reader_at(reader, target);
  tvms_eval_value index = tvms_eval_index(reader, node.b, false);
  tvms_eval_value object = tvms_eval(reader, node.a);
  if (!tvms_eval_value_is_known(index) || !tvms_eval_value_is_known(object)
      || !tvms_eval_value_is_known(value)) {
    reader->failed = true;
    return;
  }
  tvms_node *buffer = tvms_eval_value_node_of(object, TVMS_NODE_BUFFER);
  if (!buffer) {
    report_target(reader, node.a, object);
    return;
  }
  tvms_tir_store_into(reader, buffer, index, value, NULL, ref);
}

// `n = e` of TVM's text behind `n = T.int64()` is the let of n.
static bool define_declared(tvms_reader *reader, tvms_ref target, tvms_eval_value value,
                            tvms_ref source) {
  const tvms_surf *node = tvms_reader_at(reader, target);
  bool let = node->kind == TVMS_SURF_NAME && is_storable(value) && source;
  tvms_node *var = let ? tvms_tir_declared_early(reader, node->a) : NULL;
  tvms_node *known = var ? tvms_eval_to_expr(reader, value, source) : NULL;
  if (!known || !tvms_dtype_same(known->dtype, var->dtype)) return false;
  tvms_tir_define_early(var);
  tvms_tir_enter_let(reader, var, known, source);
  return true;
}

static void assign_to(tvms_reader *reader, tvms_ref target, tvms_eval_value value,
                      tvms_ref source, tvms_ref ref) {
  if (tvms_reader_at(reader, target)->kind == TVMS_SURF_SUBSCRIPT) {
    assign_subscript(reader, target, value, ref);
    return;
  }
  tvms_node *scalar = scalar_named(reader, target);
  if (scalar && (is_storable(value) || is_other_scalar(reader, scalar, value))) {
    tvms_tir_store_into(reader, scalar, tvms_eval_value_int(0), value, NULL, ref);
    return;
  }
  if (define_declared(reader, target, value, source)) return;
  tvms_tir_bind_targets(reader, target, value, bind_assigned, source);
}

void tvms_tir_read_assign(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf stmt = *tvms_reader_at(reader, ref);
  if (tvms_reader_at(reader, stmt.a)->next) {
    tvms_reader_report(reader, chained_assignment, ref);
    reader->failed = true;
    tvms_surface_each(reader->surface, target, stmt.a) {
      tvms_tir_bind_unknown(reader, target);
    }
    return;
  }
  tvms_eval_value value = tvms_eval_operand(reader, stmt.b);
  assign_to(reader, stmt.a, value, stmt.b, ref);
}

void tvms_tir_read_aug_assign(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf stmt = *tvms_reader_at(reader, ref);
  tvms_eval_value left = tvms_eval(reader, stmt.a);
  tvms_eval_value right = tvms_eval(reader, stmt.b);
  tvms_eval_value value =
      tvms_eval_binary(reader, (tvms_surf_op)stmt.op, left, right, ref);
  assign_to(reader, stmt.a, value, stmt.b, ref);
}

// ---- `x: annotation = value` ----------------------------------------------------------------

static tvms_eval_value annotated_variable(tvms_reader *reader,
                                          tvms_eval_value annotation, tvms_ref ref) {
  tvms_eval_value value = tvms_tir_call_annotation(reader, annotation, ref);
  if (!tvms_eval_value_is_known(value)
      || tvms_eval_value_node_of(value, TVMS_NODE_VAR)) {
    return value;
  }
  tvms_eval_report_wrong_type(reader, ref, "an annotation", "a data type or T.handle",
                              annotation);
  return TVMS_UNKNOWN;
}

// A let with a given type: the name is bound first, then the statement comes.
static void annotated_let(tvms_reader *reader, const tvms_surf *stmt,
                          tvms_eval_value variable, tvms_eval_value value,
                          tvms_ref ref) {
  tvms_node *var = tvms_eval_value_node_of(variable, TVMS_NODE_VAR);
  tvms_node *node = var ? tvms_eval_to_expr(reader, value, stmt->c) : NULL;
  if (!node) {
    tvms_tir_bind_unknown(reader, stmt->a);
    return;
  }
  tvms_tir_bind_targets(reader, stmt->a, variable, tvms_tir_assigned, 0);
  tvms_tir_enter_let(reader, var, node, ref);
}

static void let_annotation(tvms_reader *reader, const tvms_surf *stmt,
                           tvms_eval_value annotation, tvms_eval_value value,
                           tvms_ref ref) {
  if (!stmt->c) {
    tvms_reader_report(reader, let_without_value, ref);
    tvms_tir_bind_unknown(reader, stmt->a);
    return;
  }
  if (annotation.len) {
    tvms_eval_value variable =
        annotated_variable(reader, annotation.as.items[0], stmt->b);
    annotated_let(reader, stmt, variable, value, ref);
    return;
  }
  // The type of a slice is not inferred; as the value of T.let[…] it is a load.
  bool slice = tvms_eval_value_node_of(value, TVMS_NODE_BUFFER_REGION) != NULL;
  if (slice)
    tvms_eval_report_wrong_type(reader, stmt->c, "the value of a let without a type",
                                "a value", value);
  tvms_node *node = slice ? NULL : tvms_eval_to_expr(reader, value, stmt->c);
  if (!node) {
    tvms_tir_bind_unknown(reader, stmt->a);
    return;
  }
  tvms_node *var =
      tvms_var_new(reader->unit, 0, node->dtype, tvms_reader_span_of(reader, stmt->a));
  // 0.25 takes the data type alone.
  if (tvms_release_has(reader->dialect, TVMS_FACT_expressions_have_types))
    var->sinfo = node->sinfo;
  annotated_let(reader, stmt, tvms_eval_value_node(var), tvms_eval_value_node(node),
                ref);
}

static void vector_annotation(tvms_reader *reader, const tvms_surf *stmt,
                              tvms_eval_value annotation, tvms_eval_value value,
                              tvms_ref ref) {
  if (value.kind != TVMS_EVAL_NONE) {
    tvms_reader_report(reader, vector_with_value, ref);
    reader->failed = true;
  }
  tvms_dtype dtype;
  tvms_eval_value shape = tvms_eval_value_items(
      TVMS_EVAL_TUPLE, annotation.as.items + 1, annotation.len - 1);
  tvms_buffer_form form = {.scope = TVMS_SYM_local, .align = -1};
  if (!tvms_eval_to_named_dtype(reader, annotation.as.items[0], stmt->b, &dtype)
      || !tvms_eval_to_exprs(reader, shape, stmt->b, &form.shape)) {
    tvms_tir_bind_unknown(reader, stmt->a);
    return;
  }
  form.dtype = dtype;
  tvms_node *buffer = tvms_tir_buffer_make(reader, &form, ref);
  tvms_tir_emit_alloc(reader, buffer, NULL, ref);
  tvms_tir_bind_targets(reader, stmt->a, tvms_eval_value_node(buffer),
                        tvms_tir_assigned, 0);
}

static bool is_scalar_type(const tvms_node *var) {
  return !var->sinfo && !tvms_dtype_is_handle(var->dtype);
}

// T.handle: a pointer to whatever.
static bool is_untyped(const tvms_node *var) {
  return !var->sinfo || var->sinfo->kind != TVMS_NODE_SINFO_POINTER
         || tvms_dtype_is_void(var->sinfo->dtype);
}

static void scalar_annotation(tvms_reader *reader, const tvms_surf *stmt,
                              tvms_eval_value annotation, tvms_eval_value value,
                              tvms_ref ref) {
  tvms_eval_value variable = annotated_variable(reader, annotation, stmt->b);
  tvms_node *var = tvms_eval_value_node_of(variable, TVMS_NODE_VAR);
  if (!var) {
    tvms_tir_bind_unknown(reader, stmt->a);
    return;
  }
  // 0.25 prints scalars of handles and of nothing, and cannot read them.
  bool printed = tvms_release_has(reader->dialect, TVMS_FACT_pointers_become_scalars)
                 && tvms_reader_is_printed(reader);
  if (!is_scalar_type(var) && !(printed && is_untyped(var))) {
    tvms_reader_report(reader, handle_annotation, stmt->b);
    tvms_tir_bind_unknown(reader, stmt->a);
    return;
  }
  tvms_eval_value scalar = tvms_tir_scalar_new(reader, var->dtype, TVMS_SYM_local, ref);
  tvms_tir_bind_targets(reader, stmt->a, scalar, tvms_tir_assigned, 0);
  if (value.kind == TVMS_EVAL_NONE) return;
  if (!tvms_eval_value_is_known(value)) {
    reader->failed = true;
    return;
  }
  tvms_tir_store_into(reader, tvms_as_buffer_load(scalar.as.node)->buffer,
                      tvms_eval_value_int(0), value, NULL, ref);
}

void tvms_tir_read_ann_assign(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf stmt = *tvms_reader_at(reader, ref);
  tvms_eval_value value = stmt.c ? tvms_eval(reader, stmt.c) : TVMS_NOTHING;
  tvms_eval_value annotation = tvms_eval(reader, stmt.b);
  if (!tvms_eval_value_is_known(annotation)) {
    tvms_tir_bind_unknown(reader, stmt.a);
  } else if (!tvms_release_has(reader->dialect, TVMS_FACT_assignments_make_scalars)) {
    annotated_let(reader, &stmt, annotated_variable(reader, annotation, stmt.b), value,
                  ref);
  } else if (annotation.kind == TVMS_EVAL_VECTOR) {
    vector_annotation(reader, &stmt, annotation, value, ref);
  } else if (annotation.kind == TVMS_EVAL_LET) {
    let_annotation(reader, &stmt, annotation, value, ref);
  } else {
    scalar_annotation(reader, &stmt, annotation, value, ref);
  }
}
