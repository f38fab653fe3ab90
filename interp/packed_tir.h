// Packed functions called by PrimFuncs.
#ifndef TVMS_INTERP_PACKED_TIR_H
#define TVMS_INTERP_PACKED_TIR_H

#include "interp/frame.h"

// T.call_packed(name, …), T.call_cpacked(name, …): the PrimFunc of the module with this name, a function of the run
// time, whose value is 0, or one of a plug-in. A fault if there is not such a function here, if the memory of a
// tensor that is passed is smaller than its shape says, or if the function refuses its arguments.
tvms_scalar tvms_interp_call_packed_of_tir(tvms_interp_frame *f, const tvms_call *call);

// T.call_extern(type, name, …) of a function of a plug-in, which there must be.
tvms_scalar tvms_interp_call_foreign(tvms_interp_frame *f, const tvms_call *call);

// T.anylist_setitem_call_packed(list, index, name, arguments…): an item becomes what a function of
// runtime/boxes.def gives.
void tvms_interp_set_item(tvms_interp_frame *f, const tvms_call *call);

#endif
