// Products by powers of two (backend/core/scaled.h) of whole registers of x86.
//
//   SCALED_f32x16(v7, v9, v7 * v12 * v15)
//
// is one instruction of the first two where the processor of the C compiler has it, else the product.
#ifndef TVMS_BACKEND_C_SCALED_H
#define TVMS_BACKEND_C_SCALED_H

#include "backend/c/emit.h"

// The name of the product, if it is such a one; NULL: it is not.
const char *TVMS_NULLABLE tvms_c_scaled(c_emitter *e, const tvms_node *node);

#endif
