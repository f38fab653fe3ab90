// Rows of ir/calls.def as parser/ sees them: handlers, and how calls are bound.
#ifndef TVMS_PARSER_CALLS_H
#define TVMS_PARSER_CALLS_H

#include "parser/eval/eval.h"

// Handlers, one for each name in the handler column.
#define CALL(ns, name, signature, since, until, handler)                               \
  tvms_handler tvms_call_##handler;
#define ALSO(ns, name, signature, since, until, handler)                               \
  tvms_handler tvms_call_##handler;
#include "ir/calls.def"

// Where the dtype of an OP row comes from.
typedef enum {
  TVMS_RULE_NONE,
  TVMS_RULE_SAME,        // arguments become values; dtype of the first
  TVMS_RULE_SAME_FLOAT,  // as SAME, and it must be a float (from 0.25 on)
  TVMS_RULE_ARG0,
  TVMS_RULE_ARG1,
  TVMS_RULE_INT32,
  TVMS_RULE_UINT32,
  TVMS_RULE_BOOL,
  TVMS_RULE_VOID,
  TVMS_RULE_HANDLE,
  TVMS_RULE_STACK,       // tvm_stack_alloca: by the kind of what is allocated
  TVMS_RULE_SHAPE,       // a pointer to int64
  TVMS_RULE_FIRST,       // given as first argument
  TVMS_RULE_PACKED,      // int32; buffers become T.tvm_stack_make_array
  TVMS_RULE_ATTRIBUTED,  // what `ret_ty` says; the other keywords are attributes
  TVMS_RULE_LLVM,  // given first; the second argument is the name of an LLVM intrinsic
} tvms_rule;

// The argument bound to the parameter `name`; unknown if the row has no such parameter.
tvms_eval_value tvms_args_get(tvms_reader *reader, const tvms_call_args *call,
                              tvms_sym name);

// Its place: of the argument, or of the call if a default stands in.
tvms_ref tvms_args_ref(tvms_reader *reader, const tvms_call_args *call, tvms_sym name);

// True if the call gave the parameter `name`.
bool tvms_args_given(tvms_reader *reader, const tvms_call_args *call, tvms_sym name);

// The releases that have `name` in a namespace: its first row and its last. False if the
// table does not know the name.
bool tvms_row_span(tvms_namespace namespace_, tvms_sym name, tvms_dialect *since,
                   tvms_dialect *until);

// Full name of a row for messages: "T.axis.spatial".
const char *tvms_row_text(tvms_reader *reader, const tvms_row *row);
const char *tvms_namespace_text(tvms_namespace namespace_);

// Reports that a namespace has no such name, with near names and the releases that have
// it. Always returns the unknown value.
tvms_eval_value tvms_namespace_report_unknown_name(tvms_reader *reader,
                                                   tvms_namespace namespace_,
                                                   tvms_sym name, tvms_ref ref);

// The value of an attribute of a namespace; reports unknown names.
tvms_eval_value tvms_namespace_attribute(tvms_reader *reader, tvms_namespace namespace_,
                                         tvms_sym name, tvms_ref ref);

// The row that `namespace_` has under `name` in the dialect being read, or NULL.
const tvms_row *TVMS_NULLABLE tvms_row_find(const tvms_reader *reader,
                                            tvms_namespace namespace_, tvms_sym name);

// The parsed signature of a row; parsed at first use.
const tvms_signature *tvms_row_signature(tvms_reader *reader, const tvms_row *row);

// Parses a signature text into reader->kept.
const tvms_signature *tvms_signature_parse(tvms_reader *reader, const char *text);

#endif
