// From evaluated values to values of Relax.
#ifndef TVMS_PARSER_RELAX_CONVERT_H
#define TVMS_PARSER_RELAX_CONVERT_H

#include "parser/eval/eval.h"
#include "parser/relax/state.h"

// A value of Relax from whatever can be one. NULL after a report or if unknown.
tvms_node *TVMS_NULLABLE tvms_relax_to_value(tvms_reader *reader, tvms_eval_value value,
                                             tvms_ref ref);

// The same where the place itself says whether `True` is a bool (`bools`) or the integer 1.
// In a list it is 1: TVM prints tuples, so a list was written by hand.
tvms_node *TVMS_NULLABLE tvms_relax_to_value_as(tvms_reader *reader,
                                                tvms_eval_value value, bool bools,
                                                tvms_ref ref);

// Whether `True` is a bool among the arguments that R.print and R.tuple hand to C++ as they
// are: since 0.26, and in what TVM prints.
bool tvms_relax_hands_bools(const tvms_reader *reader);

// A scalar: as tvms_relax_to_value, but a bool stays one since 0.26, and a float was a float32
// before. NULL after a report or if unknown.
tvms_node *TVMS_NULLABLE tvms_relax_to_prim(tvms_reader *reader, tvms_eval_value value,
                                            tvms_ref ref);

// A scalar of TIR as a value of Relax, a PRIM_VALUE.
tvms_node *tvms_relax_prim(tvms_reader *reader, tvms_node *value);

// A shape: tuple or list of dimensions, or a value that is one. NULL after a report or if
// unknown.
tvms_node *TVMS_NULLABLE tvms_relax_to_shape(tvms_reader *reader, tvms_eval_value value,
                                             tvms_ref ref);

// Adds to `diag` that `(x)` is not a tuple, if that is how `ref` is written; says whether.
bool tvms_relax_explain_parens(tvms_reader *reader, tvms_diag *diag, tvms_ref ref);

// One dimension: int64, a TIR expression, or text in a signature. NULL after a report or if
// unknown.
tvms_node *TVMS_NULLABLE tvms_relax_to_dim(tvms_reader *reader, tvms_eval_value value,
                                           tvms_ref ref);

// Any scalar of TIR. NULL after a report, that `what` must be `expected`, or if unknown.
tvms_node *TVMS_NULLABLE tvms_relax_to_scalar(tvms_reader *reader,
                                              tvms_eval_value value, tvms_ref ref,
                                              const char *what, const char *expected);

// A TUPLE of values of Relax, in the function being read.
tvms_node *tvms_relax_tuple(tvms_reader *reader, tvms_node *const *fields,
                            uint32_t count, tvms_span span);

// A 0-dimensional constant tensor of a number, with the dtype given or (void) that of the
// number. NULL after a report.
tvms_node *TVMS_NULLABLE tvms_relax_const(tvms_reader *reader, tvms_eval_value value,
                                          tvms_dtype dtype, tvms_ref ref);

// True for nodes that are values of Relax: operators on them build calls of Relax.
bool tvms_relax_is_expr(const tvms_node *node);

#endif
