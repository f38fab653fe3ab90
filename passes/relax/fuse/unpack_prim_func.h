// PrimFuncs that take pointers: what another PrimFunc of the module can call directly.
#ifndef TVMS_PASSES_RELAX_FUSE_UNPACK_PRIM_FUNC_H
#define TVMS_PASSES_RELAX_FUSE_UNPACK_PRIM_FUNC_H

#include "ir/node_map.h"
#include "passes/functions.h"

// Why a PrimFunc cannot be called with pointers; NULL: it can. All its buffers lie in memory
// without gaps. With `passes_pointers` the caller has something for parameters that are pointers.
const char *TVMS_NULLABLE tvms_fuse_unpack_obstacle(const tvms_prim_func *function,
                                                    bool passes_pointers);

// Adds the private function `<name>_unpacked` to the module, unless it is there, and returns
// its name: it has a pointer for each buffer of the PRIM_FUNC that is member `index`, the same
// scalars, and behind them the sizes that the buffers had (tvms_fuse_sizes_of).
tvms_sym tvms_fuse_unpack(tvms_pass_run *run, uint32_t index);

// A name for that form which the module does not have yet.
tvms_sym tvms_fuse_unpacked_name(tvms_pass_run *run, uint32_t index);

// Adds the form under a name of tvms_fuse_unpacked_name.
void tvms_fuse_unpack_as(tvms_pass_run *run, uint32_t index, tvms_sym name);

// Removes private functions among the first `before` members that had a flag in `called` before the
// pass and are not called any more.
void tvms_fuse_drop_packed(tvms_pass_run *run, const bool *called, uint32_t before);

// A buffer of the unit with the elements of `like` and the sizes of `shape`, both of which may
// be of another; `known` maps their symbols and learns of new ones.
tvms_node *tvms_fuse_dense_buffer(tvms_unit *unit, const tvms_node *like,
                                  tvms_list shape, tvms_node_map *known,
                                  const char *name);

#endif
