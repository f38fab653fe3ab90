// What can be done with values and types of Relax.
#include "parser/tir/values.h"

#include "parser/eval/call.h"
#include "parser/eval/eval.h"
#include "parser/eval/ops.h"
#include "parser/relax/object.h"
#include "parser/relax/value.h"
#include "parser/tir/access.h"
#include "parser/tir/tir.h"

static bool read_subscript(tvms_reader *reader, tvms_eval_value object, tvms_ref ref,
                           tvms_eval_value *value) {
  *value = tvms_relax_subscript(reader, object, ref);
  return true;
}

// What stands below R, and the parts of values that build calls.
const tvms_eval_value_ops tvms_relax_name_ops = {
    .attribute = tvms_relax_attribute,
    .call = tvms_relax_call,
    .read_subscript = read_subscript,
};

// ---- Values ---------------------------------------------------------------------------------

static bool in_relax(const tvms_reader *reader) {
  return tvms_relax_of(reader) != NULL;
}

static tvms_eval_value expr_call(tvms_reader *reader, tvms_eval_value callee,
                                 tvms_ref call) {
  return in_relax(reader) ? tvms_relax_call(reader, callee, call)
                          : tvms_eval_report_cannot_call(reader, callee, call);
}

// Identity and membership are Python's, and the rest of a PrimFunc knows no Relax.
static tvms_eval_value expr_binary(tvms_reader *reader, tvms_surf_op op,
                                   tvms_eval_value a, tvms_eval_value b, tvms_ref ref) {
  bool pythons = op == TVMS_OP_IS || op == TVMS_OP_IS_NOT || op == TVMS_OP_IN
                 || op == TVMS_OP_NOT_IN;
  return pythons || !in_relax(reader) ? tvms_tir_binary(reader, op, a, b, ref)
                                      : tvms_relax_operator_on(reader, op, a, b, ref);
}

static tvms_eval_value expr_unary(tvms_reader *reader, tvms_surf_op op,
                                  tvms_eval_value a, tvms_ref ref) {
  return in_relax(reader) ? tvms_relax_operator_on(reader, op, a, TVMS_UNKNOWN, ref)
                          : tvms_tir_unary(reader, op, a, ref);
}

const tvms_eval_value_ops tvms_relax_expr_ops = {
    .rank = TVMS_RELAX_ROOM,
    .describe = tvms_node_describe,
    .attribute = tvms_relax_attribute,
    .call = expr_call,
    .read_subscript = read_subscript,
    .binary = expr_binary,
    .unary = expr_unary,
    .logical = tvms_tir_logical,
    .choose = tvms_tir_choose,
    .truth = tvms_node_truth,
    .print = tvms_node_print,
};

// ---- Types ----------------------------------------------------------------------------------

static tvms_eval_value type_attribute(tvms_reader *reader, tvms_eval_value type,
                                      tvms_sym name, tvms_ref ref) {
  tvms_eval_value part;
  if (tvms_relax_type_attribute(reader, type.as.node, name, &part)) return part;
  return tvms_tir_attribute(reader, type, name, ref);
}

// A scalar type names its data type.
static tvms_eval_value type_constant(tvms_eval_value type) {
  const tvms_node *node = type.as.node;
  return node->kind == TVMS_NODE_SINFO_PRIM ? tvms_eval_value_dtype(node->dtype) : type;
}

const tvms_eval_value_ops tvms_relax_type_ops = {
    TVMS_NODE_OPERATIONS,
    .attribute = type_attribute,
    .subscript = tvms_tir_subscript,
    .constant = type_constant,
};
