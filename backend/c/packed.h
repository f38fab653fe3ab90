// Packed functions and objects in C text.
#ifndef TVMS_BACKEND_C_PACKED_H
#define TVMS_BACKEND_C_PACKED_H

#include "backend/c/emit.h"

// T.call_packed(name, …), T.call_cpacked(name, …): a function of the module, of the run time
// (runtime/boxes.def), or of whoever loaded the library. Reports and leaves for arguments without code.
const char *tvms_c_call_packed(c_emitter *e, const tvms_call *call);

// T.anylist_setitem_call_packed(list, index, name, …): the same of a function that is not of the module,
// with its value in an item of a list.
const char *tvms_c_set_item(c_emitter *e, const tvms_call *call);

// T.anylist_resetitem(list, index)
const char *tvms_c_reset_item(c_emitter *e, const tvms_call *call);

// T.tvm_stack_alloca("anylist", n): a list on the stack, whose objects are dropped wherever the scope is left.
const char *tvms_c_stack_alloca(c_emitter *e, const tvms_call *call);

// T.tvm_struct_get(pointer, index, field)
const char *tvms_c_struct_get(c_emitter *e, const tvms_call *call);

#endif
