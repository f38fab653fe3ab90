// Orders of axes as text, and what is done with them: how ConvertLayout speaks of values.
//
// The axes that a value has in the source are A, B, C …; a value whose order is "ADBC" holds what
// was axis D as its second. A number with a small letter is a block that was split off an axis:
// in "ABCD4b" axis B has a quarter of its length and the last axis has the rest. Texts of
// attributes ("NCHW4c") are of the same form with letters of their own.
#ifndef TVMS_PASSES_RELAX_GRAPH_LAYOUT_H
#define TVMS_PASSES_RELAX_GRAPH_LAYOUT_H

#include "ir/node_map.h"
#include "structinfo/dims.h"

enum { TVMS_LAYOUT_SIZE = 64, TVMS_LAYOUT_AXES = 26 };

// A value, to be copied. Empty: that of a scalar.
typedef struct {
  char text[TVMS_LAYOUT_SIZE];
} tvms_layout;

// ---- Orders of one tensor ----

// "ABC…" for so many axes, at most TVMS_LAYOUT_AXES.
tvms_layout tvms_relax_layout_initial(int64_t ndim);

// The text as a layout. False if it is none: too long, a letter twice, a block without number.
bool tvms_relax_layout_parse(const char *text, size_t len, tvms_layout *layout);

// Number of axes, blocks included.
uint32_t tvms_relax_layout_ndim(const tvms_layout *layout);

// Is an axis split?
bool tvms_relax_layout_has_blocks(const tvms_layout *layout);

// Is it the same order?
bool tvms_relax_layout_same(const tvms_layout *a, const tvms_layout *b);

// The letter of axis `i`; a small one is a block.
char tvms_relax_layout_letter(const tvms_layout *layout, uint32_t i);

// The place of the axis with this letter, or -1.
int tvms_relax_layout_find(const tvms_layout *layout, char letter);

// `input` with its axes moved as those of `src` were to become `dst`. All three have one number of
// axes; false if they do not, or `dst` has an axis that `src` lacks.
bool tvms_relax_layout_move(const tvms_layout *input, const tvms_layout *src,
                            const tvms_layout *dst, tvms_layout *result);

// The same for any characters, one per axis of `src`.
bool tvms_relax_layout_move_text(const char *input, const tvms_layout *src,
                                 const tvms_layout *dst, char result[TVMS_LAYOUT_SIZE]);

// `desired`, which is written in the letters of `src`, in the letters of `ref`; blocks stay
// blocks. False if it has a letter that `src` lacks.
bool tvms_relax_layout_translate(const char *ref, const tvms_layout *src,
                                 const tvms_layout *desired,
                                 char result[TVMS_LAYOUT_SIZE]);

// Where the axis is that was number `axis` (negative: from the end) in the initial order; -1 if
// there is none.
int tvms_relax_layout_axis(const tvms_layout *layout, int64_t axis);

// `src` for a tensor with more axes in front, as broadcasting aligns them. False if `src` has more
// axes than that.
bool tvms_relax_layout_widen(const tvms_layout *src, int64_t ndim, tvms_layout *result);

// The order of the last `ndim` axes of `src`, for a tensor that is broadcast to it. False if one of the
// others stands behind one of them.
bool tvms_relax_layout_narrow(const tvms_layout *src, int64_t ndim,
                              tvms_layout *result);

// Can a tensor of this shape go from one order to the other without padding?
bool tvms_relax_layout_divides(const tvms_layout *src, const tvms_layout *dst,
                               tvms_list shape);

// The INDEX_MAP that takes an index in the order `src` to one in the order `dst`; NULL if an
// axis is missing.
tvms_node *TVMS_NULLABLE tvms_relax_layout_index_map(tvms_unit *unit,
                                                     const tvms_layout *src,
                                                     const tvms_layout *dst);

// ---- Orders of values: OBJECT_STR, OBJECT_NONE where it is not known, OBJECT_ARRAY of a tuple ----

// As a node of the unit.
tvms_node *tvms_relax_layout_node(tvms_unit *unit, const tvms_layout *layout);

// The order of a tensor; false for what is not known, and for tuples.
bool tvms_relax_layout_of_node(const tvms_node *node, tvms_layout *layout);

// The initial order of everything in a type.
tvms_node *tvms_relax_layout_of_type(tvms_unit *unit, const tvms_node *type);

// Are the orders equal, part by part?
bool tvms_relax_layout_same_node(const tvms_node *a, const tvms_node *b);

// Is the order of a part not known?
bool tvms_relax_layout_unknown(const tvms_node *node);

#endif
