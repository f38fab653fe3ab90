// Looking through the choice that makes a softmax safe.
#include "passes/relax/fuse/safe_softmax.h"

#include "ir/op.h"
#include "structinfo/sinfo.h"

#include <math.h>
#include <string.h>

static const tvms_node *unwrap(const tvms_relax_definitions *d, const tvms_node *node) {
  return tvms_relax_definitions_unwrap(d, (tvms_node *)(uintptr_t)node);
}

// The argument of the call of `opcode` that a value is, or NULL; NULL has none either.
static const tvms_node *TVMS_NULLABLE inside(const tvms_relax_definitions *d,
                                             const tvms_node *TVMS_NULLABLE node,
                                             tvms_opcode opcode) {
  const tvms_call *call = node ? tvms_relax_definitions_call(d, node, opcode) : NULL;
  return call ? call->args.items[0] : NULL;
}

static bool is_zero_constant(const tvms_node *node) {
  if (node->kind != TVMS_NODE_CONSTANT) return false;
  const tvms_constant *constant = tvms_as_constant(node);
  for (size_t i = 0; i < constant->data.len; i++)
    if (constant->data.text[i]) return false;
  return constant->data.len > 0;
}

static bool is_zero(const tvms_relax_definitions *d, const tvms_node *node) {
  const tvms_node *value = unwrap(d, node);
  switch ((int)tvms_op_called(value)) {
  case TVMS_R_zeros:
  case TVMS_R_zeros_like: return true;
  case TVMS_R_full:
  case TVMS_R_full_like:
    return is_zero_constant(unwrap(d, tvms_as_call(value)->args.items[1]));
  default: return is_zero_constant(value);
  }
}

// Is it -infinity of float32 or float64, a constant without axes?
static bool is_least(const tvms_node *node) {
  if (node->kind != TVMS_NODE_CONSTANT) return false;
  const tvms_constant *constant = tvms_as_constant(node);
  double wide = 0;
  float narrow = 0;
  if (constant->shape.len || constant->element.code != TVMS_FLOAT) return false;
  if (constant->data.len == sizeof wide)
    memcpy(&wide, constant->data.text, sizeof wide);
  if (constant->data.len == sizeof narrow)
    memcpy(&narrow, constant->data.text, sizeof narrow);
  return (isinf(wide) && wide < 0) || (isinf(narrow) && narrow < 0);
}

// Is it a reduction along the last axis, which stays?
static bool is_along_rows(const tvms_call *reduction) {
  tvms_list axes = tvms_attr_list(reduction, TVMS_ATTR_reduction_axis);
  const tvms_node *type = reduction->args.items[0]->sinfo;
  int64_t axis = axes.len == 1 ? tvms_attr_item_int(axes.items[0]) : 0;
  return axes.len == 1 && tvms_attr_bool(reduction, TVMS_ATTR_reduction_keepdims)
         && (axis == -1 || axis == (int64_t)tvms_as_sinfo_tensor(type)->ndim - 1);
}

// What rows are compared in not any(x != -inf), or NULL.
static const tvms_node *TVMS_NULLABLE emptiness(const tvms_relax_definitions *d,
                                                const tvms_node *condition) {
  const tvms_node *any = inside(d, condition, TVMS_R_logical_not);
  const tvms_node *number = inside(d, any, TVMS_R_astype);
  const tvms_call *most =
      number ? tvms_relax_definitions_call(d, number, TVMS_R_max) : NULL;
  if (!most || !is_along_rows(most)) return NULL;
  const tvms_node *counts = inside(d, most->args.items[0], TVMS_R_astype);
  const tvms_node *equal = inside(d, counts, TVMS_R_logical_not);
  const tvms_call *comparison =
      equal ? tvms_relax_definitions_call(d, equal, TVMS_R_equal) : NULL;
  return comparison && is_least(unwrap(d, comparison->args.items[1]))
             ? comparison->args.items[0]
             : NULL;
}

const tvms_call *TVMS_NULLABLE
tvms_relax_safe_softmax(const tvms_relax_definitions *definitions,
                        const tvms_node *value, tvms_attention_empty *empty) {
  const tvms_relax_definitions *d = definitions;
  const tvms_call *choice = tvms_relax_definitions_call(d, value, TVMS_R_where);
  *empty = TVMS_EMPTY_NAN;
  if (!choice) return tvms_relax_definitions_call(d, value, TVMS_R_nn_softmax);
  const tvms_call *softmax =
      tvms_relax_definitions_call(d, choice->args.items[2], TVMS_R_nn_softmax);
  if (!softmax || !is_zero(d, choice->args.items[1])) return NULL;
  const tvms_node *tested = inside(d, choice->args.items[0], TVMS_R_isnan);
  const tvms_node *compared = emptiness(d, choice->args.items[0]);
  if (tested && unwrap(d, tested) == &softmax->head) {
    *empty = TVMS_EMPTY_ZERO_AND_NAN;
    return softmax;
  }
  if (!compared || unwrap(d, compared) != unwrap(d, softmax->args.items[0]))
    return NULL;
  *empty = TVMS_EMPTY_ZERO;
  return softmax;
}
