// The edits that make a program smaller: which there are in a text, and making some of them.
#ifndef TVMS_DRIVER_REDUCE_EDITS_H
#define TVMS_DRIVER_REDUCE_EDITS_H

#include "grammar/surface.h"
#include "support/strbuf.h"

typedef enum {
  TVMS_REDUCE_REMOVE,      // a statement or a definition
  TVMS_REDUCE_UNWRAP,      // a compound statement: its body stays
  TVMS_REDUCE_SUBSTITUTE,  // a binding: one of its operands for its uses
  TVMS_REDUCE_PART,        // an expression: one of its parts
  TVMS_REDUCE_ITEM,        // an argument or an item
  TVMS_REDUCE_CONSTANT,    // an expression: a constant
  TVMS_REDUCE_EMPTY,       // a statement: one that does nothing
  TVMS_REDUCE_NUMBER,      // a number, wherever it stands: a smaller one
  TVMS_REDUCE_KIND_COUNT,
} tvms_reduce_kind;

// Makes edits `from` to `from + count` of a kind in the text of `surface`, and appends the text
// with them to `out`. Returns how many edits of that kind there are.
uint32_t tvms_reduce_edit(const tvms_surface *surface, tvms_reduce_kind kind,
                          uint32_t from, uint32_t count, tvms_strbuf *out);

#endif
