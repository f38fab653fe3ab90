// Brackets over several lines, and chains of names, calls and subscripts, which are split at
// their last bracket.
#ifndef TVMS_FORMAT_BRACKETS_H
#define TVMS_FORMAT_BRACKETS_H

#include "format/split.h"
#include "format/walk.h"

// True if the trailer has a bracket with something in it.
bool tvms_format_is_full(const tvms_writer *w, tvms_ref ref);

// The bracket of a call, a subscript or a display.
tvms_bracketed tvms_format_brackets_of(const tvms_writer *w, tvms_ref ref);

// Pushes the trailers of a chain to `spine`, last one first; returns what they hang on.
tvms_ref tvms_format_chain_of(tvms_writer *w, tvms_ref ref);

// The last trailer from `base` on with a full bracket, as an index of the spine, or `none`.
uint32_t tvms_format_last_full(const tvms_writer *w, uint32_t base, uint32_t none);

// Writes what stands before a bracket on one line. False, with nothing written, if it and
// the bracket do not fit there.
TVMS_NODISCARD bool tvms_format_try_head(tvms_writer *w, tvms_ref head);

// True if lines may begin with several attributes of a chain, those behind a bracket:
// `a.view(x).reshape(y).astype(z)`.
TVMS_NODISCARD bool tvms_format_is_fluent(tvms_writer *w, tvms_ref ref);

// Writes a chain of names, calls and subscripts over several lines, from left to right: a bracket
// is split if what stands behind it, up to where the next one opens, does not fit the line. `tail`
// more columns fit behind the chain. Within brackets, each line of a fluent one is an attribute.
void tvms_format_split_postfix(tvms_writer *w, tvms_ref ref, uint32_t tail);

// Columns of what hangs at the end of a chain: an attribute, or an empty bracket.
uint32_t tvms_format_trailer_columns(const tvms_writer *w, tvms_ref ref);

// Where the parenthesis ends that closes behind `end`: over white space and comments.
uint32_t tvms_format_closing_columns(const tvms_writer *w, uint32_t end);

// Writes what hangs at the end of a chain: an attribute, or a bracket that leaves `tail` columns
// free behind it.
void tvms_format_trailer(tvms_writer *w, tvms_ref ref, uint32_t tail);

// "(", the node without its own parentheses on lines of its own, ")".
void tvms_format_in_parens(tvms_writer *w, tvms_ref ref);

// Comments before the end of a bracket, each on its own line, after the last item.
void tvms_format_comments_to(tvms_writer *w, uint32_t end);

// Writes a bracket and its items in the first of its three ways (tvms_bracketed) that leaves
// `tail` columns free behind it.
void tvms_format_brackets(tvms_writer *w, const tvms_bracketed *brackets,
                          uint32_t tail);

#endif
