// Normal spelling of the small things: numbers, strings, comments, operators.
#ifndef TVMS_FORMAT_TEXT_H
#define TVMS_FORMAT_TEXT_H

#include "format/walk.h"

// Writes an INT, FLOAT or IMAGINARY: letters in lower case, but for digits of hexadecimal
// numbers.
void tvms_format_number(tvms_writer *w, const tvms_surf *node);

// Writes one STRING: prefix in lower case without `u`, double quotes unless that takes more
// escapes. A string of several lines keeps its lines.
void tvms_format_string(tvms_writer *w, const tvms_surf *node);

// What a comment tells the formatter.
typedef enum {
  TVMS_DIRECTIVE_NONE,
  TVMS_DIRECTIVE_OFF,
  TVMS_DIRECTIVE_ON,
  TVMS_DIRECTIVE_SKIP,
} tvms_format_directive;

// Reads a comment of `len` bytes with its '#'; `fmt: skip` may stand behind what is for other
// tools.
tvms_format_directive tvms_format_directive_of(const char *text, uint32_t len);

// Writes a comment with a blank behind its '#', and none at its end.
void tvms_format_comment(tvms_writer *w, const tvms_comment *comment);

// An operator of one operand, with the blank that stands behind it if it is a word.
const char *tvms_format_prefix(tvms_surf_op op);

// The bytes of the name that begins at an offset of the source.
tvms_span tvms_format_name_from(const tvms_writer *w, uint32_t begin);

// The bytes of the name that ends at an offset of the source.
tvms_span tvms_format_name_to(const tvms_writer *w, uint32_t end);

// Columns that the next comment takes at the end of a line, if it begins in [begin, end) and
// counts: one that is written for another tool does not.
uint32_t tvms_format_behind(const tvms_writer *w, uint32_t begin, uint32_t end);

// Goes on to the comment behind the one that was written last.
void tvms_format_next_comment(tvms_writer *w);

// Makes comment `index` the next one to be written: those before it are left out, those from
// it on are written again.
void tvms_format_to_comment(tvms_writer *w, uint32_t index);

// Writes the next comment behind the text written so far, if it begins before `end` and ends
// a line of the source. Leaves the line unfinished.
void tvms_format_comments_behind(tvms_writer *w, uint32_t end);

// Writes the comments that begin before `end`, each on a line of its own, and begins the line
// behind them.
void tvms_format_comments_before(tvms_writer *w, uint32_t end);

#endif
