// DLTensor and TVMFFIAny as lowered functions look at them: field by field, by number.
#ifndef TVMS_INTERP_STRUCTS_H
#define TVMS_INTERP_STRUCTS_H

#include "interp/frame.h"

// T.tvm_struct_get(pointer, index, field): the field of element `index`. Fields and layouts are those of the
// release of the module (include/tvm/tirx/builtin.h, TVMStructFieldKind). A fault if the memory ends before it.
tvms_scalar tvms_interp_struct_get(tvms_interp_frame *f, const tvms_call *call);

// T.tvm_struct_set(pointer, index, field, value), likewise.
void tvms_interp_struct_set(tvms_interp_frame *f, const tvms_call *call);

// T.tvm_stack_alloca(what, count): memory for numbers of a shape, arguments or tensors, until the scope
// ends. All bits are one.
tvms_scalar tvms_interp_stack_alloca(tvms_interp_frame *f, const tvms_call *call);

#endif
