// Building expressions as TVM builds them: operands promoted to a common dtype and
// constants folded at once, never reordered (docs/language.md, "Values").
//
// Every function takes nodes of unit->dialect and returns NULL after it has reported a
// diagnostic at `span`; the caller treats NULL as "error already reported". The result
// may be one of the operands: folding `x + 0` gives `x` itself.
#ifndef TVMS_IR_FOLD_H
#define TVMS_IR_FOLD_H

#include "ir/build.h"

// ---- Constants, checked against the range of the dtype; vectors become broadcasts ----

// A constant of an integer dtype or bool. Values out of its range are reported.
tvms_node *TVMS_NULLABLE tvms_build_int(tvms_unit *unit, tvms_dtype dtype,
                                        int64_t value, tvms_span span);

// A constant; of an integer dtype the whole part. Values out of its range are reported.
tvms_node *TVMS_NULLABLE tvms_build_float(tvms_unit *unit, tvms_dtype dtype,
                                          double value, tvms_span span);

// An unsigned value; past INT64_MAX it becomes the call `T.large_uint_imm`, as in TVM.
tvms_node *TVMS_NULLABLE tvms_build_uint(tvms_unit *unit, tvms_dtype dtype,
                                         uint64_t value, tvms_span span);

// A Python literal where an expression is expected: int32 if it fits, else int64.
tvms_node *tvms_build_literal_int(tvms_unit *unit, int64_t value, tvms_span span);

// ---- Promotion and casts ----

// Brings two operands to one dtype: broadcasts scalars to vectors, then casts. Returns
// false after a report.
TVMS_NODISCARD bool tvms_build_match_dtypes(tvms_unit *unit, tvms_node **a,
                                            tvms_node **b, tvms_span span);

// T.cast, x.astype: no node for an equal dtype, constants convert in place, casts of
// broadcasts and ramps go inside.
tvms_node *TVMS_NULLABLE tvms_build_cast(tvms_unit *unit, tvms_dtype dtype,
                                         tvms_node *value, tvms_span span);

// ---- Operators ----

// ADD … OR as the C++ operators of TVM: no check of `int / int`.
tvms_node *TVMS_NULLABLE tvms_build_binary(tvms_unit *unit, tvms_node_kind kind,
                                           tvms_node *a, tvms_node *b, tvms_span span);

// Python's `/`: signed integers on both sides are an error ("ambiguous").
tvms_node *TVMS_NULLABLE tvms_build_true_div(tvms_unit *unit, tvms_node *a,
                                             tvms_node *b, tvms_span span);

// T.truncdiv: integers only.
tvms_node *TVMS_NULLABLE tvms_build_trunc_div(tvms_unit *unit, tvms_node *a,
                                              tvms_node *b, tvms_span span);

// T.ceildiv: `(a + b - 1) // b`.
tvms_node *TVMS_NULLABLE tvms_build_ceil_div(tvms_unit *unit, tvms_node *a,
                                             tvms_node *b, tvms_span span);

// ---- The capitalised constructors: T.Add, T.Select, T.Ramp … never fold, but check ----

// T.Add and so on by kind; NOT takes no `b`.
tvms_node *TVMS_NULLABLE tvms_build_node(tvms_unit *unit, tvms_node_kind kind,
                                         tvms_node *a, tvms_node *TVMS_NULLABLE b,
                                         tvms_span span);

// ---- For the printer ----

// True if building `node` (a binary operator) again from its own operands gives a node
// of the same kind with the same two operands: then it may be written with an operator.
// Reports nothing and keeps no nodes.
bool tvms_build_is_possible(tvms_unit *unit, const tvms_node *node);

#endif
