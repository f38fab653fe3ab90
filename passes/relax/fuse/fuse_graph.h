// Which operators to fuse: groups in a graph of values by the patterns of their operators.
#ifndef TVMS_PASSES_RELAX_FUSE_FUSE_GRAPH_H
#define TVMS_PASSES_RELAX_FUSE_FUSE_GRAPH_H

#include "passes/op_pattern.h"
#include "support/vec.h"

typedef struct {
  tvms_op_pattern pattern;
  bool outer;           // used from outside the graph: nothing behind it may swallow it
  bool fixed;           // computed of weights alone: it is the same in every run
  uint32_t first_edge;  // of those to the users, UINT32_MAX: none; see tvms_fuse_edge
  uint32_t last_edge;
} tvms_fuse_node;

typedef struct {
  uint32_t to;
  uint32_t next;
  tvms_op_pattern pattern;
} tvms_fuse_edge;

// Why a node did not join those behind it.
typedef enum {
  TVMS_FUSE_JOINED,
  TVMS_FUSE_OPAQUE,     // its operator can be a part of nothing
  TVMS_FUSE_OUTER,      // it is used from outside the graph
  TVMS_FUSE_APART,      // its users come together in no one node, or it has none
  TVMS_FUSE_TOO_LARGE,  // the group would have more than max_depth nodes
  TVMS_FUSE_PATTERN,    // what is on the way is not simple enough for it
} tvms_fuse_reason;

// Nodes in an order in which users stand behind what they use.
typedef struct {
  tvms_memory *memory;
  TVMS_VEC(tvms_fuse_node) nodes;
  TVMS_VEC(tvms_fuse_edge) edges;
} tvms_fuse_graph;

// Prepares an empty graph in the caller's storage.
void tvms_fuse_graph_init(tvms_fuse_graph *graph, tvms_memory *memory);

// Frees the graph.
void tvms_fuse_graph_fini(tvms_fuse_graph *graph);

// Adds a node and returns its index.
uint32_t tvms_fuse_graph_add_node(tvms_fuse_graph *graph, tvms_op_pattern pattern,
                                  bool outer);

// The value of `node` is the same in every run.
void tvms_fuse_graph_fix(tvms_fuse_graph *graph, uint32_t node);

// `user`, whose operator has `pattern`, uses the value of `node`.
void tvms_fuse_graph_add_edge(tvms_fuse_graph *graph, uint32_t node, uint32_t user,
                              tvms_op_pattern pattern);

// Fills in the group of each node: the index of the node that stands for it. Groups have
// at most `max_depth` nodes. With `operands`, what moves or decodes weights joins the product
// that alone uses it. `reasons`, if not NULL, gets one for each node.
void tvms_fuse_graph_partition(tvms_fuse_graph *graph, uint32_t max_depth,
                               bool operands, uint32_t *groups,
                               tvms_fuse_reason *TVMS_NULLABLE reasons);

#endif
