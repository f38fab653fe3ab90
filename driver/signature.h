// What a function takes as its caller sees it, if its parameters do not say so: arguments that
// are packed, or pointers.
#ifndef TVMS_DRIVER_SIGNATURE_H
#define TVMS_DRIVER_SIGNATURE_H

#include "interp/interp.h"
#include "ir/module.h"

// The buffers and numbers that a PrimFunc takes which MakePackedAPI made: a function with the same
// body that has these as its parameters, so that inputs can be made for it and results found in it
// (driver/inputs.h). It is not to be called. Read from what the body loads of the structures
// DLTensor and TVMFFIAny and from what it asserts; a tensor whose shape or data type the body
// never looks at is a pointer. Of any other PrimFunc the pointers that the body declares buffers
// over are buffers, as behind MakeUnpackedAPI. What takes neither is given back itself. The result
// lives as long as the context, in the unit of the entry.
const tvms_member *tvms_inputs_signature(tvms_context *context,
                                         const tvms_member *entry);

// What a call of `entry` gave its caller: what takes pointers returns an error code, and 0 is
// nothing. Takes `result` over.
tvms_value tvms_inputs_result(const tvms_member *entry, const tvms_member *signature,
                              tvms_value result);

#endif
