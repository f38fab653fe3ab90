// The algebra of layouts (since 0.25): TILE_LAYOUT and COMPOSE_LAYOUT nodes, the rules of
// TVM's src/tirx/ir/layout. A tile layout maps a coordinate, split by the extents of its
// shard from the last to the first, to a sum of strides on each axis; a composed one
// swizzles where the memory axis ends up.
//
// Results are nodes of the unit. NULL is a refusal: `why` says what is wrong, or is NULL
// where the question has the answer "none".
#ifndef TVMS_ARITH_LAYOUT_H
#define TVMS_ARITH_LAYOUT_H

#include "arith/analyzer.h"

typedef struct {
  tvms_unit *unit;
  tvms_analyzer *analyzer;
  const char *TVMS_NULLABLE why;
} tvms_layouts;

// A work place for questions about layouts, with an analyzer of its own; close it
// with tvms_layouts_close.
tvms_layouts tvms_layouts_open(tvms_unit *unit);

// Frees the analyzer; nodes that were made stay with the unit.
void tvms_layouts_close(tvms_layouts *layouts);

// ---- Axes (ir/axes.def) ----

// False for an axis that only Axis.get has made.
bool tvms_layout_axis_known(tvms_sym axis);

// True for an axis that counts threads, CTAs or warps; false for axes of memory and
// unknown ones.
bool tvms_layout_axis_is_thread(tvms_sym axis);

// ---- Parts ----

// An iterator: `extent` steps of `stride` on `axis`. Without extent it is an offset.
tvms_node *tvms_layout_iter_new(tvms_unit *unit, tvms_node *TVMS_NULLABLE extent,
                                tvms_node *stride, tvms_sym axis);

// A TILE_LAYOUT of the lists as they are; nothing is checked or simplified.
tvms_node *tvms_tile_layout_new(tvms_unit *unit, tvms_list shard, tvms_list replica,
                                tvms_list offset);
// A COMPOSE_LAYOUT like `swizzle` around another tile layout.
tvms_node *tvms_layout_compose_with(tvms_unit *unit, const tvms_node *swizzle,
                                    tvms_node *TVMS_NULLABLE tile);
// One iterator over all of a shape, which the swizzle alone moves.
tvms_node *TVMS_NULLABLE tvms_layout_identity(tvms_layouts *layouts, tvms_list shape);

// ---- Questions ----

// At most one iterator over memory, with stride 1, and nothing else.
bool tvms_layout_is_trivial(const tvms_node *tile);
// The number of coordinates (of an axis, or of all), and how far they reach (on an axis, or
// on all of memory: axis 0).
tvms_node *TVMS_NULLABLE tvms_layout_size(tvms_layouts *layouts, const tvms_node *tile,
                                          tvms_sym axis);

// How far the layout reaches: one more than its greatest place on `axis`, or in all
// of memory for axis 0. NULL with `why`.
tvms_node *TVMS_NULLABLE tvms_layout_span(tvms_layouts *layouts, const tvms_node *tile,
                                          tvms_sym axis);
// False if the scopes of the thread axes do not form one chain; `why` is set. The ranks
// count from the widest scope; both are -1 without thread axes.
TVMS_NODISCARD bool tvms_layout_scopes(tvms_layouts *layouts, const tvms_node *tile,
                                       int *inner, int *outer);

// ---- Operations ----

// What one thread holds: the parts of a tile layout on axes of memory. How many elements
// these are, and how far they reach; false with `why`.
tvms_node *tvms_layout_in_memory(tvms_layouts *layouts, const tvms_node *tile);

// How many elements of memory a thread holds, and how far they reach. False with
// `why`.
TVMS_NODISCARD bool tvms_layout_storage(tvms_layouts *layouts, const tvms_node *tile,
                                        tvms_node **size, tvms_node **span);

// Dense elements in the order of `shape`.
tvms_node *tvms_layout_row_major(tvms_unit *unit, tvms_list shape);

// Without iterators of extent 1 and offsets of 0; neighbours that go on are one.
tvms_node *TVMS_NULLABLE tvms_layout_canonical(tvms_layouts *layouts,
                                               tvms_node *layout);

// The shard of a tile layout, split so that it follows `shape`: dimension i is made of the
// iterators [ends[i - 1], ends[i]). `ends` has room for the shape; NULL without a `why`
// never comes.
tvms_node *TVMS_NULLABLE tvms_layout_group(tvms_layouts *layouts, const tvms_node *tile,
                                           tvms_list shape, uint32_t *ends);

// Where a coordinate goes: an iterator without extent for each axis. One coordinate is
// split by the extents of the shard; several are as many as those, or follow `shape`.
TVMS_NODISCARD bool tvms_layout_apply(tvms_layouts *layouts, const tvms_node *tile,
                                      tvms_list coord, tvms_list *result);
// `coord`, split by `extents` from the last to the first.
TVMS_NODISCARD bool tvms_layout_split_coord(tvms_layouts *layouts, tvms_node *coord,
                                            tvms_list extents, tvms_node **parts);
// Row-major coordinates of `shape` as one.
tvms_node *TVMS_NULLABLE tvms_layout_flatten_coord(tvms_layouts *layouts,
                                                   tvms_list coord, tvms_list shape);

#endif
