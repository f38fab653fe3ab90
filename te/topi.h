// Tensor operators as descriptions: the stages that TVM's topi makes, with its names.
//
// An operand is a tensor (BUFFER) or a scalar (any value of TIR). Every function returns
// NULL if an operand is NULL or an error was reported.
#ifndef TVMS_TE_TOPI_H
#define TVMS_TE_TOPI_H

#include "te/te.h"

// What one element becomes.
typedef tvms_node *(*tvms_te_unary)(tvms_te *te, tvms_node *x);
typedef tvms_node *(*tvms_te_binary)(tvms_te *te, tvms_node *a, tvms_node *b);

// A constant of `dtype`, real or integer.
tvms_node *tvms_te_const(tvms_te *te, tvms_dtype dtype, double value);

// A constant of the dtype in which indices count.
tvms_node *tvms_te_index(tvms_te *te, int64_t value);

// A call of an operator of TIR with one argument and its dtype.
tvms_node *tvms_te_call(tvms_te *te, tvms_tir_opcode op, tvms_node *x);

// floor, ceil, round or nearbyint of a real; constants fold, as TVM folds them.
tvms_node *TVMS_NULLABLE tvms_te_round(tvms_te *te, tvms_tir_opcode op,
                                       tvms_node *TVMS_NULLABLE x);

// `yes` where the condition holds, else `no`; both are computed. Nothing is folded.
tvms_node *TVMS_NULLABLE tvms_te_select(tvms_te *te, tvms_node *TVMS_NULLABLE condition,
                                        tvms_node *TVMS_NULLABLE yes,
                                        tvms_node *TVMS_NULLABLE no);

// One element of each for every element of `x`.
tvms_node *TVMS_NULLABLE tvms_te_map(tvms_te *te, tvms_node *TVMS_NULLABLE x,
                                     const char *name, const char *axis,
                                     tvms_te_unary element);

// Element by element, with broadcasting as in topi.
tvms_node *TVMS_NULLABLE tvms_te_broadcast(tvms_te *te, tvms_node *TVMS_NULLABLE a,
                                           tvms_node *TVMS_NULLABLE b, const char *name,
                                           tvms_te_binary element);
tvms_node *TVMS_NULLABLE tvms_te_add(tvms_te *te, tvms_node *a, tvms_node *b);
tvms_node *TVMS_NULLABLE tvms_te_subtract(tvms_te *te, tvms_node *a, tvms_node *b);
tvms_node *TVMS_NULLABLE tvms_te_multiply(tvms_te *te, tvms_node *a, tvms_node *b);
tvms_node *TVMS_NULLABLE tvms_te_divide(tvms_te *te, tvms_node *a, tvms_node *b);
tvms_node *TVMS_NULLABLE tvms_te_maximum(tvms_te *te, tvms_node *a, tvms_node *b);
tvms_node *TVMS_NULLABLE tvms_te_minimum(tvms_te *te, tvms_node *a, tvms_node *b);

// The shape that two of them broadcast to.
tvms_list tvms_te_broadcast_shape(tvms_te *te, tvms_list a, tvms_list b);

// The element of `tensor` that stands at `axes` of a broadcast result with this shape.
tvms_node *tvms_te_broadcast_load(tvms_te *te, tvms_node *tensor, tvms_list shape,
                                  tvms_node *const *axes);

// Reduction over the axes whose flag is set, one per dimension: NAME_red.
tvms_node *TVMS_NULLABLE tvms_te_reduce_axes(tvms_te *te, tvms_node *TVMS_NULLABLE x,
                                             const bool *reduced, bool keep,
                                             tvms_te_fold fold);

// The shape without the reduced axes, or with 1 in their place.
tvms_list tvms_te_reduced_shape(tvms_te *te, tvms_list shape, const bool *reduced,
                                bool keep);

// The same elements in row-major order under another shape.
tvms_node *TVMS_NULLABLE tvms_te_reshape(tvms_te *te, tvms_node *TVMS_NULLABLE x,
                                         tvms_list shape);

// The same, but runs of dimensions that have as many elements on both sides are told apart: with unknown sizes,
// indices that a position in all of the tensor hides: (1, 27, n, m) as (1, 3, 9, n, m) takes v * 9 + w, y, z.
tvms_node *TVMS_NULLABLE tvms_te_reshape_in_groups(tvms_te *te,
                                                   tvms_node *TVMS_NULLABLE x,
                                                   tvms_list shape);

// More elements before and behind, all `fill`; where no dimension gets any, a copy. A
// dimension that gets some is compared with both ends, or, with `padded_ends`, with those
// that get some: topi has one in Python and one in C++.
tvms_node *TVMS_NULLABLE tvms_te_pad(tvms_te *te, tvms_node *TVMS_NULLABLE x,
                                     const int64_t *before, const int64_t *after,
                                     tvms_node *fill, const char *name,
                                     const char *axis, bool padded_ends);

// The same with expressions for the sizes.
tvms_node *TVMS_NULLABLE tvms_te_pad_by(tvms_te *te, tvms_node *TVMS_NULLABLE x,
                                        tvms_node *const *before,
                                        tvms_node *const *after, tvms_node *fill,
                                        const char *name, const char *axis,
                                        bool padded_ends);

// How argmax and argmin combine two pairs of an index and a value: the better value wins,
// of equal ones the lesser index. For tvms_te_close_pair.
void tvms_te_pick_greater(tvms_te *te, tvms_node *const lhs[2], tvms_node *const rhs[2],
                          tvms_node *result[2]);

// The same for the lesser value.
void tvms_te_pick_less(tvms_te *te, tvms_node *const lhs[2], tvms_node *const rhs[2],
                       tvms_node *result[2]);

// A copy with another dtype; `name` and `axis` as topi.cast or topi.math.cast have them.
tvms_node *TVMS_NULLABLE tvms_te_cast(tvms_te *te, tvms_node *TVMS_NULLABLE x,
                                      tvms_dtype dtype, const char *name,
                                      const char *axis);

#endif
