// Structural equality up to the names of what is defined inside (alpha equivalence).
//
// Which fields define variables stands in ir/nodes.def. Spans, ids, name hints and
// annotations of the source do not count.
#ifndef TVMS_IR_EQUAL_H
#define TVMS_IR_EQUAL_H

#include "ir/node.h"

// Called for the innermost pair that differs; `what` names the reason: "value of 'extent'",
// "kind", "number of 'args'". Nodes may be NULL: present on one side only.
typedef void tvms_difference(void *self, const tvms_node *TVMS_NULLABLE a,
                             const tvms_node *TVMS_NULLABLE b, const char *what);

typedef struct {
  // Free variables and buffers may stand for each other, one for one. Without it a free
  // variable equals itself only.
  bool map_free;
  // Not NULL: an object whose value the text left out (ir/omitted.h) equals any of its kind
  // and type; such pairs are counted here. NULL: it equals itself.
  uint32_t *TVMS_NULLABLE omitted;
  // NULL: stop at the first difference. Otherwise all of them are reported.
  tvms_difference *TVMS_NULLABLE report;
  void *self;
} tvms_equal_options;

// Are two nodes the same program? They may be in different units of one context.
bool tvms_node_equal(tvms_context *context, const tvms_node *a, const tvms_node *b);

// The same with options.
bool tvms_node_equal_with(tvms_context *context, const tvms_node *a, const tvms_node *b,
                          const tvms_equal_options *options);

// What tvms_node_same_expr asks of two nodes of one kind and data type that are not one.
bool tvms_node_same_fields(const tvms_node *a, const tvms_node *b);

// Equality of expressions that define nothing inside: variables by identity. Needs no
// memory; the fast path of simplification.
static inline bool tvms_node_same_expr(const tvms_node *a, const tvms_node *b) {
  if (a == b) return true;
  return a->kind == b->kind && tvms_dtype_same(a->dtype, b->dtype)
         && tvms_node_same_fields(a, b);
}

// As many expressions in both lists, and the same ones?
bool tvms_node_same_exprs(tvms_list a, tvms_list b);

// A hash that agrees with tvms_node_equal: equal nodes have equal hashes. Free variables are
// hashed by identity.
uint64_t tvms_node_hash(tvms_context *context, const tvms_node *node);

#endif
