// DLTensor and TVMFFIAny as lowered functions look at them: field by field, by number.
#ifndef TVMS_INTERP_STRUCTS_H
#define TVMS_INTERP_STRUCTS_H

#include "interp/frame.h"

// Where a field lies in its structure, and what it is.
typedef struct {
  size_t stride, offset;
  tvms_dl_type
      type;  // lanes 0: there is none of this number; of a union: as it is asked for
  bool is_union;
} tvms_interp_field;

// The field of a DLTensor or a TVMFFIAny that has this number.
tvms_interp_field tvms_interp_field_of(tvms_dialect dialect, int64_t field);

// The type of what is there, of a union as it is asked for.
tvms_dtype tvms_interp_field_dtype(const tvms_interp_field *field, tvms_dtype wanted);

// T.tvm_struct_get(pointer, index, field): the field of element `index`. Fields and layouts are those of the
// release of the module (include/tvm/tirx/builtin.h, TVMStructFieldKind). A fault if the memory ends before it.
tvms_scalar tvms_interp_struct_get(tvms_interp_frame *f, const tvms_call *call);

// T.tvm_struct_set(pointer, index, field, value), likewise.
void tvms_interp_struct_set(tvms_interp_frame *f, const tvms_call *call);

// T.tvm_stack_alloca(what, count): memory for numbers of a shape, arguments or tensors, until the scope
// ends. All bits are one.
tvms_scalar tvms_interp_stack_alloca(tvms_interp_frame *f, const tvms_call *call);

#endif
