// A number for each of many names, such as how often a name was asked for.
#ifndef TVMS_SUPPORT_COUNTS_H
#define TVMS_SUPPORT_COUNTS_H

#include "support/intern.h"

typedef struct {
  struct tvms_count {
    tvms_sym name;  // 0: an empty place
    uint32_t number;
  } * items;     // a table by name
  uint32_t len;  // names in it
  uint32_t cap;  // places, a power of two
} tvms_counts;

// The number of a name, which is 0 at first; it stays there until the next call.
uint32_t *tvms_counts_at(tvms_memory *memory, tvms_counts *counts, tvms_sym name);

// Frees the table, which is empty then.
void tvms_counts_fini(tvms_memory *memory, tvms_counts *counts);

#endif
