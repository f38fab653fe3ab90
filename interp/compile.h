// PrimFuncs to register code.
#ifndef TVMS_INTERP_COMPILE_H
#define TVMS_INTERP_COMPILE_H

#include "interp/code.h"

// The code of the function of `f`, whose arguments are bound, in `arena`. NULL if only the tree
// can run it: it nests too deeply, or uses what is bound on some ways only. Takes time and
// memory linear in the function, and reports nothing: whatever is wrong with a part is found
// when that part is run.
const tvms_interp_code *TVMS_NULLABLE tvms_interp_compile(const tvms_interp_frame *f,
                                                          tvms_arena *arena);

#endif
