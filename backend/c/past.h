// Vectors that C text stores past the caches (ir/nontemporal.h).
#ifndef TVMS_BACKEND_C_PAST_H
#define TVMS_BACKEND_C_PAST_H

#include "backend/c/emit.h"

// Stores all lanes of a vector in its form in memory at `place`, a pointer to the first one: past the caches where a loop
// around says so, and the compiler, the processor and the place let it.
void tvms_c_store_vector(c_emitter *e, tvms_dtype dtype, tvms_span span,
                         const char *place, const char *value);

// Other threads see what the function has stored past the caches before they see what it stores from here on.
void tvms_c_order_stores(c_emitter *e);

#endif
