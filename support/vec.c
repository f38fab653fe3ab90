// Growth of the arrays of vec.h: capacities double, so pushing item by item is linear.
#include "support/vec.h"

#include <string.h>

static uint32_t grown_capacity(tvms_memory *memory, uint32_t capacity,
                               uint32_t wanted) {
  uint32_t grown = capacity ? capacity : 8;
  while (grown < wanted) {
    if (grown > UINT32_MAX / 2) tvms_memory_refuse(memory, "a list has too many items");
    grown *= 2;
  }
  return grown;
}

void *tvms_vec_grow(tvms_memory *memory, void *items, uint32_t *capacity,
                    uint32_t wanted, size_t item_size) {
  uint32_t grown = grown_capacity(memory, *capacity, wanted);
  void *moved = tvms_memory_realloc(memory, items, grown * item_size);
  *capacity = grown;
  return moved;
}

void *tvms_vec_reach_bytes(tvms_memory *memory, void *items, uint32_t *len,
                           uint32_t *capacity, uint32_t index, size_t item_size) {
  if (index < *capacity) {
    memset((char *)items + *len * item_size, 0, (*capacity - *len) * item_size);
  } else {
    if (index == UINT32_MAX) tvms_memory_refuse(memory, "a list has too many items");
    uint32_t grown = grown_capacity(memory, *capacity, index + 1);
    void *moved = tvms_memory_alloc(memory, grown * item_size);
    if (*len) memcpy(moved, items, *len * item_size);
    tvms_memory_free(memory, items);
    items = moved;
    *capacity = grown;
  }
  *len = *capacity;
  return items;
}
