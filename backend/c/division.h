// Division of integers in C text: quotients and remainders, truncated or rounded down.
#ifndef TVMS_BACKEND_C_DIVISION_H
#define TVMS_BACKEND_C_DIVISION_H

#include "backend/c/emit.h"

// Writes checks that no lane of a divisor, which is `b`, is 0, where that is not known.
void tvms_c_check_divisor(c_emitter *e, const tvms_node *divisor, const char *b);

// The text of a division of scalars, or of lanes `k`, whose divisor is not 0.
const char *tvms_c_divide(c_emitter *e, const tvms_node *node, const char *a,
                          const char *b);

// A division of whole vectors by a number, as a product; NULL if it is none.
const char *TVMS_NULLABLE tvms_c_divide_whole(c_emitter *e, const tvms_node *node,
                                              const char *a, const char *b);

#endif
