// The cache of attention without pages: one tensor of rows that grows, of which the first ones are filled.
//
// A window of fixed size is filled in a circle, behind rows that stay (sinks); `position` is where its next row goes.
// Whoever has a cache (interp/builtin_cache.c, runtime/box_cache.c) owns its tensor.
// TVM: src/runtime/vm/lm_support.cc, AttentionKVCacheLegacy.
#ifndef TVMS_RUNTIME_KV_PLAIN_H
#define TVMS_RUNTIME_KV_PLAIN_H

#include "runtime/abi.h"

typedef struct tvms_kv_plain tvms_kv_plain;

struct tvms_kv_plain {
  const tvms_dl_tensor *data;  // compact
  int64_t filled, position;
  // Gives the cache a tensor of `rows` rows with those that are filled, more than there are: `data` is that then. False
  // after an error.
  bool (*widen)(tvms_kv_plain *cache, int64_t rows);
  // Reports a sentence about what is expected; returns false, or not at all.
  bool (*refuse)(tvms_kv_plain *cache, const char *text);
};

// The functions return false after an error; the cache is as it was then. `rows` are compact.

// Appends rows; the tensor doubles until there is room.
bool tvms_kv_plain_append(tvms_kv_plain *cache, const tvms_dl_tensor *rows);

// Says how many rows of a new cache are filled; less than 0: those that were appended.
bool tvms_kv_plain_fill(tvms_kv_plain *cache, int64_t filled);

// Writes over the rows that are filled, with as many.
bool tvms_kv_plain_update(tvms_kv_plain *cache, const tvms_dl_tensor *rows);

// Are these the sizes of the rows that are filled?
bool tvms_kv_plain_check(tvms_kv_plain *cache, const int64_t *sizes, int64_t count);

// Writes rows into a window of `most`, whose first `sinks` stay.
bool tvms_kv_plain_window(tvms_kv_plain *cache, const tvms_dl_tensor *rows,
                          int64_t most, int64_t sinks);

// Takes the last rows back.
bool tvms_kv_plain_pop(tvms_kv_plain *cache, int64_t rows);

#endif
