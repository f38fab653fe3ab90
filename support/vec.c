// Growth of the arrays of vec.h.
#include "support/vec.h"

void *tvms_vec_grow(tvms_memory *memory, void *items, uint32_t *capacity,
                    uint32_t wanted, size_t item_size) {
  uint32_t grown = *capacity ? *capacity : 8;
  while (grown < wanted) {
    if (grown > UINT32_MAX / 2) tvms_unwind(memory, TVMS_OVER_LIMIT);
    grown *= 2;
  }
  void *moved = tvms_retake(memory, items, grown * item_size);
  *capacity = grown;
  return moved;
}
