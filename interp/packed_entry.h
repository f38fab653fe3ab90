// Functions that MakePackedAPI has made: four parameters, behind which the arguments stand as
// TVM's run time lays them out.
#ifndef TVMS_INTERP_PACKED_ENTRY_H
#define TVMS_INTERP_PACKED_ENTRY_H

#include "interp/frame.h"

// Does a PrimFunc take its arguments packed?
bool tvms_interp_is_packed_entry(const tvms_node *function);

// Binds the parameters of the function of `f` to `args`, laid out as DLTensor and TVMFFIAny, which the frame
// may touch from here on. Returns where the result is left.
tvms_any *tvms_interp_bind_packed(tvms_interp_frame *f, const tvms_value *args,
                                  uint32_t count);

#endif
