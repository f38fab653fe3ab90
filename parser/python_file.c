// Python files: which definitions are TVMScript, and what Python around them binds.
//
// A definition is TVMScript if the name at the root of its decorator was imported from
// TVM's script package. The Python around it is followed only as far as it binds names:
// a constant that is bound once on a path that is surely taken is known, everything else
// is unknown, and nothing is reported outside of definitions.
#include "parser/python_file.h"

#include "parser/dialect_marks.h"
#include "parser/eval/comprehension.h"
#include "parser/eval/expr.h"
#include "parser/eval/reader.h"
#include "parser/eval/scope.h"
#include "parser/file_state.h"
#include "parser/module.h"
#include "parser/needed_names.h"
#include "parser/python.h"
#include "parser/python_names.h"
#include "support/trial.h"

#include <stdio.h>
#include <string.h>

// ---- Which definitions are TVMScript --------------------------------------------------

enum { LONGEST_PATH = 256 };

// A name that an import binds, wherever it stands: `T` of `from tvm.script import tirx as T`.
typedef struct {
  tvms_sym name;
  tvms_sym module;  // 0: none
  tvms_sym item;    // of the module; 0: the module itself
} alias;

typedef struct {
  const tvms_surface *surface;
  tvms_memory *memory;
  TVMS_VEC(alias) aliases;
  tvms_spans *spans;
} finder;

static void add_aliases(finder *f, const tvms_surf *import) {
  bool from = import->kind == TVMS_SURF_IMPORT_FROM;
  tvms_surface_each(f->surface, ref, from ? import->b : import->a) {
    const tvms_surf *node = tvms_surface_at(f->surface, ref);
    alias made = {node->b ? node->b : node->a, from ? import->a : node->a,
                  from ? node->a : 0};
    tvms_vec_push(f->memory, &f->aliases, made);
  }
}

static const alias *TVMS_NULLABLE alias_of(const finder *f, tvms_sym name) {
  for (uint32_t i = f->aliases.len; i > 0; i--) {
    if (f->aliases.items[i - 1].name == name) return &f->aliases.items[i - 1];
  }
  return NULL;
}

// True if `script` is one of the parts of a dotted name.
static bool leads_to_script(const char *path) {
  for (const char *at = path; at; at = strchr(at, '.')) {
    at += *at == '.';
    if (tvms_dialect_marks_is_script_module(at, strlen(at))) return true;
  }
  return false;
}

// True if the name at the root of a decorator comes from the script package.
static bool is_of_script(const finder *f, tvms_sym root, tvms_ref decorator) {
  const tvms_context *context = f->surface->context;
  const alias *known = alias_of(f, root);
  if (!known) return root == TVMS_SYM_T || root == TVMS_SYM_R || root == TVMS_SYM_I;
  char path[LONGEST_PATH];
  snprintf(path, sizeof path, "%s.%s",
           known->module ? tvms_symbol_text(context, known->module) : "",
           known->item ? tvms_symbol_text(context, known->item) : "");
  if (leads_to_script(path)) return true;
  // `@tvm.script.ir_module`: the script is in the decorator itself.
  const tvms_surf *node = tvms_surface_at(f->surface, decorator);
  tvms_span span = {node->begin, node->end};
  snprintf(path, sizeof path, "%.*s", (int)(span.end - span.begin),
           f->surface->source->text + span.begin);
  return strncmp(path, "tvm.", 4) == 0 && leads_to_script(path);
}

static bool makes_script(tvms_sym name) {
  switch (name) {
  case TVMS_SYM_prim_func:
  case TVMS_SYM_ir_module:
  case TVMS_SYM_function:
  case TVMS_SYM_macro:
  case TVMS_SYM_inline:
  case TVMS_SYM_jit:
  case TVMS_SYM_rewriter: return true;
  default: return false;
  }
}

static bool is_script(const finder *f, tvms_ref definition) {
  tvms_ref last = 0;
  tvms_surface_each(f->surface, ref,
                    tvms_surface_define(f->surface, definition).decorators) {
    last = ref;
  }
  if (!last) return false;
  const tvms_surf *node = tvms_surface_at(f->surface, last);
  if (node->kind == TVMS_SURF_CALL) node = tvms_surface_at(f->surface, last = node->a);
  bool dotted = node->kind == TVMS_SURF_ATTRIBUTE;
  if (!dotted && node->kind != TVMS_SURF_NAME) return false;
  if (!makes_script(dotted ? node->b : node->a)) return false;
  tvms_ref root = last;
  while (tvms_surface_at(f->surface, root)->kind == TVMS_SURF_ATTRIBUTE)
    root = tvms_surface_at(f->surface, root)->a;
  const tvms_surf *base = tvms_surface_at(f->surface, root);
  return base->kind == TVMS_SURF_NAME && is_of_script(f, base->a, last);
}

static void find_in(finder *f, tvms_ref body) {
  if (!tvms_memory_enter(f->memory)) tvms_memory_unwind(f->memory, TVMS_OVER_LIMIT);
  tvms_surface_each(f->surface, ref, body) {
    const tvms_surf *node = tvms_surface_at(f->surface, ref);
    bool definition = node->kind == TVMS_SURF_DEF || node->kind == TVMS_SURF_CLASS;
    if (definition && is_script(f, ref)) {
      tvms_vec_push(f->memory, f->spans, tvms_surface_span(f->surface, ref));
      continue;
    }
    tvms_ref bodies[2];
    tvms_surface_bodies(f->surface, ref, bodies);
    find_in(f, bodies[0]);
    find_in(f, bodies[1]);
  }
  tvms_memory_leave(f->memory);
}

void tvms_python_file_definitions(const tvms_surface *surface, tvms_spans *spans) {
  finder f = {.surface = surface, .memory = &surface->context->memory, .spans = spans};
  for (tvms_ref ref = 1; ref < surface->count; ref++) {
    const tvms_surf *node = tvms_surface_at(surface, ref);
    if (node->kind == TVMS_SURF_IMPORT || node->kind == TVMS_SURF_IMPORT_FROM)
      add_aliases(&f, node);
  }
  find_in(&f, surface->body);
  tvms_vec_fini(f.memory, &f.aliases);
}

// ---- Reading --------------------------------------------------------------------------

// Whatever the names of a target were, they are unknown from here on. Attributes and items
// are nobody's.
static void forget(tvms_reader *reader, tvms_ref target) {
  const tvms_surf node = *tvms_reader_at(reader, target);
  switch ((int)node.kind) {
  case TVMS_SURF_NAME:
    tvms_scope_bind(reader, node.a, TVMS_UNKNOWN, tvms_reader_span_of(reader, target));
    return;
  case TVMS_SURF_STAR: forget(reader, node.a); return;
  case TVMS_SURF_TUPLE:
  case TVMS_SURF_LIST: {
    tvms_surface_each(reader->surface, part, node.a) forget(reader, part);
    return;
  }
  default: return;
  }
}

static void forget_all(tvms_reader *reader, tvms_ref targets) {
  tvms_surface_each(reader->surface, target, targets) forget(reader, target);
}

// Steps of all of Python's constants in a file, and bytes of each.
enum { MOST_CONSTANT_STEPS = 2000000, MOST_CONSTANT_BYTES = 16 << 20 };

// The metadata section of printed text, `tvm.ir.load_json("""…""")`: no more than the text has
// comes of it, so it has no share of its own and takes none of the constants'.
static bool is_metadata(tvms_reader *reader, tvms_ref expr) {
  const tvms_surf call = *tvms_reader_at(reader, expr);
  if (call.kind != TVMS_SURF_CALL || !call.b) return false;
  const tvms_surf *callee = tvms_reader_at(reader, call.a);
  const tvms_surf *argument = tvms_reader_at(reader, call.b);
  return callee->kind == TVMS_SURF_ATTRIBUTE && argument->kind == TVMS_SURF_STRING
         && strcmp(tvms_symbol_text(reader->context, callee->b), "load_json") == 0;
}

static tvms_eval_value eval_section(tvms_reader *reader, tvms_ref expr) {
  uint64_t before = tvms_arena_size(&reader->values);
  tvms_eval_value value = tvms_eval(reader, expr);
  tvms_file_of(reader)->section_bytes += tvms_arena_size(&reader->values) - before;
  return value;
}

// Evaluates a constant within a share of the file's limits, so that what follows can still
// be read when it is exceeded; then the constant is unknown.
static tvms_eval_value eval_constant(tvms_reader *reader, tvms_ref expr) {
  if (is_metadata(reader, expr)) return eval_section(reader, expr);
  tvms_context *context = reader->context;
  uint64_t limit = context->step_limit, before = context->steps;
  tvms_budget budget = reader->budget;
  uint64_t own = MOST_CONSTANT_STEPS - tvms_file_of(reader)->constant_steps;
  if (own < limit - before) context->step_limit = before + own;
  reader->budget.most_bytes = MOST_CONSTANT_BYTES + tvms_file_of(reader)->section_bytes;
  tvms_eval_value value = tvms_eval(reader, expr);
  reader->budget = budget;
  context->step_limit = limit;
  uint64_t spent = context->steps - before;
  tvms_file_of(reader)->constant_steps += (uint32_t)(spent < own ? spent : own);
  return value;
}

// A plain name gets the value, if it is one that tvms can compute and that TVMScript asks
// for.
static void assign(tvms_reader *reader, const tvms_surf *stmt, bool certain) {
  bool evaluated = certain
                   && tvms_needed_names_has_any(tvms_file_of(reader)->needed,
                                                reader->surface, stmt->a);
  tvms_eval_value value = evaluated ? eval_constant(reader, stmt->b) : TVMS_UNKNOWN;
  tvms_surface_each(reader->surface, target, stmt->a) {
    const tvms_surf node = *tvms_reader_at(reader, target);
    if (node.kind == TVMS_SURF_NAME)
      tvms_scope_bind(reader, node.a, value, tvms_reader_span_of(reader, target));
    else
      forget(reader, target);
  }
}

static void read_stmt(tvms_reader *reader, tvms_ref stmt, bool certain);

static void read_body(tvms_reader *reader, tvms_ref body, bool certain) {
  while (body) {
    read_stmt(reader, body, certain);
    body = tvms_reader_at(reader, body)->next;
  }
}

// A function or a class of Python: a scope in which TVMScript may stand.
static void read_scope(tvms_reader *reader, tvms_ref ref) {
  tvms_surf_definition def = tvms_surface_define(reader->surface, ref);
  bool function = tvms_reader_at(reader, ref)->kind == TVMS_SURF_DEF;
  tvms_scope_bind(reader, def.name, TVMS_UNKNOWN, def.name_span);
  tvms_scope_push(reader);
  for (tvms_ref param = function ? def.params : 0; param;) {
    const tvms_surf node = *tvms_reader_at(reader, param);
    if (node.a)
      tvms_scope_bind(reader, node.a, TVMS_UNKNOWN, tvms_reader_span_of(reader, param));
    param = node.next;
  }
  tvms_python_names_bind(reader, def.body);
  read_body(reader, def.body, true);
  tvms_scope_pop(reader);
}

// Definitions are met in the order in which tvms_python_file_definitions found them.
static bool is_next_script(tvms_reader *reader, uint32_t begin) {
  if (!tvms_file_of(reader)->script_count
      || tvms_file_of(reader)->script->begin != begin)
    return false;
  tvms_file_of(reader)->script++;
  tvms_file_of(reader)->script_count--;
  return true;
}

// In a file whose definitions are written for different releases, each is read as its own.
static void choose_release(tvms_reader *reader, tvms_ref definition) {
  if (!tvms_file_of(reader)->releases) return;
  tvms_span span = tvms_reader_span_of(reader, definition);
  tvms_spans own = {&span, 1, 1};
  tvms_dialect_marked marked = tvms_dialect_marks_read(
      reader->context, reader->surface, tvms_file_of(reader)->releases, &own);
  tvms_reader_set_dialect(reader, marked.dialect);
  reader->mixed = marked.mixed;
}

static void read_script(tvms_reader *reader, tvms_ref definition) {
  tvms_unit *unit = reader->unit;
  tvms_dialect dialect = reader->dialect;
  bool mixed = reader->mixed;
  uint32_t muted = tvms_trial_speak(&reader->context->diags);
  choose_release(reader, definition);
  tvms_definition_read(reader, definition);
  tvms_trial_mute_again(&reader->context->diags, muted);
  if (reader->dialect != dialect) tvms_reader_set_dialect(reader, dialect);
  reader->mixed = mixed;
  reader->unit = unit;
}

static void forget_items(tvms_reader *reader, tvms_ref items) {
  tvms_surface_each(reader->surface, item, items) {
    tvms_ref target = tvms_reader_at(reader, item)->b;
    if (target) forget(reader, target);
  }
}

// `certain`: the statement is reached once, so that what it binds is known after it.
static void read_kind(tvms_reader *reader, tvms_ref ref, bool certain) {
  const tvms_surf stmt = *tvms_reader_at(reader, ref);
  switch ((int)stmt.kind) {
  case TVMS_SURF_DEF:
  case TVMS_SURF_CLASS:
    if (is_next_script(reader, stmt.begin))
      read_script(reader, ref);
    else
      read_scope(reader, ref);
    return;
  case TVMS_SURF_IMPORT:
  case TVMS_SURF_IMPORT_FROM: tvms_python_read_import(reader, ref); return;
  case TVMS_SURF_ASSIGN: assign(reader, &stmt, certain); return;
  case TVMS_SURF_ANN_ASSIGN:
  case TVMS_SURF_AUG_ASSIGN: forget(reader, stmt.a); return;
  case TVMS_SURF_DELETE: forget_all(reader, stmt.a); return;
  case TVMS_SURF_FOR: forget(reader, stmt.a); break;
  case TVMS_SURF_WITH: forget_items(reader, stmt.a); break;
  default: break;
  }
  tvms_ref bodies[2];
  tvms_surface_bodies(reader->surface, ref, bodies);
  read_body(reader, bodies[0], false);
  read_body(reader, bodies[1], false);
}

static void read_stmt(tvms_reader *reader, tvms_ref stmt, bool certain) {
  tvms_memory *memory = &reader->context->memory;
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  read_kind(reader, stmt, certain);
  tvms_memory_leave(memory);
}

void tvms_python_file_read_stmt(tvms_reader *reader, tvms_ref stmt) {
  tvms_trial_mute(&reader->context->diags);
  read_stmt(reader, stmt, true);
  tvms_trial_unmute(&reader->context->diags);
}
