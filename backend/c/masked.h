// Accesses of lanes that lie side by side in C text: of all of them, and of some, where it is known which.
//
// Lanes that are left out are not touched: they may lie outside of the memory. The text names lanes by the
// bits of a number; its head has macros for that, which are one instruction of a processor that has
// it, and one access for each lane elsewhere.
#ifndef TVMS_BACKEND_C_MASKED_H
#define TVMS_BACKEND_C_MASKED_H

#include "backend/c/emit.h"

// The text of a vector in its form in memory, all of whose lanes are loaded from `place`, a pointer to the first one.
const char *tvms_c_load_whole(c_emitter *e, tvms_dtype dtype, tvms_span span,
                              const char *place);

// Stores all lanes of such a vector.
void tvms_c_store_whole(c_emitter *e, tvms_dtype dtype, tvms_span span,
                        const char *place, const char *value);

// The text of a vector of whole floats or integers whose lanes `bits` are loaded from `place`, a
// pointer to the first one; others are 0.
const char *tvms_c_load_lanes(c_emitter *e, tvms_dtype dtype, tvms_span span,
                              const char *place, uint64_t bits);

// Stores the lanes `bits` of such a vector.
void tvms_c_store_lanes(c_emitter *e, tvms_dtype dtype, tvms_span span,
                        const char *place, uint64_t bits, const char *value);

// The text of a vector of truths that is true in the lanes `bits`, for tvms_c_blend.
const char *tvms_c_lanes_mask(c_emitter *e, int width, int lanes, tvms_span span,
                              uint64_t bits);

#endif
