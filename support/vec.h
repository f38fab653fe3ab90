// Growing arrays as macros over any struct with `items`, `len` and `cap`.
//
//   TVMS_VEC(uint32_t) ids = {0};
//   tvms_vec_push(memory, &ids, 7u);
//
// The items are one block of tvms_memory: they move when the array grows.
#ifndef TVMS_SUPPORT_VEC_H
#define TVMS_SUPPORT_VEC_H

#include "support/memory.h"

#define TVMS_VEC(type)                                                                 \
  struct {                                                                             \
    type *items;                                                                       \
    uint32_t len;                                                                      \
    uint32_t cap;                                                                      \
  }

// Makes room for `more` further items.
#define tvms_vec_reserve(memory, vec, more)                                            \
  ((vec)->len + (more) <= (vec)->cap                                                   \
       ? (void)0                                                                       \
       : (void)((vec)->items =                                                         \
                    tvms_vec_grow((memory), (vec)->items, &(vec)->cap,                 \
                                  (vec)->len + (more), sizeof *(vec)->items)))

#define tvms_vec_push(memory, vec, value)                                              \
  (tvms_vec_reserve(memory, vec, 1), (void)((vec)->items[(vec)->len++] = (value)))

// Makes items[index] exist; new items are zero. For tables that are indexed by id: memory
// that was never used is not even touched.
#define tvms_vec_reach(memory, vec, index)                                             \
  ((index) < (vec)->len ? (void)0                                                      \
                        : (void)((vec)->items = tvms_vec_reach_bytes(                  \
                                     (memory), (vec)->items, &(vec)->len, &(vec)->cap, \
                                     (index), sizeof *(vec)->items)))

#define tvms_vec_fini(memory, vec)                                                     \
  (tvms_memory_free((memory), (vec)->items), (vec)->items = NULL,                      \
   (vec)->len = (vec)->cap = 0)

// Slow path of tvms_vec_reserve: doubles the capacity until `wanted` items fit.
void *tvms_vec_grow(tvms_memory *memory, void *TVMS_NULLABLE items, uint32_t *capacity,
                    uint32_t wanted, size_t item_size);

// Slow path of tvms_vec_reach: everything up to the capacity exists then.
void *tvms_vec_reach_bytes(tvms_memory *memory, void *TVMS_NULLABLE items,
                           uint32_t *len, uint32_t *capacity, uint32_t index,
                           size_t item_size);

#endif
