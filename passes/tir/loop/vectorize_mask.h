// Conditions of vectorized loops as masks of accesses.
#ifndef TVMS_PASSES_TIR_LOOP_VECTORIZE_MASK_H
#define TVMS_PASSES_TIR_LOOP_VECTORIZE_MASK_H

#include "passes/tir/loop/vectorize_expr.h"

// The statement `node`, which stands under the vector condition `condition`, with the
// condition as the mask of its accesses instead. NULL: not every access can take it.
tvms_node *TVMS_NULLABLE tvms_vectorize_mask(tvms_vectorizer *vectorizer,
                                             tvms_node *node, tvms_node *condition);

// T.if_then_else under a vector condition: both sides chosen from, with the condition as the mask of their loads, whose
// lanes left out are 0. NULL: a side may fail in a lane that is left out. Stock TVM does such steps one by one.
tvms_node *TVMS_NULLABLE tvms_vectorize_mask_choice(tvms_vectorizer *vectorizer,
                                                    tvms_call *choice);

// The store `node`, which stands under a vector condition of constants that holds in a lane, with the
// condition as the mask of the store and of all loads that move with the lanes. NULL: it is another
// statement, or may fail in a lane that is left out.
tvms_node *TVMS_NULLABLE tvms_vectorize_mask_store(tvms_vectorizer *vectorizer,
                                                   tvms_node *node,
                                                   tvms_node *condition);

#endif
