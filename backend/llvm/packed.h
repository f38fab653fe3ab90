// Packed functions called by compiled code.
#ifndef TVMS_BACKEND_LLVM_PACKED_H
#define TVMS_BACKEND_LLVM_PACKED_H

#include "backend/llvm/emit.h"

// T.call_packed(name, …), T.call_cpacked(name, …): a function of the module is called directly, with its value.
// The value of another one is 0, of a plug-in what it gives. A library asks whoever loaded it for the function;
// traced code goes through its tvms_raised. Reports and leaves for arguments without code,
// and in traced code for a name that nothing has.
LLVMValueRef tvms_emit_call_packed(emitter *e, const tvms_call *call);

// T.anylist_setitem_call_packed(list, index, name, …): the same of a function that is not of the module, with
// its value in an item of a list.
LLVMValueRef tvms_emit_set_item(emitter *e, const tvms_call *call);

#endif
