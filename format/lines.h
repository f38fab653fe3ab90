// Lines of formatted text: blank lines, comments between statements, lines that are kept
// as they are. What the statements of format.c are written with.
#ifndef TVMS_FORMAT_LINES_H
#define TVMS_FORMAT_LINES_H

#include "format/text.h"
#include "format/walk.h"

// Where a statement stands: what is before it in its block (0: nothing), and what opened
// the block (0: the file).
typedef struct {
  tvms_ref before;
  tvms_ref opener;
} tvms_setting;

// Number of line ends between two places.
uint32_t tvms_format_lines_between(const tvms_writer *w, uint32_t from, uint32_t to);

// Blank lines of the source before `begin`: a run of white space stands there.
uint32_t tvms_format_blank_before(const tvms_writer *w, uint32_t begin);

// A function or a class.
bool tvms_format_is_definition(const tvms_surf *node);

// Blank lines to write before a statement, or before the comments that lead it; `begin`
// is where the first of them stands in the source.
uint32_t tvms_format_blank_lines_before(const tvms_writer *w, tvms_setting at,
                                        tvms_ref ref, uint32_t begin);

// Begins a line with the writer's indentation.
void tvms_format_start_line(tvms_writer *w);

// Ends the line as it stands, without looking at comments.
void tvms_format_end_line(tvms_writer *w);

// Writes blank lines.
void tvms_format_put_blank(tvms_writer *w, uint32_t count);

// Writes the next comment on a line of its own, with the blank lines before it.
void tvms_format_own_line(tvms_writer *w, uint32_t blank);

// Ends a line with the comment that ends it in the source, which begins before `end`.
void tvms_format_finish_line(tvms_writer *w, uint32_t from, uint32_t end);

// Comments inside a statement that its expressions had no place for.
void tvms_format_leftovers(tvms_writer *w, uint32_t end);

// Comments at the end of a block: those before `end` that stand at least in `column`.
void tvms_format_comments_at_end(tvms_writer *w, uint32_t end, uint32_t column);

// Whether a comment says `what`.
bool tvms_format_comment_is(const tvms_writer *w, uint32_t index,
                            tvms_format_directive what);

// Copies source lines; `begin` is the first byte of text in column `column`, and lines
// that are indented as much move to the writer's indentation.
void tvms_format_copy_lines(tvms_writer *w, uint32_t begin, uint32_t end,
                            uint32_t column);

// Whether lines can be copied: those with a string over several lines must not move.
bool tvms_format_may_copy_lines(const tvms_writer *w, uint32_t begin, uint32_t end);

// The end of the region that `# fmt: off` at the next comment opens: the line of the
// `# fmt: on` before `end` in its column, or `end`.
uint32_t tvms_format_kept_until(const tvms_writer *w, uint32_t end);

// The end of the lines of a function that is kept, with the comments that end it; what is
// behind it begins at `end`.
uint32_t tvms_format_kept_end(const tvms_writer *w, tvms_ref ref, uint32_t end);

// Whether `# fmt: skip` stands behind a statement that can be copied.
bool tvms_format_is_kept_statement(const tvms_writer *w, uint32_t begin, uint32_t end);

#endif
