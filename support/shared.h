// Bytes that several owners hold: the data of large constants, which is never copied from one function to the next,
// and files of weights, which are mapped.
//
// A context has a list of them by their place, so whoever has a pointer into such bytes finds and holds them:
//
//   shared = tvms_shared_new(memory, shares, size)             one holder
//   tvms_shared_hold(tvms_shared_find(shares, p, n))           two
//   tvms_shared_drop(memory, shares, shared)                   one; the last one frees or unmaps
#ifndef TVMS_SUPPORT_SHARED_H
#define TVMS_SUPPORT_SHARED_H

#include "support/memory.h"
#include "support/vec.h"

typedef struct {
  char *bytes;  // at a multiple of 64
  size_t size;
  void *TVMS_NULLABLE
      block;  // of the memory that they lie in; NULL: a file that is mapped, only to be read
  uint32_t holders;
} tvms_shared;

// By place; zero is an empty list.
typedef TVMS_VEC(tvms_shared *) tvms_shares;

// Bytes to be filled in, with one holder.
tvms_shared *tvms_shared_new(tvms_memory *memory, tvms_shares *shares, size_t size);

// A file as it is, with one holder; NULL: that cannot be done, and errno says why. What is no plain file is EINVAL. Nobody may
// shorten the file as long as it is held.
tvms_shared *TVMS_NULLABLE tvms_shared_map(tvms_memory *memory, tvms_shares *shares,
                                           const char *path);

// The shared bytes that have all of these, or NULL.
tvms_shared *TVMS_NULLABLE tvms_shared_find(const tvms_shares *shares, const char *at,
                                            size_t size);

// One holder more.
void tvms_shared_hold(tvms_shared *shared);

// One holder less.
void tvms_shared_drop(tvms_memory *memory, tvms_shares *shares, tvms_shared *shared);

// Unmaps all files, whoever holds them; what lies in the memory goes with that.
void tvms_shares_fini(tvms_shares *shares);

#endif
