// Formatting whole sources, or what is TVMScript in a Python file: there the lines of each
// definition are laid out where they stand, and what is around them stays.
#include "driver/format.h"

#include "format/check.h"
#include "format/format.h"
#include "format/pyfunc.h"
#include "format/text.h"
#include "parser/python_file.h"
#include "support/diag_ids.h"
#include "support/textdiff.h"
#include "support/trial.h"

#include <string.h>

// ---- Python files -----------------------------------------------------------------------

enum { STEP = 4 };

// A Python file on its way.
typedef struct {
  tvms_source *source;
  const tvms_surface *surface;
  tvms_format_options options;
  tvms_strbuf *text;  // what is written so far
  const tvms_refs *definitions;
  bool *off;         // of each definition: a comment keeps it as it is
  uint32_t comment;  // first one that find_off has not seen
  uint32_t found;    // definitions that it has seen
} python_file;

// The lines of a definition and their indentation; false if other statements share them or
// tabs indent them.
static bool lines_of(const tvms_source *source, tvms_span span,
                     tvms_format_definition *definition) {
  const char *text = source->text;
  tvms_span *lines = &definition->lines;
  definition->indent = tvms_source_indent(source, span.begin);
  lines->begin = span.begin - definition->indent;
  for (uint32_t i = lines->begin; i < span.begin; i++) {
    if (text[i] != ' ') return false;
  }
  lines->end = span.end;
  bool comment = false;
  for (; lines->end < source->size; lines->end++) {
    char c = text[lines->end];
    if (c == '\n' || c == '\r') break;
    comment = comment || c == '#';
    if (!comment && c != ' ' && c != '\t') return false;
  }
  return definition->indent % STEP == 0;
}

// What comments in front of a statement and behind `after` say of the rest of its block, in
// whose column they stand. `off` is what was said before.
static bool is_off_from(python_file *file, uint32_t after, tvms_span statement,
                        bool off) {
  const tvms_surface *surface = file->surface;
  uint32_t column = tvms_source_indent(file->source, statement.begin);
  for (; file->comment < surface->comment_count; file->comment++) {
    const tvms_comment *comment = &surface->comments[file->comment];
    if (comment->begin >= statement.begin) break;
    bool counts = comment->own_line && comment->begin >= after
                  && tvms_source_indent(file->source, comment->begin) == column;
    if (!counts) continue;
    const char *text = surface->source->text + comment->begin;
    tvms_format_directive what =
        tvms_format_directive_of(text, comment->end - comment->begin);
    if (what == TVMS_DIRECTIVE_OFF) off = true;
    if (what == TVMS_DIRECTIVE_ON) off = false;
  }
  return off;
}

// Finds the definitions that stand behind a `# fmt: off` of their block that is not taken back
// there. `around`: one of a block around it holds.
static void find_off(python_file *file, tvms_ref body, bool around) {
  const tvms_surface *surface = file->surface;
  tvms_memory *memory = &surface->context->memory;
  if (!tvms_memory_enter(memory)) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  uint32_t after = 0;
  bool off = false;
  tvms_surface_each(surface, ref, body) {
    tvms_span span = tvms_surface_span(surface, ref);
    off = is_off_from(file, after, span, off);
    after = span.end;
    if (file->found == file->definitions->len) break;
    if (file->definitions->items[file->found] == ref) {
      file->off[file->found++] |= around || off;
      continue;
    }
    tvms_ref bodies[2];
    tvms_surface_bodies(surface, ref, bodies);
    find_off(file, bodies[0], around || off);
    find_off(file, bodies[1], around || off);
  }
  tvms_memory_leave(memory);
}

// Appends the lines of one definition, laid out. False, with nothing appended, if they
// cannot be or the proof fails.
static bool put_formatted(tvms_context *context, const python_file *file,
                          const tvms_format_definition *definition) {
  tvms_trial trial;
  tvms_trial_begin(&trial, &context->diags);
  tvms_status status = tvms_format_checked_definition(file->surface, file->options,
                                                      definition, file->text);
  tvms_trial_drop(&trial);
  return status == TVMS_OK;
}

static tvms_status format_definitions(tvms_context *context, python_file *file) {
  const tvms_refs *definitions = file->definitions;
  tvms_status status = TVMS_OK;
  uint32_t done = 0;
  find_off(file, file->surface->body, false);
  for (uint32_t i = 0; i < definitions->len; i++) {
    tvms_span span = tvms_surface_span(file->surface, definitions->items[i]);
    tvms_format_definition definition = {.statement = definitions->items[i]};
    if (!lines_of(file->source, span, &definition)) continue;
    if (file->off[i]) continue;
    tvms_strbuf_add(file->text, file->source->text + done,
                    definition.lines.begin - done);
    done = definition.lines.begin;
    if (put_formatted(context, file, &definition)) {
      done = definition.lines.end;
    } else {
      tvms_diag_report(&context->diags, TVMS_D_format_changes, span, "the program");
      status = TVMS_INTERNAL;
    }
  }
  tvms_strbuf_add(file->text, file->source->text + done, file->source->size - done);
  return status;
}

// Where the text goes on behind a statement, after blanks and comments.
static uint32_t next_place(const tvms_source *source, uint32_t end) {
  const char *at = source->text + end;
  for (;;) {
    at += strspn(at, " \t\r\n");
    if (*at != '#') return (uint32_t)(at - source->text);
    at += strcspn(at, "\r\n");
  }
}

// With the places behind it at which its own mistakes are reported: the end of its last line, and
// where the text goes on if a body is missing.
static tvms_span with_end(const tvms_surface *surface, tvms_span span) {
  uint32_t next = next_place(surface->source, span.end), end = span.end;
  const tvms_diag *diag = surface->context->diags.first;
  for (; diag; diag = diag->next) {
    bool missing = diag->id == TVMS_D_missing_block && diag->span.begin == next;
    if (missing) return (tvms_span){span.begin, next + 1};
    if (diag->span.begin == span.end) end = span.end + 1;
  }
  return (tvms_span){span.begin, end};
}

// The definitions that are TVMScript of tvms's own, each of them with_end.
static void find_own(const tvms_surface *surface, tvms_spans *own) {
  tvms_python_file_definitions(surface, own);
  if (!surface->context->diags.first) return;
  for (uint32_t i = 0; i < own->len; i++)
    own->items[i] = with_end(surface, own->items[i]);
}

// What was not understood of another package's definitions is left as it is, and nothing is
// said of it.
static void skip_mistakes(python_file *file) {
  const tvms_diags *diags = &file->surface->context->diags;
  for (uint32_t i = 0; diags->first && i < file->definitions->len; i++) {
    tvms_span span = with_end(
        file->surface, tvms_surface_span(file->surface, file->definitions->items[i]));
    for (const tvms_diag *diag = diags->first; diag; diag = diag->next) {
      bool inside = span.begin <= diag->span.begin && diag->span.begin < span.end;
      file->off[i] |= inside;
    }
  }
}

static tvms_status format_python(tvms_context *context, tvms_source *source,
                                 tvms_surface *surface, tvms_format_options options,
                                 tvms_strbuf *text) {
  tvms_refs definitions = {0};
  tvms_spans own = {0};
  tvms_python_file_kin(surface, &definitions);
  find_own(surface, &own);
  python_file file = {.source = source,
                      .surface = surface,
                      .options = options,
                      .text = text,
                      .definitions = &definitions};
  file.off = tvms_arena_array(&context->scratch, bool, definitions.len);
  memset(file.off, 0, definitions.len * sizeof *file.off);
  skip_mistakes(&file);
  // And what was reported of the Python around the definitions is dropped.
  tvms_diags_keep_in(&context->diags, own.items, own.len);
  tvms_strbuf_grow(text, source->size + source->size / 4 + 64);
  tvms_status status =
      context->diags.errors ? TVMS_FOUND_ERRORS : format_definitions(context, &file);
  tvms_vec_fini(&context->memory, &own);
  tvms_vec_fini(&context->memory, &definitions);
  return status;
}

tvms_status tvms_format_source(tvms_context *context, tvms_source *source,
                               tvms_format_options options, tvms_strbuf *text) {
  tvms_surface surface;
  bool python = tvms_source_is_python(source);
  if (python && !tvms_python_file_may_have_script(context, source)) {
    tvms_strbuf_add(text, source->text, source->size);
    return TVMS_OK;
  }
  tvms_surface_parse(&surface, context, source);
  tvms_format_allow_pyfuncs(&surface);
  tvms_status status = python ? format_python(context, source, &surface, options, text)
                              : tvms_format_checked(&surface, options, text);
  tvms_surface_fini(&surface);
  return status;
}

// ---- Some lines -------------------------------------------------------------------------

// Parses a text for comparison: what is reported is dropped. Returns false if what is laid
// out of it has errors.
static bool parse_again(tvms_surface *surface, tvms_context *context,
                        tvms_source *source) {
  tvms_trial trial;
  tvms_trial_begin(&trial, &context->diags);
  context->diags.source = source;
  tvms_surface_parse(surface, context, source);
  tvms_format_allow_pyfuncs(surface);
  if (tvms_source_is_python(source)) {
    tvms_spans definitions = {0};
    find_own(surface, &definitions);
    tvms_diags_keep_in(&context->diags, definitions.items, definitions.len);
    tvms_vec_fini(&context->memory, &definitions);
  }
  bool fine = !context->diags.errors;
  tvms_trial_drop(&trial);
  return fine;
}

static bool says_the_same(tvms_context *context, tvms_source *source,
                          const tvms_strbuf *text) {
  tvms_surface before, after;
  tvms_span where;
  tvms_source *other =
      tvms_source_create(&context->memory, source->name, text->text, text->len);
  bool fine = parse_again(&before, context, source);
  fine = parse_again(&after, context, other) && fine
         && tvms_surface_same(&before, &after, &where);
  tvms_surface_fini(&after);
  tvms_surface_fini(&before);
  tvms_source_destroy(&context->memory, other);
  context->diags.source = source;
  return fine;
}

tvms_status tvms_format_source_lines(tvms_context *context, tvms_source *source,
                                     tvms_format_options options, uint32_t first,
                                     uint32_t last, tvms_strbuf *text) {
  tvms_strbuf whole;
  tvms_strbuf_init(&whole, &context->memory);
  tvms_status status = tvms_format_source(context, source, options, &whole);
  tvms_version before = {source->name, source->text, source->size};
  tvms_version after = {source->name, whole.text, whole.len};
  size_t begin = text->len;
  for (uint32_t more = 0; status == TVMS_OK; more = 2 * more + 1) {
    text->len = begin;
    uint32_t from = first > more ? first - more : 1;
    uint32_t to = last < UINT32_MAX - more ? last + more : UINT32_MAX;
    tvms_textdiff_take(text, before, after, from, to);
    if (says_the_same(context, source, text)) break;
    if (from == 1 && to > source->size) status = TVMS_INTERNAL;
  }
  tvms_strbuf_fini(&whole);
  return status;
}
