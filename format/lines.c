// Blank lines as black has them, comments where they stood, and text that `# fmt: off` and
// `# fmt: skip` keep as it is.
#include "format/lines.h"

#include "format/pyfunc.h"
#include "format/text.h"

/* Blank lines */

uint32_t tvms_format_lines_between(const tvms_writer *w, uint32_t from, uint32_t to) {
  uint32_t lines = 0;
  for (uint32_t i = from; i < to; i++) {
    char c = w->source[i];
    lines += c == '\n' || (c == '\r' && w->source[i + 1] != '\n');
  }
  return lines;
}

uint32_t tvms_format_blank_before(const tvms_writer *w, uint32_t begin) {
  uint32_t from = begin;
  while (from > 0 && strchr(" \t\f\n\r", w->source[from - 1])) {
    from--;
  }
  uint32_t lines = tvms_format_lines_between(w, from, begin);
  return lines > 1 ? lines - 1 : 0;
}

bool tvms_format_is_definition(const tvms_surf *node) {
  return node->kind == TVMS_SURF_DEF || node->kind == TVMS_SURF_CLASS;
}

static bool is_import(const tvms_surf *node) {
  return node->kind == TVMS_SURF_IMPORT || node->kind == TVMS_SURF_IMPORT_FROM;
}

static bool is_docstring(const tvms_writer *w, tvms_ref ref) {
  const tvms_surf *node = &w->nodes[ref];
  return node->kind == TVMS_SURF_EXPRESSION
         && w->nodes[node->a].kind == TVMS_SURF_STRING;
}

// Blank lines before the first statement of a block that `opener` begins.
static uint32_t blank_at_start(const tvms_writer *w, tvms_ref opener, tvms_ref ref,
                               bool led, uint32_t blank) {
  if (!opener) return 0;
  bool definition = tvms_format_is_definition(&w->nodes[opener]);
  if (definition && is_docstring(w, ref)) return 0;
  if (!definition && !led && tvms_format_is_definition(&w->nodes[ref])) return 1;
  return blank ? 1 : 0;
}

// Whether a blank line stands in a text of comments.
static bool has_blank_line(const tvms_writer *w, uint32_t from, uint32_t to) {
  bool blank = false;
  for (; from < to; from++) {
    char c = w->source[from];
    if (c == '\n' && blank) return true;
    if (c == '\n')
      blank = true;
    else if (!strchr(" \t\f\r", c))
      blank = false;
  }
  return false;
}

uint32_t tvms_format_blank_lines_before(const tvms_writer *w, tvms_setting at,
                                        tvms_ref ref, uint32_t begin) {
  uint32_t most = at.opener ? 1 : 2;
  uint32_t blank = tvms_format_blank_before(w, begin);
  if (blank > most) blank = most;
  const tvms_surf *node = &w->nodes[ref];
  bool led = begin < node->begin;
  if (!at.before) return blank_at_start(w, at.opener, ref, led, blank);
  const tvms_surf *before = &w->nodes[at.before];
  // A comment that follows a statement at once belongs to it if a blank line is behind.
  bool trails = led && !blank && !tvms_format_is_definition(before)
                && has_blank_line(w, begin, node->begin);
  if (trails && tvms_format_is_definition(node)) return 0;
  if (tvms_format_is_definition(node) || tvms_format_is_definition(before)) return most;
  if (blank) return blank;
  bool after_docstring = w->nodes[at.opener].kind == TVMS_SURF_CLASS
                         && is_docstring(w, at.before)
                         && w->nodes[at.opener].c == at.before;
  return after_docstring || (is_import(before) && !is_import(node));
}

void tvms_format_start_line(tvms_writer *w) {
  w->line = w->out->len;
  tvms_strbuf_fill(w->out, ' ', w->indent);
  w->begun = w->out->len;
}

void tvms_format_end_line(tvms_writer *w) {
  tvms_writer_put_text(w, w->line_end);
}

void tvms_format_put_blank(tvms_writer *w, uint32_t count) {
  for (; count > 0; count--) {
    tvms_format_end_line(w);
  }
}

/* Comments around statements */

void tvms_format_own_line(tvms_writer *w, uint32_t blank) {
  tvms_format_put_blank(w, blank);
  tvms_format_start_line(w);
  tvms_format_comment(w, &w->surface->comments[w->next]);
  tvms_format_end_line(w);
  tvms_format_next_comment(w);
}

void tvms_format_finish_line(tvms_writer *w, uint32_t from, uint32_t end) {
  bool behind = w->comment_at < end && !w->surface->comments[w->next].own_line
                && tvms_format_lines_between(w, from, w->comment_at) == 0;
  if (behind) tvms_format_comments_behind(w, end);
  tvms_format_end_line(w);
}

void tvms_format_leftovers(tvms_writer *w, uint32_t end) {
  for (bool first = true; w->comment_at < end; first = false) {
    if (!first) {
      tvms_format_end_line(w);
      tvms_format_start_line(w);
    } else {
      tvms_writer_put(w, "  ", 2);
    }
    tvms_format_comment(w, &w->surface->comments[w->next]);
    tvms_format_next_comment(w);
  }
}

void tvms_format_comments_at_end(tvms_writer *w, uint32_t end, uint32_t column) {
  uint32_t most = w->indent ? 1 : 2;
  while (w->comment_at < end
         && tvms_source_indent(w->surface->source, w->comment_at) >= column) {
    uint32_t blank = tvms_format_blank_before(w, w->comment_at);
    tvms_format_own_line(w, blank < most ? blank : most);
  }
}

bool tvms_format_comment_is(const tvms_writer *w, uint32_t index,
                            tvms_format_directive what) {
  const tvms_comment *comment = &w->surface->comments[index];
  return tvms_format_directive_of(w->source + comment->begin,
                                  comment->end - comment->begin)
         == what;
}

/* Text that is kept as it is */

void tvms_format_copy_lines(tvms_writer *w, uint32_t begin, uint32_t end,
                            uint32_t column) {
  while (end > begin && strchr(" \t\f\n\r", w->source[end - 1])) {
    end--;
  }
  tvms_format_start_line(w);
  for (uint32_t at = begin; at < end;) {
    uint32_t stop = at;
    while (stop < end && w->source[stop] != '\n' && w->source[stop] != '\r') {
      stop++;
    }
    tvms_writer_put_span(w, (tvms_span){at, stop});
    if (stop == end) break;
    tvms_format_end_line(w);
    at = stop + (w->source[stop] == '\r' && w->source[stop + 1] == '\n' ? 2 : 1);
    uint32_t skipped = 0;
    while (skipped < column && at < end && w->source[at] == ' ') {
      at++;
      skipped++;
    }
    bool blank = w->source[at] == '\n' || w->source[at] == '\r';
    w->line = w->out->len;
    if (!blank && skipped == column)
      tvms_strbuf_fill(w->out, ' ', w->indent);
    else if (!blank)
      tvms_strbuf_fill(w->out, ' ', skipped);
  }
  tvms_format_end_line(w);
  while (w->comment_at < end) {
    tvms_format_next_comment(w);
  }
}

bool tvms_format_may_copy_lines(const tvms_writer *w, uint32_t begin, uint32_t end) {
  return tvms_source_indent(w->surface->source, begin) == w->indent
         || !tvms_format_has_long_string(w->surface, begin, end);
}

uint32_t tvms_format_kept_end(const tvms_writer *w, tvms_ref ref, uint32_t end) {
  const tvms_surf *node = &w->nodes[ref];
  uint32_t column = tvms_source_indent(w->surface->source, node->begin);
  uint32_t kept = node->end;
  for (uint32_t i = w->next; i < w->surface->comment_count; i++) {
    const tvms_comment *comment = &w->surface->comments[i];
    if (comment->begin >= end) break;
    if (comment->begin < node->end) continue;
    bool deeper = tvms_source_indent(w->surface->source, comment->begin) > column;
    if (comment->own_line && !deeper) break;
    kept = comment->end;
  }
  return kept;
}

uint32_t tvms_format_kept_until(const tvms_writer *w, uint32_t end) {
  uint32_t column = tvms_source_indent(w->surface->source, w->comment_at);
  for (uint32_t i = w->next + 1; i < w->surface->comment_count; i++) {
    const tvms_comment *comment = &w->surface->comments[i];
    if (comment->begin >= end) break;
    if (comment->own_line && tvms_format_comment_is(w, i, TVMS_DIRECTIVE_ON)
        && tvms_source_indent(w->surface->source, comment->begin) == column) {
      return comment->begin;
    }
  }
  return end;
}

bool tvms_format_is_kept_statement(const tvms_writer *w, uint32_t begin, uint32_t end) {
  for (uint32_t i = w->next; i < w->surface->comment_count; i++) {
    const tvms_comment *comment = &w->surface->comments[i];
    if (comment->begin >= end) {
      return !comment->own_line
             && tvms_format_lines_between(w, end, comment->begin) == 0
             && tvms_format_comment_is(w, i, TVMS_DIRECTIVE_SKIP)
             && tvms_format_may_copy_lines(w, begin, end);
    }
  }
  return false;
}
