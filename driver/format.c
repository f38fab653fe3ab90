// Formatting whole sources, or what is TVMScript in a Python file: there each definition
// is cut out, laid out under headers that stand for its indentation, and put back.
#include "driver/format.h"

#include "format/check.h"
#include "format/format.h"
#include "format/pyfunc.h"
#include "format/text.h"
#include "parser/python_file.h"
#include "support/textdiff.h"
#include "support/trial.h"

#include <string.h>

// ---- Python files -----------------------------------------------------------------------

enum { STEP = 4 };

// A Python file on its way.
typedef struct {
  tvms_source *source;
  const tvms_surface *surface;
  const char *line_end;
  tvms_format_options options;
  tvms_strbuf *text;  // what is written so far
} python_file;

// The lines of a definition, [begin, end) without the last line end, and their indentation;
// false if other statements share them or tabs indent them.
static bool lines_of(const tvms_source *source, tvms_span definition, tvms_span *lines,
                     uint32_t *indent) {
  const char *text = source->text;
  *indent = tvms_source_indent(source, definition.begin);
  lines->begin = definition.begin - *indent;
  for (uint32_t i = lines->begin; i < definition.begin; i++) {
    if (text[i] != ' ') return false;
  }
  lines->end = definition.end;
  bool comment = false;
  for (; lines->end < source->size; lines->end++) {
    char c = text[lines->end];
    if (c == '\n' || c == '\r') break;
    comment = comment || c == '#';
    if (!comment && c != ' ' && c != '\t') return false;
  }
  return *indent % STEP == 0;
}

// True if the last `# fmt: off` before a definition is not taken back.
static bool is_off(const tvms_surface *surface, uint32_t begin) {
  bool off = false;
  for (uint32_t i = 0; i < surface->comment_count; i++) {
    const tvms_comment *comment = &surface->comments[i];
    if (comment->begin >= begin) break;
    if (!comment->own_line) continue;
    const char *text = surface->source->text + comment->begin;
    tvms_format_directive what =
        tvms_format_directive_of(text, comment->end - comment->begin);
    if (what == TVMS_DIRECTIVE_OFF) off = true;
    if (what == TVMS_DIRECTIVE_ON) off = false;
  }
  return off;
}

// Headers under which a definition of this indentation may stand: `if 1:`, one a level.
static void put_levels(const python_file *file, uint32_t indent, tvms_strbuf *out) {
  for (uint32_t column = 0; column < indent; column += STEP) {
    tvms_strbuf_fill(out, ' ', column);
    tvms_strbuf_puts(out, "if 1:");
    tvms_strbuf_puts(out, file->line_end);
  }
}

// Appends the lines of one definition, laid out. False, with nothing appended, if they
// cannot be or the proof fails.
static bool put_formatted(tvms_context *context, const python_file *file,
                          tvms_span lines, uint32_t indent) {
  tvms_strbuf piece, text;
  tvms_strbuf_init(&piece, &context->memory);
  tvms_strbuf_init(&text, &context->memory);
  put_levels(file, indent, &piece);
  size_t head = piece.len;
  tvms_strbuf_add(&piece, file->source->text + lines.begin, lines.end - lines.begin);
  tvms_strbuf_puts(&piece, file->line_end);
  tvms_trial trial;
  tvms_trial_begin(&trial, &context->diags);
  tvms_surface surface;
  tvms_source *source =
      tvms_source_create(&context->memory, file->source->name, piece.text, piece.len);
  context->diags.source = source;
  tvms_surface_parse(&surface, context, source);
  tvms_format_allow_pyfuncs(&surface);
  bool fine = tvms_format_checked(&surface, file->options, &text) == TVMS_OK
              && text.len >= head
              && (!head || memcmp(text.text, piece.text, head) == 0);
  tvms_trial_drop(&trial);
  tvms_surface_fini(&surface);
  tvms_source_destroy(&context->memory, source);
  size_t end = strlen(file->line_end);
  // Blank lines before a definition are Python's business.
  while (fine && head < text.len
         && (text.text[head] == '\n' || text.text[head] == '\r'))
    head++;
  if (fine) tvms_strbuf_add(file->text, text.text + head, text.len - head - end);
  tvms_strbuf_fini(&text);
  tvms_strbuf_fini(&piece);
  return fine;
}

static tvms_status format_definitions(tvms_context *context, const python_file *file,
                                      const tvms_spans *definitions) {
  tvms_status status = TVMS_OK;
  uint32_t done = 0;
  for (uint32_t i = 0; i < definitions->len; i++) {
    tvms_span definition = definitions->items[i], lines;
    uint32_t indent;
    if (!lines_of(file->source, definition, &lines, &indent)) continue;
    if (is_off(file->surface, lines.begin)) continue;
    tvms_strbuf_add(file->text, file->source->text + done, lines.begin - done);
    done = lines.begin;
    if (put_formatted(context, file, lines, indent)) {
      done = lines.end;
    } else {
      tvms_diag_report(&context->diags, TVMS_D_format_changes, definition,
                       "the program");
      status = TVMS_INTERNAL;
    }
  }
  tvms_strbuf_add(file->text, file->source->text + done, file->source->size - done);
  return status;
}

static tvms_status format_python(tvms_context *context, tvms_source *source,
                                 tvms_surface *surface, tvms_format_options options,
                                 tvms_strbuf *text) {
  tvms_spans definitions = {0};
  tvms_python_file_definitions(surface, &definitions);
  tvms_diags_keep_in(&context->diags, definitions.items, definitions.len);
  const char *first = memchr(source->text, '\n', source->size);
  bool crlf = first && first > source->text && first[-1] == '\r';
  python_file file = {source, surface, crlf ? "\r\n" : "\n", options, text};
  tvms_status status = context->diags.errors
                           ? TVMS_FOUND_ERRORS
                           : format_definitions(context, &file, &definitions);
  tvms_vec_fini(&context->memory, &definitions);
  return status;
}

tvms_status tvms_format_source(tvms_context *context, tvms_source *source,
                               tvms_format_options options, tvms_strbuf *text) {
  tvms_surface surface;
  tvms_surface_parse(&surface, context, source);
  tvms_format_allow_pyfuncs(&surface);
  tvms_status status = tvms_source_is_python(source)
                           ? format_python(context, source, &surface, options, text)
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
    tvms_python_file_definitions(surface, &definitions);
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
