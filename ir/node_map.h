// A map from nodes (by identity) to nodes.
//
// Open addressing; the blocks belong to a tvms_memory, so an unwinding leaks nothing. The
// zero value with `memory` set is an empty map.
#ifndef TVMS_IR_NODE_MAP_H
#define TVMS_IR_NODE_MAP_H

#include "ir/node.h"

typedef struct {
  const tvms_node *TVMS_NULLABLE key;
  tvms_node *value;
} tvms_node_pair;

typedef struct {
  tvms_memory *memory;
  tvms_node_pair *pairs;
  uint32_t count;
  uint32_t cap;  // a power of two, or 0
} tvms_node_map;

// Prepares an empty map in the storage of the caller; takes nothing yet.
void tvms_node_map_init(tvms_node_map *map, tvms_memory *memory);

// Gives its blocks back; the map is empty and may be used again.
void tvms_node_map_fini(tvms_node_map *map);

// Sets the value of a key; an older one is replaced. `value` may be NULL: then the key
// reads as absent.
void tvms_node_map_put(tvms_node_map *map, const tvms_node *key,
                       tvms_node *TVMS_NULLABLE value);

// The value of a key, or NULL.
tvms_node *TVMS_NULLABLE tvms_node_map_get(const tvms_node_map *map,
                                           const tvms_node *key);

// Forgets all keys and keeps the room, unless it is far more than they took.
void tvms_node_map_clear(tvms_node_map *map);

#endif
