// Rewriting: new nodes where something changes, the same pointers elsewhere.
//
//   tvms_rewriter r = {.unit = unit, .self = &state};
//   r.enter[TVMS_NODE_FOR] = unroll;      // instead of going below
//   r.leave[TVMS_NODE_ADD] = fold_again;  // after what is below was rewritten
//   body = tvms_rewrite(&r, body);
//
// Nodes with identity (buffers, iteration variables) that stand in many places are
// rewritten once: every use sees the same new node. Unit and old nodes must share their
// life time; to move a function to another unit, see ir/clone.h.
#ifndef TVMS_IR_REWRITE_H
#define TVMS_IR_REWRITE_H

#include "ir/node_map.h"

typedef struct tvms_rewriter tvms_rewriter;

struct tvms_rewriter {
  tvms_unit *unit;  // where new nodes are made
  void *self;
  // Called before what is below. Returns the replacement, which is not rewritten again,
  // or TVMS_REWRITE_BELOW. A NULL replacement removes an item from a list and clears a
  // single field.
  tvms_node *TVMS_NULLABLE (*enter[TVMS_NODE_COUNT])(tvms_rewriter *, tvms_node *node);
  // Called after what is below; `node` is a changed copy or the old node itself.
  tvms_node *TVMS_NULLABLE (*leave[TVMS_NODE_COUNT])(tvms_rewriter *, tvms_node *node);
  // Filled by the rewriter, or before by the caller: what replaces a VAR, a BUFFER or an
  // ITER_VAR wherever it stands.
  tvms_node_map known;
};

// What enter() returns for "go on below".
#define TVMS_REWRITE_BELOW ((tvms_node *)(uintptr_t)1)

// Prepares a zeroed rewriter.
void tvms_rewriter_init(tvms_rewriter *rewriter, tvms_unit *unit, void *self);
void tvms_rewriter_fini(tvms_rewriter *rewriter);

tvms_node *TVMS_NULLABLE tvms_rewrite(tvms_rewriter *rewriter, tvms_node *node);

// What is below `node` rewritten; the node itself is not passed to enter() and leave().
tvms_node *tvms_rewrite_below(tvms_rewriter *rewriter, tvms_node *node);

// Replaces variables: each VAR that `map` knows, wherever it stands, definitions too.
tvms_node *tvms_substitute(tvms_unit *unit, tvms_node *node, const tvms_node_map *map);

// As tvms_substitute for one variable.
tvms_node *tvms_substitute_one(tvms_unit *unit, tvms_node *node, const tvms_node *var,
                               tvms_node *value);

// A copy of `node` in `unit` with the same fields and a new id.
tvms_node *tvms_node_copy(tvms_unit *unit, const tvms_node *node);

#endif
