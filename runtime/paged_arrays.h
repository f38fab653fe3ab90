// Arrays of a batch, pages of layers, and the functions that they are arguments of: what all files of a cache with pages
// use.
#ifndef TVMS_RUNTIME_PAGED_ARRAYS_H
#define TVMS_RUNTIME_PAGED_ARRAYS_H

#include "runtime/paged.h"

// Puts an array of the batch, of so many numbers, into its area.
int32_t *tvms_paged_new_array(tvms_paged *p, uint32_t item, int32_t ndim,
                              const int64_t *shape);

// An array of the batch as an argument.
tvms_paged_argument tvms_paged_planned(const tvms_paged *p, uint32_t item);

// Refuses a cache without a batch in progress.
void tvms_paged_check_batch(const tvms_paged *p);

// What a layer keeps, counted from 0.
uint8_t tvms_paged_kind_at(const tvms_paged *p, uint32_t layer);

// Pages of a layer, counted from 0.
tvms_paged_argument tvms_paged_pages_at(const tvms_paged *p, uint32_t layer);

// Calls a function that the cache was made with; leaves the call if there is none.
void tvms_paged_run(const tvms_paged *p, uint32_t which,
                    const tvms_paged_argument *args, uint32_t count);

#endif
