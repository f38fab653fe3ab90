// Lanes of vectors in another order.
#ifndef TVMS_BACKEND_C_SHUFFLE_H
#define TVMS_BACKEND_C_SHUFFLE_H

#include "backend/c/emit.h"

// The value of a T.Shuffle; reports lanes that are computed or not there, and leaves.
const char *tvms_c_shuffle(c_emitter *e, const tvms_node *node);

#endif
