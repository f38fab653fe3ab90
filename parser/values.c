// The operations of all values, collected from the rooms that define them.
#include "parser/values.h"

#include "parser/eval/eval.h"
#include "parser/relax/convert.h"
#include "parser/rows.h"

static const tvms_eval_value_ops *const classes[] = {
#define CLASS(class, ops) [TVMS_CLASS_##class] = &tvms_##ops##_ops,
#include "parser/eval/values.def"
};

static const tvms_eval_value_ops *const nodes[TVMS_NODE_COUNT] = {
#define NODE(kind, ops) [TVMS_NODE_##kind] = &tvms_##ops##_ops,
#include "parser/eval/values.def"
};

// Variables and calls belong to TIR or to Relax by what is known of them, not by their kind.
static const tvms_eval_value_ops *node_ops(const tvms_node *node) {
  if (tvms_relax_is_expr(node)) return &tvms_relax_expr_ops;
  const tvms_eval_value_ops *own = nodes[node->kind];
  return own ? own : classes[tvms_node_class_of(node)];
}

const tvms_eval_tables tvms_parser_tables = {
    .values =
        {
#define VALUE(kind, member, text, ops) [TVMS_EVAL_##kind] = &tvms_##ops##_ops,
#include "parser/eval/values.def"
        },
    .find_row = tvms_rows_find,
    .node_ops = node_ops,
};
