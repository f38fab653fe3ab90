// Calls that kept the arguments of 0.22: T.ptx.mma.legacy, T.ptx.ldmatrix_legacy,
// T.ptx.cp_async.legacy, and the names under which 0.27 has them. What stands before their
// arguments, or is passed as dtype=, is the data type of an element.
#ifndef TVMS_PARSER_DEVICE_LEGACY_H
#define TVMS_PARSER_DEVICE_LEGACY_H

#include "ir/tir_op.h"
#include "parser/eval/eval.h"

// A call in the spelling of the first releases, by its operator: `args` are *all_args,
// operator and dtype; unknown after a report.
tvms_eval_value tvms_legacy_call(tvms_reader *reader, tvms_tir_opcode op,
                                 const tvms_eval_value args[3], tvms_ref call);

#endif
