// Calls of operators that passes over graphs make, with their attributes.
#ifndef TVMS_PASSES_RELAX_GRAPH_OP_CALLS_H
#define TVMS_PASSES_RELAX_GRAPH_OP_CALLS_H

#include "passes/relax/mutator.h"

// A list of numbers as an attribute.
tvms_node *tvms_relax_op_ints(tvms_unit *unit, const int64_t *values, uint32_t count);

// An operator of one argument and no attribute.
tvms_node *tvms_relax_op_unary(tvms_relax_mutator *m, tvms_opcode opcode, tvms_node *x);

// An operator of two arguments and no attribute.
tvms_node *tvms_relax_op_binary(tvms_relax_mutator *m, tvms_opcode opcode, tvms_node *a,
                                tvms_node *b);

// A product; `dtype` void: the attribute is unset.
tvms_node *tvms_relax_op_matmul(tvms_relax_mutator *m, tvms_node *a, tvms_node *b,
                                tvms_dtype dtype);

// The axes in another order; `axes` NULL: reversed, and the attribute is unset.
tvms_node *tvms_relax_op_permute(tvms_relax_mutator *m, tvms_node *x,
                                 const int64_t *TVMS_NULLABLE axes, uint32_t count);

// Is it a permute_dims that exchanges the last two axes and nothing else?
bool tvms_relax_op_is_transpose(const tvms_node *value);

// A permute_dims that does: of a tensor with `ndim` axes, 2 or more, all of which it names.
tvms_node *tvms_relax_op_transpose(tvms_relax_mutator *m, tvms_node *x, uint32_t ndim);

// Tensors one behind the other along an axis.
tvms_node *tvms_relax_op_concat(tvms_relax_mutator *m, tvms_node *const *tensors,
                                uint32_t count, int64_t axis);

// A tensor cut at these places of an axis.
tvms_node *tvms_relax_op_split(tvms_relax_mutator *m, tvms_node *x,
                               const int64_t *places, uint32_t count, int64_t axis);

// New axes of length 1.
tvms_node *tvms_relax_op_expand_dims(tvms_relax_mutator *m, tvms_node *x,
                                     const int64_t *axes, uint32_t count);

// The same elements in another shape.
tvms_node *tvms_relax_op_reshape(tvms_relax_mutator *m, tvms_node *x,
                                 tvms_node *const *dims, uint32_t count);

// Elements by index along an axis; `mode` says what becomes of an index outside: "fast", "clip".
tvms_node *tvms_relax_op_take(tvms_relax_mutator *m, tvms_node *x, tvms_node *indices,
                              int64_t axis, const char *mode);

// A reduction along axes.
tvms_node *tvms_relax_op_reduce(tvms_relax_mutator *m, tvms_opcode opcode, tvms_node *x,
                                const int64_t *axes, uint32_t count, bool keepdims);

// A tensor constant without axes, of a float or integer type.
tvms_node *tvms_relax_op_scalar(tvms_relax_mutator *m, double value, tvms_dtype dtype);

// Is the first result of a batch_norm made of the statistics that it is given, in this unit's release? Since 0.25 it is if
// `training` is false, before if it is true (TVM's legalization of the operator).
bool tvms_relax_op_norm_uses_given(const tvms_relax_mutator *m, const tvms_call *norm);

#endif
