// Code of expressions.
#ifndef TVMS_INTERP_COMPILE_EXPR_H
#define TVMS_INTERP_COMPILE_EXPR_H

#include "interp/assemble.h"

// Appends the code of one lane (tvms_interp_maker::lane; of a scalar, its value) and returns the
// slot of its value, which holds until the next
// value is made unless it is a variable, a constant or a temporary that is still in use.
uint32_t tvms_interp_make_value(tvms_interp_maker *m, const tvms_node *node);

// The same, into a given slot.
void tvms_interp_make_value_in(tvms_interp_maker *m, const tvms_node *node,
                               uint32_t slot);

// Appends what brings the integer in a slot into the type of `node`.
void tvms_interp_make_fit(tvms_interp_maker *m, const tvms_node *node, uint32_t slot);

// Gives `var` the value of an expression.
void tvms_interp_make_binding(tvms_interp_maker *m, const tvms_node *var,
                              const tvms_node *value);

// Appends an instruction of which the tree does the work: all variables in `node` get the
// values in the frame that they have here. `depth` is the level at which the tree meets it.
uint32_t tvms_interp_make_tree(tvms_interp_maker *m, tvms_interp_opcode op,
                               const tvms_node *node, uint32_t depth, uint32_t d,
                               uint32_t a);

// Are its lanes held as floats?
static inline bool tvms_interp_is_f32(tvms_dtype dtype) {
  return dtype.code == TVMS_FLOAT && dtype.bits == 32 && dtype.lanes >= 1;
}

#endif
