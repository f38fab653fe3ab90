// What the files eval*.c share among themselves and with the readers of statements.
#ifndef TVMS_PARSER_EVAL_INTERNAL_H
#define TVMS_PARSER_EVAL_INTERNAL_H

#include "ir/tir_op.h"
#include "parser/calls.h"
#include "parser/relax/relax.h"

typedef TVMS_VEC(tvms_eval_value) tvms_eval_value_vec;

// ---- parser/eval/expr.c ----
tvms_eval_value tvms_eval_report_too_deep(tvms_reader *reader, tvms_ref ref);
tvms_eval_value tvms_eval_operand(tvms_reader *reader, tvms_ref ref);
// An index as in `object[index]`: slices become SLICE values.
tvms_eval_value tvms_eval_index(tvms_reader *reader, tvms_ref index, bool step_given);
// Evaluates an item of a list, spreading `*item`. False: something is unknown.
bool tvms_eval_push_starred(tvms_reader *reader, tvms_ref item,
                            tvms_eval_value_vec *items);
// True if the value is exactly this text.
bool tvms_eval_value_is_exactly(tvms_eval_value value, const char *text);

// Reports a name that nothing binds (silently in a lenient reader).
void tvms_eval_report_undefined_name(tvms_reader *reader, tvms_sym name,
                                     tvms_span span);

// ---- parser/eval/operator.c ----
tvms_eval_value tvms_eval_unary(tvms_reader *reader, tvms_surf_op op, tvms_eval_value a,
                                tvms_ref ref);
tvms_eval_value tvms_eval_logical(tvms_reader *reader, bool is_and, tvms_eval_value a,
                                  tvms_eval_value b, tvms_ref ref);
tvms_eval_value tvms_eval_if(tvms_reader *reader, tvms_eval_value test,
                             tvms_eval_value yes, tvms_eval_value no, tvms_ref ref);
// True for nodes that operators of TIR apply to.
bool tvms_eval_is_tir_operand(tvms_eval_value value);

// ---- parser/eval/python.c ----
tvms_eval_value tvms_python_unary(tvms_reader *reader, tvms_surf_op op,
                                  tvms_eval_value a, tvms_ref ref);
tvms_eval_value tvms_python_binary(tvms_reader *reader, tvms_surf_op op,
                                   tvms_eval_value a, tvms_eval_value b, tvms_ref ref);

// ---- parser/eval/set.c ----
// The set of `items`, which are used up. Reports an item that Python cannot hash at `ref`.
tvms_eval_value tvms_eval_make_set(tvms_reader *reader, tvms_eval_value items,
                                   tvms_ref ref);
// The dict of keys and values in turn; of equal keys the first place and the last value count.
tvms_eval_value tvms_eval_make_dict(tvms_reader *reader,
                                    const tvms_eval_value_vec *pairs, tvms_ref ref);
void tvms_eval_push_pair(tvms_reader *reader, tvms_eval_value_vec *pairs,
                         tvms_eval_value key, tvms_eval_value value);
// Union, intersection and differences of sets, union of dicts. False: not defined.
bool tvms_eval_set_operator(tvms_reader *reader, tvms_surf_op op, tvms_eval_value a,
                            tvms_eval_value b, tvms_ref ref, tvms_eval_value *result);

const char *tvms_eval_operator_spelling(tvms_surf_op op);

// ---- parser/eval/subscript.c, parser/eval/attribute.c ----
tvms_eval_value tvms_eval_subscript(tvms_reader *reader, tvms_eval_value object,
                                    tvms_eval_value index, tvms_ref ref);
tvms_eval_value tvms_eval_call_method(tvms_reader *reader, tvms_eval_value method,
                                      tvms_ref call);

// ---- parser/eval/call.c ----
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

// ---- parser/eval/builtin.c ----
tvms_eval_value tvms_builtin_find(tvms_sym name);
tvms_eval_value tvms_builtin_call(tvms_reader *reader, tvms_eval_value builtin,
                                  tvms_ref call);

// ---- parser/eval/comprehension.c, parser/eval/closure.c, parser/eval/string.c ----
tvms_eval_value tvms_eval_comprehension(tvms_reader *reader, tvms_ref ref);
tvms_eval_value tvms_closure_make_lambda(tvms_reader *reader, tvms_ref ref);
tvms_eval_value tvms_eval_fstring(tvms_reader *reader, tvms_ref ref);
// Binds the names of a comprehension target (NAME, TUPLE, LIST, STAR) to the parts of a value.
bool tvms_eval_bind_target(tvms_reader *reader, tvms_ref target, tvms_eval_value value);
// str(value), or NULL after a report.
const char *TVMS_NULLABLE tvms_eval_str(tvms_reader *reader, tvms_eval_value value,
                                        tvms_ref ref, uint32_t *len);

// The value under a key of a dict. False if there is none; unknown if the key, or one that
// stands before it, is known to Python only.
bool tvms_eval_dict_find(tvms_eval_value dict, tvms_eval_value key,
                         tvms_eval_value *found);

// `left op right` of bits, where one may be a Python int.
tvms_node *TVMS_NULLABLE tvms_eval_bits(tvms_reader *reader, tvms_tir_opcode op,
                                        tvms_eval_value left, tvms_eval_value right,
                                        tvms_ref ref);

// ---- parser/eval/convert.c ----
// Reports that `what` must be `expected`, unless the value is unknown.
void tvms_eval_report_wrong_type(tvms_reader *reader, tvms_ref ref, const char *what,
                                 const char *expected, tvms_eval_value value);
// Counts a step of work; false at the limit, which is reported once.
bool tvms_eval_count_step(tvms_reader *reader, tvms_ref ref);

#endif
