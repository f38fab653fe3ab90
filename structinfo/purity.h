// Purity of PrimFuncs, as Relax sees it.
#ifndef TVMS_STRUCTINFO_PURITY_H
#define TVMS_STRUCTINFO_PURITY_H

#include "ir/node.h"

// True if the PrimFunc changes nothing its caller can see: it stores only into what it
// allocates itself and calls nothing that updates state. TVM decides so in IsPureFunction
// (is_pure_function.cc), for which the buffers of a block are not the function's own. A
// function without a body is not pure.
bool tvms_purity_of_prim_func(tvms_memory *memory, const tvms_prim_func *func);

#endif
