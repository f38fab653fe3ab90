// Normal spelling of the small things: numbers, strings, comments, operators.
#ifndef TVMS_FORMAT_TEXT_H
#define TVMS_FORMAT_TEXT_H

#include "format/walk.h"

// Literals, names, operators and comments in normal spelling.
void tvms_format_number(tvms_writer *w, const tvms_surf *node);
void tvms_format_string(tvms_writer *w, const tvms_surf *node);
void tvms_format_comment(tvms_writer *w, const tvms_comment *comment);

// An operator of one operand, with the blank that stands behind it if it is a word.
const char *tvms_format_prefix(tvms_surf_op op);

// Bytes of a name that begins at, or ends at, an offset of the source.
tvms_span tvms_format_name_from(const tvms_writer *w, uint32_t begin);
tvms_span tvms_format_name_to(const tvms_writer *w, uint32_t end);

// Comments.
void tvms_format_next_comment(tvms_writer *w);
void tvms_format_to_comment(tvms_writer *w, uint32_t index);

// Writes comments that begin before `end`: those that end a source line behind the text
// written so far, the others on lines of their own. Leaves the last line unfinished.
void tvms_format_comments_behind(tvms_writer *w, uint32_t end);
void tvms_format_comments_before(tvms_writer *w, uint32_t end);

#endif
