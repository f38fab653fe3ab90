// Calls whose keywords are attributes of the call, not arguments (since 0.27).
#ifndef TVMS_PARSER_DEVICE_ATTRIBUTED_H
#define TVMS_PARSER_DEVICE_ATTRIBUTED_H

#include "parser/eval/eval.h"

// A call whose keywords are attributes; unknown after a report.
tvms_eval_value tvms_attributed_call(tvms_reader *reader, const tvms_call_args *call);

#endif
