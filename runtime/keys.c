// A radix sort: one pass for each byte in which numbers differ, the lowest first.
#include "runtime/keys.h"

#include <string.h>

int64_t *tvms_order_by_keys(uint64_t *keys, uint64_t *spare_keys, int64_t *items,
                            int64_t *spare, int64_t count) {
  enum { BYTES = 256 };
  uint64_t differ = 0, *sorted = keys;
  for (int64_t i = 1; i < count; i++)
    differ |= keys[i] ^ keys[0];
  for (unsigned shift = 0; shift < 64; shift += 8) {
    if (!(differ >> shift & (BYTES - 1))) continue;
    int64_t place[BYTES + 1] = {0};
    for (int64_t i = 0; i < count; i++)
      place[(keys[i] >> shift & (BYTES - 1)) + 1]++;
    for (int b = 0; b < BYTES; b++)
      place[b + 1] += place[b];
    for (int64_t i = 0; i < count; i++) {
      int64_t to = place[keys[i] >> shift & (BYTES - 1)]++;
      spare_keys[to] = keys[i];
      spare[to] = items[i];
    }
    uint64_t *other_keys = keys;
    int64_t *other = items;
    keys = spare_keys;
    items = spare;
    spare_keys = other_keys;
    spare = other;
  }
  if (keys != sorted) memcpy(sorted, keys, (size_t)count * sizeof *keys);
  return items;
}
