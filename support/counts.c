// A number for each of many names: a table with open addressing, at most half full.
#include "support/counts.h"

static struct tvms_count *place_of(const tvms_counts *counts, tvms_sym name) {
  uint32_t at = (uint32_t)(name * UINT64_C(0x9E3779B97F4A7C15) >> 32);
  while (true) {
    struct tvms_count *place = &counts->items[at++ & (counts->cap - 1)];
    if (!place->name || place->name == name) return place;
  }
}

static void grow(tvms_memory *memory, tvms_counts *counts) {
  tvms_counts more = {.len = counts->len, .cap = counts->cap ? counts->cap * 2 : 16};
  more.items = tvms_memory_alloc(memory, more.cap * sizeof *more.items);
  for (uint32_t i = 0; i < counts->cap; i++) {
    const struct tvms_count *old = &counts->items[i];
    if (old->name) *place_of(&more, old->name) = *old;
  }
  tvms_memory_free(memory, counts->items);
  *counts = more;
}

uint32_t *tvms_counts_at(tvms_memory *memory, tvms_counts *counts, tvms_sym name) {
  if (counts->len >= counts->cap / 2) grow(memory, counts);
  struct tvms_count *place = place_of(counts, name);
  if (!place->name) {
    place->name = name;
    counts->len++;
  }
  return &place->number;
}

void tvms_counts_fini(tvms_memory *memory, tvms_counts *counts) {
  tvms_memory_free(memory, counts->items);
  *counts = (tvms_counts){0};
}
