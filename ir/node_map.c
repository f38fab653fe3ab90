// Nodes by identity: open addressing with linear probing.
//
// For what is known of some nodes, or of nodes of several units; what an analysis finds out about
// all nodes of one function is an array by their ids. At most three quarters of the table are in
// use, and pairs go all at once or not at all, so the probing for a node ends at the first free
// place. A node may be mapped to NULL, which tvms_node_map_get does not tell from none.
#include "ir/node_map.h"

#include <string.h>

enum { FIRST_CAP = 16 };

void tvms_node_map_init(tvms_node_map *map, tvms_memory *memory) {
  *map = (tvms_node_map){.memory = memory};
}

void tvms_node_map_fini(tvms_node_map *map) {
  tvms_memory_free(map->memory, map->pairs);
  tvms_node_map_init(map, map->memory);
}

static uint32_t hash_of(const tvms_node *key) {
  uint64_t bits = (uint64_t)(uintptr_t)key >> 3;
  return (uint32_t)((bits * 0x9E3779B97F4A7C15u) >> 32);
}

// The pair of `key`, or the free one where it belongs.
static tvms_node_pair *find(const tvms_node_map *map, const tvms_node *key) {
  uint32_t mask = map->cap - 1;
  uint32_t at = hash_of(key) & mask;
  while (map->pairs[at].key && map->pairs[at].key != key)
    at = (at + 1) & mask;
  return &map->pairs[at];
}

static void grow(tvms_node_map *map) {
  tvms_node_map old = *map;
  map->cap = old.cap ? old.cap * 2 : FIRST_CAP;
  map->pairs = tvms_memory_alloc(map->memory, map->cap * sizeof *map->pairs);
  for (uint32_t i = 0; i < old.cap; i++) {
    if (old.pairs[i].key) *find(map, old.pairs[i].key) = old.pairs[i];
  }
  tvms_memory_free(map->memory, old.pairs);
}

void tvms_node_map_put(tvms_node_map *map, const tvms_node *key,
                       tvms_node *TVMS_NULLABLE value) {
  if ((map->count + 1) * 4 > map->cap * 3) grow(map);
  tvms_node_pair *pair = find(map, key);
  if (!pair->key) map->count++;
  pair->key = key;
  pair->value = value;
}

tvms_node *TVMS_NULLABLE tvms_node_map_get(const tvms_node_map *map,
                                           const tvms_node *key) {
  return map->cap ? find(map, key)->value : NULL;
}

void tvms_node_map_clear(tvms_node_map *map) {
  enum { MOST_ROOM = 16 };
  if (!map->count) return;
  // One large use must not make all small ones behind it costly.
  if (map->count < map->cap / MOST_ROOM) {
    tvms_node_map_fini(map);
    return;
  }
  memset(map->pairs, 0, map->cap * sizeof *map->pairs);
  map->count = 0;
}
