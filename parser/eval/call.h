// Calls: arguments bound to a signature, and who answers the call.
#ifndef TVMS_PARSER_EVAL_CALL_H
#define TVMS_PARSER_EVAL_CALL_H

#include "parser/eval/eval.h"
#include "parser/eval/internal.h"

// Calls `callee` with the arguments of the CALL node `call`.
tvms_eval_value tvms_eval_call(tvms_reader *reader, tvms_eval_value callee,
                               tvms_ref call);

// Binds the arguments of CALL to `signature`; `what` names the callee in messages.
// Returns false after a report or if an argument list is unknown.
bool tvms_signature_bind(tvms_reader *reader, const tvms_signature *signature,
                         const char *what, tvms_ref call, tvms_eval_value *args,
                         tvms_ref *refs, uint64_t *given);

// The place of the name of a KEYWORD; of anything else, all of it.
tvms_span tvms_eval_keyword_span(const tvms_reader *reader, tvms_ref ref,
                                 const char *name);

// Reports that a call of `what` lacks one argument.
void tvms_eval_report_missing_argument(tvms_reader *reader, tvms_ref ref,
                                       const char *what, const char *name);

// The parsed form of a signature that stands in our code: texts are told apart by address.
const tvms_signature *tvms_signature_of_method(tvms_reader *reader, const char *text);

// The same with a signature text, for methods. `args` has room for TVMS_MAX_PARAMS.
bool tvms_signature_bind_method(tvms_reader *reader, const char *signature,
                                const char *what, tvms_ref call, tvms_eval_value *args);

// Reports that the value cannot be called. Always unknown.
tvms_eval_value tvms_cannot_call(tvms_reader *reader, tvms_eval_value callee,
                                 tvms_ref call);

#endif
