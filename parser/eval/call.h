// Calls: who answers.
#ifndef TVMS_PARSER_EVAL_CALL_H
#define TVMS_PARSER_EVAL_CALL_H

#include "parser/eval/eval.h"

// Calls `callee` with the arguments of the CALL node `call`.
tvms_eval_value tvms_eval_call(tvms_reader *reader, tvms_eval_value callee,
                               tvms_ref call);

// Reports that the value cannot be called. Always unknown.
tvms_eval_value tvms_eval_report_cannot_call(tvms_reader *reader,
                                             tvms_eval_value callee, tvms_ref call);

#endif
