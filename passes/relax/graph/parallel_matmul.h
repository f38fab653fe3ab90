// Products with one left side that stand beside each other, found for CombineParallelMatmul.
#ifndef TVMS_PASSES_RELAX_GRAPH_PARALLEL_MATMUL_H
#define TVMS_PASSES_RELAX_GRAPH_PARALLEL_MATMUL_H

#include "ir/node_map.h"
#include "ir/op.h"

// How many products have one left side, and what all of them are followed by.
typedef struct {
  const tvms_node *lhs;
  uint32_t count;
  int64_t bias_ndim;       // axes of the second argument of an add; -1: none follows
  tvms_opcode activation;  // TVMS_R_NONE: none follows
} tvms_matmul_branches;

typedef TVMS_VEC(tvms_matmul_branches) tvms_matmul_branches_vec;

// One product and what follows it.
typedef struct {
  const tvms_node *matmul;  // its variable
  tvms_node *rhs;
  tvms_node *TVMS_NULLABLE bias;
  const tvms_node *last;  // variable of the last of the chain
} tvms_matmul_branch;

// The functions that may follow a product, in the order in which they are tried.
#define TVMS_MATMUL_ACTIVATIONS                                                        \
  { TVMS_R_nn_relu, TVMS_R_nn_gelu, TVMS_R_nn_gelu_tanh, TVMS_R_nn_silu }

// Finds all left sides of at least two products of a FUNCTION of the unit, with what can be combined, those
// with most products first. The caller frees the vector.
void tvms_relax_matmul_branches(const tvms_unit *unit, const tvms_node *function,
                                tvms_matmul_branches_vec *branches);

// What is known of the bindings of a block or a part of it, for finding chains in it.
typedef struct tvms_matmul_uses tvms_matmul_uses;

// Prepares for `count` bindings of a function of the unit; lies in the scratch arena.
tvms_matmul_uses *tvms_relax_matmul_uses(const tvms_unit *unit,
                                         tvms_node *const *bindings, uint32_t count);

// Variables in the order in which they are first used.
const tvms_node_vec *tvms_relax_matmul_used(const tvms_matmul_uses *uses);

// The bindings of a variable are no longer there.
void tvms_relax_matmul_remove(tvms_matmul_uses *uses, const tvms_node *var);

// Frees what the uses hold beside the arena.
void tvms_relax_matmul_uses_fini(tvms_matmul_uses *uses);

// Fills in the first `wanted->count` chains of `wanted` with the left side `lhs`. False if there
// are not as many, or two parts of them are the same variable.
bool tvms_relax_matmul_find(tvms_matmul_uses *uses, const tvms_node *lhs,
                            const tvms_matmul_branches *wanted,
                            tvms_matmul_branch *found);

#endif
