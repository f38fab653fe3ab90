// Signatures: the parameters of a callable, and the arguments of a call bound to them.
//
// A signature is written as in Python, "start, stop=None, *, annotations=None", and parsed
// at first use. Defaults are None, True, False, numbers and strings in single quotes.
#ifndef TVMS_PARSER_EVAL_SIGNATURE_H
#define TVMS_PARSER_EVAL_SIGNATURE_H

#include "parser/eval/row.h"

typedef enum {
  TVMS_PARAM_PLAIN,
  TVMS_PARAM_KEYWORD_ONLY,
  TVMS_PARAM_REST,      // *args
  TVMS_PARAM_KEYWORDS,  // **kwargs
} tvms_param_kind;

typedef struct {
  tvms_sym name;
  tvms_param_kind kind;
  bool required;
  tvms_eval_value value;  // the default
} tvms_param;

enum { TVMS_MAX_PARAMS = 32 };

typedef struct tvms_signature {
  uint32_t count;
  uint32_t plain;    // number of plain parameters: the first ones
  int32_t rest;      // index of *args, -1: none
  int32_t keywords;  // index of **kwargs, -1: none
  tvms_param params[];
} tvms_signature;

// A signature of a method, known by the address of its text.
typedef struct {
  const char *text;
  const tvms_signature *signature;
} tvms_known_signature;

// Parses a signature text into reader->kept.
const tvms_signature *tvms_signature_parse(tvms_reader *reader, const char *text);

// The parsed signature of a row.
const tvms_signature *tvms_row_signature(tvms_reader *reader, const tvms_row *row);

// The parsed form of a signature that stands in our code: texts are told apart by address.
const tvms_signature *tvms_signature_of_method(tvms_reader *reader, const char *text);

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
