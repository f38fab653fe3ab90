// PrimFuncs that take pointers: what another PrimFunc of the module can call directly.
#ifndef TVMS_PASSES_RELAX_FUSE_UNPACK_PRIM_FUNC_H
#define TVMS_PASSES_RELAX_FUSE_UNPACK_PRIM_FUNC_H

#include "passes/functions.h"

// Why a PrimFunc cannot be called with pointers; NULL: it can. All its buffers have sizes
// that are numbers, and lie in memory without gaps.
const char *TVMS_NULLABLE tvms_fuse_unpack_obstacle(const tvms_prim_func *function);

// Adds the private function `<name>_unpacked` to the module, unless it is there, and returns
// its name: it has a pointer for each buffer of the PRIM_FUNC that is member `index`, and
// the same scalars.
tvms_sym tvms_fuse_unpack(tvms_pass_run *run, uint32_t index);

// A buffer of the unit with the elements and the sizes of `like`, which may be of another.
tvms_node *tvms_fuse_dense_buffer(tvms_unit *unit, const tvms_node *like,
                                  const char *name);

// The bytes of a buffer whose sizes are numbers.
int64_t tvms_fuse_buffer_bytes(const tvms_node *buffer);

#endif
