// Names that nothing binds, in the Python around the definitions of a file.
//
// Helpers, factories, tests and constants run, or are called, before or after TVM sees a
// definition, and a misspelt name stops them there. Nothing is evaluated: a name is bound if any
// statement of its scope, or of one around it, binds it, whether that is reached or not. Names of
// a class are not visible in its functions, so a class is gone through twice: first what its body
// evaluates, then, without its names, the bodies of its functions.
//
// Source of the rules: section 4.2 of Python's reference, "Naming and binding".
#define _GNU_SOURCE  // memmem
#include "parser/python_undefined.h"

#include "parser/bare_decorator.h"
#include "parser/eval/builtin.h"
#include "parser/eval/meant_sign.h"
#include "parser/eval/reader.h"
#include "parser/eval/scope.h"
#include "parser/eval/undefined.h"
#include "parser/file_state.h"
#include "parser/python_module.h"
#include "parser/python_names.h"
#include "support/diag_ids.h"

#include <string.h>

// Which parts of functions are looked at.
typedef enum { WHOLE, HEADS, BODIES } parts;

// Where a walk is.
typedef struct {
  tvms_reader *reader;
  parts part;
  tvms_span owner;     // the class whose method it is in, or empty
  tvms_span function;  // the outermost function that it is in, or empty
} walk;

static void walk_node(walk w, tvms_ref ref);

static walk with(walk w, parts part) {
  w.part = part;
  return w;
}

static void walk_list(walk w, tvms_ref list) {
  tvms_reader *reader = w.reader;
  tvms_memory *memory = &reader->context->memory;
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  tvms_surface_each(reader->surface, ref, list) walk_node(w, ref);
  tvms_memory_leave(memory);
}

// Whether the class has something of the name: it says `self.name`, defines a method, or has a
// line that begins with the name.
static bool has_member(const walk *w, const char *name) {
  static const char *const before[] = {"self.", "def ", "\n    "};
  const char *text = w->reader->surface->source->text;
  size_t len = strlen(name);
  enum { WORD = 16 };
  uint32_t words = (w->owner.end - w->owner.begin) / WORD;
  if (!words || !tvms_diags_may_compare_names(&w->reader->context->diags, words))
    return false;
  for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
    size_t own = strlen(before[i]);
    const char *at = text + w->owner.begin, *end = text + w->owner.end;
    while ((at = memmem(at, (size_t)(end - at), before[i], own))) {
      at += own;
      if (strncmp(at, name, len) == 0 && strchr("( .,)[:=\n", at[len])) return true;
    }
  }
  return false;
}

static void check_name(walk w, tvms_sym name, tvms_ref ref) {
  tvms_reader *reader = w.reader;
  // Namespaces of TVMScript are missed by its definitions.
  bool namespace = name == TVMS_SYM_T || name == TVMS_SYM_R || name == TVMS_SYM_I;
  if (namespace || tvms_scope_lookup(reader, name)
      || tvms_eval_value_is_known(tvms_builtin_find(reader, name)))
    return;
  tvms_diags *diags = &reader->context->diags;
  tvms_span span = tvms_reader_span_of(reader, ref);
  const char *text = tvms_symbol_text(reader->context, name);
  if (has_member(&w, text)) {
    tvms_diag *diag = tvms_diag_report(diags, TVMS_D_undefined_name, span, text);
    tvms_diag_remark(diags, diag, "did you mean 'self.%s'?", text);
    tvms_diag_fix(diags, diag, span, false, "self.%s", text);
  } else {
    tvms_eval_report_undefined_name(reader, name, span);
  }
  if (w.function.end) tvms_eval_note_undefined_within(reader, name, w.function);
}

static void bind_params(tvms_reader *reader, tvms_ref params) {
  tvms_surface_each(reader->surface, ref, params) {
    const tvms_surf *param = tvms_reader_at(reader, ref);
    if (param->a)
      tvms_scope_bind(reader, param->a, TVMS_UNKNOWN, tvms_reader_span_of(reader, ref));
  }
}

// Defaults, and annotations unless they stay text.
static void walk_params(walk w, tvms_ref params) {
  tvms_reader *reader = w.reader;
  tvms_surface_each(reader->surface, ref, params) {
    const tvms_surf param = *tvms_reader_at(reader, ref);
    if (!reader->postponed) walk_list(with(w, WHOLE), param.b);
    walk_list(with(w, WHOLE), param.c);
  }
}

static void walk_function(walk w, tvms_ref ref) {
  tvms_reader *reader = w.reader;
  tvms_surf_definition def = tvms_surface_define(reader->surface, ref);
  if (w.part != BODIES) walk_list(with(w, WHOLE), def.decorators);
  tvms_scope_push(reader);
  bind_params(reader, def.type_params);
  if (w.part != BODIES) {
    walk_params(w, def.params);
    if (!reader->postponed) walk_list(with(w, WHOLE), def.returns);
  }
  if (w.part != HEADS) {
    if (!w.function.end) w.function = tvms_reader_span_of(reader, ref);
    bind_params(reader, def.params);
    tvms_python_names_bind(reader, def.body);
    walk_list(with(w, WHOLE), def.body);
  }
  tvms_scope_pop(reader);
}

static void walk_class(walk w, tvms_ref ref) {
  tvms_reader *reader = w.reader;
  tvms_surf_definition def = tvms_surface_define(reader->surface, ref);
  if (w.part != BODIES) walk_list(with(w, WHOLE), def.decorators);
  tvms_scope_push(reader);
  bind_params(reader, def.type_params);
  if (w.part != BODIES) walk_list(with(w, WHOLE), def.params);
  if (w.part != HEADS) {
    tvms_scope_push(reader);
    tvms_python_names_bind(reader, def.body);
    walk_list(with(w, HEADS), def.body);
    tvms_scope_pop(reader);
    w.owner = tvms_reader_span_of(reader, ref);
    walk_list(with(w, BODIES), def.body);
  }
  tvms_scope_pop(reader);
}

// What has names of its own: lambda, comprehension. They are seen in all of it, which is more
// than Python lets them.
static void walk_scope(walk w, const tvms_surf *node) {
  tvms_reader *reader = w.reader;
  tvms_scope_push(reader);
  if (node->kind == TVMS_SURF_LAMBDA) {
    walk_params(w, node->a);
    bind_params(reader, node->a);
  } else {
    tvms_surface_each(reader->surface, clause, node->b) {
      const tvms_surf *part = tvms_reader_at(reader, clause);
      if (part->kind == TVMS_SURF_COMP_FOR)
        tvms_python_names_bind_target(reader, part->a);
    }
    walk_list(with(w, WHOLE), node->a);
  }
  walk_list(with(w, WHOLE), node->b);
  tvms_scope_pop(reader);
}

// The names of `rows == cols * 2` are said to be unbound.
static void note_unbound(walk w, tvms_ref ref) {
  tvms_reader *reader = w.reader;
  const tvms_surf *node = tvms_reader_at(reader, ref);
  if (node->kind == TVMS_SURF_COMPARE) node = tvms_reader_at(reader, node->a);
  tvms_span within = {0, reader->surface->source->size};
  tvms_eval_note_undefined_within(reader, node->a,
                                  w.function.end ? w.function : within);
}

// `rows == cols * 2` binds nothing.
static void walk_expression(walk w, tvms_ref expr) {
  tvms_reader *reader = w.reader;
  if (!tvms_eval_report_equality(reader, expr)) {
    walk_list(with(w, WHOLE), expr);
    return;
  }
  const tvms_surf *node = tvms_reader_at(reader, expr);
  if (node->kind == TVMS_SURF_TUPLE) {
    tvms_surface_each(reader->surface, item, node->a) note_unbound(w, item);
  } else {
    note_unbound(w, expr);
  }
}

static bool is_script(const tvms_reader *reader, const tvms_surf *definition) {
  const tvms_spans *script = tvms_file_of(reader)->script;
  uint32_t number = tvms_spans_from(script, definition->begin);
  return number < script->len && script->items[number].begin == definition->begin;
}

// The bodies of functions alone: of a statement only what stands indented below it has any.
static void walk_bodies(walk w, tvms_ref ref) {
  tvms_reader *reader = w.reader;
  tvms_ref bodies[2];
  tvms_surface_bodies(reader->surface, ref, bodies);
  walk_list(with(w, BODIES), bodies[0]);
  walk_list(with(w, BODIES), bodies[1]);
}

static void walk_parts(walk w, const tvms_surf *node) {
  uint8_t refs = tvms_surface_refs((tvms_surf_kind)node->kind);
  if (refs & TVMS_SURF_IN_A) walk_list(w, node->a);
  if (refs & TVMS_SURF_IN_B) walk_list(w, node->b);
  if (refs & TVMS_SURF_IN_C) walk_list(w, node->c);
}

// `try: … except NameError:`: what it tries may be undefined. The grammar skips both lines.
static bool is_tried(const tvms_reader *reader, const tvms_surf *stmt) {
  const char *text = reader->surface->source->text;
  if (stmt->kind != TVMS_SURF_UNSUPPORTED || !stmt->next
      || strncmp(text + stmt->begin, "try", 3) != 0)
    return false;
  const char *except = text + tvms_reader_at(reader, stmt->next)->begin;
  size_t len = strcspn(except, ":\n");
  if (strncmp(except, "except", 6) != 0) return false;
  return len == 6 || memmem(except, len, "NameError", 9)
         || memmem(except, len, "Exception", 9);
}

static void walk_node(walk w, tvms_ref ref) {
  tvms_reader *reader = w.reader;
  const tvms_surf node = *tvms_reader_at(reader, ref);
  bool definition = node.kind == TVMS_SURF_DEF || node.kind == TVMS_SURF_CLASS;
  if (definition && is_script(reader, &node)) return;
  switch ((int)node.kind) {
  case TVMS_SURF_DEF: walk_function(w, ref); return;
  case TVMS_SURF_CLASS: walk_class(w, ref); return;
  case TVMS_SURF_NAME:
    if (w.part != BODIES) check_name(w, node.a, ref);
    return;
  case TVMS_SURF_IMPORT:
  case TVMS_SURF_IMPORT_FROM:
    if (w.part != BODIES) tvms_python_module_check(reader, ref);
    return;
  case TVMS_SURF_EXPRESSION:
    if (w.part != BODIES && !tvms_decoration_report_bare(reader, ref))
      walk_expression(w, node.a);
    return;
  case TVMS_SURF_LAMBDA:
  case TVMS_SURF_LIST_COMP:
  case TVMS_SURF_SET_COMP:
  case TVMS_SURF_DICT_COMP:
  case TVMS_SURF_GENERATOR: walk_scope(w, &node); return;
  case TVMS_SURF_ANN_ASSIGN:
    walk_list(w, node.a);
    if (!reader->postponed && w.part != BODIES) walk_list(with(w, WHOLE), node.b);
    if (w.part != BODIES) walk_list(with(w, WHOLE), node.c);
    return;
  default:
    if (w.part == BODIES || is_tried(reader, &node))
      walk_bodies(w, ref);
    else
      walk_parts(w, &node);
  }
}

void tvms_python_undefined_report(tvms_reader *reader) {
  if (reader->open) return;
  tvms_scope_push_for(reader, TVMS_EVALUATOR_PYTHON);
  walk_list((walk){.reader = reader}, reader->surface->body);
  tvms_scope_pop(reader);
}
