// The signature of a PrimFunc: its parameters, the variables that quoted dims define, its
// return type.
#include "parser/tir/signature.h"

#include "grammar/nested.h"
#include "ir/build.h"
#include "ir/meant.h"
#include "ir/walk.h"
#include "parser/eval/builtin.h"
#include "parser/eval/convert.h"
#include "parser/eval/declared.h"
#include "parser/eval/expr.h"
#include "parser/eval/meant_sign.h"
#include "parser/eval/scope.h"
#include "parser/eval/signature.h"
#include "parser/tir/names.h"
#include "parser/tir/scalar.h"
#include "parser/tir/stmt.h"
#include "parser/tir/type.h"
#include "structinfo/well_formed_tir.h"
#include "support/diag_ids.h"

#include <string.h>

// `T.int32`, uncalled, as an annotation: T.int32().
tvms_eval_value tvms_tir_call_annotation(tvms_reader *reader,
                                         tvms_eval_value annotation, tvms_ref ref) {
  if (annotation.kind == TVMS_EVAL_DTYPE_NAME) {
    return tvms_tir_dtype_call(reader, annotation.as.dtype, TVMS_NOTHING, false, ref);
  }
  if (annotation.kind != TVMS_EVAL_CALLABLE) return annotation;
  return tvms_row_call_with(reader, annotation.as.row, NULL, 0, ref);
}

// The dtype of a later parameter `name: T.int64`, which a quoted dim before it takes.
static bool param_dtype(tvms_reader *reader, tvms_sym name, tvms_dtype *dtype) {
  tvms_surface_each(reader->surface, ref, tvms_tir_of(reader)->param_list) {
    const tvms_surf *param = tvms_reader_at(reader, ref);
    if (param->a != name || !param->b) continue;
    if (tvms_reader_at(reader, param->b)->kind != TVMS_SURF_ATTRIBUTE) return false;
    tvms_eval_value value = tvms_eval(reader, param->b);
    if (value.kind != TVMS_EVAL_DTYPE_NAME && value.kind != TVMS_EVAL_CALLABLE) {
      return false;
    }
    return tvms_eval_to_named_dtype(reader, value, param->b, dtype);
  }
  return false;
}

static bool body_dtype(tvms_reader *reader, tvms_sym name, tvms_dtype *dtype) {
  tvms_dtype declared;
  if (!tvms_reader_declared_dtype(reader, tvms_tir_of(reader)->body, name, &declared))
    return false;
  if (!tvms_dtype_is_int(declared) && !tvms_dtype_is_uint(declared)) return false;
  *dtype = declared;
  return true;
}

static bool is_param(const tvms_reader *reader, tvms_sym name) {
  tvms_surface_each(reader->surface, ref, tvms_tir_of(reader)->param_list) {
    if (tvms_reader_at(reader, ref)->a == name) return true;
  }
  return false;
}

// Whether the body declares the name of a TypeVar, which is int64, with another dtype.
static bool is_declared_otherwise(tvms_reader *reader, tvms_sym name) {
  tvms_dtype dtype;
  return body_dtype(reader, name, &dtype)
         && !tvms_dtype_same(dtype, TVMS_DTYPE(INT, 64));
}

// A name in a quoted dim that nothing binds defines a variable.
static void define_dim(tvms_reader *reader, tvms_sym name, tvms_span span) {
  tvms_binding *binding = tvms_scope_lookup(reader, name);
  bool shadowed = binding && binding->value.kind == TVMS_EVAL_TYPE_VAR
                  && (is_param(reader, name) || is_declared_otherwise(reader, name));
  if (binding && !shadowed) return;
  if (tvms_eval_value_is_known(tvms_builtin_find(reader, name))) return;
  tvms_dtype dtype = TVMS_DTYPE(INT, 32);
  if (!param_dtype(reader, name, &dtype)) body_dtype(reader, name, &dtype);
  tvms_node *var = tvms_var_new(reader->unit, name, dtype, span);
  var->spare |= TVMS_SPARE_BOUND;
  tvms_vec_push(&reader->context->memory, &tvms_tir_of(reader)->signature_vars, var);
  tvms_scope_bind(reader, name, tvms_eval_value_node(var), span);
}

static void define_names(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf node = *tvms_reader_at(reader, ref);
  switch (node.kind) {
  case TVMS_SURF_NAME:
    define_dim(reader, node.a, tvms_reader_span_of(reader, ref));
    break;
  case TVMS_SURF_ATTRIBUTE:
  case TVMS_SURF_UNARY: define_names(reader, node.a); break;
  case TVMS_SURF_BINARY:
  case TVMS_SURF_BOOL:
    define_names(reader, node.a);
    define_names(reader, node.b);
    break;
  case TVMS_SURF_CALL:
    define_names(reader, node.a);
    tvms_surface_each(reader->surface, argument, node.b) {
      define_names(reader, argument);
    }
    break;
  case TVMS_SURF_KEYWORD: define_names(reader, node.b); break;
  case TVMS_SURF_TUPLE:
    tvms_surface_each(reader->surface, item, node.a) {
      define_names(reader, item);
    }
    break;
  default: break;
  }
}

tvms_eval_value tvms_tir_type_var_dim(tvms_reader *reader, tvms_sym name,
                                      tvms_eval_value type_var, tvms_span span) {
  bool names_dim = tvms_tir_of(reader) && tvms_tir_of(reader)->part != TVMS_TIR_IN_BODY
                   && !is_param(reader, name);
  if (!names_dim) return type_var;
  tvms_node *var =
      tvms_var_new(reader->unit, type_var.as.sym, TVMS_DTYPE(INT, 64), span);
  var->spare |= TVMS_SPARE_BOUND;
  tvms_vec_push(&reader->context->memory, &tvms_tir_of(reader)->signature_vars, var);
  tvms_scope_bind(reader, name, tvms_eval_value_node(var), span);
  return tvms_eval_value_node(var);
}

tvms_eval_value tvms_tir_quoted_dim(tvms_reader *reader, tvms_ref string) {
  uint32_t errors = reader->context->diags.errors;
  tvms_ref expr = tvms_surface_parse_string(reader->surface, string);
  if (!expr && reader->context->diags.errors == errors) {
    tvms_reader_report(reader, bad_quoted_dim, string);
  }
  if (!expr) return TVMS_UNKNOWN;
  bool defines = tvms_tir_of(reader)->part == TVMS_TIR_IN_PARAMS
                 && tvms_release_has(reader->dialect, TVMS_FACT_signatures_define_dims);
  if (defines) define_names(reader, expr);
  return tvms_eval(reader, expr);
}

tvms_node *tvms_tir_signature_var(const tvms_reader *reader, tvms_sym name) {
  for (uint32_t i = 0; i < tvms_tir_of(reader)->signature_vars.len; i++) {
    tvms_node *var = tvms_tir_of(reader)->signature_vars.items[i];
    if (tvms_as_var(var)->name == name) return var;
  }
  return NULL;
}

static void add_param(tvms_reader *reader, tvms_node *var,
                      tvms_node *TVMS_NULLABLE buffer) {
  tvms_vec_push(&reader->context->memory, &tvms_tir_of(reader)->params, var);
  tvms_vec_push(&reader->context->memory, &tvms_tir_of(reader)->buffers, buffer);
}

static tvms_node *handle_of(tvms_reader *reader, tvms_sym name, tvms_span span) {
  tvms_sym handle = tvms_tir_joined_name(reader, name, "_handle");
  return tvms_pointer_var_new(reader->unit, handle, (tvms_dtype){0}, 0, span);
}

static tvms_walk_step see_unbound(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  bool unbound = node->kind == TVMS_NODE_VAR && !(node->spare & TVMS_SPARE_BOUND)
                 && !tvms_dtype_is_handle(node->dtype);
  if (unbound) *(tvms_node **)self = node;
  return unbound ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// The result of a function and the layouts of its parameters know the variables of the
// parameters, and no others.
static void check_known_vars(tvms_reader *reader, tvms_node *type, tvms_ref ref) {
  tvms_node *found = NULL;
  tvms_visitor visitor = {.self = &found, .enter = see_unbound};
  (void)tvms_walk(&reader->context->memory, type, &visitor);
  if (!found) return;
  tvms_reader_report(reader, undefined_in_tir, ref,
                     tvms_well_formed_name(reader->context, found));
  reader->failed = true;
}

// `x: float` means a type of TVM.
static void suggest_dtype(tvms_reader *reader, tvms_diag *diag, tvms_ref ref) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  if (node->kind != TVMS_SURF_NAME) return;
  const char *meant =
      tvms_meant_find(TVMS_MEANT_T, tvms_symbol_text(reader->context, node->a));
  if (!meant) return;
  tvms_diags *diags = &reader->context->diags;
  tvms_diag_remark(diags, diag, "did you mean '%s'?", meant);
  tvms_diag_fix(diags, diag, tvms_reader_span_of(reader, ref), false, "%s", meant);
}

// `name: annotation` once the annotation is evaluated. The value is what the name means.
static tvms_eval_value read_param(tvms_reader *reader, tvms_sym name,
                                  tvms_eval_value annotation, tvms_ref ref) {
  if (!tvms_eval_value_is_known(annotation)) {
    reader->failed = true;
    return annotation;
  }
  tvms_span span = tvms_reader_span_of(reader, ref);
  tvms_node *node = annotation.kind == TVMS_EVAL_NODE ? annotation.as.node : NULL;
  if (node && node->kind == TVMS_NODE_BUFFER) {
    tvms_node *layout = tvms_as_buffer(node)->layout;
    if (layout) check_known_vars(reader, layout, ref);
    tvms_tir_name_node(reader, node, name);
    add_param(reader, handle_of(reader, name, span), node);
    return annotation;
  }
  if (node && node->kind == TVMS_NODE_VAR) {
    tvms_node *known = tvms_tir_signature_var(reader, name);
    if (known && !tvms_dtype_same(known->dtype, node->dtype)) {
      char a[TVMS_DTYPE_TEXT], b[TVMS_DTYPE_TEXT];
      tvms_reader_report(
          reader, dtype_changed, ref, tvms_symbol_text(reader->context, name),
          tvms_dtype_text(known->dtype, a), tvms_dtype_text(node->dtype, b));
    }
    if (known) node = known;
    tvms_tir_name_node(reader, node, name);
    add_param(reader, node, NULL);
    return tvms_eval_value_node(node);
  }
  tvms_diag *diag =
      tvms_eval_report_type(reader, ref, "the annotation of a parameter",
                            "a data type, T.handle or T.Buffer", annotation);
  if (diag) suggest_dtype(reader, diag, ref);
  return TVMS_UNKNOWN;
}

static void bind_param(tvms_reader *reader, tvms_sym name, tvms_eval_value value,
                       tvms_span span) {
  const tvms_binding *binding = tvms_scope_lookup(reader, name);
  if (tvms_scope_binds_here(reader, name) && value.kind == TVMS_EVAL_NODE
      && binding->value.kind == TVMS_EVAL_NODE
      && binding->value.as.node != value.as.node) {
    reader->short_of_names = reader->unit;
    tvms_diag_report(&reader->context->diags, TVMS_D_already_defined, span,
                     tvms_symbol_text(reader->context, name));
    reader->failed = true;
  }
  if (value.kind == TVMS_EVAL_NODE) value.as.node->spare |= TVMS_SPARE_BOUND;
  tvms_scope_bind(reader, name, value, span);
}

static tvms_eval_value read_annotation(tvms_reader *reader, tvms_ref annotation) {
  tvms_eval_value value = tvms_eval(reader, annotation);
  if (value.kind == TVMS_EVAL_OPTIONAL) {
    if (!tvms_tir_of(reader)->jit)
      tvms_reader_report(reader, optional_outside_jit, annotation);
    value = value.as.items[0];
  }
  return tvms_tir_call_annotation(reader, value, annotation);
}

static void define_scalars(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf node = *tvms_reader_at(reader, ref);
  tvms_dtype dtype;
  switch (node.kind) {
  case TVMS_SURF_NAME:
    if (!tvms_scope_lookup(reader, node.a) && param_dtype(reader, node.a, &dtype)
        && !tvms_dtype_is_handle(dtype)) {
      define_dim(reader, node.a, tvms_reader_span_of(reader, ref));
    }
    break;
  case TVMS_SURF_STRING:
  case TVMS_SURF_STRINGS: {
    tvms_ref expr = tvms_surface_parse_string(reader->surface, ref);
    if (expr) define_names(reader, expr);
    break;
  }
  case TVMS_SURF_TUPLE:
  case TVMS_SURF_LIST:
    tvms_surface_each(reader->surface, item, node.a) {
      define_scalars(reader, item);
    }
    break;
  case TVMS_SURF_BINARY:
    define_scalars(reader, node.a);
    define_scalars(reader, node.b);
    break;
  default: break;
  }
}

// TVM 0.26 prints scalar parameters before their own place, in what buffers say besides
// their shapes, and quotes only the first use of a dim. It cannot read that back:
// `A: T.Buffer((8, "m", m), strides=(n, m, 1)), m: T.int32, n: T.int32`.
static void define_ahead(tvms_reader *reader, tvms_ref annotation) {
  const tvms_surf call = *tvms_reader_at(reader, annotation);
  if (call.kind != TVMS_SURF_CALL || !call.b) return;
  const tvms_surf shape = *tvms_reader_at(reader, call.b);
  if (shape.kind == TVMS_SURF_TUPLE || shape.kind == TVMS_SURF_LIST) {
    tvms_surface_each(reader->surface, item, shape.a) {
      if (tvms_surface_is_string(reader->surface, item)) define_scalars(reader, item);
    }
  }
  tvms_surface_each(reader->surface, argument, call.b) {
    const tvms_surf node = *tvms_reader_at(reader, argument);
    if (node.kind != TVMS_SURF_KEYWORD) continue;
    if (node.a == TVMS_SYM_strides || node.a == TVMS_SYM_elem_offset) {
      define_scalars(reader, node.b);
    }
  }
}

// Parameters of a PrimFunc are plain: TVM drops the others silently.
static void not_positional(tvms_reader *reader, tvms_ref param) {
  tvms_reader_report(reader, not_in_tir, param,
                     "a parameter that is not given by its position");
  reader->failed = true;
  tvms_sym name = tvms_reader_at(reader, param)->a;
  if (name)
    tvms_scope_bind(reader, name, TVMS_UNKNOWN, tvms_reader_span_of(reader, param));
}

// `*, N: T.constexpr` of a T.jit: annotations before it know the name, too.
static void bind_constexprs(tvms_reader *reader, tvms_ref params) {
  if (!tvms_tir_of(reader)->jit) return;
  tvms_surface_each(reader->surface, ref, params) {
    const tvms_surf param = *tvms_reader_at(reader, ref);
    const tvms_surf *annotation = param.b ? tvms_reader_at(reader, param.b) : NULL;
    bool constexpr_ = annotation && annotation->kind == TVMS_SURF_ATTRIBUTE
                      && annotation->b == TVMS_SYM_constexpr;
    if (constexpr_)
      tvms_scope_bind(reader, param.a, TVMS_UNKNOWN, tvms_reader_span_of(reader, ref));
  }
}

static void read_params(tvms_reader *reader, tvms_ref params) {
  bind_constexprs(reader, params);
  tvms_surface_each(reader->surface, ref, params) {
    const tvms_surf param = *tvms_reader_at(reader, ref);
    bool bare_star = !param.a && param.op == TVMS_OP_STAR;
    if (param.kind == TVMS_SURF_BAD) {
      reader->failed = true;
      tvms_scope_bind_words(reader, tvms_reader_span_of(reader, ref));
      continue;
    }
    if (param.op != TVMS_OP_PARAM && !bare_star && !tvms_tir_of(reader)->jit) {
      not_positional(reader, ref);
      continue;
    }
    if (!param.a) continue;  // bare * or /
    tvms_span span = {param.begin,
                      param.begin
                          + tvms_interner_name(&reader->context->names, param.a)->len};
    if (!param.b) {
      const char *own = tvms_symbol_text(reader->context, param.a);
      tvms_diag *diag = tvms_diag_report(&reader->context->diags,
                                         TVMS_D_missing_annotation, span, own);
      if (!tvms_eval_explain_untyped(reader, diag, ref))
        tvms_diag_remark(&reader->context->diags, diag,
                         "write %s: T.int32, or T.Buffer(shape, dtype)", own);
      reader->failed = true;
      tvms_scope_bind(reader, param.a, TVMS_UNKNOWN, span);
      continue;
    }
    if (tvms_release_has(reader->dialect, TVMS_FACT_signatures_define_dims))
      define_ahead(reader, param.b);
    tvms_eval_value annotation = read_annotation(reader, param.b);
    bind_param(reader, param.a, read_param(reader, param.a, annotation, param.b), span);
  }
}

// The type after `->`; None is not a type.
static void read_return(tvms_reader *reader, tvms_ref ref) {
  if (!ref) return;
  tvms_eval_value value = read_annotation(reader, ref);
  if (value.kind == TVMS_EVAL_NONE || !tvms_eval_value_is_known(value)) return;
  tvms_node *type = tvms_tir_type_of_annotation(reader, value, ref);
  // Up to 0.25 a name of a data type is a type, and a call of it a variable.
  bool plain = type && type->kind == TVMS_NODE_SINFO_PRIM
               && value.as.node->kind == TVMS_NODE_VAR
               && tvms_reader_at(reader, ref)->kind != TVMS_SURF_CALL;
  if (type
      && (plain
          || tvms_release_has(reader->dialect, TVMS_FACT_prim_funcs_return_any_type))) {
    tvms_tir_of(reader)->ret = type;
    check_known_vars(reader, type, ref);
    return;
  }
  tvms_eval_report_wrong_type(reader, ref, "the return type", "a data type or None",
                              value);
}

// PEP 695: `def f[n](…)`.
static void bind_type_params(tvms_reader *reader, tvms_ref type_params) {
  tvms_surface_each(reader->surface, ref, type_params) {
    const tvms_surf param = *tvms_reader_at(reader, ref);
    bool is_int = !param.b
                  || (tvms_reader_at(reader, param.b)->kind == TVMS_SURF_NAME
                      && tvms_reader_at(reader, param.b)->a == TVMS_SYM_int);
    if (param.op || !is_int || param.c) {
      tvms_reader_report(reader, bad_type_param, ref,
                         tvms_symbol_text(reader->context, param.a));
      reader->failed = true;
    }
    tvms_span span = tvms_reader_span_of(reader, ref);
    tvms_node *var = tvms_var_new(reader->unit, param.a, TVMS_DTYPE(INT, 64), span);
    tvms_scope_bind(reader, param.a, tvms_eval_value_node(var), span);
  }
}

void tvms_tir_read_signature(tvms_reader *reader, const tvms_surf_definition *def) {
  bind_type_params(reader, def->type_params);
  read_params(reader, def->params);
  tvms_tir_of(reader)->part = TVMS_TIR_IN_RESULT;
  read_return(reader, def->returns);
  tvms_tir_of(reader)->part = TVMS_TIR_IN_BODY;
}

// ---- Names that nothing binds ----

// Whether the line has the word before `at`.
static bool line_has(const char *text, uint32_t at, const char *word) {
  size_t len = strlen(word);
  for (uint32_t i = at; i > 0 && text[i - 1] != '\n'; i--) {
    if (strncmp(text + i - 1, word, len) == 0) return true;
  }
  return false;
}

void tvms_tir_explain_name(tvms_reader *reader, tvms_diag *diag, tvms_sym name,
                           tvms_span span, const char *near) {
  tvms_diags *diags = &reader->context->diags;
  const char *text = tvms_symbol_text(reader->context, name);
  if (near) {
    tvms_diag_remark(diags, diag, "did you mean '%s'?", near);
    tvms_diag_fix(diags, diag, span, false, "%s", near);
    return;
  }
  const tvms_tir_state *state = tvms_tir_of(reader);
  const char *source = reader->surface->source->text;
  if (state && state->part == TVMS_TIR_IN_PARAMS
      && line_has(source, span.begin, "Buffer(") && reader->lenient) {
    // Python itself evaluates the annotation, and knows no strings as dimensions.
    tvms_diag_remark(
        diags, diag,
        "declare it in the body, %s = T.int64(), and there the buffer of a "
        "T.handle: T.match_buffer(handle, (%s,), ...)",
        text, text);
  } else if (state && state->part == TVMS_TIR_IN_PARAMS
             && line_has(source, span.begin, "Buffer(")
             && tvms_release_has(reader->dialect, TVMS_FACT_signatures_define_dims)) {
    tvms_diag_remark(diags, diag,
                     "in a signature, a new symbolic dimension is written as a string");
    tvms_diag_fix(diags, diag, span, false, "\"%s\"", text);
  } else if (line_has(source, span.begin, "match_buffer(")) {
    tvms_diag_remark(diags, diag,
                     "a dimension is declared before: %s = T.int32() or T.int64()",
                     text);
  }
}
