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

// An operation of two operands.
static inline bool tvms_format_is_operation(const tvms_surf *node) {
  return node->kind == TVMS_SURF_BINARY || node->kind == TVMS_SURF_BOOL;
}

// A link of a chain of names, calls and subscripts.
static inline bool tvms_format_is_postfix(const tvms_surf *node) {
  return node->kind == TVMS_SURF_CALL || node->kind == TVMS_SURF_ATTRIBUTE
         || node->kind == TVMS_SURF_SUBSCRIPT;
}

// Writes a node where line breaks are allowed (inside brackets), so that `tail` more
// columns fit behind it.
void tvms_format_item(tvms_writer *w, tvms_ref ref, uint32_t tail);

#endif
