// Objects whose value the text leaves out.
//
// TVM's script() writes a tensor as `metadata["relax.expr.Constant"][0]`, and so a text of
// several lines, and leaves the section that holds them out if it is not asked for it. What
// was written so is a CONSTANT, OBJECT_TENSOR or STRING_IMM without value: its `omitted` is
// that reference as a symbol. Two of them are the same object if they have the same symbol. The type of such a
// tensor is what an annotation says, else R.Tensor(); only with a known type are `element` and
// `shape` valid.
#ifndef TVMS_IR_OMITTED_H
#define TVMS_IR_OMITTED_H

#include "ir/node.h"

// What stands for the object in the text; 0: its value is there.
static inline tvms_sym tvms_node_omitted(const tvms_node *node) {
  if (node->kind == TVMS_NODE_CONSTANT) return tvms_as_constant(node)->omitted;
  if (node->kind == TVMS_NODE_OBJECT_TENSOR)
    return tvms_as_object_tensor(node)->omitted;
  return node->kind == TVMS_NODE_STRING_IMM ? tvms_as_string_imm(node)->omitted : 0;
}

// Reports at the object, or at the first one in the tuple, that `user` needs its value.
// Returns false, and true without a report if nothing is left out.
TVMS_NODISCARD bool tvms_node_refuse_omitted(tvms_context *context,
                                             const tvms_node *node, const char *user);

#endif
