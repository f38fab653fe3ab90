// Names of TVM's modules in the imports of a Python file: `import tmv`, `from tvm.scripts import …`.
//
// Only a name that is nearly one of TVM's is taken for it: what else stands below `tvm` may be of
// another release, or of a package that adds to it. Of the modules that its programs import besides
// (parser/python_modules.def) only slips are: `import numpi`, `import functols`.
#include "parser/python_module.h"

#include "parser/eval/reader.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

// A part of a dotted name, and what was meant; `meant` is NULL if it is fine. A package of
// another name may exist.
typedef struct {
  size_t begin, len;
  const char *TVMS_NULLABLE meant;
  bool is_package;
} fault;

static const char *const names[] = {
#define TVM_NAME(name) name,
#include "parser/tvm_names.def"
};
enum { NAMES = sizeof names / sizeof *names, LONGEST = 64 };

// What fingers make of `tvm`. Other names of its letters are those of other packages: `mvt`.
static bool is_nearly_tvm(const char *text, size_t len) {
  static const char *const slips[] = {"tmv", "tvmm", "ttvm", "tvvm"};
  for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
    if (len == strlen(slips[i]) && memcmp(text, slips[i], len) == 0) return true;
  }
  return len == 3 && memcmp(text, "tvm", len) != 0
         && strncasecmp(text, "tvm", len) == 0;
}

static const char *TVMS_NULLABLE near_name(const char *text, size_t len) {
  char part[LONGEST];
  if (len >= sizeof part || len < 3) return NULL;
  memcpy(part, text, len);
  part[len] = '\0';
  for (size_t i = 0; i < NAMES; i++)
    if (strcmp(names[i], part) == 0) return NULL;
  return tvms_diag_nearest_name(part, names, NAMES);
}

// A slip of the fingers: two letters that changed places, one that is missing or another one. One
// more makes names of other packages, unless it is there twice.
static bool is_slip(const char *name, const char *text, size_t len) {
  size_t own = strlen(name), same = 0;
  while (same < own && same < len && name[same] == text[same])
    same++;
  if (same == 0 || (same == own && same == len)) return false;
  const char *rest = text + same, *wanted = name + same;
  size_t left = len - same;
  if (len == own) {
    if (same + 1 < own && rest[0] == wanted[1] && rest[1] == wanted[0]
        && memcmp(rest + 2, wanted + 2, left - 2) == 0)
      return true;
    return same < own && memcmp(rest + 1, wanted + 1, left - 1) == 0;
  }
  if (len + 1 == own) return memcmp(rest, wanted + 1, left) == 0;
  return len == own + 1 && rest[0] == text[same - 1]
         && memcmp(rest + 1, wanted, left - 1) == 0;
}

static const char *TVMS_NULLABLE slip_of(const char *text, size_t len) {
  static const char *const others[] = {
#define PYTHON_MODULE(name) name,
#include "parser/python_modules.def"
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    if (is_slip(others[i], text, len)) return others[i];
  }
  return NULL;
}

static fault fault_of(const char *path) {
  size_t root = strcspn(path, ".");
  const char *other = slip_of(path, root);
  if (other) return (fault){0, root, other, true};
  if (is_nearly_tvm(path, root)) return (fault){0, root, "tvm", true};
  if (root != 3 || memcmp(path, "tvm", 3) != 0 || !path[3]) return (fault){0};
  size_t len = strcspn(path + 4, ".");
  return (fault){4, len, near_name(path + 4, len), false};
}

tvms_sym tvms_python_module_mended(tvms_context *context, tvms_sym path) {
  if (!path) return path;
  const char *text = tvms_symbol_text(context, path);
  fault wrong = fault_of(text);
  char whole[256];
  if (!wrong.meant) return path;
  int len = snprintf(whole, sizeof whole, "%.*s%s%s", (int)wrong.begin, text,
                     wrong.meant, text + wrong.begin + wrong.len);
  if (len < 0 || (size_t)len >= sizeof whole) return path;
  return tvms_symbol_intern(context, whole, (size_t)len);
}

tvms_sym tvms_python_module_item(tvms_context *context, tvms_sym module,
                                 tvms_sym name) {
  if (!module || strcmp(tvms_symbol_text(context, module), "tvm") != 0) return name;
  const char *text = tvms_symbol_text(context, name);
  const char *meant = near_name(text, strlen(text));
  return meant ? tvms_symbol_intern(context, meant, strlen(meant)) : name;
}

static void report(tvms_reader *reader, uint32_t begin, const char *path, fault wrong) {
  tvms_diags *diags = &reader->context->diags;
  begin += (uint32_t)wrong.begin;
  tvms_span span = {begin, begin + (uint32_t)wrong.len};
  const char *text =
      tvms_arena_text(&reader->context->arena, path, wrong.begin + wrong.len);
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_misspelt_import, span, text);
  tvms_diag_remark(diags, diag, "did you mean '%.*s%s'?", (int)wrong.begin, path,
                   wrong.meant);
  tvms_diag_fix(diags, diag, span, !wrong.is_package, "%s", wrong.meant);
}

static void check_path(tvms_reader *reader, uint32_t begin, const char *path) {
  fault wrong = fault_of(path);
  if (wrong.meant
      && strncmp(reader->surface->source->text + begin, path, strlen(path)) == 0)
    report(reader, begin, path, wrong);
}

void tvms_python_module_check(tvms_reader *reader, tvms_ref stmt) {
  const tvms_surf node = *tvms_reader_at(reader, stmt);
  const tvms_context *context = reader->context;
  const char *text = reader->surface->source->text;
  if (node.kind == TVMS_SURF_IMPORT) {
    tvms_surface_each(reader->surface, ref, node.a) {
      const tvms_surf *alias = tvms_reader_at(reader, ref);
      check_path(reader, alias->begin, tvms_symbol_text(context, alias->a));
    }
    return;
  }
  if (!node.a || node.op) return;
  const char *module = tvms_symbol_text(context, node.a);
  uint32_t begin = node.begin + (uint32_t)strlen("from");
  check_path(reader, begin + (uint32_t)strspn(text + begin, " "), module);
  if (strcmp(module, "tvm") != 0) return;
  tvms_surface_each(reader->surface, ref, node.b) {
    const tvms_surf *alias = tvms_reader_at(reader, ref);
    const char *name = tvms_symbol_text(context, alias->a);
    fault wrong = {0, strlen(name), near_name(name, strlen(name)), false};
    if (wrong.meant) report(reader, alias->begin, name, wrong);
  }
}
