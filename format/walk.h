// What the files of the formatter share: the writer and its three ways to write a node.
//
//   file.c             whole texts and single definitions
//   format.c           statements
//   format/lines.c     blank lines, comments between statements, fmt: off
//   format/flat.c      an expression on one line
//   format/split.c     an expression over several lines
//   format/brackets.c  brackets and chains of calls
//   format/value.c     the value of a statement
//   format/pyfunc.c    functions of Python that keep their lines
//   format/text.c      literals, comments and names in their normal spelling
//   format/check.c     the proof
#ifndef TVMS_FORMAT_WALK_H
#define TVMS_FORMAT_WALK_H

#include "format/format.h"
#include "support/vec.h"

// A piece of the file, for the proof: top-level statements with what leads them. It
// overlaps the piece before it by one statement, so that every blank line is in one.
typedef struct {
  tvms_ref first;     // its first statement
  tvms_ref stop;      // the first one behind it; 0: the file's end
  size_t begin, end;  // its text in `out`
  uint32_t comments, comments_end;
} tvms_piece;

typedef TVMS_VEC(tvms_piece) tvms_pieces;

typedef struct {
  const tvms_surface *surface;
  const tvms_surf *nodes;
  const char *source;
  tvms_memory *memory;
  tvms_strbuf *out;
  size_t line;     // offset in `out` of the line being written
  size_t begun;    // where the text of the statement begins in `out`
  uint32_t width;  // columns of a line
  tvms_format_quotes quotes;
  bool joins;       // a trailing comma keeps nothing open
  uint32_t limit;   // columns that tvms_format_flat may use
  bool forced;      // write flat whatever it holds and however long
  bool too_deep;    // something was left out: nested beyond the limit of depth
  uint32_t behind;  // columns of the comment behind the statement or header
  bool firm;  // the next value gets parentheses even if its lines are too long then
  uint32_t
      brackets;     // open ones that stand on several lines: within them lines may end
  uint32_t indent;  // columns before a new line's text
  const char *line_end;      // "\n" or "\r\n", as the source has it
  uint32_t next;             // first comment that is not written
  uint32_t comment_at;       // where that begins; UINT32_MAX: there is none
  TVMS_VEC(tvms_ref) spine;  // scratch of chains
  tvms_pieces *pieces;       // NULL: not wanted
  size_t from;               // where the text begins in `out`
  // What the text should be, or NULL. It is compared statement by statement, so that the
  // proof needs no second text: `out` then holds one statement at a time.
  const char *expected;
  size_t expected_len;  // what is left of it
  bool differs;
} tvms_writer;

// A bracket with its items: on one line, indented on a line of their own, or one a line
// with a comma behind each, whichever fits first.
typedef struct {
  const char *open;
  const char *shut;
  tvms_ref items;
  tvms_ref index;   // of a subscript: what `items` are the parts of
  uint32_t end;     // where the bracket ends in the source
  bool kept_open;   // a trailing comma in the source
  bool trailing;    // a comma behind the last item when they stand one a line
  bool no_middle;   // never the second way
  bool lone_comma;  // a comma behind a lone item too
  bool tuple;       // a lone item needs its comma on one line, too
} tvms_bracketed;

static inline void tvms_writer_put(tvms_writer *w, const char *text, size_t len) {
  tvms_strbuf_add(w->out, text, len);
}
static inline void tvms_writer_put_text(tvms_writer *w, const char *text) {
  tvms_strbuf_puts(w->out, text);
}
static inline void tvms_writer_put_char(tvms_writer *w, char c) {
  tvms_strbuf_putc(w->out, c);
}
static inline void tvms_writer_put_span(tvms_writer *w, tvms_span span) {
  tvms_strbuf_add(w->out, w->source + span.begin, span.end - span.begin);
}
static inline void tvms_writer_new_line(tvms_writer *w) {
  tvms_writer_put_text(w, w->line_end);
  w->line = w->out->len;
  tvms_strbuf_fill(w->out, ' ', w->indent);
}

// Writes a statement with the comments behind it; what follows it begins at `end`.
void tvms_format_statement(tvms_writer *w, tvms_ref ref, uint32_t end);

// Writes the statements of a block that `opener` begins (0: the file) with a header that ends
// at `header`, and the comments around them up to `end`.
void tvms_format_block(tvms_writer *w, tvms_ref list, uint32_t end, tvms_ref opener,
                       uint32_t header);

// Columns of the current line; continuation bytes of UTF-8 do not count.
uint32_t tvms_writer_columns(const tvms_writer *w);
static inline bool tvms_writer_fits(const tvms_writer *w, uint32_t limit) {
  size_t bytes = w->out->len - w->line;
  if (bytes <= limit) return true;
  // No character has more than 4 bytes: a line far too long is not counted again and again.
  return bytes / 4 <= limit && tvms_writer_columns(w) <= limit;
}

#endif
