// Operators: what they mean is the business of one of the operands.
//
// It is the one whose operations have the higher rank (parser/eval/ops.h), the left one of two
// equals: in `1 + x` the variable of TIR decides, not the number of Python. Operations that have no
// such operator leave it to Python's constants, which report what cannot be. An operand that is
// unknown makes the result unknown without a word, because its reason was reported already.
#include "parser/eval/operator.h"

#include "parser/eval/convert.h"
#include "parser/eval/meant_value.h"
#include "parser/eval/ops.h"
#include "parser/eval/python.h"
#include "support/trial.h"

#include <string.h>

// The operations of the operand that decides.
static const tvms_eval_value_ops *deciding(const tvms_reader *reader, tvms_eval_value a,
                                           tvms_eval_value b) {
  const tvms_eval_value_ops *left = tvms_eval_ops_of(reader, a);
  const tvms_eval_value_ops *right = tvms_eval_ops_of(reader, b);
  return right->rank > left->rank ? right : left;
}

tvms_span tvms_eval_operator_span(const tvms_reader *reader, tvms_ref ref,
                                  tvms_surf_op op) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  tvms_span whole = tvms_reader_span_of(reader, ref);
  if (node->kind != TVMS_SURF_BINARY) return whole;
  const char *sign = tvms_surface_operator_text(op);
  size_t len = strlen(sign);
  const char *text = reader->surface->source->text;
  uint32_t end = tvms_reader_at(reader, node->b)->begin;
  for (uint32_t at = tvms_reader_at(reader, node->a)->end; at + len <= end; at++) {
    if (memcmp(text + at, sign, len) == 0) return (tvms_span){at, at + (uint32_t)len};
  }
  return whole;
}

// What no operator of a program goes with.
static bool is_no_operand(tvms_eval_value value) {
  switch ((int)value.kind) {
  case TVMS_EVAL_STR:
  case TVMS_EVAL_NONE:
  case TVMS_EVAL_TUPLE:
  case TVMS_EVAL_LIST:
  case TVMS_EVAL_DICT:
  case TVMS_EVAL_BUILTIN:
  case TVMS_EVAL_CALLABLE:
  case TVMS_EVAL_NAMESPACE: return true;
  default: return tvms_eval_value_node_of(value, TVMS_NODE_BUFFER) != NULL;
  }
}

// The operand at fault, where only one can be: a whole buffer, a text. Else the operation.
static tvms_ref wrong_operand(const tvms_reader *reader, tvms_eval_value a,
                              tvms_eval_value b, tvms_ref ref) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  bool wrong_a = is_no_operand(a), wrong_b = is_no_operand(b);
  if (wrong_a == wrong_b) return ref;
  if (node->kind == TVMS_SURF_BINARY) return wrong_a ? node->a : node->b;
  if (node->kind != TVMS_SURF_COMPARE) return ref;
  const tvms_surf *compared = tvms_reader_at(reader, node->b);
  return compared->next ? ref : wrong_a ? node->a : compared->a;
}

// What to write instead.
static void explain_operands(tvms_reader *reader, tvms_diag *diag, tvms_surf_op op,
                             tvms_eval_value a, tvms_eval_value b, tvms_ref wrong) {
  const tvms_node *buffer = tvms_eval_value_node_of(a, TVMS_NODE_BUFFER);
  if (!buffer) buffer = tvms_eval_value_node_of(b, TVMS_NODE_BUFFER);
  if (buffer)
    tvms_eval_note_element(reader, diag, buffer);
  else if (op == TVMS_OP_POWER
           && (a.kind == TVMS_EVAL_NODE || b.kind == TVMS_EVAL_NODE))
    tvms_diag_remark(&reader->context->diags, diag, "write T.pow(a, b)");
  else
    tvms_eval_explain_text(reader, diag, wrong);
}

tvms_eval_value tvms_eval_report_bad_operands(tvms_reader *reader, tvms_surf_op op,
                                              tvms_eval_value a, tvms_eval_value b,
                                              tvms_ref ref) {
  tvms_diag *diag =
      tvms_reader_report(reader, bad_operands, wrong_operand(reader, a, b, ref),
                         tvms_surface_operator_text(op), tvms_eval_describe(reader, a),
                         tvms_eval_describe(reader, b));
  if (op == TVMS_OP_POWER && !tvms_trial_is_muted(&reader->context->diags))
    diag->span = tvms_eval_operator_span(reader, ref, op);
  explain_operands(reader, diag, op, a, b, wrong_operand(reader, a, b, ref));
  return TVMS_UNKNOWN;
}

// An unknown operand is what the other one goes with.
static void want_operand(tvms_reader *reader, tvms_eval_value unknown,
                         tvms_eval_value other) {
  bool text = other.kind == TVMS_EVAL_STR || other.kind == TVMS_EVAL_DTYPE;
  if (other.kind == TVMS_EVAL_NONE || tvms_eval_value_is_sequence(other)) return;
  if (text)
    tvms_eval_assume_compared(reader, unknown);
  else
    tvms_eval_assume_wanted(reader, unknown, TVMS_WANTED_NUMBER);
}

tvms_eval_value tvms_eval_binary(tvms_reader *reader, tvms_surf_op op,
                                 tvms_eval_value a, tvms_eval_value b, tvms_ref ref) {
  if (!tvms_eval_value_is_known(a) || !tvms_eval_value_is_known(b)) {
    want_operand(reader, a, b);
    want_operand(reader, b, a);
    return TVMS_UNKNOWN;
  }
  const tvms_eval_value_ops *ops = deciding(reader, a, b);
  return ops->binary ? ops->binary(reader, op, a, b, ref)
                     : tvms_eval_python_binary(reader, op, a, b, ref);
}

tvms_eval_value tvms_eval_unary(tvms_reader *reader, tvms_surf_op op, tvms_eval_value a,
                                tvms_ref ref) {
  tvms_eval_assume_wanted(reader, a, TVMS_WANTED_NUMBER);
  if (!tvms_eval_value_is_known(a)) return a;
  const tvms_eval_value_ops *ops = tvms_eval_ops_of(reader, a);
  return ops->unary ? ops->unary(reader, op, a, ref)
                    : tvms_eval_python_unary(reader, op, a, ref);
}

tvms_eval_value tvms_eval_python_logical(tvms_reader *reader, bool is_and,
                                         tvms_eval_value a, tvms_eval_value b,
                                         tvms_ref ref) {
  bool known;
  bool truth = tvms_eval_value_truth(reader, a, &known);
  if (known) return truth == is_and ? b : a;
  return tvms_eval_report_bad_operands(reader, is_and ? TVMS_OP_AND : TVMS_OP_OR, a, b,
                                       ref);
}

tvms_eval_value tvms_eval_logical(tvms_reader *reader, bool is_and, tvms_eval_value a,
                                  tvms_eval_value b, tvms_ref ref) {
  if (!tvms_eval_value_is_known(a) || !tvms_eval_value_is_known(b)) return TVMS_UNKNOWN;
  const tvms_eval_value_ops *ops = deciding(reader, a, b);
  return ops->logical ? ops->logical(reader, is_and, a, b, ref)
                      : tvms_eval_python_logical(reader, is_and, a, b, ref);
}
