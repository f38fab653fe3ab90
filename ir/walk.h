// Visiting the nodes below a node, in the order of ir/nodes.def.
//
// The walk keeps its own stack, so chains of any depth work. Types in heads (`sinfo`) are
// not visited; neither are shared parts visited only once: a buffer is visited at each
// place where it stands, unless the visitor skips it.
#ifndef TVMS_IR_WALK_H
#define TVMS_IR_WALK_H

#include "ir/node.h"

typedef enum {
  TVMS_WALK_ON,    // visit what is below, too
  TVMS_WALK_SKIP,  // not what is below; leave() is still called
  TVMS_WALK_STOP,  // end the whole walk
} tvms_walk_step;

typedef struct {
  void *self;
  // Before what is below; `role` is what the node is there for (tvms_role_below; USE for
  // the root). NULL: always TVMS_WALK_ON.
  tvms_walk_step (*TVMS_NULLABLE enter)(void *self, tvms_node *node,
                                        tvms_field_role role);
  // After what is below. NULL: nothing.
  void (*TVMS_NULLABLE leave)(void *self, tvms_node *node, tvms_field_role role);
} tvms_visitor;

// What a part of `parent` is there for, when `parent` itself is there for `outer` and the
// part stands in a field with the role `field`. What stands in a type, an annotation or a
// declared region has that role all the way down, and so has a recursive definition, but
// for what an element is loaded from; in a buffer that is only used everything is TYPE,
// because the buffer is defined elsewhere.
static inline tvms_field_role
tvms_role_below(const tvms_node *parent, tvms_field_role outer, tvms_field_role field) {
  bool defined = outer == TVMS_ROLE_DEFINE || outer == TVMS_ROLE_DEFINE_REC;
  if (outer == TVMS_ROLE_TYPE || outer == TVMS_ROLE_NOTE) return outer;
  if (parent->kind == TVMS_NODE_BUFFER && !defined) return TVMS_ROLE_TYPE;
  if (outer == TVMS_ROLE_ACCESS) return outer;
  bool loaded = parent->kind == TVMS_NODE_BUFFER_LOAD;
  return outer == TVMS_ROLE_DEFINE_REC && !loaded ? outer : field;
}

// A field that holds nodes: one, or a list of them.
typedef struct {
  uint16_t offset;
  uint8_t size;  // 1: a node, which may be NULL; 2: a list; 0: behind the last field
  uint8_t role;  // tvms_field_role
} tvms_child_field;

// By kind of node; for tvms_walk_fields.
extern const tvms_child_field *const tvms_walk_table[];

// The fields of `node` that hold nodes, in order, for loops that know themselves what to do.
static inline const tvms_child_field *tvms_walk_fields(const tvms_node *node) {
  return tvms_walk_table[node->kind];
}

// What stands in a field of `node`: `end` is behind the last item.
static inline tvms_node **tvms_walk_items(const tvms_node *node,
                                          const tvms_child_field *field,
                                          tvms_node ***end) {
  char *place = (char *)(uintptr_t)node + field->offset;
  if (field->size == 1) {
    *end = (tvms_node **)(void *)place + 1;
    return (tvms_node **)(void *)place;
  }
  const tvms_list *list = (const tvms_list *)(const void *)place;
  *end = list->len ? list->items + list->len : list->items;
  return list->items;
}

// Visits `root` and all nodes below it. Returns false if the visitor stopped it.
bool tvms_walk(tvms_memory *memory, tvms_node *root, const tvms_visitor *visitor);

// The NODE fields and items of LIST fields of one node, one after the other:
//   for (tvms_child_at at = {0}; (child = tvms_walk_next_child(node, &at));) …
// `at.role` is the role of the field of the child that was returned last.
typedef struct {
  uint32_t field;
  uint32_t item;
  tvms_field_role role;
} tvms_child_at;

// The next child of `node` behind `at`, or NULL at the end. Fields that are NULL are
// left out.
tvms_node *TVMS_NULLABLE tvms_walk_next_child(const tvms_node *node, tvms_child_at *at);

// Does `wanted` stand in `node` or below it (by identity)?
bool tvms_walk_contains(tvms_memory *memory, tvms_node *node, const tvms_node *wanted);

#endif
