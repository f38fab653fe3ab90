// T.tvm_access_ptr: a part of a buffer by address.
#ifndef TVMS_PASSES_TIR_HOST_ACCESS_POINTER_H
#define TVMS_PASSES_TIR_HOST_ACCESS_POINTER_H

#include "ir/node_map.h"

// The buffers of one function by their pointers.
typedef struct {
  tvms_unit *unit;
  tvms_node_map buffers;  // data VAR -> BUFFER
  bool scheduled;         // the function is s_tir
} tvms_access_pointers;

// Finds the buffers of `function`, a PRIM_FUNC; `fini` frees the table.
void tvms_access_pointers_init(tvms_access_pointers *pointers, tvms_unit *unit,
                               tvms_node *function);

// Frees the table.
void tvms_access_pointers_fini(tvms_access_pointers *pointers);

// T.address_of for a call of tvm_access_ptr, of an element of the buffer that has the
// pointer or, where that has other elements or dimensions, of a view that *declaration
// makes. Pointers into pointers are added up. NULL: the call names no pointer. TVM: LowerAccessPtr.
tvms_node *TVMS_NULLABLE
tvms_access_pointer_lower(const tvms_access_pointers *pointers, const tvms_node *call,
                          tvms_node *TVMS_NULLABLE *declaration);

#endif
