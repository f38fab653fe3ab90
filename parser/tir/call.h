// What every call of an operator of TIR is made of: its arguments and its type.
#ifndef TVMS_PARSER_TIR_CALL_H
#define TVMS_PARSER_TIR_CALL_H

#include "ir/tir_op.h"
#include "parser/tir/tir.h"

// What a call yields: a dtype, and for typed pointers (0.26 on) and tensor maps the type.
typedef struct {
  tvms_dtype dtype;
  tvms_node *TVMS_NULLABLE sinfo;
} tvms_call_result;

#define TVMS_RESULT_VOID ((tvms_call_result){{0}, NULL})

static inline tvms_call_result tvms_call_result_scalar(uint8_t code, uint8_t bits) {
  return (tvms_call_result){{code, bits, 1}, NULL};
}
static inline tvms_call_result tvms_call_result_of(const tvms_node *node) {
  return (tvms_call_result){node->dtype, node->sinfo};
}
// A pointer to `element` in a scope (0: global); a plain handle up to 0.25.
tvms_call_result tvms_call_result_pointer(tvms_reader *reader, tvms_dtype element,
                                          tvms_sym scope);

// A type given as an argument: text, a data type, or `T.handle("float32").ty`. False after
// a report.
TVMS_NODISCARD bool tvms_tir_to_result(tvms_reader *reader, tvms_eval_value value,
                                       tvms_ref ref, tvms_call_result *result);

// A pointer type: SINFO_POINTER.
tvms_node *tvms_tir_pointer_type(tvms_reader *reader, tvms_dtype element,
                                 tvms_sym scope);
// The scope that a typed pointer points into; 0: global, or the pointer has no type.
tvms_sym tvms_tir_pointer_scope(const tvms_node *pointer);
// Whether a value is a pointer, typed or not.
bool tvms_tir_is_pointer(const tvms_node *node);

// The argument of a call of an operator: a value, a buffer (0.26 on), a string. NULL if it
// is unknown, after a report.
tvms_node *TVMS_NULLABLE tvms_tir_to_argument(tvms_reader *reader,
                                              tvms_eval_value value, tvms_ref ref);
// All items of `args`, which is a tuple. False if one is unknown.
TVMS_NODISCARD bool tvms_tir_to_arguments(tvms_reader *reader, tvms_eval_value args,
                                          tvms_ref ref, tvms_list *list);

// ---- Arguments of handlers, by their number ----

// As an expression; NULL after a report.
tvms_node *TVMS_NULLABLE tvms_call_expr_at(tvms_reader *reader,
                                           const tvms_call_args *call, uint32_t i);
// The same of what operators of numbers apply to: from 0.26 on pointers are not operands.
tvms_node *TVMS_NULLABLE tvms_call_number_at(tvms_reader *reader,
                                             const tvms_call_args *call, uint32_t i);
// The first two as expressions. False after a report.
TVMS_NODISCARD bool tvms_call_two_exprs(tvms_reader *reader, const tvms_call_args *call,
                                        tvms_node **a, tvms_node **b);
static inline tvms_span tvms_call_span(const tvms_reader *reader,
                                       const tvms_call_args *call) {
  return tvms_reader_span_of(reader, call->ref);
}
// What a handler made, as its value; NULL has been reported.
static inline tvms_eval_value tvms_call_done(tvms_reader *reader,
                                             tvms_node *TVMS_NULLABLE node) {
  return node ? tvms_eval_value_node(node) : tvms_reader_failed(reader);
}

// ---- Calls ----

// The call, as a value.
tvms_eval_value tvms_tir_call_new(tvms_reader *reader, tvms_call_result result,
                                  tvms_tir_opcode op, tvms_node *const *args,
                                  uint32_t count, tvms_ref ref);

#endif
