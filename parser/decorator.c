// Decorators: what kind of definition they make, and their keywords.
//
// A decorator that is misspelt is reported, with the nearest one of its namespace, and the
// definition is read as if it were spelled so: what is wrong inside is found in the same
// run. In a .py file decorators that are not TVMScript's are Python's, silently.
#include "parser/decorator.h"

#include "ir/meant.h"
#include "parser/eval/call.h"
#include "parser/eval/expr.h"
#include "parser/eval/reader.h"
#include "parser/eval/scope.h"
#include "parser/eval/undefined.h"
#include "parser/handlers.h"
#include "parser/module.h"
#include "parser/prototype.h"
#include "parser/python.h"
#include "parser/relax/function.h"
#include "parser/relax/room.h"
#include "parser/tir/function.h"
#include "support/diag_ids.h"
#include "support/trial.h"

#include <stdio.h>
#include <string.h>

tvms_eval_value tvms_call_decorator(tvms_reader *reader, const tvms_call_args *call) {
  tvms_diag *diag = tvms_reader_report(reader, decorator_called, call->ref,
                                       tvms_row_text(reader, call->row));
  uint32_t begin = tvms_reader_span_of(reader, call->ref).begin;
  const char *text = reader->surface->source->text;
  uint32_t line = begin;
  while (line > 0 && text[line - 1] == ' ') {
    line--;
  }
  if (line == 0 || text[line - 1] == '\n') {
    tvms_diags *diags = &reader->context->diags;
    tvms_diag_remark(diags, diag, "a decorator begins with '@'");
    tvms_diag_fix(diags, diag, (tvms_span){begin, begin}, false, "@");
  }
  return TVMS_UNKNOWN;
}

static const tvms_decorator own_rows[] = {
    {TVMS_NS_I,
     TVMS_SYM_ir_module,
     TVMS_DECORATED_CLASS,
     NULL,
     0,
     {{TVMS_SYM_check_well_formed, TVMS_OPTION_UNCHECKED, true},
      {TVMS_SYM_s_tir, TVMS_TIR_OPTION_S_TIR, false}}},
    {TVMS_NS_I, TVMS_SYM_pyfunc, TVMS_DECORATED_PYTHON, NULL, 0, {{0, 0, false}}},
    {TVMS_NS_R,
     TVMS_SYM_rewriter,
     TVMS_DECORATED_CLASS,
     NULL,
     TVMS_MODULE_OPTION_REWRITER,
     {{0, 0, false}}},
};
static const tvms_decorators own = {own_rows, sizeof own_rows / sizeof *own_rows};

// The decorators of all rooms.
static const tvms_decorators *const decorators[] = {&own, &tvms_tir_decorators,
                                                    &tvms_relax_decorators};
enum { ROOMS = sizeof decorators / sizeof *decorators, MOST_DECORATORS = 16 };

// Goes through the decorators: the one at `*at`, which moves on; NULL at the end.
static const tvms_decorator *TVMS_NULLABLE next_decorator(uint32_t at[2]) {
  while (at[0] < ROOMS && at[1] == decorators[at[0]]->count) {
    at[0]++;
    at[1] = 0;
  }
  return at[0] < ROOMS ? &decorators[at[0]]->rows[at[1]++] : NULL;
}

tvms_sym tvms_decoration_last_name(const tvms_reader *reader, tvms_ref expr) {
  const tvms_surf *node = tvms_reader_at(reader, expr);
  if (node->kind == TVMS_SURF_ATTRIBUTE) return node->b;
  return node->kind == TVMS_SURF_NAME ? node->a : 0;
}

// The outermost object of a dotted name.
static tvms_ref base_of(const tvms_reader *reader, tvms_ref callee) {
  while (tvms_reader_at(reader, callee)->kind == TVMS_SURF_ATTRIBUTE) {
    callee = tvms_reader_at(reader, callee)->a;
  }
  return callee;
}

// Says once that the file uses `tvm` and does not import it. (Metadata sections, which TVM
// prints, use it without an import too.)
static void note_import(tvms_reader *reader, tvms_binding *binding, tvms_ref ref) {
  if (binding->span.end > 0 || reader->lenient || binding->name != TVMS_SYM_tvm) return;
  tvms_reader_report(reader, not_imported, ref,
                     tvms_symbol_text(reader->context, binding->name));
  if (!tvms_trial_is_muted(&reader->context->diags))
    binding->span = tvms_reader_span_of(reader, ref);
}

// `@prim_func`: a file of Python that binds the name nowhere has not imported it.
static bool is_bound_name(tvms_reader *reader, tvms_ref callee) {
  tvms_sym name = tvms_reader_at(reader, callee)->a;
  if (tvms_scope_lookup(reader, name)) return true;
  bool meant = name == TVMS_SYM_prim_func || name == TVMS_SYM_ir_module;
  if (!meant || !reader->lenient || reader->open) return false;
  tvms_eval_report_undefined_name(reader, name, tvms_reader_span_of(reader, callee));
  return true;
}

// Whether the object of a decorator is a namespace: other decorators are Python's.
static bool is_namespace(tvms_reader *reader, tvms_ref callee) {
  const tvms_surf *node = tvms_reader_at(reader, callee);
  if (node->kind == TVMS_SURF_NAME) return is_bound_name(reader, callee);
  const tvms_surf *base = tvms_reader_at(reader, base_of(reader, callee));
  if (base->kind != TVMS_SURF_NAME) return false;
  tvms_binding *binding = tvms_scope_lookup(reader, base->a);
  if (binding) note_import(reader, binding, base_of(reader, callee));
  if (!binding) {
    tvms_eval_report_undefined_name(
        reader, base->a, tvms_reader_span_of(reader, base_of(reader, callee)));
    return !reader->lenient || !reader->open;
  }
  return binding->value.kind == TVMS_EVAL_NAMESPACE
         || binding->value.kind == TVMS_EVAL_PYTHON
         || binding->value.kind == TVMS_EVAL_RELAX;
}

// ---- Misspelt ones ----

// The namespace that stands before the last name, or NONE.
static tvms_namespace namespace_of(const tvms_reader *reader, tvms_ref callee) {
  const tvms_surf *node = tvms_reader_at(reader, callee);
  if (node->kind != TVMS_SURF_ATTRIBUTE) return TVMS_NS_NONE;
  const tvms_surf *object = tvms_reader_at(reader, node->a);
  if (object->kind != TVMS_SURF_NAME) return TVMS_NS_NONE;
  const tvms_binding *binding = tvms_scope_lookup(reader, object->a);
  if (!binding || binding->value.kind != TVMS_EVAL_NAMESPACE) return TVMS_NS_NONE;
  return (tvms_namespace)binding->value.as.i;
}

static const tvms_decorator *TVMS_NULLABLE decorator_named(tvms_namespace namespace_,
                                                           tvms_sym name) {
  const tvms_decorator *row;
  for (uint32_t at[2] = {0, 0}; (row = next_decorator(at));) {
    bool here = namespace_ == TVMS_NS_NONE || row->namespace_ == namespace_;
    if (here && row->name == name) break;
  }
  return row;
}

// What was meant: the nearest one that can stand above such a definition, else the first of
// the namespace; NULL if there is none.
static const tvms_decorator *TVMS_NULLABLE nearest(tvms_reader *reader,
                                                   tvms_namespace namespace_,
                                                   tvms_sym name, bool of_class) {
  const char *names[MOST_DECORATORS];
  const tvms_decorator *rows[MOST_DECORATORS], *row;
  uint32_t count = 0;
  for (uint32_t at[2] = {0, 0}; (row = next_decorator(at));) {
    bool here = namespace_ == TVMS_NS_NONE || row->namespace_ == namespace_;
    if (!here || (row->kind == TVMS_DECORATED_CLASS) != of_class) continue;
    TVMS_CHECK(count < MOST_DECORATORS);
    rows[count] = row;
    names[count++] = tvms_symbol_text(reader->context, row->name);
  }
  const char *text = tvms_symbol_text(reader->context, name);
  const char *near = tvms_diag_nearest_name(text, names, count);
  uint32_t at = 0;
  for (const char *meant;
       !near && (meant = tvms_meant_next(TVMS_MEANT_DECORATOR, text, &at));) {
    for (uint32_t i = 0; i < count && !near; i++)
      if (strcmp(names[i], meant) == 0) near = names[i];
  }
  for (uint32_t i = 0; i < count && near; i++) {
    if (names[i] == near) return rows[i];
  }
  return count && namespace_ != TVMS_NS_NONE ? rows[0] : NULL;
}

// In Python files a decorator may be another library's, unless TVM has one that is spelled
// nearly so.
static bool is_near(tvms_reader *reader, tvms_sym name, const tvms_decorator *row) {
  const char *meant = tvms_symbol_text(reader->context, row->name);
  const char *text = tvms_symbol_text(reader->context, name);
  const char *known = tvms_meant_find(TVMS_MEANT_DECORATOR, text);
  return (known && strcmp(known, meant) == 0)
         || tvms_diag_nearest_name(text, &meant, 1) != NULL;
}

static void report_misspelt(tvms_reader *reader, tvms_ref callee, tvms_span whole,
                            tvms_sym name, const tvms_decorator *TVMS_NULLABLE row) {
  tvms_diags *diags = &reader->context->diags;
  tvms_span span = tvms_reader_span_of(reader, callee);
  uint32_t len = name ? tvms_interner_name(&reader->context->names, name)->len : 0;
  tvms_diag *diag =
      tvms_diag_report(diags, TVMS_D_unknown_decorator,
                       len ? (tvms_span){span.end - len, span.end} : whole);
  if (!row || !len) return;
  const char *meant = tvms_symbol_text(reader->context, row->name);
  uint32_t before = span.end - len - span.begin;
  const char *text = reader->surface->source->text + span.begin;
  tvms_diag_remark(diags, diag, "did you mean '%.*s%s'?", (int)before, text, meant);
  tvms_diag_fix(diags, diag, (tvms_span){span.end - len, span.end}, true, "%s", meant);
}

// "T.prim_func".
static const char *text_of(tvms_reader *reader, const tvms_decorator *row) {
  const char *path = tvms_namespace_text(row->namespace_);
  const char *name = tvms_symbol_text(reader->context, row->name);
  size_t size = strlen(path) + strlen(name) + 2;
  char *text = tvms_arena_alloc(&reader->context->arena, size);
  snprintf(text, size, "%s.%s", path, name);
  return text;
}

// `@R.prim_func`: another namespace has it.
static void report_elsewhere(tvms_reader *reader, tvms_ref callee,
                             const tvms_decorator *row) {
  tvms_diags *diags = &reader->context->diags;
  tvms_span span = tvms_reader_span_of(reader, callee);
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_unknown_decorator, span);
  const char *meant = text_of(reader, row);
  tvms_diag_remark(diags, diag, "did you mean '%s'?", meant);
  tvms_diag_fix(diags, diag, span, true, "%s", meant);
}

// ---- Keywords ----

// What is not a constant is evaluated, if only to find names that nothing binds. Who writes a
// flag that is unknown then wants what goes with it.
static bool flag_of(tvms_reader *reader, tvms_ref ref, bool missing) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  if (node->kind == TVMS_SURF_TRUE) return true;
  if (node->kind == TVMS_SURF_FALSE) return false;
  tvms_eval_value value = tvms_eval(reader, ref);
  if (value.kind == TVMS_EVAL_BOOL) return value.as.i != 0;
  return tvms_eval_value_is_known(value) ? missing : !missing;
}

static const tvms_decorator_keyword *TVMS_NULLABLE
keyword_named(const tvms_decorator *row, tvms_sym name) {
  for (uint32_t i = 0; i < TVMS_DECORATOR_KEYWORDS; i++) {
    if (row->keywords[i].name == name) return &row->keywords[i];
  }
  return NULL;
}

static const char *TVMS_NULLABLE near_keyword(tvms_reader *reader,
                                              const tvms_decorator *row,
                                              const char *name) {
  const char *names[TVMS_DECORATOR_KEYWORDS];
  uint32_t count = 0;
  while (count < TVMS_DECORATOR_KEYWORDS && row->keywords[count].name) {
    names[count] = tvms_symbol_text(reader->context, row->keywords[count].name);
    count++;
  }
  return tvms_diag_nearest_name(name, names, count);
}

static void list_keywords(tvms_reader *reader, const tvms_decorator *row,
                          tvms_diag *diag) {
  char text[120] = "";
  for (uint32_t i = 0; i < TVMS_DECORATOR_KEYWORDS && row->keywords[i].name; i++) {
    const char *name = tvms_symbol_text(reader->context, row->keywords[i].name);
    if (strlen(text) + strlen(name) + 3 > sizeof text) break;
    if (i) strcat(text, ", ");
    strcat(text, name);
  }
  if (*text) tvms_diag_remark(&reader->context->diags, diag, "what it takes: %s", text);
}

// Returns the keyword that was meant, or NULL.
static const tvms_decorator_keyword *TVMS_NULLABLE
report_keyword(tvms_reader *reader, const tvms_decorator *row, tvms_ref ref) {
  tvms_diags *diags = &reader->context->diags;
  const char *name = tvms_symbol_text(reader->context, tvms_reader_at(reader, ref)->a);
  tvms_span span = tvms_eval_keyword_span(reader, ref, name);
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_unknown_parameter, span,
                                     text_of(reader, row), name);
  const char *near = near_keyword(reader, row, name);
  if (!near) {
    list_keywords(reader, row, diag);
    return NULL;
  }
  tvms_diag_remark(diags, diag, "did you mean '%s'?", near);
  tvms_diag_fix(diags, diag, span, false, "%s", near);
  return keyword_named(row, tvms_symbol_intern(reader->context, near, strlen(near)));
}

// What was refused may stand for any keyword: what only they allow is not wrong.
static void allow_all(const tvms_decorator *row, tvms_decoration *decoration) {
  for (uint32_t i = 0; i < TVMS_DECORATOR_KEYWORDS && row->keywords[i].name; i++) {
    uint32_t option = row->keywords[i].option;
    // A private function may not be more than others, but less.
    bool doubtful = option == TVMS_OPTION_UNCHECKED;
    if (doubtful || (!row->keywords[i].unless && option != TVMS_OPTION_PRIVATE))
      decoration->options |= option;
  }
}

static void read_keyword(tvms_reader *reader, const tvms_decorator *row, tvms_ref ref,
                         tvms_decoration *decoration) {
  tvms_sym name = tvms_reader_at(reader, ref)->a;
  tvms_ref value = tvms_reader_at(reader, ref)->b;
  const tvms_decorator_keyword *keyword = keyword_named(row, name);
  bool misspelt = !keyword;
  if (misspelt) keyword = report_keyword(reader, row, ref);
  if (!keyword || (misspelt && keyword->unless)) {
    allow_all(row, decoration);
    return;
  }
  uint32_t errors = reader->context->diags.errors;
  bool set = flag_of(reader, value, keyword->unless) != keyword->unless;
  if (reader->context->diags.errors > errors) {
    // Which value was meant is not known: neither it nor what calls it is to be wrong for that.
    if (keyword->unless)
      decoration->options |= TVMS_OPTION_UNCHECKED;
    else if (keyword->option != TVMS_OPTION_PRIVATE)
      decoration->options |= keyword->option;
    return;
  }
  decoration->options &= ~keyword->option;
  if (set) decoration->options |= keyword->option;
}

static void read_keywords(tvms_reader *reader, const tvms_decorator *row, tvms_ref call,
                          tvms_decoration *decoration) {
  tvms_surface_each(reader->surface, ref, tvms_reader_at(reader, call)->b) {
    const tvms_surf *node = tvms_reader_at(reader, ref);
    if (node->kind == TVMS_SURF_KEYWORD)
      read_keyword(reader, row, ref, decoration);
    else {
      tvms_reader_report(reader, too_many_arguments, ref, text_of(reader, row), 0u,
                         "s");
      allow_all(row, decoration);
    }
  }
}

// ---- All together ----

// The name that the decorator has in its namespace, which an import may have changed:
// `from tvm.script.tirx import prim_func as kernel`.
static tvms_sym own_name(tvms_reader *reader, tvms_ref callee) {
  const tvms_surf *node = tvms_reader_at(reader, callee);
  const tvms_binding *bound =
      node->kind == TVMS_SURF_NAME ? tvms_scope_lookup(reader, node->a) : NULL;
  bool imported = bound && bound->value.kind == TVMS_EVAL_CALLABLE;
  return imported ? bound->value.as.row->name
                  : tvms_decoration_last_name(reader, callee);
}

// The first decorator of the namespace of functions if the definition annotates its first parameter
// with a name of the same namespace, or NULL.
static const tvms_decorator *TVMS_NULLABLE decorator_above(tvms_reader *reader,
                                                           tvms_namespace namespace_,
                                                           tvms_ref definition) {
  if (tvms_reader_at(reader, definition)->kind != TVMS_SURF_DEF) return NULL;
  tvms_ref param = tvms_surface_define(reader->surface, definition).params;
  tvms_ref type = param && tvms_reader_at(reader, param)->kind == TVMS_SURF_PARAM
                      ? tvms_reader_at(reader, param)->b
                      : 0;
  if (type && tvms_reader_at(reader, type)->kind == TVMS_SURF_CALL)
    type = tvms_reader_at(reader, type)->a;
  if (!type || namespace_of(reader, type) != namespace_) return NULL;
  const tvms_decorator *row;
  for (uint32_t at[2] = {0, 0}; (row = next_decorator(at));) {
    if (row->namespace_ == namespace_ && row->kind == TVMS_DECORATED_FUNCTION) break;
  }
  return row;
}

// `@tvm.script.ir_modul`, and `@tvm.ir_module`: no other package has either.
static bool is_of_tvm(tvms_reader *reader, tvms_ref callee, bool known) {
  const tvms_surf *node = tvms_reader_at(reader, callee);
  if (node->kind != TVMS_SURF_ATTRIBUTE) return false;
  const tvms_surf *object = tvms_reader_at(reader, node->a);
  const tvms_surf *base = tvms_reader_at(reader, base_of(reader, callee));
  const tvms_binding *bound =
      base->kind == TVMS_SURF_NAME ? tvms_scope_lookup(reader, base->a) : NULL;
  if (!bound || bound->value.kind != TVMS_EVAL_PYTHON) return false;
  if (strcmp(bound->value.as.text, "tvm") != 0) return false;
  return known ? object == base
               : object->kind == TVMS_SURF_ATTRIBUTE
                     && strcmp(tvms_symbol_text(reader->context, object->b), "script")
                            == 0;
}

// `@T.prim_func` above a function of tensors.
static void report_language(tvms_reader *reader, tvms_ref callee,
                            const tvms_decorator *row) {
  tvms_diags *diags = &reader->context->diags;
  tvms_span span = tvms_reader_span_of(reader, callee);
  tvms_diag *diag = tvms_diag_report(
      diags, TVMS_D_wrong_decorator, span,
      row->namespace_ == TVMS_NS_R ? "a function of tensors" : "a function of buffers");
  const char *meant = text_of(reader, row);
  tvms_diag_remark(diags, diag, "did you mean '%s'?", meant);
  tvms_diag_fix(diags, diag, span, true, "%s", meant);
}

// Whether all annotations of the definition are names of the namespace or calls of such, and one
// of them is of that language alone.
static bool is_annotated_by(tvms_reader *reader, tvms_namespace namespace_,
                            tvms_ref definition) {
  if (tvms_reader_at(reader, definition)->kind != TVMS_SURF_DEF) return false;
  bool any = false;
  tvms_surface_each(reader->surface, ref,
                    tvms_surface_define(reader->surface, definition).params) {
    const tvms_surf *param = tvms_reader_at(reader, ref);
    if (param->kind != TVMS_SURF_PARAM || !param->b) return false;
    const tvms_surf *type = tvms_reader_at(reader, param->b);
    tvms_ref callee = type->kind == TVMS_SURF_CALL ? type->a : param->b;
    if (namespace_of(reader, callee) != namespace_) return false;
    // Scalars are parameters of both languages.
    any = any || namespace_ != TVMS_NS_T
          || tvms_decoration_last_name(reader, callee) == TVMS_SYM_Buffer;
  }
  return any;
}

// `@T.prim_func` above a function of tensors: the decorator that it asks for, or NULL.
static const tvms_decorator *TVMS_NULLABLE other_language(tvms_reader *reader,
                                                          const tvms_decorator *row,
                                                          tvms_ref definition) {
  bool tensors = row->namespace_ == TVMS_NS_T && row->name == TVMS_SYM_prim_func
                 && is_annotated_by(reader, TVMS_NS_R, definition);
  bool buffers = row->namespace_ == TVMS_NS_R && row->name == TVMS_SYM_function
                 && is_annotated_by(reader, TVMS_NS_T, definition);
  if (!tensors && !buffers) return NULL;
  return decorator_above(reader, tensors ? TVMS_NS_R : TVMS_NS_T, definition);
}

static void read_last(tvms_reader *reader, tvms_ref last, tvms_ref definition,
                      tvms_decoration *decoration) {
  bool of_class = tvms_reader_at(reader, definition)->kind == TVMS_SURF_CLASS;
  const tvms_surf *node = tvms_reader_at(reader, last);
  bool called = node->kind == TVMS_SURF_CALL;
  tvms_ref callee = called ? node->a : last;
  tvms_sym name = own_name(reader, callee);
  decoration->span = tvms_reader_span_of(reader, last);
  decoration->kind = TVMS_DECORATED_UNKNOWN;
  tvms_namespace namespace_ = namespace_of(reader, callee);
  const tvms_decorator *row = decorator_named(namespace_, name);
  bool misread = tvms_reader_was_misread(reader, decoration->span);
  if (!row && namespace_ != TVMS_NS_NONE && decorator_named(TVMS_NS_NONE, name)) {
    // `@R.prim_func` above a function of tensors: the namespace is right, and the name is not.
    const tvms_decorator *own_one = decorator_above(reader, namespace_, definition);
    row = own_one ? own_one : decorator_named(TVMS_NS_NONE, name);
    if (own_one)
      report_misspelt(reader, callee, decoration->span, name, own_one);
    else
      report_elsewhere(reader, callee, row);
  } else if (!row) {
    row = nearest(reader, namespace_, name, of_class);
    bool ours = namespace_ || is_of_tvm(reader, callee, false);
    if (reader->lenient && !(ours && row && is_near(reader, name, row))) return;
    report_misspelt(reader, callee, decoration->span, name, row);
  } else if (is_of_tvm(reader, callee, true)) {
    report_elsewhere(reader, callee, row);
  } else if (!is_namespace(reader, callee)) {
    return;
  }
  if (!row) return;
  const tvms_decorator *other = other_language(reader, row, definition);
  if (other) {
    report_language(reader, callee, other);
    row = other;
    misread = true;
  }
  tvms_prototype_decorator(reader, name, callee);
  decoration->kind = row->kind;
  decoration->language = row->language;
  decoration->options = row->options;
  if (called && !other) read_keywords(reader, row, last, decoration);
  if (misread) allow_all(row, decoration);
}

tvms_decoration tvms_decoration_of(tvms_reader *reader, tvms_ref definition) {
  tvms_decoration decoration = {.kind = TVMS_DECORATED_NOT};
  tvms_ref last = tvms_surface_define(reader->surface, definition).decorators;
  while (last && tvms_reader_at(reader, last)->next) {
    last = tvms_reader_at(reader, last)->next;
  }
  if (!last) return decoration;
  read_last(reader, last, definition, &decoration);
  return decoration;
}

void tvms_decoration_guess(tvms_reader *reader, tvms_ref definition,
                           tvms_decoration *decoration) {
  const tvms_decorator *row = decorator_above(reader, TVMS_NS_T, definition);
  if (!row) row = decorator_above(reader, TVMS_NS_R, definition);
  if (!row) return;
  decoration->kind = row->kind;
  decoration->language = row->language;
  decoration->options = row->options;
  allow_all(row, decoration);
}
