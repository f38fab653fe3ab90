// Types as the prototype of 2022 spelled them: `R.Tensor[(n, k), "f32"]`, the shape of
// `R.match_shape`, `R.call_tir(f, args, shape, dtype=…)`.
#ifndef TVMS_PARSER_RELAX_PROTOTYPE_H
#define TVMS_PARSER_RELAX_PROTOTYPE_H

#include "parser/eval/eval.h"

// The type that `R.match_shape(value, shape)` casts to; unknown after a report.
tvms_eval_value tvms_prototype_shape(tvms_reader *reader, tvms_node *value,
                                     tvms_eval_value shape, tvms_ref ref);

// The parts of the index in `R.Tensor[shape, dtype]`; *dtype 0: not given. False: it has
// more.
bool tvms_prototype_parts(const tvms_reader *reader, tvms_ref index, tvms_ref *shape,
                          tvms_ref *dtype);

// The type `R.Tensor[shape, dtype]`, with a report that it is spelled so; `_` leaves a part
// open.
tvms_eval_value tvms_prototype_tensor(tvms_reader *reader, tvms_ref subscript);

// The type of the result that `shape, dtype=…` of a call_tir says, with a report that it is
// spelled so.
tvms_eval_value tvms_prototype_result(tvms_reader *reader, tvms_eval_value shape,
                                      tvms_ref shape_ref, tvms_eval_value dtype,
                                      tvms_ref dtype_ref);

#endif
