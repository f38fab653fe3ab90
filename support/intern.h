// Names as small integers: equal text, equal id.
//
// Ids 1 … n are fixed at build time: tools/gen_names.c collects every name that a table
// (*.def) mentions into one ready-made hash table, so nothing is interned at start-up and
// code can say TVMS_SYM_grid. Other names get the ids that follow. Id 0 means "no name".
#ifndef TVMS_SUPPORT_INTERN_H
#define TVMS_SUPPORT_INTERN_H

#include "support/arena.h"

typedef uint32_t tvms_sym;

typedef struct {
  const char *text;  // ended by NUL; may hold NULs before when len says so
  uint32_t len;
  uint32_t hash;
} tvms_name;

// The names known at build time. `slots` is an open-addressing table of ids.
typedef struct {
  const tvms_name *names;  // [1 … count]
  uint32_t count;
  const uint16_t *slots;
  uint32_t slot_mask;
} tvms_static_names;

typedef struct {
  tvms_arena *arena;  // texts of dynamic names
  tvms_memory *memory;
  const tvms_static_names *fixed;
  tvms_name *names;  // dynamic ones: id - fixed->count - 1
  uint32_t count;
  uint32_t cap;
  uint32_t *slots;
  uint32_t slot_mask;
} tvms_interner;

// Knows the names of `fixed`, which outlives it; texts of others live in `arena`, tables in its
// memory.
void tvms_interner_init(tvms_interner *interner, tvms_arena *arena,
                        const tvms_static_names *fixed);

// Returns the id of the `len` bytes at `text`, which are copied if new.
tvms_sym tvms_interner_add(tvms_interner *interner, const char *text, size_t len);

// As tvms_interner_add, with the hash (tvms_interner_hash) already at hand.
tvms_sym tvms_interner_add_hashed(tvms_interner *interner, const char *text, size_t len,
                                  uint32_t hash);

// Returns the id of a text that was interned before, or 0.
tvms_sym tvms_interner_find(const tvms_interner *interner, const char *text,
                            size_t len);

// Text and length of an id that this interner gave out.
static inline const tvms_name *tvms_interner_name(const tvms_interner *interner,
                                                  tvms_sym sym) {
  return sym <= interner->fixed->count
             ? &interner->fixed->names[sym]
             : &interner->names[sym - interner->fixed->count - 1];
}

// Hash of a name. tools/gen_names.c uses the same function.
static inline uint32_t tvms_interner_hash(const char *text, size_t len) {
  uint64_t hash = 0x9E3779B97F4A7C15u ^ len;
  while (len >= 8) {
    uint64_t word;
    __builtin_memcpy(&word, text, 8);
    hash = (hash ^ word) * 0xD6E8FEB86659FD93u;
    hash ^= hash >> 32;
    text += 8;
    len -= 8;
  }
  uint64_t tail = 0;
  for (size_t i = 0; i < len; i++) {
    tail |= (uint64_t)(unsigned char)text[i] << (8 * i);
  }
  hash = (hash ^ tail) * 0xD6E8FEB86659FD93u;
  return (uint32_t)(hash ^ (hash >> 32));
}

#endif
