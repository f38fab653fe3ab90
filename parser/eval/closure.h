// Functions that the text itself defines: lambdas and macros.
#ifndef TVMS_PARSER_EVAL_CLOSURE_H
#define TVMS_PARSER_EVAL_CLOSURE_H

#include "parser/eval/capture.h"
#include "parser/eval/eval.h"

struct tvms_closure {
  tvms_ref ref;                                   // the LAMBDA or DEF node
  const tvms_signature *TVMS_NULLABLE signature;  // NULL: more parameters than we take
  tvms_cells cells;                               // LAMBDA: of names around it
  tvms_sym name;
  const tvms_visible *visible;  // what it sees of the scopes that were open around it
  uint32_t *calls;              // how often a macro was expanded
};

// What is visible now, fixed: scopes opened later do not belong to it.
const tvms_visible *tvms_closure_capture(tvms_reader *reader);

// The signature of a DEF or LAMBDA with these `params`; its defaults are evaluated now. NULL
// after a report: there are too many.
const tvms_signature *TVMS_NULLABLE tvms_closure_signature(tvms_reader *reader,
                                                           tvms_ref params,
                                                           tvms_ref ref);

// Opens a scope that sees `captured` and itself; `inner` holds the list until
// tvms_closure_leave gets back what this returns.
const tvms_visible *tvms_closure_enter(tvms_reader *reader,
                                       const tvms_visible *captured,
                                       tvms_evaluator evaluator, tvms_visible *inner);

// Closes the scope; `saved` is what was visible before.
void tvms_closure_leave(tvms_reader *reader, const tvms_visible *saved);

// A macro for the DEF at `ref`, of the kind that its decorator says.
tvms_eval_value tvms_closure_make_macro(tvms_reader *reader, tvms_ref ref,
                                        const tvms_decoration *decoration);

// Calls a lambda with the arguments of the CALL node.
tvms_eval_value tvms_closure_call(tvms_reader *reader, tvms_eval_value lambda,
                                  tvms_ref call);

// Expands a macro: its statements are read in place. The value is what it returns.
tvms_eval_value tvms_closure_call_macro(tvms_reader *reader, tvms_eval_value macro,
                                        tvms_ref call);

// Calls a lambda with values; `ref` is the place to blame, `evaluator` evaluates its body.
tvms_eval_value tvms_closure_call_lambda(tvms_reader *reader, tvms_eval_value lambda,
                                         tvms_evaluator evaluator,
                                         const tvms_eval_value *args, uint32_t count,
                                         tvms_ref ref);

// A value for the LAMBDA at `ref`, which sees what is visible now.
tvms_eval_value tvms_closure_make_lambda(tvms_reader *reader, tvms_ref ref);

#endif
