// Symbolic variables that the annotations of a signature define.
//
// They are found by a walk over the text of an annotation before it is evaluated, because
// R.Tensor(("n", "n + 1")) asks for n while it is. A text that is a name and an item of a tuple or
// a list defines that name; other texts only use names. A type variable defines its own name. The
// variables are int64, unless, up to 0.25, n = T.int32() in the body says otherwise. A bare name
// that nothing binds was meant as text: it is reported with the quotes as a fix, and defined all
// the same, so that nothing is reported where it is used.
#include "parser/relax/symbols.h"

#include "grammar/literal_values.h"
#include "parser/eval/builtin.h"
#include "parser/eval/declared.h"
#include "parser/eval/scope.h"
#include "parser/relax/prototype.h"
#include "support/diag_ids.h"

#include <ctype.h>
#include <string.h>

static bool is_identifier(tvms_bytes text) {
  for (uint32_t i = 0; i < text.len; i++) {
    unsigned char c = (unsigned char)text.text[i];
    bool letter = isalpha(c) || c == '_' || c >= 0x80;
    if (!letter && !(i > 0 && isdigit(c))) return false;
  }
  return text.len > 0;
}

static void define_symbol(tvms_reader *reader, tvms_sym name, tvms_span span) {
  const tvms_binding *binding = tvms_scope_lookup(reader, name);
  bool own =
      tvms_scope_binds_here(reader, name) && binding->value.kind == TVMS_EVAL_NODE;
  if (own) return;
  // Up to 0.25 a declaration in the body may say otherwise.
  tvms_dtype dtype = TVMS_DTYPE(INT, 64);
  if (tvms_release_has(reader->dialect, TVMS_FACT_bodies_declare_dims)) {
    tvms_reader_declared_dtype(reader, tvms_relax_of(reader)->body, name, &dtype);
  }
  tvms_node *var = tvms_var_new(reader->unit, name, dtype, span);
  tvms_scope_bind(reader, name, tvms_eval_value_node(var), span);
}

static void define_text(tvms_reader *reader, tvms_ref ref) {
  tvms_surf_text text = tvms_surface_string(reader->surface, ref, &reader->values);
  tvms_bytes bytes = {text.text, (uint32_t)text.len};
  if (!is_identifier(bytes)) return;
  define_symbol(reader, tvms_symbol_intern(reader->context, text.text, text.len),
                tvms_reader_span_of(reader, ref));
}

static bool is_parameter(const tvms_reader *reader, tvms_sym name) {
  tvms_surface_each(reader->surface, ref, tvms_relax_of(reader)->param_list) {
    const tvms_surf *param = tvms_reader_at(reader, ref);
    if (param->kind == TVMS_SURF_PARAM && param->a == name) return true;
  }
  return false;
}

// Whether the signature itself defines the name, as text: names of type parameters and
// TypeVars may stand bare.
static bool is_written_as_text(const tvms_reader *reader, const tvms_binding *binding) {
  if (binding->depth != reader->depth || binding->value.kind != TVMS_EVAL_NODE) {
    return false;
  }
  // Python may bind the name as well.
  if (binding->outer
      && (reader->lenient || binding->outer->value.kind == TVMS_EVAL_TYPE_VAR))
    return false;
  tvms_surface_each(reader->surface, ref, tvms_relax_of(reader)->type_params) {
    if (tvms_reader_at(reader, ref)->a == binding->name) return false;
  }
  return true;
}

// Another bare dimension of the same shape: `(b, s)`. It is added to that finding.
static bool is_next_bare(tvms_reader *reader, const char *text, tvms_span span) {
  tvms_diags *diags = &reader->context->diags;
  tvms_diag *last = diags->last;
  if (!last || last->id != TVMS_D_undefined_name || last->source != diags->source
      || !last->fixes || last->span.end > span.begin)
    return false;
  const char *between = reader->surface->source->text + last->span.end;
  if (strspn(between, ", ") < span.begin - last->span.end) return false;
  tvms_diag_remark(diags, last, "nor is '%s'", text);
  tvms_diag_fix(diags, last, span, true, "\"%s\"", text);
  return true;
}

// Names in capitals are constants of the file, in Python files.
static bool is_constant(const tvms_reader *reader, const char *text) {
  if (!reader->lenient || !text[1]) return false;
  for (; *text; text++)
    if (*text >= 'a' && *text <= 'z') return false;
  return true;
}

// A dimension that nothing binds was meant to be text. Reported once, and defined as if it
// were written so.
static void define_bare(tvms_reader *reader, tvms_ref ref, tvms_sym name) {
  if ((reader->lenient && reader->open) || is_parameter(reader, name)
      || tvms_eval_value_is_known(tvms_builtin_find(reader, name))) {
    return;
  }
  const char *text = tvms_symbol_text(reader->context, name);
  if (strcmp(text, "_") == 0 || is_constant(reader, text)) return;
  tvms_diags *diags = &reader->context->diags;
  tvms_span span = tvms_reader_span_of(reader, ref);
  reader->failed = true;
  if (reader->lenient && is_next_bare(reader, text, span)) {
    define_symbol(reader, name, span);
    return;
  }
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_undefined_name, span, text);
  tvms_diag_remark(diags, diag,
                   "in a signature, a new symbolic dimension is written as a string");
  tvms_diag_fix(diags, diag, span, true, "\"%s\"", text);
  define_symbol(reader, name, span);
}

// Text in the value of a name: `SHAPE = ("n", 4)`, of which `R.Tensor(SHAPE)` is made.
static void define_values(tvms_reader *reader, tvms_eval_value value, bool in_list,
                          tvms_ref ref) {
  bool text = value.kind == TVMS_EVAL_STR && in_list;
  if (!text && !tvms_eval_value_is_sequence(value)) return;
  tvms_eval_items items = tvms_eval_items_of(&value);
  for (uint32_t i = 0; i < items.len; i++) {
    tvms_eval_value item = items.items[i];
    if (item.kind != TVMS_EVAL_STR) continue;
    if (!is_identifier((tvms_bytes){item.as.text, item.len})) continue;
    tvms_sym name = tvms_symbol_intern(reader->context, item.as.text, item.len);
    define_symbol(reader, name, tvms_reader_span_of(reader, ref));
  }
}

// Walks an annotation; `in_list` tells that `ref` is an item of a tuple or list, where
// text names a dimension.
static void define_below(tvms_reader *reader, tvms_ref ref, bool in_list) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  switch ((int)node->kind) {
  case TVMS_SURF_STRING:
  case TVMS_SURF_STRINGS:
    if (in_list) define_text(reader, ref);
    break;
  case TVMS_SURF_NAME: {
    const tvms_binding *binding = tvms_scope_lookup(reader, node->a);
    if (binding && binding->value.kind == TVMS_EVAL_TYPE_VAR) {
      define_symbol(reader, binding->value.as.sym, tvms_reader_span_of(reader, ref));
    }
    if (binding) define_values(reader, binding->value, in_list, ref);
    if (in_list && (!binding || is_written_as_text(reader, binding))) {
      define_bare(reader, ref, node->a);
    }
    break;
  }
  case TVMS_SURF_TUPLE:
  case TVMS_SURF_LIST:
    tvms_surface_each(reader->surface, item, node->a) {
      define_below(reader, item, true);
    }
    break;
  case TVMS_SURF_CALL:
    tvms_surface_each(reader->surface, item, node->b) {
      const tvms_surf *argument = tvms_reader_at(reader, item);
      if (argument->kind != TVMS_SURF_KEYWORD) {
        define_below(reader, item, false);
      } else {
        define_below(reader, argument->b, argument->a == TVMS_SYM_value);
      }
    }
    break;
  case TVMS_SURF_BINARY:
    define_below(reader, tvms_reader_at(reader, ref)->a, false);
    define_below(reader, tvms_reader_at(reader, ref)->b, false);
    break;
  case TVMS_SURF_SUBSCRIPT: {
    tvms_ref shape, dtype;
    if (tvms_prototype_parts(reader, node->b, &shape, &dtype)) {
      define_below(reader, shape, true);
    }
    break;
  }
  default: break;
  }
}

void tvms_relax_define_symbols(tvms_reader *reader, tvms_ref annotation) {
  define_below(reader, annotation, false);
}

void tvms_relax_define_result_symbols(tvms_reader *reader, tvms_ref annotation) {
  const tvms_surf node = *tvms_reader_at(reader, annotation);
  if (node.kind != TVMS_SURF_CALL) return;
  const tvms_surf *callee = tvms_reader_at(reader, node.a);
  bool function = callee->kind == TVMS_SURF_ATTRIBUTE && callee->b == TVMS_SYM_Callable;
  if (function) {
    if (node.b) define_below(reader, node.b, false);
    return;
  }
  tvms_surface_each(reader->surface, item, node.b) {
    tvms_relax_define_result_symbols(reader, item);
  }
}
