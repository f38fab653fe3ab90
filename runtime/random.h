// Random inputs that are the same on every machine.
//
// The stream of an input depends on the seed and the input's name only, so adding an input
// changes no other one. Generator: SplitMix64 (Steele, Lea, Flood 2014), state = seed xor
// FNV-1a of the name; element i is made from the i-th output u:
//   floats  (u >> 40) / 2^23 - 1: in [-1, 1), 24 bits, exact in float32; narrower kinds
//           round it
//   ints    (u >> 32) % 8: small numbers, valid as indices of most things
//   bool    the lowest bit of u >> 32
#ifndef TVMS_RUNTIME_RANDOM_H
#define TVMS_RUNTIME_RANDOM_H

#include "runtime/value.h"

// Fills every element (and lane).
void tvms_random_fill(tvms_tensor *tensor, uint64_t seed, const char *name);

// The first number of a stream, for inputs that are scalars.
tvms_scalar tvms_random_scalar(tvms_dl_type type, uint64_t seed, const char *name);

#endif
