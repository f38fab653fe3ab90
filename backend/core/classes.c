// What kind of float a value is, asked by comparisons.
#include "backend/core/classes.h"

#include "ir/build.h"
#include "ir/equal.h"

#include <math.h>

static const tvms_node *TVMS_NULLABLE argument_of(const tvms_node *node,
                                                  tvms_tir_opcode op) {
  bool calls = node->kind == TVMS_NODE_CALL && tvms_call_opcode(node) == op
               && tvms_as_call(node)->args.len == 1;
  return calls ? tvms_as_call(node)->args.items[0] : NULL;
}

// Is it true where `x` is NaN, and only there?
static bool is_nan(const tvms_node *node, const tvms_node *x) {
  const tvms_node *asked = argument_of(node, TVMS_TIR_isnan);
  return asked && tvms_node_same_expr(asked, x);
}

static bool is_infinity(const tvms_node *node) {
  double value;
  return tvms_node_float_in_lanes(node, &value) && isinf(value) && value > 0;
}

// What is compared with infinity, whatever its sign.
static const tvms_node *TVMS_NULLABLE size_asked(const tvms_node *node) {
  if (node->kind != TVMS_NODE_EQ && node->kind != TVMS_NODE_NE) return NULL;
  const tvms_binary *sides = tvms_as_binary(node);
  return is_infinity(sides->b) ? argument_of(sides->a, TVMS_TIR_fabs) : NULL;
}

tvms_tir_opcode tvms_class_asked(const tvms_node *node, const tvms_node **x) {
  if (node->kind != TVMS_NODE_AND) return 0;
  const tvms_node *first = tvms_as_binary(node)->a, *second = tvms_as_binary(node)->b;
  if (second->kind != TVMS_NODE_NOT) return 0;
  const tvms_node *more = NULL;
  if (first->kind == TVMS_NODE_OR) {
    more = tvms_as_binary(first)->b;
    first = tvms_as_binary(first)->a;
  }
  *x = size_asked(first);
  bool asks = *x && is_nan(tvms_as_not(second)->a, *x) && (!more || is_nan(more, *x));
  if (!asks) return 0;
  return first->kind == TVMS_NODE_EQ ? TVMS_TIR_isinf : TVMS_TIR_isfinite;
}
