// Unary operators, calls that fold, limits of dtypes and vectors as TVM builds them.
#ifndef TVMS_IR_FOLD_OPS_H
#define TVMS_IR_FOLD_OPS_H

#include "ir/fold.h"

// T.min_value of a scalar dtype; reports one that has none.
tvms_node *TVMS_NULLABLE tvms_build_min_value(tvms_unit *unit, tvms_dtype dtype,
                                              tvms_span span);

// T.max_value; a uint64 past INT64_MAX is the call T.large_uint_imm.
tvms_node *TVMS_NULLABLE tvms_build_max_value(tvms_unit *unit, tvms_dtype dtype,
                                              tvms_span span);

// T.infinity; reports a dtype that has none.
tvms_node *TVMS_NULLABLE tvms_build_infinity(tvms_unit *unit, tvms_dtype dtype,
                                             tvms_span span);

// T.Not of a bool, folded; anything else is reported.
tvms_node *TVMS_NULLABLE tvms_build_not(tvms_unit *unit, tvms_node *a, tvms_span span);
// What holds where `condition` does not: its negation; for a number or a pointer, which TVM
// takes as conditions too, that it is zero.
tvms_node *tvms_build_negation(tvms_unit *unit, tvms_node *condition);

// Python's unary minus: `a * -1`.
tvms_node *TVMS_NULLABLE tvms_build_negative(tvms_unit *unit, tvms_node *a,
                                             tvms_span span);

// TVM's own negation: `0 - a`; constants are negated.
tvms_node *TVMS_NULLABLE tvms_build_neg(tvms_unit *unit, tvms_node *a, tvms_span span);

// T.abs: of integers a Select, of floats the operator fabs; constants fold, unsigned numbers are
// returned.
tvms_node *TVMS_NULLABLE tvms_build_abs(tvms_unit *unit, tvms_node *a, tvms_span span);

// shift_left, shift_right, bitwise_and, bitwise_or, bitwise_xor: calls of these names.
tvms_node *TVMS_NULLABLE tvms_build_bitwise(tvms_unit *unit, tvms_tir_opcode op,
                                            tvms_node *a, tvms_node *b, tvms_span span);

// The same, unfolded: T.BitwiseAnd and so on. Both sides must have one dtype.
tvms_node *TVMS_NULLABLE tvms_bitwise_new(tvms_unit *unit, tvms_tir_opcode op,
                                          tvms_node *a, tvms_node *b, tvms_span span);

// ~a: a call of bitwise_not; floats are reported.
tvms_node *TVMS_NULLABLE tvms_build_bitwise_not(tvms_unit *unit, tvms_node *a,
                                                tvms_span span);

// T.if_then_else: only one of the values is computed. Folds if the condition is a
// constant; the values are brought to one dtype.
tvms_node *TVMS_NULLABLE tvms_build_if_then_else(tvms_unit *unit, tvms_node *condition,
                                                 tvms_node *true_value,
                                                 tvms_node *false_value,
                                                 tvms_span span);

// T.likely; a constant is returned as it is.
tvms_node *tvms_build_likely(tvms_unit *unit, tvms_node *condition, tvms_span span);

// T.isnan: False for integers, which up to 0.24 bools are.
tvms_node *TVMS_NULLABLE tvms_build_isnan(tvms_unit *unit, tvms_node *a,
                                          tvms_span span);

// T.isinf: False for integers.
tvms_node *TVMS_NULLABLE tvms_build_isinf(tvms_unit *unit, tvms_node *a,
                                          tvms_span span);

// T.isfinite: True for integers.
tvms_node *TVMS_NULLABLE tvms_build_isfinite(tvms_unit *unit, tvms_node *a,
                                             tvms_span span);

// T.Select, unfolded: the condition is a bool of one lane or as many as the values, which have
// equal dtypes.
tvms_node *TVMS_NULLABLE tvms_build_select(tvms_unit *unit, tvms_node *condition,
                                           tvms_node *true_value,
                                           tvms_node *false_value, tvms_span span);

// `lanes` is a constant greater than 1 or a multiple of T.vscale().
tvms_node *TVMS_NULLABLE tvms_build_ramp(tvms_unit *unit, tvms_node *base,
                                         tvms_node *stride, tvms_node *lanes,
                                         tvms_span span);

// T.Broadcast of a scalar; a vector is reported.
tvms_node *TVMS_NULLABLE tvms_build_broadcast(tvms_unit *unit, tvms_node *value,
                                              tvms_node *lanes, tvms_span span);

// T.Shuffle: the elements of all vectors in a row, picked by `indices`. Lists are
// copied; vectors of several dtypes are reported.
tvms_node *TVMS_NULLABLE tvms_build_shuffle(tvms_unit *unit, tvms_node *const *vectors,
                                            uint32_t vector_count,
                                            tvms_node *const *indices,
                                            uint32_t index_count, tvms_span span);

#endif
