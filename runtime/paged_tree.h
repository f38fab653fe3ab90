// Trees of tokens in a paged cache: what a model proposes is looked at at once, as a tree, and one path of it is kept.
//
//   parents -1 0 0 2: after the tokens of the sequence come 0, behind it 1 or 2, and behind 2 comes 3
//
// The nodes are the last tokens of the sequence, all in its last block, in their order; a parent stands in front of its
// children. A tree grows from batch to batch until a path of it is taken (committed).
// TVM: src/runtime/vm/paged_kv_cache.cc, ConstructTokenTreeMask, CommitAcceptedTokenTreeNodes.
#ifndef TVMS_RUNTIME_PAGED_TREE_H
#define TVMS_RUNTIME_PAGED_TREE_H

#include "runtime/paged.h"

// The new tokens of a batch become nodes: `parents` has all of them in the order of the batch, numbers of nodes of the
// sequence's tree or -1. Refuses what is not a tree before anything is changed.
void tvms_paged_tree_grow(tvms_paged *p, tvms_paged_shape ids, tvms_paged_shape lengths,
                          tvms_paged_shape parents);

// Refuses sequences with a tree of which no path was taken, as a batch without trees does.
void tvms_paged_tree_check_none(const tvms_paged *p, tvms_paged_shape ids);

// How far a node is below its root.
int32_t tvms_paged_tree_depth(const tvms_paged *p, const tvms_paged_sequence *sequence,
                              int32_t node);

// Whether each node is the parent of the next one.
bool tvms_paged_tree_is_chain(const tvms_paged *p, const tvms_paged_sequence *sequence);

// Two numbers for each node: its place when a node comes before its children, and the one behind the last node below
// it. So a node sees those whose range has its place.
void tvms_paged_tree_ranges(const tvms_paged *p, const tvms_paged_sequence *sequence,
                            int32_t *ranges);

// The last nodes of a tree go, as many as there are at most.
void tvms_paged_tree_cut(tvms_paged *p, tvms_paged_sequence *sequence, int32_t count);

// Keeps of each sequence's tree the path that ends in a node (TVMS_PAGED_NONE: nothing of it, and of a sequence without
// a tree nothing of its last batch); keys and values of the path move to where the tree began.
void tvms_paged_tree_commit(tvms_paged *p, tvms_paged_shape ids,
                            tvms_paged_shape leaves);

#endif
