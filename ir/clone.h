// Copies that share nothing with the original: to move a function into another unit.
#ifndef TVMS_IR_CLONE_H
#define TVMS_IR_CLONE_H

#include "ir/node_map.h"

// Copies `node`, everything below it and the types in heads into `unit`. What was shared
// stays shared; closed types, and the devices and meshes of the unit's module, are taken as
// they are. `known` (may be NULL) gives replacements by identity, which are taken as
// they are; every node copied is added to it, so several calls with one map belong
// together.
tvms_node *tvms_clone(tvms_unit *unit, const tvms_node *node,
                      tvms_node_map *TVMS_NULLABLE known);

// As tvms_clone, with fresh variables everywhere: two copies of one function in the same
// unit do not share definitions.
static inline tvms_node *tvms_clone_fresh(tvms_unit *unit, const tvms_node *node) {
  return tvms_clone(unit, node, NULL);
}

#endif
