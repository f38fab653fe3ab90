// The arguments of a call bound to the parameters of a callable.
#ifndef TVMS_PARSER_EVAL_SIGNATURE_H
#define TVMS_PARSER_EVAL_SIGNATURE_H

#include "parser/eval/signature_text.h"

// Binds the arguments of CALL to `signature`; `what` names the callee in messages, and
// `traits` says how (DROPS_DTYPE, REGIONS). `args` and `refs` have room for every parameter.
// Returns false after a report or if an argument list is unknown.
bool tvms_signature_bind(tvms_reader *reader, const tvms_signature *signature,
                         const char *what, unsigned traits, tvms_ref call,
                         tvms_eval_value *args, tvms_ref *refs, uint64_t *given);

// The same with a signature text, for methods. `args` has room for TVMS_MAX_PARAMS.
bool tvms_signature_bind_method(tvms_reader *reader, const char *signature,
                                const char *what, tvms_ref call, tvms_eval_value *args);

// Hands a bound call to the handler of its row; while it works, messages can name its
// arguments.
tvms_eval_value tvms_row_answer(tvms_reader *reader, const tvms_call_args *call);

// Calls a row that stands at `ref` without parentheses, T.handle as an annotation: the first
// parameters get the values `given`, the others their defaults. Unknown after a report.
tvms_eval_value tvms_row_call_with(tvms_reader *reader, const tvms_row *row,
                                   const tvms_eval_value *given, uint32_t count,
                                   tvms_ref ref);

// The place of the name of a KEYWORD; of anything else, all of it.
tvms_span tvms_eval_keyword_span(const tvms_reader *reader, tvms_ref ref,
                                 const char *name);

// Reports that a call of `what` lacks one argument.
void tvms_eval_report_missing_argument(tvms_reader *reader, tvms_ref ref,
                                       const char *what, const char *name);

// The argument bound to the parameter `name`; None if the row has no such parameter.
tvms_eval_value tvms_args_get(tvms_reader *reader, const tvms_call_args *call,
                              tvms_sym name);

// Its place: of the argument, or of the call if a default stands in.
tvms_ref tvms_args_ref(tvms_reader *reader, const tvms_call_args *call, tvms_sym name);

// True if the call gave the parameter `name`.
bool tvms_args_given(tvms_reader *reader, const tvms_call_args *call, tvms_sym name);

#endif
