// Views: buffers over the data of another that show the same elements otherwise.
//
// A view is an alias (tvms_buffer_form) whose shape and layout follow from those of its parent.
// The parent's layout, or the row-major one that its shape implies, is taken apart into the
// parts that make up each dimension; the view keeps, permutes, splits or drops dimensions, and
// their parts go along:
//
//   A: (8, 16)   T.S[(8, 16) : (16, 1)]
//   A.permute(1, 0): (16, 8)          T.S[(16, 8) : (1, 16)]
//   A.tile(4, 4)[1, 2]: (4, 4)        T.S[(4, 4) : (16, 1)] + 72
//
// What no layout can say is refused with a reason (tvms_view_report): a dimension whose parts
// are shared with another, a symbolic extent that would have to be split. Each view is declared where it
// is made, by a DECL_BUFFER; the methods are those of TVM's python/tvm/tirx/_buffer_view.py.
#ifndef TVMS_PARSER_TILE_VIEW_H
#define TVMS_PARSER_TILE_VIEW_H

#include "parser/tile/room.h"
#include "parser/tir/tir.h"

enum { TVMS_VIEW_DIMS = 32 };

// Reports that a view is not possible, and why; the unknown value.
tvms_eval_value tvms_view_report(tvms_reader *reader, tvms_ref ref, const char *why);

// The form of a view: what it shares with its parent.
tvms_buffer_form tvms_view_form(const tvms_buffer *parent);

// A buffer of this form over the data of its parent, and the view of it as a value.
tvms_eval_value tvms_view_declare(tvms_reader *reader, const tvms_buffer_form *form,
                                  tvms_ref ref);

// A view in another shape; one dim may be -1. `dims` is changed, `layout` is None or that of
// the view. Unknown after a report.
tvms_eval_value tvms_view_as(tvms_reader *reader, const tvms_buffer *parent,
                             tvms_eval_value *dims, uint32_t count,
                             tvms_eval_value layout, tvms_ref ref);

// A view with the dimensions in the order `dims`, one index for each dimension of the
// parent.
tvms_eval_value tvms_view_permute(tvms_reader *reader, const tvms_buffer *parent,
                                  const uint32_t *dims, tvms_ref ref);

// The value of an integer constant. False if the node is not one.
bool tvms_view_constant(const tvms_node *node, int64_t *value);

// The tile layout in a layout: itself, or what a swizzle is around.
tvms_node *tvms_view_inner(tvms_node *layout);

// `inner` in the place of the tile layout of `layout`: a composed layout is made
// around it again.
tvms_node *tvms_view_rewrap(tvms_reader *reader, const tvms_node *layout,
                            tvms_node *inner);

// The parts of a layout that make up each dimension: `ends[i]` is where the parts of
// dimension i end. Parts are split where dimensions meet inside one. False if that cannot
// be told, or there are more than TVMS_VIEW_DIMS.
bool tvms_view_group(tvms_reader *reader, const tvms_node *tile, tvms_list shape,
                     tvms_list *parts, uint32_t *ends);

// Whether buffers have the method in the release that is read, and it makes a view.
bool tvms_view_has_method(const tvms_reader *reader, tvms_sym name);

// A.view(…), A.local(…), A.permute(…): a declared buffer over the data of another. Unknown
// after a report.
tvms_eval_value tvms_view_method(tvms_reader *reader, tvms_node *buffer, tvms_sym name,
                                 tvms_ref call);

#endif
