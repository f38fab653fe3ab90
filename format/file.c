// Whole texts and single definitions: where the writer of format/format.c begins and ends, the
// pieces that the proof looks at, and the comparison that it makes.
#include "format/file.h"

#include "format/lines.h"
#include "format/text.h"

enum { DEFAULT_WIDTH = 88 };

/* Pieces */

void tvms_format_cut(tvms_writer *w, tvms_ref ref) {
  enum { PIECE = 128 * 1024 };
  tvms_pieces *pieces = w->pieces;
  tvms_piece *last = pieces->len ? &pieces->items[pieces->len - 1] : NULL;
  if (pieces->len > 1 && !last[-1].stop) {
    last[-1].stop = ref;
    last[-1].end = w->out->len;
    last[-1].comments_end = w->next;
  }
  if (last && w->out->len - last->begin < PIECE) return;
  tvms_piece piece = {
      .first = ref, .begin = last ? w->out->len : w->from, .comments = w->next};
  tvms_vec_push(w->memory, pieces, piece);
}

static void end_pieces(tvms_writer *w) {
  if (!w->pieces->len)
    tvms_vec_push(w->memory, w->pieces, ((tvms_piece){.begin = w->from}));
  for (uint32_t i = w->pieces->len; i > 0 && !w->pieces->items[i - 1].stop; i--) {
    w->pieces->items[i - 1].end = w->out->len;
    w->pieces->items[i - 1].comments_end = w->surface->comment_count;
  }
}

/* The proof */

void tvms_format_compare(tvms_writer *w) {
  size_t len = w->out->len;
  bool same = len <= w->expected_len && memcmp(w->out->text, w->expected, len) == 0;
  w->differs |= !same;
  size_t used = same ? len : w->expected_len;
  w->expected += used;
  w->expected_len -= used;
  w->out->len = 0;
  w->line = 0;
}

/* Texts */

const char *tvms_format_line_end(const tvms_source *source) {
  const char *end = memchr(source->text, '\n', source->size);
  return end && end > source->text && end[-1] == '\r' ? "\r\n" : "\n";
}

static void write_file(tvms_writer *w) {
  const tvms_surface *surface = w->surface;
  if (surface->source->size >= 3 && memcmp(w->source, "\xEF\xBB\xBF", 3) == 0) {
    tvms_writer_put(w, w->source, 3);
  }
  if (surface->body) tvms_format_block(w, surface->body, surface->source->size, 0, 0);
  tvms_format_comments_at_end(w, UINT32_MAX, 0);
  tvms_vec_fini(w->memory, &w->spine);
}

static tvms_writer start(const tvms_surface *surface, tvms_format_options options,
                         tvms_strbuf *out) {
  return (tvms_writer){
      .surface = surface,
      .nodes = surface->nodes,
      .source = surface->source->text,
      .memory = &surface->context->memory,
      .out = out,
      .line = out->len,
      .width = options.width ? options.width : DEFAULT_WIDTH,
      .quotes = options.quotes,
      .joins = options.joins,
      .line_end = tvms_format_line_end(surface->source),
      .comment_at = surface->comment_count ? surface->comments[0].begin : UINT32_MAX,
  };
}

bool tvms_format_with(const tvms_surface *surface, tvms_format_options options,
                      tvms_strbuf *out, tvms_pieces *pieces) {
  tvms_writer w = start(surface, options, out);
  w.pieces = pieces;
  w.from = out->len;
  write_file(&w);
  if (pieces) end_pieces(&w);
  return !w.too_deep;
}

bool tvms_format_is(const tvms_surface *surface, tvms_format_options options,
                    const char *expected, size_t len) {
  tvms_strbuf one;
  tvms_strbuf_init(&one, &surface->context->memory);
  tvms_writer w = start(surface, options, &one);
  w.expected = expected;
  w.expected_len = len;
  write_file(&w);
  if (one.len) tvms_format_compare(&w);
  tvms_strbuf_fini(&one);
  return !w.differs && !w.too_deep && w.expected_len == 0;
}

/* Definitions */

static uint32_t first_comment(const tvms_surface *surface, uint32_t place) {
  uint32_t low = 0, high = surface->comment_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (surface->comments[middle].begin < place)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

tvms_piece tvms_format_piece_of(const tvms_surface *surface,
                                const tvms_format_definition *definition) {
  return (tvms_piece){
      .first = definition->statement,
      .stop = surface->nodes[definition->statement].next,
      .comments = first_comment(surface, definition->lines.begin),
      .comments_end = first_comment(surface, definition->lines.end),
  };
}

// The comments behind the definition are not there for the writer.
static void write_lone(tvms_writer *w, const tvms_format_definition *definition) {
  tvms_piece piece = tvms_format_piece_of(w->surface, definition);
  tvms_surface seen = *w->surface;
  seen.comment_count = piece.comments_end;
  w->surface = &seen;
  w->indent = definition->indent;
  tvms_format_to_comment(w, piece.comments);
  tvms_format_statement(w, definition->statement, definition->lines.end);
  tvms_vec_fini(w->memory, &w->spine);
}

bool tvms_format_lone(const tvms_surface *surface, tvms_format_options options,
                      const tvms_format_definition *definition, tvms_strbuf *out) {
  tvms_writer w = start(surface, options, out);
  write_lone(&w, definition);
  return !w.too_deep;
}

bool tvms_format_lone_is(const tvms_surface *surface, tvms_format_options options,
                         const tvms_format_definition *definition, const char *expected,
                         size_t len) {
  tvms_strbuf one;
  tvms_strbuf_init(&one, &surface->context->memory);
  tvms_writer w = start(surface, options, &one);
  w.expected = expected;
  w.expected_len = len;
  write_lone(&w, definition);
  tvms_strbuf_fini(&one);
  return !w.differs && !w.too_deep && w.expected_len == 0;
}
