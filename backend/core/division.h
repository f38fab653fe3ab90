// Divisions of integers by numbers, which emitters write as products.
#ifndef TVMS_BACKEND_CORE_DIVISION_H
#define TVMS_BACKEND_CORE_DIVISION_H

#include "ir/node.h"

// The whole quotient n / by of n below 2^63 is n * factor >> 64 >> shift. floor(a / by) of a negative a is -1 - (-1 - a) / by.
typedef struct {
  uint64_t factor;
  int shift;
} tvms_division;

// Is a division that rounds down one of vectors of int64 by a number above 1 that is no power of two? Compilers
// divide such vectors element by element, and are left those of less than four.
bool tvms_division_read(const tvms_node *node, tvms_division *division);

#endif
