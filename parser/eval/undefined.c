// Undefined names: what is reported of them, and what was meant.
//
// The surest explanation is the only one: a function of the module, a name of the language
// without its namespace (`sqrt(`, `np.mean(`, `float32`), a word of another language (`true`),
// a near name in scope.
#define _GNU_SOURCE  // memmem
#include "parser/eval/undefined.h"

#include "ir/meant.h"
#include "ir/respell.h"
#include "parser/eval/builtin.h"
#include "parser/eval/ops.h"
#include "parser/eval/scope.h"
#include "support/diag_ids.h"
#include "support/trial.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// `dotted`: something of the name is asked for, as of a namespace.
static const char *nearest_binding(tvms_reader *reader, tvms_sym name, bool dotted) {
  TVMS_VEC(const char *) names = {0};
  tvms_memory *memory = &reader->context->memory;
  if (!tvms_diags_may_compare_names(&reader->context->diags, 0)) return NULL;
  for (uint32_t i = 1; i < reader->scopes.len; i++) {
    for (tvms_binding *b = reader->scopes.items[i].newest; b; b = b->next) {
      // `i` is not a misspelt `I`.
      if (!dotted && b->value.kind == TVMS_EVAL_NAMESPACE) continue;
      tvms_vec_push(memory, &names, tvms_symbol_text(reader->context, b->name));
    }
  }
  const char *near = NULL;
  if (tvms_diags_may_compare_names(&reader->context->diags, names.len)) {
    near = tvms_diag_nearest_name(tvms_symbol_text(reader->context, name), names.items,
                                  names.len);
  }
  tvms_vec_fini(memory, &names);
  return near;
}

// Names of Python's own that the evaluation does not have.
static bool is_of_python(const char *name) {
  static const char *const names[] = {
#define BUILTIN(name) name,
#include "parser/eval/python_builtins.def"
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(names[i], name) == 0) return true;
  }
  return false;
}

// Functions of a module are reached through its name; `span` is what the fix replaces.
static bool is_member(tvms_reader *reader, tvms_diag *diag, tvms_sym name,
                      tvms_span span) {
  tvms_module *module = reader->module;
  if (!module || module->bare || !tvms_module_find(module, name)) return false;
  tvms_diags *diags = &reader->context->diags;
  const char *text = tvms_symbol_text(reader->context, name);
  const char *owner = tvms_symbol_text(reader->context, module->name);
  tvms_diag_remark(diags, diag, "it is a function of the module: %s.%s", owner, text);
  tvms_diag_fix(diags, diag, span, true, "%s.%s", owner, text);
  return true;
}

static void suggest(tvms_reader *reader, tvms_diag *diag, tvms_span span,
                    const char *meant) {
  tvms_diags *diags = &reader->context->diags;
  tvms_diag_remark(diags, diag, "did you mean '%s'?", meant);
  tvms_diag_fix(diags, diag, span, false, "%s", meant);
}

static bool is_name_byte(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

// The dotted name that begins with the name at `span`, and where its last part begins.
static tvms_span dotted(const tvms_reader *reader, tvms_span span, uint32_t *last) {
  const char *text = reader->surface->source->text;  // ends with a NUL
  tvms_span all = span;
  *last = span.begin;
  while (text[all.end] == '.' && is_name_byte(text[all.end + 1])) {
    *last = ++all.end;
    while (is_name_byte(text[all.end])) {
      all.end++;
    }
  }
  return all;
}

// The first argument of a call of something that is registered by its name.
static bool is_registered(const tvms_reader *reader, tvms_span span) {
  static const char *const callees[] = {"packed(", "extern(", "ExternFunc("};
  for (size_t i = 0; i < sizeof callees / sizeof *callees; i++) {
    size_t len = strlen(callees[i]);
    const char *text = reader->surface->source->text + span.begin;
    if (span.begin >= len && memcmp(text - len, callees[i], len) == 0) return true;
  }
  return false;
}

// `np.mean(`: the last part is looked for in the language, then among the functions of the
// module.
static bool explain_dotted(tvms_reader *reader, tvms_diag *diag, const char *name,
                           tvms_span span) {
  uint32_t last;
  tvms_span all = dotted(reader, span, &last);
  if (last == span.begin) return false;
  const char *text = reader->surface->source->text + last;
  tvms_context *context = reader->context;
  tvms_dtype dtype;
  if (tvms_dtype_parse(text, all.end - last, &dtype) && text[all.end - last] != '(') {
    int len = (int)(all.end - last);
    tvms_diag_remark(&context->diags, diag, "a data type is a string: \"%.*s\"", len,
                     text);
    tvms_diag_fix(&context->diags, diag, all, false, "\"%.*s\"", len, text);
    return true;
  }
  tvms_sym part = tvms_symbol_intern(context, text, all.end - last);
  if (is_member(reader, diag, part, all)) return true;
  if (is_registered(reader, span)) {
    tvms_eval_offer_quotes(reader, diag, all);
    return true;
  }
  const char *meant =
      reader->tables->near_name
          ? reader->tables->near_name(reader, tvms_symbol_text(context, part))
          : NULL;
  const char *from = tvms_meant_find(TVMS_MEANT_OBJECT, name);
  if (from) tvms_diag_remark(&context->diags, diag, "%s is not part of a script", from);
  if (meant) suggest(reader, diag, all, meant);
  return meant || from;
}

// Threads and scopes are strings.
static bool is_quoted_elsewhere(const char *name) {
  static const char *const words[] = {"threadIdx", "blockIdx", "vthread",
                                      "local",     "shared",   "global"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (strcmp(words[i], name) == 0) return true;
  }
  return false;
}

void tvms_eval_offer_quotes(tvms_reader *reader, tvms_diag *diag, tvms_span span) {
  tvms_diags *diags = &reader->context->diags;
  const char *text = reader->surface->source->text + span.begin;
  int len = (int)(span.end - span.begin);
  tvms_diag_remark(diags, diag, "it is a string: \"%.*s\"", len, text);
  tvms_diag_fix(diags, diag, span, false, "\"%.*s\"", len, text);
}

// Where what stands in front of `at` ends, blanks left out.
static uint32_t end_before(const char *text, uint32_t at) {
  while (at > 0 && text[at - 1] == ' ') {
    at--;
  }
  return at;
}

// A word of the language, or of another one.
static bool explain_word(tvms_reader *reader, tvms_diag *diag, const char *name,
                         tvms_span span) {
  const char *meant = tvms_meant_find(TVMS_MEANT_NAME, name);
  const char *text = reader->surface->source->text;
  if (!meant && text[span.end] == '(' && reader->tables->near_name) {
    meant = reader->tables->near_name(reader, name);
  }
  if (meant) {
    suggest(reader, diag, span, meant);
    return true;
  }
  if (is_quoted_elsewhere(name)) {
    uint32_t last;
    tvms_eval_offer_quotes(reader, diag, dotted(reader, span, &last));
    return true;
  }
  tvms_dtype dtype;
  if (!tvms_dtype_parse(name, strlen(name), &dtype)) return false;
  tvms_diags *diags = &reader->context->diags;
  uint32_t before = end_before(text, span.begin);
  bool let = before > 3 && memcmp(text + before - 4, "let[", 4) == 0;
  if (let || (before > 0 && text[before - 1] == ':')) {
    tvms_diag_remark(diags, diag, "did you mean 'T.%s'?", name);
    tvms_diag_fix(diags, diag, span, false, "T.%s", name);
    return true;
  }
  tvms_diag_remark(diags, diag, "a data type is a string: \"%s\"", name);
  tvms_diag_fix(diags, diag, span, false, "\"%s\"", name);
  return true;
}

// What imports the namespace that everybody calls so, or NULL.
static const char *TVMS_NULLABLE import_of(const tvms_reader *reader, tvms_sym name) {
  const char *text = tvms_symbol_text(reader->context, name);
  if (strcmp(text, "I") == 0) return "ir";
  if (strcmp(text, "R") == 0) return "relax";
  if (strcmp(text, "T") != 0) return NULL;
  size_t matched;
  const char *now = tvms_spelling_convert(
      TVMS_SPELLING_MODULE, "tir", 3, TVMS_DIALECT_OLDEST, reader->dialect, &matched);
  return now ? now : "tir";
}

// `{tirx.noalias: True}`: a key without its quotes.
static bool explain_key(tvms_reader *reader, tvms_diag *diag, tvms_span span) {
  uint32_t last;
  tvms_span all = dotted(reader, span, &last);
  const char *text = reader->surface->source->text;
  uint32_t before = end_before(text, span.begin);
  bool key = before > 0 && strchr("{,", text[before - 1]) && text[all.end] == ':'
             && memchr(text + (before > 200 ? before - 200 : 0), '{',
                       before > 200 ? 200 : before);
  if (!key) return false;
  tvms_eval_offer_quotes(reader, diag, all);
  return true;
}

// `CONFIG[dtype]`, where some dict of the file has the key "dtype".
static bool explain_subscript(tvms_reader *reader, tvms_diag *diag, tvms_span span) {
  const tvms_source *source = reader->surface->source;
  const char *text = source->text;
  enum { WORD = 16 };
  if (span.begin == 0 || text[span.begin - 1] != '[' || text[span.end] != ']'
      || !tvms_diags_may_compare_names(&reader->context->diags,
                                       (uint32_t)source->size / WORD))
    return false;
  char key[64];
  int len = (int)(span.end - span.begin);
  for (const char *quote = "\"'"; *quote; quote++) {
    int written =
        snprintf(key, sizeof key, "%c%.*s%c:", *quote, len, text + span.begin, *quote);
    if (written < 0 || (size_t)written >= sizeof key) return false;
    if (!strstr(text, key)) continue;
    tvms_eval_offer_quotes(reader, diag, span);
    return true;
  }
  return false;
}

// A module of Python that a file forgot to import.
static bool explain_import(tvms_reader *reader, tvms_diag *diag, const char *name,
                           tvms_span span) {
  static const struct {
    const char *name, *import;
  } modules[] = {
      {"math", "import math"},
      {"np", "import numpy as np"},
      {"numpy", "import numpy"},
      {"functools", "import functools"},
      {"itertools", "import itertools"},
      {"tvm", "import tvm"},
      {"tir", "from tvm import tir"},
      {"relax", "from tvm import relax"},
      {"te", "from tvm import te"},
      {"topi", "from tvm import topi"},
      {"os", "import os"},
      {"sys", "import sys"},
  };
  if (reader->surface->source->text[span.end] != '.') return false;
  for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
    if (strcmp(modules[i].name, name) != 0) continue;
    tvms_diag_remark(&reader->context->diags, diag, "write '%s' on top",
                     modules[i].import);
    uint32_t last;
    tvms_span all = dotted(reader, span, &last);
    const char *part = tvms_arena_text(
        &reader->context->arena, reader->surface->source->text + last, all.end - last);
    const char *own =
        reader->tables->near_name ? reader->tables->near_name(reader, part) : NULL;
    if (own)
      tvms_diag_remark(&reader->context->diags, diag,
                       "or, of values of the program, '%s'", own);
    return true;
  }
  return false;
}

// The namespace is imported under another name: `import tirx as TT`.
static bool is_other_name(tvms_reader *reader, tvms_diag *diag, const char *module,
                          tvms_span span) {
  static const char import[] = " import ";
  const char *text = reader->surface->source->text;
  char wanted[32];
  snprintf(wanted, sizeof wanted, "%s as ", module);
  const char *at = strstr(text, import);
  for (; at; at = strstr(at + 1, import)) {
    const char *end = at + strcspn(at, "\r\n");
    const char *found = memmem(at, (size_t)(end - at), wanted, strlen(wanted));
    if (!found) continue;
    found += strlen(wanted);
    int len = 0;
    while (is_name_byte(found[len]))
      len++;
    if (!len) continue;
    tvms_diags *diags = &reader->context->diags;
    tvms_diag_remark(diags, diag, "it is imported as '%.*s'", len, found);
    tvms_diag_fix(diags, diag, span, false, "%.*s", len, found);
    return true;
  }
  return false;
}

// Names of namespaces and constants (`TILE`) are the file's.
static bool is_of_file(const tvms_reader *reader, tvms_sym name) {
  const char *text = tvms_symbol_text(reader->context, name);
  if (import_of(reader, name) || strcmp(text, "tvm") == 0) return true;
  if (!reader->lenient || strlen(text) < 2) return false;
  for (; *text; text++)
    if (islower((unsigned char)*text)) return false;
  return true;
}

// No more names are kept: of a text with as many mistakes one may be said again.
enum { MOST_SAID = 4096 };

static void keep_said(tvms_reader *reader, tvms_undefined said) {
  if (reader->undefined.len < MOST_SAID)
    tvms_vec_push(&reader->context->memory, &reader->undefined, said);
}

static void note_said(tvms_reader *reader, tvms_sym name) {
  keep_said(reader, (tvms_undefined){reader->unit, name, {0, 0}});
}

// Another name of the line was not defined: the line stands in the wrong place, or what binds both
// is missing. It is added to that finding.
static bool is_same_line(tvms_reader *reader, tvms_sym name, tvms_span span) {
  tvms_diags *diags = &reader->context->diags;
  tvms_diag *last = diags->last;
  if (!last || last->id != TVMS_D_undefined_name || last->source != diags->source
      || last->span.end > span.begin || is_of_file(reader, name))
    return false;
  const char *text = reader->surface->source->text;
  uint32_t from = last->span.end;
  if (memchr(text + from, '\n', span.begin - from)) return false;
  // Where values are bound by lines other names are other mistakes, but for items of one list.
  bool declares = reader->language && reader->language->declare;
  if (declares && strspn(text + from, " ,\"'") < span.begin - from) return false;
  tvms_diag_remark(diags, last, "nor is '%s'", tvms_symbol_text(reader->context, name));
  note_said(reader, name);
  return true;
}

// Whether the name was reported in this definition, which is enough; of a name of the file, once in
// the file. Likewise where names are missing on the left of
// an assignment.
static bool is_said(const tvms_reader *reader, tvms_sym name, tvms_span span) {
  if (reader->short_of_names && reader->short_of_names == reader->unit) return true;
  for (uint32_t i = 0; i < reader->undefined.len; i++) {
    const tvms_undefined *said = &reader->undefined.items[i];
    bool missing = said->name == name && is_of_file(reader, name);
    bool around = said->within.begin <= span.begin && span.end <= said->within.end;
    if ((said->unit == reader->unit || missing || around) && said->name == name)
      return true;
  }
  return false;
}

void tvms_eval_forget_undefined(tvms_reader *reader) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < reader->undefined.len; i++) {
    tvms_undefined said = reader->undefined.items[i];
    if (said.within.end || is_of_file(reader, said.name))
      reader->undefined.items[kept++] = said;
  }
  reader->undefined.len = kept;
}

// A name that was reported is mended wherever it stands.
static void mend_again(tvms_reader *reader, tvms_sym name, tvms_span span) {
  enum { MOST = 16 };
  tvms_diags *diags = &reader->context->diags;
  if (tvms_trial_is_muted(diags) || !tvms_diags_may_compare_names(diags, MOST)) return;
  const char *text = reader->surface->source->text;
  size_t len = strlen(tvms_symbol_text(reader->context, name));
  for (tvms_diag *diag = diags->first; diag; diag = diag->next) {
    bool same = diag->id == TVMS_D_undefined_name && diag->source == diags->source
                && diag->span.end - diag->span.begin == len
                && memcmp(text + diag->span.begin, text + span.begin, len) == 0;
    const tvms_fix *fix = same ? diag->fixes : NULL;
    if (!fix || fix->span.begin != diag->span.begin || fix->span.end != diag->span.end)
      continue;
    tvms_diag_fix(diags, diag, span, fix->safe, "%s", fix->text);
    return;
  }
}

static bool begins_line(const tvms_reader *reader, tvms_span span) {
  const char *text = reader->surface->source->text;
  uint32_t at = span.begin;
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t')) {
    at--;
  }
  return at == 0 || text[at - 1] == '\n';
}

// A line above `before` begins with the name: it binds it, if not here.
static bool has_line_of(const tvms_reader *reader, const char *name, uint32_t before) {
  const char *text = reader->surface->source->text;
  size_t len = strlen(name);
  const char *at = text, *end = text + before;
  while ((at = memmem(at, (size_t)(end - at), name, len))) {
    uint32_t begin = (uint32_t)(at - text);
    at += len;
    if (begins_line(reader, (tvms_span){begin, begin}) && strchr(" :=,", *at))
      return true;
  }
  return false;
}

// The value that the last statement with a mistake left unbound is missed under this name.
static bool is_unbound_value(tvms_reader *reader, tvms_sym name, tvms_span span) {
  enum { WORD = 16 };
  tvms_diags *diags = &reader->context->diags;
  tvms_diag *last = diags->last;
  const char *text = tvms_symbol_text(reader->context, name);
  if (tvms_trial_is_muted(diags) || !last || last->id != TVMS_D_unused_value
      || last->source != diags->source || last->fixes || last->span.begin > span.begin
      || !tvms_diags_may_compare_names(diags, span.begin / WORD)
      || has_line_of(reader, text, span.begin))
    return false;
  tvms_diag_remark(diags, last, "'%s' is not bound, which is used below", text);
  tvms_diag_fix(diags, last, (tvms_span){last->span.begin, last->span.begin}, false,
                "%s = ", text);
  note_said(reader, name);
  return true;
}

// `return x // text`.
static bool follows_comment_of_c(const tvms_reader *reader, tvms_span span) {
  const char *text = reader->surface->source->text;
  uint32_t at = span.begin;
  while (at > 0 && text[at - 1] == ' ') {
    at--;
  }
  return at > 2 && text[at - 1] == '/' && text[at - 2] == '/' && text[at - 3] == ' ';
}

// `R.exp(x)` in a PrimFunc, of a file that does not import R: what the language has of the name.
static void suggest_own(tvms_reader *reader, tvms_diag *diag, tvms_span span) {
  uint32_t last;
  tvms_span all = dotted(reader, span, &last);
  if (last == span.begin || !reader->tables->near_name) return;
  const char *part = tvms_arena_text(
      &reader->context->arena, reader->surface->source->text + last, all.end - last);
  const char *own = reader->tables->near_name(reader, part);
  if (own && *own != reader->surface->source->text[span.begin])
    tvms_diag_remark(&reader->context->diags, diag, "did you mean '%s'?", own);
}

// `self` and `cls`, which Python hands to methods: here they are the module.
static bool explain_module(tvms_reader *reader, tvms_diag *diag, const char *text,
                           tvms_span span) {
  const tvms_module *module = reader->module;
  bool object = strcmp(text, "self") == 0 || strcmp(text, "cls") == 0;
  if (!object || !module || module->bare) return false;
  if (reader->surface->source->text[span.end] == '.'
      && explain_dotted(reader, diag, text, span))
    return true;
  suggest(reader, diag, span, tvms_symbol_text(reader->context, module->name));
  return true;
}

// Text whose section of constants TVM left out.
static bool explain_metadata(tvms_reader *reader, tvms_diag *diag, const char *text,
                             tvms_span span) {
  if (strcmp(text, "metadata") != 0 || reader->surface->source->text[span.end] != '[')
    return false;
  tvms_diag_remark(&reader->context->diags, diag,
                   "its section is not in this text; TVM writes it with "
                   "'script(show_meta=True)'");
  return true;
}

// A call of a function of the file, before the words of the language.
static bool explain_function(tvms_reader *reader, tvms_diag *diag, tvms_sym name,
                             tvms_span span) {
  if (reader->surface->source->text[span.end] != '(') return false;
  const char *near = nearest_binding(reader, name, false);
  if (!near) return false;
  const tvms_binding *bound = tvms_scope_lookup(
      reader, tvms_symbol_intern(reader->context, near, strlen(near)));
  // Of what Python calls nothing is known before it is evaluated.
  bool python =
      bound && tvms_scope_is_python(reader) && !tvms_eval_value_is_known(bound->value);
  bool called = bound && bound->value.kind != TVMS_EVAL_NODE
                && tvms_eval_ops_of(reader, bound->value)->call;
  if (!called && !python) return false;
  suggest(reader, diag, span, near);
  return true;
}

void tvms_eval_report_undefined_name(tvms_reader *reader, tvms_sym name,
                                     tvms_span span) {
  reader->failed = true;
  if (reader->open) return;
  tvms_diags *diags = &reader->context->diags;
  const char *text = tvms_symbol_text(reader->context, name);
  if (is_of_python(text)) {
    if (reader->lenient) return;
    tvms_diag *python = tvms_diag_report(diags, TVMS_D_python_call, span, text);
    if (tvms_trial_is_muted(diags) || explain_word(reader, python, text, span)) return;
    const char *near = nearest_binding(reader, name, false);
    if (near) suggest(reader, python, span, near);
    return;
  }
  if (is_said(reader, name, span)) {
    mend_again(reader, name, span);
    return;
  }
  if (is_unbound_value(reader, name, span)) return;
  if (!tvms_trial_is_muted(diags) && is_same_line(reader, name, span)) return;
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_undefined_name, span, text);
  if (tvms_trial_is_muted(diags)) return;
  note_said(reader, name);
  if (is_member(reader, diag, name, span)) return;
  const char *import = import_of(reader, name);
  if (import && is_other_name(reader, diag, import, span)) return;
  if (import) {
    tvms_diag_remark(diags, diag, "write 'from tvm.script import %s as %s' on top",
                     import, text);
    suggest_own(reader, diag, span);
    return;
  }
  if (explain_metadata(reader, diag, text, span)) return;
  if (explain_key(reader, diag, span) || explain_subscript(reader, diag, span)) return;
  if (reader->lenient && explain_import(reader, diag, text, span)) return;
  if (explain_module(reader, diag, text, span)
      || explain_function(reader, diag, name, span))
    return;
  bool foreign = tvms_meant_find(TVMS_MEANT_OBJECT, text) != NULL;
  if (foreign && explain_dotted(reader, diag, text, span)) return;
  if (explain_word(reader, diag, text, span)) return;
  static const char *const keywords[] = {"return", "break", "continue", "pass"};
  const char *keyword =
      begins_line(reader, span)
          ? tvms_diag_nearest_name(text, keywords, sizeof keywords / sizeof *keywords)
          : NULL;
  if (keyword) {
    suggest(reader, diag, span, keyword);
    return;
  }
  const char *near =
      nearest_binding(reader, name, reader->surface->source->text[span.end] == '.');
  if (!near && follows_comment_of_c(reader, span)) {
    tvms_diag_remark(diags, diag, "a comment begins with '#'");
    return;
  }
  if (!near && explain_dotted(reader, diag, text, span)) return;
  if (!near && reader->lenient && reader->surface->source->text[span.end] == '(')
    near = tvms_builtin_nearest(reader, text);
  if (reader->language && reader->language->explain) {
    reader->language->explain(reader, diag, name, span, near);
    return;
  }
  if (near) suggest(reader, diag, span, near);
}

void tvms_eval_note_undefined_within(tvms_reader *reader, tvms_sym name,
                                     tvms_span function) {
  keep_said(reader, (tvms_undefined){NULL, name, function});
}
