// Python files: which definitions are TVMScript. One is if the name at the root of its
// decorator was imported from TVM's script package.
#define _GNU_SOURCE  // memmem
#include "parser/python_file.h"

#include "ir/meant.h"
#include "parser/dialect_marks.h"
#include "parser/python_module.h"
#include "parser/python_names.h"

#include <ctype.h>
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

// Names that a file uses as if it had imported them.
typedef enum { ASKED_TVM, ASKED_PRIM_FUNC, ASKED_IR_MODULE, ASKED } asked_name;

typedef enum { NOT_ASKED, BOUND, UNBOUND } answer;

typedef struct {
  const tvms_surface *surface;
  tvms_memory *memory;
  TVMS_VEC(alias) aliases;
  bool kin;  // those of other packages, too
  tvms_refs *found;
  bool open;            // a star import may bind any name
  answer bound[ASKED];  // what is_bound has said
} finder;

// `import tvm.script` binds `tvm`.
static tvms_sym first_part(tvms_context *context, tvms_sym path) {
  const char *text = tvms_symbol_text(context, path);
  size_t len = strcspn(text, ".");
  return text[len] ? tvms_symbol_intern(context, text, len) : path;
}

static void add_aliases(finder *f, const tvms_surf *import) {
  bool from = import->kind == TVMS_SURF_IMPORT_FROM;
  f->open = f->open || (from && !import->b);
  tvms_surface_each(f->surface, ref, from ? import->b : import->a) {
    const tvms_surf *node = tvms_surface_at(f->surface, ref);
    tvms_context *context = f->surface->context;
    tvms_sym module = tvms_python_module_mended(context, from ? import->a : node->a);
    alias made = {node->b ? node->b : node->a, module, from ? node->a : 0};
    if (!from && !node->b) made.name = made.module = first_part(context, module);
    tvms_vec_push(f->memory, &f->aliases, made);
  }
}

static bool makes_script(tvms_sym name);

// `pf = T.prim_func`.
static void add_assigned(finder *f, const tvms_surf *assign) {
  const tvms_surf *target = tvms_surface_at(f->surface, assign->a);
  const tvms_surf *value = tvms_surface_at(f->surface, assign->b);
  bool renames = target->kind == TVMS_SURF_NAME && !target->next
                 && value->kind == TVMS_SURF_ATTRIBUTE && makes_script(value->b);
  if (!renames) return;
  const tvms_surf *root = tvms_surface_at(f->surface, value->a);
  if (root->kind != TVMS_SURF_NAME) return;
  for (uint32_t i = f->aliases.len; i > 0; i--) {
    alias known = f->aliases.items[i - 1];
    if (known.name != root->a || !known.item) continue;
    char path[LONGEST_PATH];
    tvms_context *context = f->surface->context;
    int len = snprintf(path, sizeof path, "%s.%s",
                       known.module ? tvms_symbol_text(context, known.module) : "",
                       tvms_symbol_text(context, known.item));
    if (len < 0 || (size_t)len >= sizeof path) return;
    alias made = {target->a, tvms_symbol_intern(context, path, (size_t)len), value->b};
    tvms_vec_push(f->memory, &f->aliases, made);
    return;
  }
}

static const alias *TVMS_NULLABLE alias_of(const finder *f, tvms_sym name) {
  for (uint32_t i = f->aliases.len; i > 0; i--) {
    if (f->aliases.items[i - 1].name == name) return &f->aliases.items[i - 1];
  }
  return NULL;
}

// Packages of TVM that have a module `script`; those of other packages are theirs.
static bool has_script(const char *path, size_t len) {
  static const char *const packages[] = {"tvm", "tir", "tirx", "relax"};
  for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
    size_t own = strlen(packages[i]);
    bool last = len == own || (len > own && path[len - own - 1] == '.');
    if (last && memcmp(path + len - own, packages[i], own) == 0) return true;
  }
  return false;
}

// True if `script` is the first part of a dotted name, as in an import within TVM, or stands
// below a package of TVM, wherever that comes from: `bitblas.tvm.script`.
static bool leads_to_script(const char *path) {
  for (const char *at = path; at; at = strchr(at, '.')) {
    bool first = at == path;
    at += *at == '.';
    if (!tvms_dialect_marks_is_script_module(at, strlen(at))) continue;
    if (first ? at == path : has_script(path, (size_t)(at - 1 - path))) return true;
  }
  return false;
}

// The path that an alias stands for; false if it is too long.
static bool write_path(const finder *f, const alias *known, char *path, size_t *len) {
  const tvms_context *context = f->surface->context;
  int written = snprintf(path, LONGEST_PATH, "%s%s%s",
                         known->module ? tvms_symbol_text(context, known->module) : "",
                         known->item ? "." : "",
                         known->item ? tvms_symbol_text(context, known->item) : "");
  *len = (size_t)written;
  return written >= 0 && *len < LONGEST_PATH;
}

// `@t.prim_func` where `T` comes from the script package: whether Python binds `t` shows when
// the definition is read.
static bool is_small_namespace(const finder *f, tvms_sym name) {
  tvms_context *context = f->surface->context;
  const char *text = tvms_symbol_text(context, name);
  if (strlen(text) != 1 || !strchr("tri", *text)) return false;
  char capital[] = {(char)toupper((unsigned char)*text)}, path[LONGEST_PATH];
  const alias *known = alias_of(f, tvms_symbol_intern(context, capital, 1));
  size_t len;
  return known && write_path(f, known, path, &len) && leads_to_script(path);
}

// Whether something of the file binds a name, the number `which` of those that are asked for.
static bool is_bound(finder *f, asked_name which, tvms_sym name) {
  if (f->open || alias_of(f, name)) return true;
  answer *known = &f->bound[which];
  if (*known == NOT_ASKED)
    *known = tvms_python_names_has(f->surface, name) ? BOUND : UNBOUND;
  return *known == BOUND;
}

// `@prim_func`, `@tvm.script.ir_module`: what everybody means by it, in a file that does not import it.
static bool is_unbound(finder *f, tvms_sym root, tvms_sym maker) {
  if (root == TVMS_SYM_prim_func && root == maker)
    return !is_bound(f, ASKED_PRIM_FUNC, root);
  if (root == TVMS_SYM_ir_module && root == maker)
    return !is_bound(f, ASKED_IR_MODULE, root);
  return strcmp(tvms_symbol_text(f->surface->context, root), "tvm") == 0
         && !is_bound(f, ASKED_TVM, root);
}

// True if the name at the root of a decorator comes from the script package, or if the
// decorator leads there from it: `@tvm.script.ir_module`.
static bool is_of_script(const finder *f, tvms_ref root, tvms_ref decorator) {
  const tvms_surf *base = tvms_surface_at(f->surface, root);
  const alias *known = alias_of(f, base->a);
  if (!known)
    return base->a == TVMS_SYM_T || base->a == TVMS_SYM_R || base->a == TVMS_SYM_I
           || is_small_namespace(f, base->a);
  char path[LONGEST_PATH];
  size_t len;
  if (!write_path(f, known, path, &len)) return false;
  if (leads_to_script(path)) return true;
  const tvms_surf *whole = tvms_surface_at(f->surface, decorator);
  for (uint32_t i = base->end; i < whole->end && len + 1 < sizeof path; i++) {
    char c = f->surface->source->text[i];
    if (!strchr(" \t\r\n\\", c)) path[len++] = c;
  }
  path[len] = '\0';
  // What everybody means by them, and says so when they are read.
  if (strcmp(path, "tvm.ir_module") == 0 || strcmp(path, "tvm.prim_func") == 0)
    return true;
  return strncmp(path, "tvm.", 4) == 0 && leads_to_script(path);
}

// Decorators that make a definition TVMScript.
static const tvms_sym makers[] = {
    TVMS_SYM_prim_func, TVMS_SYM_ir_module, TVMS_SYM_function, TVMS_SYM_macro,
    TVMS_SYM_inline,    TVMS_SYM_jit,       TVMS_SYM_rewriter,
};

static bool makes_script(tvms_sym name) {
  for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
    if (makers[i] == name) return true;
  }
  return false;
}

// A name that is nearly one of makers: `@I.irmodule`.
static bool is_misspelt_maker(const finder *f, tvms_sym name) {
  enum { SHORTEST = 5, COUNT = sizeof makers / sizeof *makers };
  const char *text = tvms_symbol_text(f->surface->context, name);
  const char *names[COUNT];
  uint32_t count = 0;
  for (size_t i = 0; i < COUNT; i++) {
    const char *maker = tvms_symbol_text(f->surface->context, makers[i]);
    if (strlen(maker) >= SHORTEST) names[count++] = maker;
  }
  if (tvms_meant_find(TVMS_MEANT_DECORATOR, text)) return true;
  return strlen(text) >= SHORTEST && tvms_diag_nearest_name(text, names, count) != NULL;
}

// `@T.prim_func` and `@T.macro`, where `T` was imported from whatever package.
static bool is_kin(const finder *f, const tvms_surf *root, tvms_sym made_by) {
  bool maker = made_by == TVMS_SYM_prim_func
               || (made_by == TVMS_SYM_macro && root->a == TVMS_SYM_T);
  return maker && alias_of(f, root->a);
}

static bool is_script(finder *f, tvms_ref definition) {
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
  const alias *renamed = dotted ? NULL : alias_of(f, node->a);
  tvms_sym made_by = dotted ? node->b : renamed ? renamed->item : node->a;
  bool misspelt = !makes_script(made_by);
  if (misspelt && !(dotted && is_misspelt_maker(f, made_by))) return false;
  tvms_ref root = last;
  while (tvms_surface_at(f->surface, root)->kind == TVMS_SURF_ATTRIBUTE)
    root = tvms_surface_at(f->surface, root)->a;
  const tvms_surf *base = tvms_surface_at(f->surface, root);
  if (base->kind != TVMS_SURF_NAME || (misspelt && !alias_of(f, base->a))) return false;
  if (is_unbound(f, base->a, made_by)) return true;
  return is_of_script(f, root, last) || (f->kin && dotted && is_kin(f, base, made_by));
}

static void find_in(finder *f, tvms_ref body) {
  if (!tvms_memory_enter(f->memory)) tvms_memory_unwind(f->memory, TVMS_OVER_LIMIT);
  tvms_surface_each(f->surface, ref, body) {
    const tvms_surf *node = tvms_surface_at(f->surface, ref);
    bool definition = node->kind == TVMS_SURF_DEF || node->kind == TVMS_SURF_CLASS;
    if (definition && is_script(f, ref)) {
      tvms_vec_push(f->memory, f->found, ref);
      continue;
    }
    tvms_ref bodies[2];
    tvms_surface_bodies(f->surface, ref, bodies);
    find_in(f, bodies[0]);
    find_in(f, bodies[1]);
  }
  tvms_memory_leave(f->memory);
}

static void find(const tvms_surface *surface, bool kin, tvms_refs *refs) {
  finder f = {.surface = surface,
              .memory = &surface->context->memory,
              .kin = kin,
              .found = refs};
  for (tvms_ref ref = 1; ref < surface->count; ref++) {
    const tvms_surf *node = tvms_surface_at(surface, ref);
    if (node->kind == TVMS_SURF_IMPORT || node->kind == TVMS_SURF_IMPORT_FROM)
      add_aliases(&f, node);
    else if (node->kind == TVMS_SURF_ASSIGN)
      add_assigned(&f, node);
  }
  find_in(&f, surface->body);
  tvms_vec_fini(f.memory, &f.aliases);
}

void tvms_python_file_statements(const tvms_surface *surface, tvms_refs *refs) {
  find(surface, false, refs);
}

void tvms_python_file_kin(const tvms_surface *surface, tvms_refs *refs) {
  find(surface, true, refs);
}

void tvms_python_file_definitions(const tvms_surface *surface, tvms_spans *spans) {
  tvms_memory *memory = &surface->context->memory;
  tvms_refs refs = {0};
  tvms_python_file_statements(surface, &refs);
  for (uint32_t i = 0; i < refs.len; i++) {
    tvms_vec_push(memory, spans, tvms_surface_span(surface, refs.items[i]));
  }
  tvms_vec_fini(memory, &refs);
}

// ---- Files without any -----------------------------------------------------------------

// Whether a decorator whose line goes on behind its `@` with these bytes may be one of
// makes_script: that name stands before the first bracket. What does not show at a glance
// (a line that is joined, brackets around the decorator, letters that Python reads as others,
// a misspelt name below one of a letter) may be anything.
static bool may_make_script(const tvms_context *context, const char *at,
                            const char *end) {
  while (at < end && (*at == ' ' || *at == '\t' || *at == '\f')) {
    at++;
  }
  if (at < end && *at == '(') return true;
  if (end - at > 1 && strchr("TRI", *at) && at[1] == '.') return true;
  const char *stop = at;
  for (; stop < end && !strchr("(#\r\n", *stop); stop++) {
    if (*stop == '\\' || (unsigned char)*stop >= 0x80) return true;
  }
  for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
    const char *name = tvms_symbol_text(context, makers[i]);
    if (memmem(at, (size_t)(stop - at), name, strlen(name))) return true;
  }
  return false;
}

// The line of `at` begins with a decorator.
static bool is_decorator(const tvms_source *source, const char *at) {
  while (at > source->text && at[-1] != '\n')
    at--;
  while (*at == ' ' || *at == '\t')
    at++;
  return *at == '@';
}

// `import prim_func as pf`, `pf = T.prim_func`: a decorator of another name. Words are looked
// for, not statements.
static bool may_rename_maker(const tvms_context *context, const tvms_source *source) {
  static const char as[] = " as ";
  if (!memmem(source->text, source->size, "script", strlen("script"))) return false;
  for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
    const char *name = tvms_symbol_text(context, makers[i]);
    size_t len = strlen(name);
    const char *at = source->text, *end = at + source->size;
    while ((at = memmem(at, (size_t)(end - at), name, len))) {
      bool last = at > source->text && at[-1] == '.';
      at += len;
      last = last && (at == end || strchr(" \t\r\n#", *at));
      if (last && !is_decorator(source, at)) return true;
      if ((size_t)(end - at) >= strlen(as) && memcmp(at, as, strlen(as)) == 0)
        return true;
    }
  }
  return false;
}

bool tvms_python_file_may_have_script(const tvms_context *context,
                                      const tvms_source *source) {
  const char *at = source->text, *end = at + source->size;
  while ((at = memchr(at, '@', (size_t)(end - at)))) {
    if (may_make_script(context, ++at, end)) return true;
  }
  return may_rename_maker(context, source);
}
