// Functions of the module as bodies see them: what they are before they are read, and
// calls of them in a PrimFunc.
#ifndef TVMS_PARSER_TIR_MEMBER_H
#define TVMS_PARSER_TIR_MEMBER_H

#include "parser/tir/tir.h"

// The definition of a member of the module being read; NULL: it has none.
const tvms_def *TVMS_NULLABLE tvms_definition_find(const tvms_reader *reader,
                                                   const tvms_member *member);

// Dtype that a call of the PrimFunc has: its return type, void without one.
tvms_dtype tvms_definition_declared_return(tvms_reader *reader,
                                           const tvms_member *member);

// A call of a function of the module (`cls.f(…)`) inside a PrimFunc; unknown after a report.
tvms_eval_value tvms_tir_call_global(tvms_reader *reader, tvms_node *global_var,
                                     tvms_ref call);

// tvm.tir.call_tir(cls.f, …); unknown after a report.
tvms_eval_value tvms_tir_call_tir(tvms_reader *reader, tvms_ref call);

#endif
