// Sums of four products of bytes (ir/quad.h) as instructions of the processor that the compiler is told of.
#ifndef TVMS_BACKEND_C_QUADS_H
#define TVMS_BACKEND_C_QUADS_H

#include "backend/c/emit.h"

// The value of a vector of 4, 8 or 16 lanes that is such a sum; NULL: it is none.
const char *TVMS_NULLABLE tvms_c_quad(c_emitter *e, const tvms_node *node);

#endif
