// Vectors that are stored past the caches (ir/nontemporal.h).
#ifndef TVMS_BACKEND_LLVM_PAST_H
#define TVMS_BACKEND_LLVM_PAST_H

#include "backend/llvm/emit.h"

// Stores a vector at `place`, in memory of `data`; past the caches where a loop around says so and the place
// is one that a vector of its size may be stored at so, which is asked when it runs.
void tvms_emit_store_vector(emitter *e, tvms_dtype dtype, LLVMValueRef value,
                            LLVMValueRef place, LLVMValueRef data, tvms_span span);

// Other threads see what the function has stored past the caches before they see what it stores from here on.
void tvms_emit_order_stores(emitter *e);

#endif
