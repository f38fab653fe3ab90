// Definitions of a file: modules, functions; and what stands in the body of a module
// besides functions. Decorators: decorator.c.
#include "parser/module.h"

#include "ir/build.h"
#include "ir/object.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "parser/bare_decorator.h"
#include "parser/decorator.h"
#include "parser/eval/closure.h"
#include "parser/eval/convert.h"
#include "parser/eval/eval.h"
#include "parser/eval/expr.h"
#include "parser/eval/outer.h"
#include "parser/eval/reader.h"
#include "parser/eval/scope.h"
#include "parser/eval/undefined.h"
#include "parser/room.h"
#include "parser/tir/function.h"
#include "parser/tir/tir.h"
#include "support/diag_ids.h"

// ---- Functions ------------------------------------------------------------------------------

static tvms_walk_step settle_regions(void *self, tvms_node *node,
                                     tvms_field_role role) {
  (void)self, (void)role;
  enum { MISSING = TVMS_FLAG_READS_MISSING | TVMS_FLAG_WRITES_MISSING };
  if (node->kind == TVMS_NODE_BLOCK) node->flags &= (uint8_t)~MISSING;
  return tvms_node_class_of(node) == TVMS_CLASS_STMT ? TVMS_WALK_ON : TVMS_WALK_SKIP;
}

// What was read of a function with mistakes may lack what everybody relies on. Regions of
// blocks are not looked for in it.
static void keep_sound_part(tvms_member *member) {
  if (member->partial->kind == TVMS_NODE_PRIM_FUNC) {
    tvms_node *body = tvms_as_prim_func(member->partial)->body;
    tvms_visitor visitor = {.enter = settle_regions};
    if (body) tvms_walk(&member->unit->context->memory, body, &visitor);
  }
  if (tvms_verify(member->unit, member->partial)) member->partial = NULL;
}

static void read_function(tvms_reader *reader, const tvms_def *def,
                          tvms_member *member) {
  tvms_mark mark = tvms_arena_mark(&reader->values);
  uint32_t errors = reader->context->diags.errors;
  reader->unit = member->unit;
  reader->failed = false;
  tvms_eval_forget_undefined(reader);
  reader->short_of_names = NULL;
  reader->unknown = TVMS_NO_SPAN;
  tvms_eval_outer_forget(reader);
  def->decoration.language->read(reader, def, member);
  if (member->partial) keep_sound_part(member);
  // What is wrong with a function was reported; what only Python knows was not.
  member->unread =
      reader->lenient && (reader->failed || !member->function)
      && reader->context->diags.errors == errors
      && !tvms_reader_was_misread(reader, tvms_reader_span_of(reader, def->ref));
  member->unknown = reader->unknown;
  reader->unit = &reader->module->unit;
  tvms_arena_reset(&reader->values, mark);
}

static void declare(tvms_reader *reader, const tvms_def *def, tvms_member *member) {
  const tvms_language *language = def->decoration.language;
  if (!language || !language->declare) return;
  reader->unit = member->unit;
  language->declare(reader, def, member);
  reader->unit = &reader->module->unit;
}

// A Python function in a module: an external function with its name.
static void keep_pyfunc(tvms_reader *reader, const tvms_def *def, tvms_member *member) {
  tvms_unit *unit = member->unit;
  tvms_span span = tvms_reader_span_of(reader, def->ref);
  // What is not TVMScript is none of our business inside of a Python function.
  tvms_diags_forget(&reader->context->diags, TVMS_D_unsupported, span);
  const tvms_name *name = tvms_interner_name(&reader->context->names, def->name);
  tvms_extern_func *function = tvms_node_make(unit, EXTERN_FUNC, span);
  function->symbol = tvms_bytes_copy(unit, name->text, name->len);
  tvms_node *attrs = tvms_object_map_with(
      unit, NULL, "is_pyfunc", tvms_object_bool_new(unit, true, TVMS_NO_SPAN));
  attrs = tvms_object_map_with(unit, attrs, "function_type",
                               tvms_object_str_new(unit, "python", 6, TVMS_NO_SPAN));
  attrs = tvms_object_map_with(
      unit, attrs, "python_function_name",
      tvms_object_str_new(unit, name->text, name->len, TVMS_NO_SPAN));
  function->attrs = attrs;
  member->function = &function->head;
}

static tvms_member *add_member(tvms_reader *reader, tvms_sym name, tvms_span span) {
  if (tvms_module_find(reader->module, name)) {
    tvms_diag_report(&reader->context->diags, TVMS_D_already_defined, span,
                     tvms_symbol_text(reader->context, name));
  }
  return tvms_module_add(reader->module, name, span);
}

// ---- Modules --------------------------------------------------------------------------------

// `name = R.ExternFunc("…")`.
static void read_member_value(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf stmt = *tvms_reader_at(reader, ref);
  if (tvms_reader_at(reader, stmt.a)->next) {
    tvms_reader_report(reader, chained_assignment, ref);
    return;
  }
  const tvms_surf target = *tvms_reader_at(reader, stmt.a);
  if (target.kind == TVMS_SURF_BAD) return;
  if (target.kind != TVMS_SURF_NAME) {
    tvms_reader_report(reader, bad_assignment_target, stmt.a);
    return;
  }
  tvms_member *member =
      add_member(reader, target.a, tvms_reader_span_of(reader, stmt.a));
  reader->unit = member->unit;
  tvms_eval_value value = tvms_eval(reader, stmt.b);
  reader->unit = &reader->module->unit;
  if (!tvms_eval_value_is_known(value)) return;
  tvms_node *node = tvms_eval_value_node_of(value, TVMS_NODE_EXTERN_FUNC);
  if (!node) {
    tvms_eval_report_wrong_type(reader, stmt.b, "a member of a module", "a function",
                                value);
    return;
  }
  tvms_module_find(reader->module, target.a)->function = node;
}

// A `return` in a module has lost its indentation.
static void explain_return(tvms_reader *reader, tvms_diag *diag,
                           const tvms_surf *stmt) {
  if (stmt->kind != TVMS_SURF_RETURN) return;
  const char *text = reader->surface->source->text;
  uint32_t line = stmt->begin;
  while (line > 0 && text[line - 1] != '\n')
    line--;
  tvms_diags *diags = &reader->context->diags;
  tvms_diag_remark(diags, diag, "it belongs to the function above: indent it");
  tvms_diag_fix(diags, diag, (tvms_span){line, line}, false, "%.*s",
                (int)(stmt->begin - line), text + line);
}

static void read_module_stmt(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf stmt = *tvms_reader_at(reader, ref);
  switch (stmt.kind) {
  case TVMS_SURF_DEF:
  case TVMS_SURF_PASS:
  case TVMS_SURF_ERROR:
  case TVMS_SURF_UNSUPPORTED: break;
  case TVMS_SURF_EXPRESSION:
    if (!tvms_decoration_report_bare(reader, ref)) tvms_eval(reader, stmt.a);
    break;
  case TVMS_SURF_ASSIGN: read_member_value(reader, ref); break;
  default:
    explain_return(
        reader,
        tvms_reader_report(reader, not_in_module, ref, tvms_surface_describe(&stmt)),
        &stmt);
    break;
  }
}

// The decorator on the line above could not be read, which was reported.
static bool decorator_was_misread(const tvms_reader *reader, uint32_t place) {
  const char *text = reader->surface->source->text;
  uint32_t begin = place;
  for (uint32_t lines = 0; begin > 0; begin--) {
    lines += text[begin - 1] == '\n';
    if (lines == 2) break;
  }
  uint32_t first = begin;
  while (text[first] == ' ') {
    first++;
  }
  return text[first] == '@'
         && tvms_reader_was_misread(reader, (tvms_span){begin, place});
}

// The decorator that a signature asks for: annotations of TIR, or those of Relax.
static void explain_bare(tvms_reader *reader, tvms_diag *diag, tvms_span name,
                         bool is_class) {
  const char *text = reader->surface->source->text + name.end;
  size_t len = strcspn(text, "\r\n");
  bool tir = false, relax = false;
  for (size_t i = 0; i + 2 < len; i++) {
    bool begins = text[i] == ' ' || text[i] == '(' || text[i] == ':';
    tir = tir || (begins && text[i + 1] == 'T' && text[i + 2] == '.');
    relax = relax || (begins && text[i + 1] == 'R' && text[i + 2] == '.');
  }
  const char *meant = is_class ? "@I.ir_module"
                      : relax  ? "@R.function"
                      : tir    ? "@T.prim_func"
                               : "@T.prim_func or @R.function";
  tvms_diag_remark(&reader->context->diags, diag, "write %s above it", meant);
}

static void check_decorated(tvms_reader *reader, const tvms_decoration *decoration,
                            tvms_span name, bool is_class) {
  if (reader->lenient && !(reader->module && decoration->kind == TVMS_DECORATED_NOT))
    return;
  const char *what = is_class ? "a class" : "a function";
  tvms_diags *diags = &reader->context->diags;
  switch ((int)decoration->kind) {
  case TVMS_DECORATED_NOT:
    if (decorator_was_misread(reader, name.begin)
        || tvms_decoration_is_bare_above(reader, name.begin)
        || (diags->last && diags->last->id == TVMS_D_decorator_called)) {
      break;
    }
    explain_bare(reader,
                 tvms_diag_report(diags,
                                  is_class ? TVMS_D_bare_class : TVMS_D_not_decorated,
                                  name, what),
                 name, is_class);
    break;
  case TVMS_DECORATED_UNKNOWN: break;
  default:
    if (is_class == (decoration->kind == TVMS_DECORATED_CLASS)) break;
    tvms_diag_report(diags, TVMS_D_wrong_decorator, decoration->span, what);
  }
}

static void collect_defs(tvms_reader *reader, tvms_ref body) {
  reader->defs.len = 0;
  tvms_surface_each(reader->surface, ref, body) {
    if (tvms_reader_at(reader, ref)->kind != TVMS_SURF_DEF) continue;
    tvms_surf_definition def = tvms_surface_define(reader->surface, ref);
    tvms_decoration decoration = tvms_decoration_of(reader, ref);
    check_decorated(reader, &decoration, def.name_span, false);
    if (decoration.kind == TVMS_DECORATED_NOT)
      tvms_decoration_guess(reader, ref, &decoration);
    tvms_def entry = {ref, def.name, 0, decoration};
    bool member = decoration.kind == TVMS_DECORATED_FUNCTION
                  || decoration.kind == TVMS_DECORATED_PYTHON;
    if (!member) continue;
    add_member(reader, def.name, def.name_span);
    entry.member = reader->module->member_count - 1;
    tvms_vec_push(&reader->context->memory, &reader->defs, entry);
  }
}

// Functions that are not declared before they are read, PrimFuncs, call none that are: they are
// read first, so that calls can be compared with them wherever they stand.
static void read_defs(tvms_reader *reader) {
  for (uint32_t i = 0; i < reader->defs.len; i++) {
    const tvms_def *def = &reader->defs.items[i];
    declare(reader, def, &reader->module->members[def->member]);
  }
  for (int declared = 0; declared < 2; declared++) {
    for (uint32_t i = 0; i < reader->defs.len; i++) {
      tvms_def def = reader->defs.items[i];
      tvms_member *member = &reader->module->members[def.member];
      const tvms_language *language = def.decoration.language;
      if ((language && language->declare) != declared) continue;
      if (def.decoration.kind == TVMS_DECORATED_PYTHON)
        keep_pyfunc(reader, &def, member);
      else
        read_function(reader, &def, member);
    }
  }
}

// `class M(BasePyModule)`: says so in its attributes.
static void read_bases(tvms_reader *reader, tvms_ref bases) {
  if (!tvms_release_has(reader->dialect, TVMS_FACT_modules_have_bases)) return;
  tvms_surface_each(reader->surface, ref, bases) {
    if (tvms_decoration_last_name(reader, ref) != TVMS_SYM_BasePyModule) continue;
    tvms_unit *unit = &reader->module->unit;
    reader->module->attrs =
        tvms_object_map_with(unit, reader->module->attrs, "base_py_module",
                             tvms_object_bool_new(unit, true, TVMS_NO_SPAN));
  }
}

static tvms_module *new_module(tvms_reader *reader, tvms_sym name) {
  tvms_module *module = tvms_module_create(reader->context, reader->dialect, name);
  tvms_program_add(reader->program, module);
  reader->module = module;
  reader->unit = &module->unit;
  return module;
}

// In a Python file a function may be unreadable with nothing reported: the declaration that
// those have that call it goes.
static void end_module(tvms_reader *reader) {
  tvms_module *module = reader->module;
  for (uint32_t i = 0; i < module->member_count && reader->lenient; i++) {
    const tvms_node *function = module->members[i].function;
    bool declared = function && function->kind == TVMS_NODE_FUNCTION
                    && !tvms_as_function(function)->body;
    if (declared) module->members[i].function = NULL;
  }
  reader->module = NULL;
}

static void read_class(tvms_reader *reader, tvms_ref ref) {
  tvms_surf_definition def = tvms_surface_define(reader->surface, ref);
  tvms_decoration decoration = tvms_decoration_of(reader, ref);
  check_decorated(reader, &decoration, def.name_span, true);
  // Text without the decorator is a module all the same; in Python it is just a class.
  bool bare = decoration.kind == TVMS_DECORATED_NOT && !reader->lenient;
  if (!bare && decoration.kind != TVMS_DECORATED_CLASS) return;
  tvms_module *module = new_module(reader, def.name);
  module->name_span = def.name_span;
  module->rewriter = tvms_decoration_says(&decoration, TVMS_MODULE_OPTION_REWRITER);
  module->s_tir = tvms_decoration_says(&decoration, TVMS_TIR_OPTION_S_TIR);
  module->unchecked = tvms_decoration_says(&decoration, TVMS_OPTION_UNCHECKED);
  tvms_scope_push(reader);
  tvms_scope_bind(reader, def.name, (tvms_eval_value){.kind = TVMS_EVAL_MODULE},
                  def.name_span);
  read_bases(reader, def.params);
  for (tvms_ref stmt = def.body; stmt;) {
    read_module_stmt(reader, stmt);
    stmt = tvms_reader_at(reader, stmt)->next;
  }
  collect_defs(reader, def.body);
  read_defs(reader);
  tvms_scope_pop(reader);
  end_module(reader);
}

static void read_lone_function(tvms_reader *reader, tvms_ref ref,
                               const tvms_surf_definition *def,
                               const tvms_decoration *decoration) {
  tvms_module *module = new_module(reader, def->name);
  module->bare = true;
  module->unchecked = tvms_decoration_says(decoration, TVMS_OPTION_UNCHECKED);
  module->s_tir = decoration->language == &tvms_tir_language
                  && tvms_decoration_says(decoration, TVMS_TIR_OPTION_S_TIR);
  tvms_module_add(module, def->name, def->name_span);
  reader->defs.len = 0;
  tvms_def entry = {ref, def->name, 0, *decoration};
  tvms_vec_push(&reader->context->memory, &reader->defs, entry);
  tvms_scope_push(reader);
  read_defs(reader);
  tvms_scope_pop(reader);
  end_module(reader);
}

static void read_def(tvms_reader *reader, tvms_ref ref) {
  tvms_surf_definition def = tvms_surface_define(reader->surface, ref);
  tvms_decoration decoration = tvms_decoration_of(reader, ref);
  check_decorated(reader, &decoration, def.name_span, false);
  switch ((int)decoration.kind) {
  case TVMS_DECORATED_FUNCTION:
    read_lone_function(reader, ref, &def, &decoration);
    break;
  case TVMS_DECORATED_MACRO:
    tvms_scope_bind(reader, def.name, tvms_closure_make_macro(reader, ref, &decoration),
                    def.name_span);
    break;
  default: break;
  }
}

void tvms_definition_read(tvms_reader *reader, tvms_ref ref) {
  if (tvms_reader_at(reader, ref)->kind == TVMS_SURF_CLASS)
    read_class(reader, ref);
  else
    read_def(reader, ref);
}
