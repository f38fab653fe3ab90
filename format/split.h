// What the files that write an expression over several lines share.
#ifndef TVMS_FORMAT_SPLIT_H
#define TVMS_FORMAT_SPLIT_H

#include "format/walk.h"

// A state of the text to go back to.
typedef struct {
  size_t len;
  size_t line;
} tvms_point;

static inline tvms_point tvms_writer_mark(const tvms_writer *w) {
  return (tvms_point){w->out->len, w->line};
}
static inline void tvms_writer_rewind(tvms_writer *w, tvms_point to) {
  w->out->len = to.len;
  w->line = to.line;
}
static inline void tvms_writer_indent(tvms_writer *w, int columns) {
  w->indent += (uint32_t)columns;
}

// ---- format/split.c ----

// Tries the rest of the line, `tail` columns of which must stay free; what was written is
// taken back if it does not fit.
TVMS_NODISCARD bool tvms_format_try_flat(tvms_writer *w, tvms_ref ref, bool bare,
                                         uint32_t tail);
// Writes flat however long it gets.
void tvms_format_forced(tvms_writer *w, tvms_ref ref, bool bare);
// Writes over several lines; `bare`: without the parentheses around the whole.
void tvms_format_split(tvms_writer *w, tvms_ref ref, bool bare, uint32_t tail);
// As tvms_format_item, without the parentheses around the whole.
void tvms_format_bare(tvms_writer *w, tvms_ref ref, uint32_t tail);

// The rank of an operator: a chain of one rank is split at each of its operators.
int tvms_format_precedence(tvms_surf_op op);
static inline bool tvms_format_is_operation(const tvms_surf *node) {
  return node->kind == TVMS_SURF_BINARY || node->kind == TVMS_SURF_BOOL;
}

// ---- format/brackets.c ----

static inline bool tvms_format_is_postfix(const tvms_surf *node) {
  return node->kind == TVMS_SURF_CALL || node->kind == TVMS_SURF_ATTRIBUTE
         || node->kind == TVMS_SURF_SUBSCRIPT;
}
// True if the trailer has a bracket with something in it.
bool tvms_format_is_full(const tvms_writer *w, tvms_ref ref);
// The bracket of a call, a subscript or a display.
tvms_bracketed tvms_format_brackets_of(const tvms_writer *w, tvms_ref ref);
// Pushes the trailers of a chain to `spine`, last one first; returns what they hang on.
tvms_ref tvms_format_chain_of(tvms_writer *w, tvms_ref ref);
// The last trailer from `base` on with a full bracket, as an index of the spine, or `none`.
uint32_t tvms_format_last_full(const tvms_writer *w, uint32_t base, uint32_t none);
// Writes what stands before a bracket on one line, if it and the bracket fit there.
TVMS_NODISCARD bool tvms_format_try_head(tvms_writer *w, tvms_ref head);
void tvms_format_split_postfix(tvms_writer *w, tvms_ref ref, uint32_t tail);

// Where the parenthesis ends that closes behind `end`: over white space and comments.
uint32_t tvms_format_closing_columns(const tvms_writer *w, uint32_t end);
// "(", the node without its own parentheses on lines of its own, ")".
void tvms_format_in_parens(tvms_writer *w, tvms_ref ref);
// Comments before the end of a bracket, each on its own line, after the last item.
void tvms_format_comments_to(tvms_writer *w, uint32_t end);

#endif
