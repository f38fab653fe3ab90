// Least and greatest numbers of 64 bits that fit in 32.
#ifndef TVMS_PASSES_TIR_CPU_NARROW_PLACES_H
#define TVMS_PASSES_TIR_CPU_NARROW_PLACES_H

#include "passes/tir/cpu/stage.h"

// Splits a least or greatest of int64, all values of which are known to fit in int32 while nothing wider than
// 32 bits is loaded for it (the first place of an element, say), in two statements: the same in
// int32, and what is made of it. `buffer` is what stands between, for the root block to allocate. Returns false for
// any other stage. The same numbers come out.
TVMS_NODISCARD bool tvms_cpu_take_narrow_out(tvms_unit *unit, const tvms_stage *stage,
                                             tvms_node *stmts[2], tvms_node **buffer);

#endif
