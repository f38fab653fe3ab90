// Marks of a release in a text. A name of T that only some releases have, a keyword that
// came or went, an import: each gives a first or a last release. The bounds together leave
// the releases that the text may be written for.
#include "parser/dialect_marks.h"

#include "grammar/literal_values.h"
#include "ir/respell.h"
#include "parser/eval/eval.h"
#include "parser/printed_marks.h"
#include "parser/rows.h"
#include "support/diag_ids.h"
#include "support/names.h"
#include "support/strbuf.h"

#include <stdio.h>
#include <string.h>

// ---- Marks ----------------------------------------------------------------------------------

typedef struct {
  const tvms_surface *surface;
  tvms_context *context;
  const tvms_spans *TVMS_NULLABLE script;  // what is TVMScript; NULL: all is
  bool skips_imports;
  tvms_dialect low, high;
  tvms_span low_span, high_span;
  // How many marks have each release as their first, or as their last.
  uint32_t firsts[16], lasts[16];
  tvms_span prototype;  // of a mark of the prototype; {0, 0}: none
  tvms_dialect said;    // the release that the metadata names, or TVMS_DIALECT_NONE
  tvms_sym load_json;   // 0: the text has no such name
  tvms_sym metadata;
} marks;

static void since(marks *found, tvms_dialect dialect, tvms_span span) {
  found->firsts[dialect & 15]++;
  if (dialect <= found->low) return;
  found->low = dialect;
  found->low_span = span;
}

static void until(marks *found, tvms_dialect dialect, tvms_span span) {
  found->lasts[dialect & 15]++;
  if (dialect >= found->high) return;
  found->high = dialect;
  found->high_span = span;
}

static const tvms_surf *at(const marks *found, tvms_ref ref) {
  return tvms_surface_at(found->surface, ref);
}

static bool is_name(const marks *found, tvms_ref ref, tvms_sym name) {
  const tvms_surf *node = at(found, ref);
  return node->kind == TVMS_SURF_NAME && node->a == name;
}

// What is marked needs the fact.
static void has(marks *found, tvms_release_fact fact, tvms_span span) {
  since(found, tvms_release_since(fact), span);
  if (tvms_release_until(fact) != TVMS_DIALECT_ever)
    until(found, tvms_release_until(fact), span);
}

// What is marked is gone where the fact begins.
static void lacks(marks *found, tvms_release_fact fact, tvms_span span) {
  until(found, (tvms_dialect)(tvms_release_since(fact) - 1), span);
}

static const struct {
  tvms_sym method, name;  // method 0: of calls of T, R and I
  uint8_t since, until;
} keywords[] = {
#define SPELLING(where, older, newer, since)
#define MARK(keyword, since, until)                                                    \
  {0, TVMS_SYM_##keyword, TVMS_DIALECT_##since, TVMS_DIALECT_##until},
#define METHOD_MARK(method, keyword, since, until)                                     \
  {TVMS_SYM_##method, TVMS_SYM_##keyword, TVMS_DIALECT_##since, TVMS_DIALECT_##until},
#include "ir/dialect.def"
};

static void mark_keyword(marks *found, const tvms_surf *node, tvms_sym method) {
  for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
    if (keywords[i].name != node->a || keywords[i].method != method) continue;
    tvms_span span = {node->begin,
                      node->begin
                          + tvms_interner_name(&found->context->names, node->a)->len};
    since(found, (tvms_dialect)keywords[i].since, span);
    if (keywords[i].until != TVMS_DIALECT_ever) {
      until(found, (tvms_dialect)keywords[i].until, span);
    }
  }
}

// The release that wrote a metadata section: `\"tvm_version\": \"0.25.0\"`. It is no
// bound, because what programs are pasted from may be older than they are.
static void read_version(marks *found, tvms_span span) {
  static const char key[] = "tvm_version";
  enum { KEY = sizeof key - 1, LAST = 64 };  // it stands at the end
  const char *text = found->surface->source->text, *end = text + span.end;
  const char *at_text = text + span.begin;
  if (end - at_text > LAST) at_text = end - LAST;
  while (end - at_text > KEY && memcmp(at_text, key, KEY) != 0) {
    at_text++;
  }
  while (at_text < end && (*at_text < '0' || *at_text > '9')) {
    at_text++;
  }
  char release[8] = {0};
  for (size_t i = 0, dots = 0; i + 1 < sizeof release && at_text < end; i++) {
    dots += *at_text == '.';
    if (dots == 2 || *at_text == '\\' || *at_text == '"') break;
    release[i] = *at_text++;
  }
  found->said = tvms_dialect_parse(release);
}

static bool loads_metadata(const marks *found, const tvms_surf *node) {
  return found->load_json && node->kind == TVMS_SURF_CALL
         && at(found, node->a)->kind == TVMS_SURF_ATTRIBUTE
         && at(found, node->a)->b == found->load_json;
}

static void mark_call(marks *found, const tvms_surf *call) {
  const tvms_surf *callee = at(found, call->a);
  if (callee->kind != TVMS_SURF_ATTRIBUTE) return;
  if (loads_metadata(found, call)) {
    read_version(found, (tvms_span){call->begin, call->end});
    return;
  }
  bool known = is_name(found, callee->a, TVMS_SYM_T)
               || is_name(found, callee->a, TVMS_SYM_R)
               || is_name(found, callee->a, TVMS_SYM_I);
  tvms_sym method = known ? 0 : callee->b;
  bool prim = callee->b == TVMS_SYM_Prim && is_name(found, callee->a, TVMS_SYM_R);
  tvms_surface_each(found->surface, ref, call->b) {
    const tvms_surf *node = at(found, ref);
    if (node->kind != TVMS_SURF_KEYWORD) continue;
    mark_keyword(found, node, method);
    if (prim && node->a == TVMS_SYM_value) {  // the type of a value, R.Prim(value=n)
      has(found, TVMS_FACT_prim_types_hold_values, (tvms_span){node->begin, node->end});
    }
  }
}

// Names of R that tell a release; the others are alike from 0.16 on.
static void mark_relax_name(marks *found, const tvms_surf *node, tvms_span span) {
  switch (node->b) {
  case TVMS_SYM_match_shape:
  case TVMS_SYM_outputs: found->prototype = span; break;
  case TVMS_SYM_Any: has(found, TVMS_FACT_objects_are_called_any, span); break;
  default: break;
  }
}

static void mark_attribute(marks *found, const tvms_surf *node) {
  uint32_t len = tvms_interner_name(&found->context->names, node->b)->len;
  tvms_span span = {node->end - len, node->end};
  if (is_name(found, node->a, TVMS_SYM_R)) {
    mark_relax_name(found, node, span);
    return;
  }
  tvms_dialect first, last;
  if (!is_name(found, node->a, TVMS_SYM_T)
      || !tvms_row_span(TVMS_NS_T, node->b, &first, &last)) {
    return;
  }
  if (first > tvms_release_rows(TVMS_DIALECT_OLDEST)) since(found, first, span);
  if (last != TVMS_DIALECT_ever) until(found, last, span);
}

// `metadata["ir.GenericConst"][0]`: constants have another name since 0.27.
static void mark_metadata(marks *found, tvms_ref key) {
  tvms_span span;
  if (!tvms_surface_string_inside(found->surface, key, &span)) return;
  const char *text = found->surface->source->text + span.begin;
  uint32_t len = span.end - span.begin;
  if (len == 15 && memcmp(text, "ir.GenericConst", 15) == 0) {
    has(found, TVMS_FACT_constants_are_generic, span);
  }
  if (len == 19 && memcmp(text, "relax.expr.Constant", 19) == 0) {
    lacks(found, TVMS_FACT_constants_are_generic, span);
  }
}

// `T.let[…]` and `T.float32[…]` as annotations, `R.Tensor[…]` of the prototype.
static void mark_subscript(marks *found, const tvms_surf *node) {
  const tvms_surf *object = at(found, node->a);
  if (object->kind == TVMS_SURF_NAME && object->a == found->metadata) {
    mark_metadata(found, node->b);
  }
  if (object->kind != TVMS_SURF_ATTRIBUTE) return;
  tvms_span span = {node->begin, node->end};
  if (is_name(found, object->a, TVMS_SYM_R) && object->b == TVMS_SYM_Tensor) {
    found->prototype = span;
  }
  if (is_name(found, object->a, TVMS_SYM_T) && object->b == TVMS_SYM_let) {
    has(found, TVMS_FACT_bindings_say_let, span);
  }
}

static void mark_module(marks *found, const char *path, tvms_span span) {
  size_t len = strlen(path);
  bool tir = len >= 4 && strcmp(path + len - 4, ".tir") == 0;
  if (strstr(path, "tirx")) has(found, TVMS_FACT_tir_is_tirx, span);
  if (tir) lacks(found, TVMS_FACT_tir_is_tirx, span);
}

static void mark_import(marks *found, const tvms_surf *node) {
  if (!node->a) return;
  const char *module = tvms_symbol_text(found->context, node->a);
  if (strncmp(module, "tvm", 3) != 0) return;
  tvms_surface_each(found->surface, ref, node->b) {
    char path[160];
    const char *name = tvms_symbol_text(found->context, at(found, ref)->a);
    if (strlen(module) + strlen(name) + 2 > sizeof path) continue;
    uint32_t begin = at(found, ref)->begin;
    tvms_span span = {begin, begin + (uint32_t)strlen(name)};
    strcat(strcat(strcpy(path, module), "."), name);
    mark_module(found, path, span);
  }
}

static void mark_node(marks *found, const tvms_surf *node) {
  switch (node->kind) {
  case TVMS_SURF_ATTRIBUTE: mark_attribute(found, node); break;
  case TVMS_SURF_CALL: mark_call(found, node); break;
  case TVMS_SURF_SUBSCRIPT: mark_subscript(found, node); break;
  case TVMS_SURF_IMPORT_FROM:
    if (!found->skips_imports) mark_import(found, node);
    break;
  case TVMS_SURF_TYPE_PARAM:
    has(found, TVMS_FACT_dims_are_type_vars, (tvms_span){node->begin, node->end});
    break;
  default: break;
  }
}

// The marks of Python are its imports and a metadata section: its T may be another package's.
static void mark_nodes(marks *found) {
  uint32_t near = 0;
  for (uint32_t i = 1; i < found->surface->count; i++) {
    const tvms_surf *node = &found->surface->nodes[i];
    bool counts = !found->script || node->kind == TVMS_SURF_IMPORT_FROM
                  || loads_metadata(found, node)
                  || tvms_spans_hold(found->script, &near, node->begin);
    if (counts) mark_node(found, node);
  }
}

// ---- Commented imports ----------------------------------------------------------------------

static const char *skip(const char *at_text, const char *end, const char *word) {
  size_t len = strlen(word);
  while (at_text < end && *at_text == ' ') {
    at_text++;
  }
  if ((size_t)(end - at_text) < len || memcmp(at_text, word, len) != 0) return NULL;
  return at_text + len;
}

static size_t word_len(const char *text, const char *end) {
  size_t len = 0;
  while (text + len < end
         && (text[len] == '_' || text[len] == '.'
             || (text[len] >= '0' && text[len] <= '9')
             || ((text[len] | 32) >= 'a' && (text[len] | 32) <= 'z'))) {
    len++;
  }
  return len;
}

// `# import tvm` binds the first part of the name.
static bool plain_import(tvms_context *context, const tvms_comment *comment,
                         const char *text, tvms_commented_import *import) {
  const char *end = text + comment->end;
  const char *module = skip(text + comment->begin + 1, end, "import ");
  size_t len = module ? word_len(module, end) : 0;
  if (!len || skip(module + len, end, "as ")) return false;
  const char *dot = memchr(module, '.', len);
  if (dot) len = (size_t)(dot - module);
  import->name = tvms_symbol_intern(context, module, len);
  import->path = tvms_symbol_text(context, import->name);
  import->span = (tvms_span){comment->begin, comment->end};
  return len > 0;
}

bool tvms_dialect_marks_is_script_module(const char *name, size_t len) {
  return len >= 6 && memcmp(name, "script", 6) == 0 && (len == 6 || name[6] == '.');
}

bool tvms_dialect_marks_commented_import(tvms_context *context,
                                         const tvms_surface *surface, uint32_t index,
                                         uint32_t item, tvms_commented_import *import) {
  const tvms_comment *comment = &surface->comments[index];
  const char *text = surface->source->text;
  const char *end = text + comment->end;
  if (!comment->own_line) return false;
  const char *module = skip(text + comment->begin + 1, end, "from ");
  if (!module) return !item && plain_import(context, comment, text, import);
  // A file of TVM itself may have `from ..script import tir`; what else is relative is
  // Python's business.
  bool relative = *module == '.';
  while (*module == '.')
    module++;
  size_t module_len = word_len(module, end);
  if (relative && !tvms_dialect_marks_is_script_module(module, module_len))
    return false;
  const char *name = skip(module + module_len, end, "import ");
  while (name && item--) {
    name = memchr(name, ',', (size_t)(end - name));
    if (name) name = skip(name + 1, end, "");
  }
  size_t name_len = name ? word_len(name, end) : 0;
  if (!module_len || !name_len) return false;
  const char *alias = skip(name + name_len, end, "as ");
  size_t alias_len = alias ? word_len(alias, end) : 0;
  tvms_strbuf path;
  tvms_strbuf_init(&path, &context->memory);
  tvms_strbuf_printf(&path, "%s%.*s.%.*s", relative ? "tvm." : "", (int)module_len,
                     module, (int)name_len, name);
  tvms_sym kept = tvms_symbol_intern(context, path.text, path.len);
  import->path = tvms_symbol_text(context, kept);
  tvms_strbuf_fini(&path);
  import->name = alias_len ? tvms_symbol_intern(context, alias, alias_len)
                           : tvms_symbol_intern(context, name, name_len);
  import->span = (tvms_span){comment->begin, comment->end};
  return true;
}

static void mark_comments(marks *found) {
  for (uint32_t i = 0; i < found->surface->comment_count; i++) {
    tvms_commented_import import;
    for (uint32_t item = 0; tvms_dialect_marks_commented_import(
             found->context, found->surface, i, item, &import);
         item++) {
      if (strncmp(import.path, "tvm.", 4) == 0) {
        mark_module(found, import.path, import.span);
      }
    }
  }
}

// ---- Deciding -------------------------------------------------------------------------------

// How `to`, the release of the other code, spells the word of `from` that `span` ends with, or NULL.
static const char *TVMS_NULLABLE spelled(const marks *found, tvms_span span,
                                         tvms_dialect from, tvms_dialect to,
                                         tvms_span *word) {
  const char *text = found->surface->source->text;
  *word = (tvms_span){span.end, span.end};
  while (word->begin > span.begin && word_len(text + word->begin - 1, text + span.end)
         && text[word->begin - 1] != '.') {
    word->begin--;
  }
  static const tvms_spelling places[] = {TVMS_SPELLING_T, TVMS_SPELLING_R,
                                         TVMS_SPELLING_KEYWORD, TVMS_SPELLING_MODULE};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    size_t matched;
    const char *other = tvms_spelling_convert(
        places[i], text + word->begin, word->end - word->begin, from, to, &matched);
    if (other) return other;
  }
  return NULL;
}

// Reported where the fewer marks are, and of as many where the older ones are.
static bool is_old_wrong(const marks *found) {
  uint32_t newer = 0, older = 0;
  for (int i = 0; i < 16; i++) {
    if (i > (int)found->high) newer += found->firsts[i];
    if (i < (int)found->low) older += found->lasts[i];
  }
  return older <= newer;
}

// Says what stands at `span` instead in `to`, if it has another name there.
static void offer_spelling(marks *found, tvms_diag *diag, tvms_span span,
                           tvms_dialect from, tvms_dialect to) {
  tvms_diags *diags = &found->context->diags;
  tvms_span word;
  const char *other = spelled(found, span, from, to, &word);
  if (!other) return;
  tvms_diag_remark(diags, diag, "TVM %s calls it '%s'", tvms_dialect_text(to), other);
  tvms_diag_fix(diags, diag, word, false, "%s", other);
}

static void report_conflict(marks *found) {
  tvms_diags *diags = &found->context->diags;
  const char *low = tvms_dialect_text(found->low),
             *high = tvms_dialect_text(found->high);
  if (!is_old_wrong(found)) {
    tvms_diag *diag = tvms_diag_report(diags, TVMS_D_marks_disagree, found->low_span,
                                       low, "later", high, "earlier");
    tvms_diag_note(diags, diag, found->high_span,
                   "TVM %s is the last release that has this", high);
    offer_spelling(found, diag, found->low_span, found->low, found->high);
    return;
  }
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_marks_disagree, found->high_span,
                                     high, "earlier", low, "later");
  tvms_diag_note(diags, diag, found->low_span,
                 "TVM %s is the first release that has this", low);
  offer_spelling(found, diag, found->high_span, found->high, found->low);
}

// The newest release within the bounds that may have printed the text.
static tvms_dialect newest(const marks *found) {
  bool fits = found->said >= found->low && found->said <= found->high;
  if (found->said != TVMS_DIALECT_NONE && fits) return found->said;
  tvms_dialect printed = tvms_printed_marks_last(found->surface, found->low);
  if (printed < found->high) return printed;
  return found->high == TVMS_DIALECT_NONE ? TVMS_DIALECT_CURRENT : found->high;
}

static marks find_marks(tvms_context *context, const tvms_surface *surface,
                        const tvms_spans *TVMS_NULLABLE script, bool skips_imports) {
  marks found = {.surface = surface,
                 .context = context,
                 .script = script,
                 .skips_imports = skips_imports,
                 .low = TVMS_DIALECT_OLDEST,
                 .high = TVMS_DIALECT_NONE,
                 .said = TVMS_DIALECT_NONE,
                 .load_json = tvms_interner_find(&context->names, "load_json", 9),
                 .metadata = tvms_interner_find(&context->names, "metadata", 8)};
  mark_nodes(&found);
  mark_comments(&found);
  // A text with marks of later releases is none of the prototype; what is spelled so in it is
  // a mistake of its own.
  if (found.prototype.end && found.low == TVMS_DIALECT_OLDEST)
    has(&found, TVMS_FACT_is_prototype, found.prototype);
  return found;
}

static tvms_dialect choose(const marks *found, const tvms_read_options *options) {
  tvms_dialect wanted = options->dialect;
  bool fits = wanted >= found->low && wanted <= found->high;
  return wanted != TVMS_DIALECT_NONE && fits ? wanted : newest(found);
}

tvms_dialect_marked tvms_dialect_marks_read(tvms_context *context,
                                            const tvms_surface *surface,
                                            const tvms_read_options *options,
                                            const tvms_spans *script) {
  if (options->from != TVMS_DIALECT_NONE)
    return (tvms_dialect_marked){.dialect = options->from};
  marks found = find_marks(context, surface, script, false);
  if (found.low <= found.high)
    return (tvms_dialect_marked){.dialect = choose(&found, options)};
  if (options->dialect != TVMS_DIALECT_NONE)
    return (tvms_dialect_marked){.dialect = options->dialect};
  if (script && script->len) {
    marks imports = find_marks(context, surface, &(tvms_spans){0}, false);
    bool one = imports.low <= imports.high;
    if (one && script->len > 1)
      return (tvms_dialect_marked){.dialect = newest(&imports), .differs = true};
    // One import for each of several releases (`except ImportError:`) tells none.
    if (!one) found = find_marks(context, surface, script, true);
    if (found.low <= found.high)
      return (tvms_dialect_marked){.dialect = choose(&found, options)};
    if (!one && script->len > 1)
      return (tvms_dialect_marked){.dialect = found.low, .differs = true};
  }
  report_conflict(&found);
  return (tvms_dialect_marked){.dialect = found.low, .mixed = true};
}
