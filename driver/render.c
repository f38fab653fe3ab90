// Findings as text: place, severity, code and message, the line with the span underlined,
// evidence, and what would mend it.
//
//   mlp.tvms:44:28: error[E0201]: name 'lv0' is not defined
//      44 |     lv1 = R.call_tir(cls.relu0, (lv0,), ...)
//         |                                  ^~~
#include "driver/render.h"

#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

// Long lines are cut to a window around the span, in bytes.
enum { LONGEST_LINE = 240, BEFORE_SPAN = 80 };

const char *tvms_render_severity_name(tvms_severity severity) {
  static const char *const names[] = {
      [TVMS_SEVERITY_ERROR] = "error",
      [TVMS_SEVERITY_WARNING] = "warning",
      [TVMS_SEVERITY_NOTE] = "note",
  };
  return names[severity];
}

typedef struct {
  tvms_memory *memory;
  tvms_strbuf *out;
  tvms_source *source;
  bool color;
} rendering;

static void paint(rendering *r, const char *sgr) {
  if (r->color) tvms_strbuf_printf(r->out, "\x1b[%sm", sgr);
}

static const char *severity_sgr(tvms_severity severity) {
  static const char *const sgr[] = {
      [TVMS_SEVERITY_ERROR] = "1;31",
      [TVMS_SEVERITY_WARNING] = "1;33",
      [TVMS_SEVERITY_NOTE] = "1;36",
  };
  return sgr[severity];
}

static bool is_inside_character(const char *text, uint32_t at) {
  return ((unsigned char)text[at] & 0xC0) == 0x80;
}

// The part of a line that is shown for a span.
static tvms_span window(const tvms_source *source, tvms_span line, tvms_span span) {
  if (line.end - line.begin <= LONGEST_LINE) return line;
  tvms_span shown = line;
  if (span.begin > line.begin + BEFORE_SPAN) shown.begin = span.begin - BEFORE_SPAN;
  if (shown.end - shown.begin > LONGEST_LINE) shown.end = shown.begin + LONGEST_LINE;
  while (shown.begin > line.begin && is_inside_character(source->text, shown.begin)) {
    shown.begin--;
  }
  while (shown.end < line.end && is_inside_character(source->text, shown.end)) {
    shown.end++;
  }
  return shown;
}

// Columns that the character at `text` fills on a terminal; `bytes` gets its length.
static int width_at(const char *text, uint32_t len, uint32_t *bytes) {
  utf8proc_int32_t code;
  utf8proc_ssize_t used = utf8proc_iterate((const utf8proc_uint8_t *)text, len, &code);
  *bytes = used > 0 ? (uint32_t)used : 1;
  if (used <= 0) return 1;
  return utf8proc_charwidth(code);
}

// A control character or a stray byte must not reach the terminal; a line break of a fix is
// shown as in a string.
static void add_visible(tvms_strbuf *out, const char *text, uint32_t len) {
  for (uint32_t i = 0; i < len;) {
    uint32_t bytes;
    unsigned char c = (unsigned char)text[i];
    (void)width_at(text + i, len - i, &bytes);
    bool stray = (c < 0x20 && c != '\t') || c == 0x7F || (c >= 0x80 && bytes == 1);
    if (c == '\n')
      tvms_strbuf_add(out, "\\n", 2);
    else if (stray)
      tvms_strbuf_putc(out, '?');
    else
      tvms_strbuf_add(out, text + i, bytes);
    i += bytes;
  }
}

static void add_underline(rendering *r, tvms_span shown, tvms_span span,
                          const char *sgr) {
  const char *text = r->source->text;
  for (uint32_t i = shown.begin; i < span.begin && i < shown.end;) {
    uint32_t bytes;
    int width = width_at(text + i, shown.end - i, &bytes);
    bool tab = text[i] == '\t';
    tvms_strbuf_fill(r->out, tab ? '\t' : ' ',
                     tab ? 1 : (size_t)(width > 0 ? width : 0));
    i += bytes;
  }
  int columns = 0;
  uint32_t end = span.end < shown.end ? span.end : shown.end;
  for (uint32_t i = span.begin; i < end;) {
    uint32_t bytes;
    columns += width_at(text + i, end - i, &bytes);
    i += bytes;
  }
  paint(r, sgr);
  tvms_strbuf_putc(r->out, '^');
  tvms_strbuf_fill(r->out, '~', columns > 1 ? (size_t)columns - 1 : 0);
  paint(r, "0");
  tvms_strbuf_putc(r->out, '\n');
}

static void add_excerpt(rendering *r, tvms_place place, tvms_span span,
                        const char *sgr) {
  tvms_memory *memory = r->memory;
  tvms_span line = tvms_source_line(memory, r->source, place.line);
  tvms_span shown = window(r->source, line, span);
  tvms_strbuf_printf(r->out, "%6u | ", place.line);
  if (shown.begin > line.begin) tvms_strbuf_puts(r->out, "...");
  add_visible(r->out, r->source->text + shown.begin, shown.end - shown.begin);
  if (shown.end < line.end) tvms_strbuf_puts(r->out, "...");
  tvms_strbuf_puts(r->out, "\n       | ");
  if (shown.begin > line.begin) tvms_strbuf_puts(r->out, "   ");
  add_underline(r, shown, span, sgr);
}

// "FILE:LINE:COLUMN: severity[CODE]: text", code being NULL for evidence.
static tvms_place add_head(rendering *r, tvms_span span, tvms_severity severity,
                           const char *code, const char *text) {
  tvms_place place = tvms_source_place(r->memory, r->source, span.begin);
  paint(r, "1");
  tvms_strbuf_printf(r->out, "%s:%u:%u: ", r->source->name, place.line, place.column);
  paint(r, "0");
  paint(r, severity_sgr(severity));
  tvms_strbuf_puts(r->out, tvms_render_severity_name(severity));
  if (code) tvms_strbuf_printf(r->out, "[%s]", code);
  paint(r, "0");
  tvms_strbuf_puts(r->out, ": ");
  add_visible(r->out, text, (uint32_t)strlen(text));
  tvms_strbuf_putc(r->out, '\n');
  return place;
}

// Whether two fixes of one finding say the same about different places.
static bool is_same_fix(const rendering *r, const tvms_fix *a, const tvms_fix *b) {
  uint32_t len = a->span.end - a->span.begin;
  const char *text = r->source->text;
  return len > 0 && len == b->span.end - b->span.begin
         && memcmp(text + a->span.begin, text + b->span.begin, len) == 0
         && strcmp(a->text, b->text) == 0;
}

static void add_fixes(rendering *r, const tvms_fix *fixes) {
  enum { MOST_SHOWN = 8 };
  uint32_t count = 0;
  for (const tvms_fix *fix = fixes; fix; fix = fix->next) {
    count++;
  }
  if (count > MOST_SHOWN) {
    tvms_strbuf_printf(r->out, "       = %s: %u edits, which 'check --diff%s' shows\n",
                       fixes->safe ? "fix" : "suggestion", count,
                       fixes->safe ? "" : " --unsafe-fixes");
    return;
  }
  for (const tvms_fix *fix = fixes; fix; fix = fix->next) {
    uint32_t len = fix->span.end - fix->span.begin;
    const char *old = r->source->text + fix->span.begin;
    uint32_t times = 1;
    for (; fix->next && is_same_fix(r, fix, fix->next); fix = fix->next) {
      times++;
    }
    tvms_strbuf_puts(r->out, fix->safe ? "       = fix: " : "       = suggestion: ");
    if (len) {
      tvms_strbuf_puts(r->out, *fix->text ? "replace '" : "remove '");
      add_visible(r->out, old, len);
      tvms_strbuf_puts(r->out, "'");
    }
    if (*fix->text) {
      tvms_strbuf_puts(r->out, len ? " by '" : "insert '");
      add_visible(r->out, fix->text, (uint32_t)strlen(fix->text));
      tvms_strbuf_puts(r->out, "'");
    }
    if (times > 1) tvms_strbuf_printf(r->out, ", %u times", times);
    tvms_strbuf_putc(r->out, '\n');
  }
}

static void add_finding(rendering *r, const tvms_diag *diag) {
  tvms_severity severity = diag->severity;
  tvms_place place =
      add_head(r, diag->span, severity, tvms_diag_row_of(diag->id)->label, diag->text);
  // What was read in bytes has no lines.
  if (r->source->size) add_excerpt(r, place, diag->span, severity_sgr(severity));
  if (diag->origin)
    tvms_strbuf_printf(r->out, "       = %s: %s\n", diag->origin, diag->kind);
  for (const tvms_note *note = diag->notes; note; note = note->next) {
    if (!note->placed) {
      tvms_strbuf_puts(r->out, "       = ");
      add_visible(r->out, note->text, (uint32_t)strlen(note->text));
      tvms_strbuf_putc(r->out, '\n');
      continue;
    }
    r->source = note->source ? note->source : diag->source;
    tvms_place at = add_head(r, note->span, TVMS_SEVERITY_NOTE, NULL, note->text);
    add_excerpt(r, at, note->span, severity_sgr(TVMS_SEVERITY_NOTE));
    r->source = diag->source;
  }
  add_fixes(r, diag->fixes);
}

bool tvms_render_shows(const tvms_diag *diag, bool errors_only) {
  return !errors_only || diag->severity == TVMS_SEVERITY_ERROR;
}

void tvms_render_findings(tvms_context *context, const tvms_render_options *options,
                          tvms_strbuf *out) {
  rendering r = {.memory = &context->memory, .out = out, .color = options->color};
  for (const tvms_diag *diag = context->diags.first; diag; diag = diag->next) {
    if (!tvms_render_shows(diag, options->errors_only)) continue;
    r.source = diag->source;
    add_finding(&r, diag);
  }
}
