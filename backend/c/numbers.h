// Vectors of reals that are numbers of the text.
#ifndef TVMS_BACKEND_C_NUMBERS_H
#define TVMS_BACKEND_C_NUMBERS_H

#include "backend/c/emit.h"

// The value of a vector that is computed of numbers alone, rounded as what computes it would round it; NULL: it is none.
const char *TVMS_NULLABLE tvms_c_numbers(c_emitter *e, const tvms_node *node);

#endif
