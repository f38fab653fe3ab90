// Edits of a source: replacements of pieces of its text, collected in any order and applied
// together. What rewrites text and keeps its layout (fix-its, migration) works through these.
//
// Offsets are always those of the source as it was read, so no edit needs to know of the
// others. Two that meet are settled by place:
// - an edit that begins inside of an earlier one is part of what that one replaced, and
//   goes;
// - insertions at one place are all made, in the order in which they were added;
// - blanks that are taken from the beginning of one line add up, and a replacement that
//   begins there, too, covers them.
// Fix-its are held to a stricter rule: see tvms_edits_add_fixes.
#ifndef TVMS_SUPPORT_EDITS_H
#define TVMS_SUPPORT_EDITS_H

#include "support/diag.h"
#include "support/strbuf.h"
#include "support/vec.h"

// Replaces the bytes of `span` by `text`.
typedef struct {
  tvms_span span;
  const char *text;
  uint32_t order;  // edits that were added before it
  bool unindents;  // takes blanks from the beginning of a line
} tvms_edit;

typedef struct {
  const tvms_source *source;
  tvms_memory *memory;
  TVMS_VEC(tvms_edit) list;
  uint32_t furthest;  // no edit ends behind it
} tvms_edits;

// An empty list of edits of `source`, which outlives it; it takes memory from `memory`
// until tvms_edits_fini.
void tvms_edits_init(tvms_edits *edits, tvms_memory *memory, const tvms_source *source);

// Frees the list. The texts of edits are not its own.
void tvms_edits_fini(tvms_edits *edits);

// Replaces `span` by `text`, which must stay until the edits are applied; "" removes, and
// an empty span inserts.
void tvms_edits_replace(tvms_edits *edits, tvms_span span, const char *text);

// Removes `span` with the blanks behind it, and its line when nothing else stands there.
// The span begins with the first letter of its line.
void tvms_edits_remove_line(tvms_edits *edits, tvms_span span);

// Takes up to `columns` blanks from every line that begins in `span`.
void tvms_edits_unindent(tvms_edits *edits, tvms_span span, uint32_t columns);

// Adds the fixes of every finding in the source that has safe ones only, or of every one if
// `unsafe`. Those of one
// finding go together: if one of them touches an edit of the list, all of them wait. (Two
// insertions at one place touch each other, since their order would be a guess.) Returns
// how many findings are mended. The findings should be sorted (tvms_diags_sort), so that
// the first of two rivals in the text wins.
uint32_t tvms_edits_add_fixes(tvms_edits *edits, const tvms_diags *diags, bool unsafe);

// Appends the text of the source with the edits to `out`. Sorts the list.
void tvms_edits_apply(tvms_edits *edits, tvms_strbuf *out);

#endif
