// Equal parts of a tensor: its elements, or its slices along an axis, as numpy.unique groups them.
//
// The file behind this needs nothing but libc: it stands in libtvms_rt.a, too.
#ifndef TVMS_RUNTIME_GROUPS_H
#define TVMS_RUNTIME_GROUPS_H

#include "runtime/abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The parts of a tensor without gaps.
typedef struct {
  const tvms_dl_tensor *tensor;
  const char *data;
  size_t size;             // of an element
  int64_t count;           // of parts
  int64_t before, behind;  // elements of a part: of the axes in front and behind
} tvms_groups_parts;

// Parts that hold the same, in the order of what they hold (NaN last), or of their first parts.
typedef struct {
  int64_t len;     // of groups
  int64_t *first;  // part in which each occurs first
  int64_t *counts;
  int64_t *of;  // by part: its group
} tvms_groups;

// The parts of a tensor of numbers of at most 64 bits that lie in its memory without gaps; `axis` -1: its elements.
tvms_groups_parts tvms_groups_parts_of(const tvms_dl_tensor *tensor, const char *data,
                                       int32_t axis);

// How many integers tvms_groups_make needs; 0: more than there can be.
size_t tvms_groups_room(const tvms_groups_parts *parts);

// Groups the parts. `memory` has that many integers, in which the lists lie.
tvms_groups tvms_groups_make(const tvms_groups_parts *parts, bool sorted,
                             int64_t *memory);

// Writes what each group holds, one after the other along the axis.
void tvms_groups_values(const tvms_groups_parts *parts, const tvms_groups *groups,
                        char *to);

// The first element from `element` on that is not zero, of either sign, or how many there are. The parts are elements.
int64_t tvms_groups_next(const tvms_groups_parts *parts, int64_t element);

#endif
