// Sorting by numbers.
//
// The file behind this needs nothing but libc: it stands in libtvms_rt.a, too.
#ifndef TVMS_RUNTIME_KEYS_H
#define TVMS_RUNTIME_KEYS_H

#include <stdint.h>

// Sorts `count` numbers, and the items that go with them, stably. The spare lists are as long. Returns the list of the
// items that is sorted, `items` or `spare`; the numbers are sorted in `keys`.
int64_t *tvms_order_by_keys(uint64_t *keys, uint64_t *spare_keys, int64_t *items,
                            int64_t *spare, int64_t count);

#endif
