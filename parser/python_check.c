// What Python refuses around the definitions of a file: Python stops there, so no definition comes
// of it. Only what is certain is reported, and once, however often a body is followed.
#include "parser/python_check.h"

#include "parser/bare_decorator.h"
#include "parser/eval/builtin.h"
#include "parser/eval/class.h"
#include "parser/eval/reader.h"
#include "parser/eval/scope.h"
#include "parser/eval/undefined.h"
#include "parser/file_state.h"
#include "parser/python_body.h"
#include "parser/python_function.h"
#include "parser/room.h"
#include "parser/tir/room.h"
#include "support/diag_ids.h"

#include <stdlib.h>
#include <string.h>

static void report_in(tvms_reader *reader, tvms_ref expr);

static void report_in_list(tvms_reader *reader, tvms_ref list) {
  tvms_surface_each(reader->surface, ref, list) report_in(reader, ref);
}

static void report_name(tvms_reader *reader, tvms_sym name, tvms_ref ref) {
  if (!tvms_scope_lookup(reader, name)
      && !tvms_eval_value_is_known(tvms_builtin_find(reader, name)))
    tvms_eval_report_undefined_name(reader, name, tvms_reader_span_of(reader, ref));
}

// `Config.blok`.
static void report_attribute(tvms_reader *reader, const tvms_surf *node, tvms_ref ref) {
  const tvms_surf *object = tvms_reader_at(reader, node->a);
  const tvms_binding *bound =
      object->kind == TVMS_SURF_NAME ? tvms_scope_lookup(reader, object->a) : NULL;
  if (bound && tvms_eval_is_class(bound->value))
    (void)tvms_eval_class_attribute(reader, bound->value, node->b, ref);
}

static void report_arguments(tvms_reader *reader, tvms_ref call) {
  const tvms_surf *callee = tvms_reader_at(reader, tvms_reader_at(reader, call)->a);
  const tvms_binding *bound =
      callee->kind == TVMS_SURF_NAME ? tvms_scope_lookup(reader, callee->a) : NULL;
  if (bound && bound->value.kind == TVMS_EVAL_FUNCTION)
    tvms_python_function_check(reader, bound->value, call);
}

// Whether some statement of the file may add to a dict: `CONFIG["rows"] = 4`, `CONFIG.update(…)`.
static bool may_grow(tvms_reader *reader, tvms_sym name) {
  if (!tvms_diags_may_compare_names(&reader->context->diags, reader->surface->count))
    return true;
  for (tvms_ref ref = 1; ref < reader->surface->count; ref++) {
    const tvms_surf *node = tvms_reader_at(reader, ref);
    bool changes = node->kind == TVMS_SURF_ATTRIBUTE;
    if (node->kind == TVMS_SURF_ASSIGN) {
      node = tvms_reader_at(reader, node->a);
      changes = node->kind == TVMS_SURF_SUBSCRIPT;
    }
    if (!changes) continue;
    const tvms_surf *object = tvms_reader_at(reader, node->a);
    if (object->kind == TVMS_SURF_NAME && object->a == name) return true;
  }
  return false;
}

// `CONFIG["rosw"]`.
static void report_key(tvms_reader *reader, const tvms_surf *node, tvms_ref ref) {
  const tvms_surf *object = tvms_reader_at(reader, node->a);
  const tvms_binding *bound =
      object->kind == TVMS_SURF_NAME ? tvms_scope_lookup(reader, object->a) : NULL;
  if (bound && bound->value.kind == TVMS_EVAL_DICT
      && tvms_surface_is_string(reader->surface, node->b)
      && !may_grow(reader, object->a))
    (void)tvms_python_body_eval(reader, ref);
}

// What has names of its own (lambda, comprehension) is left out.
static void report_in(tvms_reader *reader, tvms_ref expr) {
  const tvms_surf node = *tvms_reader_at(reader, expr);
  switch ((int)node.kind) {
  case TVMS_SURF_NAME: report_name(reader, node.a, expr); return;
  case TVMS_SURF_TUPLE:
  case TVMS_SURF_LIST: report_in_list(reader, node.a); return;
  case TVMS_SURF_BINARY:
    report_in(reader, node.a);
    report_in(reader, node.b);
    return;
  case TVMS_SURF_UNARY: report_in(reader, node.a); return;
  case TVMS_SURF_ATTRIBUTE:
    report_in(reader, node.a);
    report_attribute(reader, &node, expr);
    return;
  case TVMS_SURF_KEYWORD: report_in(reader, node.b); return;
  case TVMS_SURF_SUBSCRIPT:
    report_in(reader, node.a);
    report_in(reader, node.b);
    report_key(reader, &node, expr);
    return;
  case TVMS_SURF_CALL:
    report_in(reader, node.a);
    report_in_list(reader, node.b);
    report_arguments(reader, expr);
    return;
  default: return;
  }
}

static bool is_error_in(const tvms_diags *diags, const tvms_diag *diag,
                        tvms_span span) {
  return diag->severity == TVMS_SEVERITY_ERROR && diag->source == diags->source
         && diag->span.begin >= span.begin && diag->span.end <= span.end;
}

static int by_begin(const void *a, const void *b) {
  uint32_t left = ((const tvms_span *)a)->begin, right = ((const tvms_span *)b)->begin;
  return (left > right) - (left < right);
}

enum { FEW = 64 };

// Sorts errors of which those from `first` on are new. Statements are followed in the order of the
// text, nearly always.
static void sort_errors(tvms_spans *errors, uint32_t first) {
  if (errors->len - first > FEW) {
    qsort(errors->items, errors->len, sizeof *errors->items, by_begin);
    return;
  }
  for (uint32_t i = first; i < errors->len; i++) {
    tvms_span moved = errors->items[i];
    uint32_t to = i;
    for (; to > 0 && errors->items[to - 1].begin > moved.begin; to--) {
      errors->items[to] = errors->items[to - 1];
    }
    errors->items[to] = moved;
  }
}

// Writes down where the errors stand that were reported since the last call.
static void gather_errors(tvms_reader *reader, tvms_reported *reported) {
  const tvms_diags *diags = &reader->context->diags;
  tvms_spans *errors = &reported->errors;
  if (reported->first != diags->first) {
    reported->first = diags->first;
    reported->last = NULL;
    errors->len = 0;
  }
  const tvms_span whole = {0, UINT32_MAX};
  const tvms_diag *diag = reported->last ? reported->last->next : diags->first;
  uint32_t known = errors->len;
  for (; diag; diag = diag->next) {
    reported->last = diag;
    if (is_error_in(diags, diag, whole))
      tvms_vec_push(&reader->context->memory, errors, diag->span);
  }
  sort_errors(errors, known);
}

// A trial has a list of findings of its own, which is short: for that the places of all others are
// not forgotten.
static bool was_reported(tvms_reader *reader, tvms_span span) {
  const tvms_diags *diags = &reader->context->diags;
  if (diags->errors <= FEW) {
    for (const tvms_diag *diag = diags->first; diag; diag = diag->next) {
      if (is_error_in(diags, diag, span)) return true;
    }
    return false;
  }
  tvms_reported *reported = &tvms_file_of(reader)->reported;
  gather_errors(reader, reported);
  const tvms_spans *errors = &reported->errors;
  for (uint32_t i = tvms_spans_from(errors, span.begin);
       i < errors->len && errors->items[i].begin <= span.end; i++) {
    if (errors->items[i].end <= span.end) return true;
  }
  return false;
}

// Statements of Python are followed in silence: reports are for here only.
static void report_aloud(tvms_reader *reader, tvms_ref expr,
                         void (*report)(tvms_reader *, tvms_ref)) {
  tvms_diags *diags = &reader->context->diags;
  if (was_reported(reader, tvms_reader_span_of(reader, expr))) return;
  uint32_t muted = diags->muted;
  diags->muted = 0;
  report(reader, expr);
  diags->muted = muted;
}

void tvms_python_check(tvms_reader *reader, tvms_ref expr) {
  report_aloud(reader, expr, report_in);
}

void tvms_python_check_list(tvms_reader *reader, tvms_ref list) {
  tvms_surface_each(reader->surface, ref, list) tvms_python_check(reader, ref);
}

void tvms_python_check_defaults(tvms_reader *reader, tvms_ref params) {
  tvms_surface_each(reader->surface, ref, params) {
    tvms_ref value = tvms_reader_at(reader, ref)->c;
    if (value) tvms_python_check(reader, value);
  }
}

void tvms_python_check_return(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf *stmt = tvms_reader_at(reader, ref);
  bool name = stmt->a && tvms_reader_at(reader, stmt->a)->kind == TVMS_SURF_NAME;
  if (name && !was_reported(reader, tvms_reader_span_of(reader, ref)))
    tvms_python_check(reader, stmt->a);
}

void tvms_python_check_call(tvms_reader *reader, tvms_ref call) {
  report_aloud(reader, call, report_arguments);
}

void tvms_python_check_named_call(tvms_reader *reader, tvms_ref expr) {
  const tvms_surf *call = tvms_reader_at(reader, expr);
  if (call->kind == TVMS_SURF_CALL
      && tvms_reader_at(reader, call->a)->kind == TVMS_SURF_NAME)
    tvms_python_check(reader, expr);
}

tvms_eval_value tvms_python_check_name(tvms_reader *reader, tvms_ref target,
                                       tvms_eval_value value) {
  tvms_context *context = reader->context;
  tvms_sym name = tvms_reader_at(reader, target)->a;
  if (value.kind != TVMS_EVAL_TYPE_VAR || value.as.sym == name) return value;
  tvms_span span = tvms_reader_span_of(reader, target);
  uint32_t muted = context->diags.muted;
  context->diags.muted = 0;
  if (!was_reported(reader, span))
    tvms_diag_report(&context->diags, TVMS_D_type_var_name, span,
                     tvms_symbol_text(context, name),
                     tvms_symbol_text(context, value.as.sym));
  context->diags.muted = muted;
  value.as.sym = name;
  return value;
}

void tvms_python_check_bare_class(tvms_reader *reader, const tvms_surf_definition *def,
                                  uint32_t first) {
  tvms_diags *diags = &reader->context->diags;
  const char *text = reader->surface->source->text;
  uint32_t len = def->name_span.end - def->name_span.begin;
  if (def->decorators || was_reported(reader, def->name_span)
      || tvms_decoration_is_bare_above(reader, def->name_span.begin))
    return;
  for (uint32_t i = first; i < reader->program->count; i++) {
    const tvms_module *module = reader->program->modules[i];
    for (uint32_t k = 0; k < module->member_count; k++) {
      tvms_span asked = module->members[k].unknown;
      bool same = asked.end - asked.begin == len
                  && memcmp(text + asked.begin, text + def->name_span.begin, len) == 0;
      if (!same) continue;
      uint32_t muted = diags->muted;
      diags->muted = 0;
      tvms_diag *diag =
          tvms_diag_report(diags, TVMS_D_not_decorated, def->name_span, "a class");
      tvms_diag_remark(diags, diag, "write @I.ir_module above it");
      tvms_diag_note(diags, diag, asked, "its functions use it as a module");
      diags->muted = muted;
      return;
    }
  }
}
