// May one buffer be written over another?
#ifndef TVMS_PASSES_TIR_MEMORY_INPLACE_H
#define TVMS_PASSES_TIR_MEMORY_INPLACE_H

#include "ir/node.h"

// Does `stmt` read `from` only to write the same element of `to`, of the same dtype, and read
// nothing of `to`? Then both may lie in the same memory, if no element is written twice, as
// in TVM. TVM: InplaceOpVerifier.
bool tvms_inplace_is_safe(tvms_context *context, const tvms_node *stmt,
                          const tvms_node *to, const tvms_node *from);

#endif
