// Operators by their spelling below T: `T.ptx.cp_async`, `T.ptx["ld.global.b32"]`, and the
// namespaces on the way to them.
#ifndef TVMS_PARSER_DEVICE_SPELLED_H
#define TVMS_PARSER_DEVICE_SPELLED_H

#include "parser/device/room.h"
#include "parser/eval/eval.h"

// An operator, or a namespace of operators, by its spelling below T; unknown if none has it.
tvms_eval_value tvms_spelled_operator(tvms_reader *reader, const char *text,
                                      size_t len);

// `T.ptx.cp_async`: attributes below an operator's namespace. Unknown after a report.
tvms_eval_value tvms_spelled_attribute(tvms_reader *reader, tvms_eval_value object,
                                       tvms_sym name, tvms_ref ref);

// `T.ptx["…"]`, the attribute of that name. Unknown after a report.
tvms_eval_value tvms_spelled_subscript(tvms_reader *reader, tvms_eval_value object,
                                       tvms_eval_value index, tvms_ref ref);

// The call of what a spelling stands for; unknown after a report.
tvms_eval_value tvms_spelled_call(tvms_reader *reader, tvms_eval_value callee,
                                  tvms_ref call);

#endif
