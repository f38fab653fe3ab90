// What all calls of a function took together.
#ifndef TVMS_DRIVER_PROFILE_SUMS_H
#define TVMS_DRIVER_PROFILE_SUMS_H

#include "driver/profile.h"

typedef struct {
  const tvms_member *member;
  uint64_t calls;
  double own;   // seconds, without those of functions that it calls
  double work;  // floating-point operations; 0: not known
  double bytes;
} tvms_profile_sum;

// Sums of the functions that were called, the longest first; returns how many there are. They live in
// `arena`.
uint32_t tvms_profile_sum_up(const tvms_profile *profile, tvms_arena *arena,
                             tvms_profile_sum **sums);

#endif
