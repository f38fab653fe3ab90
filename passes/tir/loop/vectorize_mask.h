// Conditions of vectorized loops as masks of accesses.
#ifndef TVMS_PASSES_TIR_LOOP_VECTORIZE_MASK_H
#define TVMS_PASSES_TIR_LOOP_VECTORIZE_MASK_H

#include "passes/tir/loop/vectorize_expr.h"

// The statement `node`, which stands under the vector condition `condition`, with the
// condition as the mask of its accesses instead. NULL: not every access can take it.
tvms_node *TVMS_NULLABLE tvms_vectorize_mask(tvms_vectorizer *vectorizer,
                                             tvms_node *node, tvms_node *condition);

#endif
