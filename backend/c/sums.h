// Indices as sums.
//
// What numbers alone say is added to an address last: it stands in the instruction then, and one register holds what the
// places around it have in common.
#ifndef TVMS_BACKEND_C_SUMS_H
#define TVMS_BACKEND_C_SUMS_H

#include "ir/node.h"

enum { C_MOST_TERMS = 8 };

// The terms, which are no numbers, and a number. Some terms are taken away.
typedef struct {
  const tvms_node *terms[C_MOST_TERMS];
  bool minus[C_MOST_TERMS];
  uint32_t count;
  int64_t number;
} c_sum;

// Adds a scalar index; false: it has too many terms, is too deep or too large, or of a kind that wraps around.
bool tvms_c_sum_add(c_sum *sum, const tvms_node *index);

// The value of what is made of numbers alone by arithmetic of integers; false: it is anything else.
bool tvms_c_number(const tvms_node *node, int64_t *value);

#endif
