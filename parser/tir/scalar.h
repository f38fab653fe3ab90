// Variables, constants and casts: T.int32(…), T.bool, T.handle, T.Var, T.IntImm …
#ifndef TVMS_PARSER_TIR_SCALAR_H
#define TVMS_PARSER_TIR_SCALAR_H

#include "parser/tir/tir.h"

// T.int32(), T.int32(x): a fresh variable (`size_var`: that is never negative), a constant or a
// cast. Unknown after a report.
tvms_eval_value tvms_tir_dtype_call(tvms_reader *reader, tvms_dtype dtype,
                                    tvms_eval_value value, bool size_var,
                                    tvms_ref call);

#endif
